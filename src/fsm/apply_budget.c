/*
 * Budgets: what a queue, a tag or a namespace may cost in a day, and a job in all (http-api.md
 * 17.3).
 *
 * A budget is a record of who may do what (apply_access.c); its name is its scope, one byte, its
 * namespace, NUL and its target. What was spent today is summed up as it is reported, in records of
 * its own, while there is any budget: a log from before budgets means what it always did. Costs are
 * whole numbers of billionths of a dollar.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "core/queue_name.h"
#include "fsm/apply_int.h"
#include "store/store_access.h"

struct spend_limit {
    char scope;
    struct str ns, target; /* of a queue its internal name, of a tag key=value */
    struct store_budget rec;
    struct str name; /* of its record */
    char *bytes;
};

/* What was spent on something. */
struct spend {
    struct map_node
        node;         /* by key: scope byte and name; 'a' and a budget's name: day of an alert */
    int64_t day;      /* since 1970 */
    int64_t day_nusd; /* on that day */
    int64_t ack_nusd; /* by acks, ever */
    int64_t ack_count;
    char key[];
};

static int64_t today(const struct machine *m)
{
    return m->now.ns / (INT64_C(24) * 3600 * NS_PER_S);
}

/* --- the list of budgets --- */

static void free_limit(struct spend_limit *b)
{
    free(b->bytes);
    free(b);
}

static struct spend_limit *make_limit(struct str name, struct str body)
{
    struct spend_limit *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->bytes = malloc(name.len + body.len + 1);
    CHECK(b->bytes != NULL);
    memcpy(b->bytes, name.ptr, name.len);
    memcpy(b->bytes + name.len, body.ptr, body.len);
    b->name = str_from(b->bytes, name.len);
    b->scope = name.ptr[0];
    b->target = str_from_offset(b->name, 1);
    b->ns = str_cut(&b->target, '\0');
    if (!store_access_decode_budget(str_from(b->bytes + name.len, body.len), &b->rec)) {
        free_limit(b);
        return NULL;
    }
    return b;
}

void apply_budget__changed(struct machine *m, struct str name, struct str body)
{
    uint32_t at = 0;
    while (at < m->budget_count && str_cmp(m->budgets[at]->name, name) < 0) {
        at++;
    }
    if (at < m->budget_count && str_eq(m->budgets[at]->name, name)) {
        free_limit(m->budgets[at]);
        memmove(&m->budgets[at], &m->budgets[at + 1],
                (m->budget_count - at - 1) * sizeof(struct spend_limit *));
        m->budget_count--;
    }
    struct spend_limit *b = body.len == 0 ? NULL : make_limit(name, body);
    if (b == NULL) {
        return;
    }
    m->budgets = realloc(m->budgets, (m->budget_count + 1) * sizeof(struct spend_limit *));
    CHECK(m->budgets != NULL);
    memmove(&m->budgets[at + 1], &m->budgets[at],
            (m->budget_count - at) * sizeof(struct spend_limit *));
    m->budgets[at] = b;
    m->budget_count++;
}

/* --- what was spent --- */

static struct str spend_key(struct machine *m, char scope, struct str a, struct str b)
{
    char *key = machine__alloc(m, 2 + a.len + b.len);
    size_t len = 0;
    key[len++] = scope;
    if (a.len > 0) {
        memcpy(key + len, a.ptr, a.len);
        len += a.len;
    }
    if (b.len > 0) {
        key[len++] = '\0';
        memcpy(key + len, b.ptr, b.len);
        len += b.len;
    }
    return str_from(key, len);
}

static struct spend *find_spend(const struct machine *m, struct str key)
{
    struct map_node *n = map_find(&m->spends, key);
    return n == NULL ? NULL : CONTAINER_OF(n, struct spend, node);
}

static struct spend *need_spend(struct machine *m, struct str key)
{
    struct spend *s = find_spend(m, key);
    if (s == NULL) {
        s = calloc(1, sizeof *s + key.len);
        CHECK(s != NULL);
        memcpy(s->key, key.ptr, key.len);
        s->node.key = str_from(s->key, key.len);
        map_add(&m->spends, &s->node);
    }
    return s;
}

static void write_spend(struct machine *m, const struct spend *s)
{
    buf_clear(&m->store.scratch);
    pack_u8(&m->store.scratch, PARTS_SPEND_VERSION);
    pack_i64(&m->store.scratch, s->day);
    pack_i64(&m->store.scratch, s->day_nusd);
    pack_i64(&m->store.scratch, s->ack_nusd);
    pack_i64(&m->store.scratch, s->ack_count);
    store_put(&m->store, STORE_KIND_SPEND, s->node.key, buf_str(&m->store.scratch));
}

static int64_t add_capped(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void add_spend(struct machine *m, struct str key, int64_t nusd, bool ack)
{
    struct spend *s = need_spend(m, key);
    if (s->day != today(m)) {
        s->day = today(m);
        s->day_nusd = 0;
    }
    s->day_nusd = add_capped(s->day_nusd, nusd);
    if (ack) {
        s->ack_nusd = add_capped(s->ack_nusd, nusd);
        s->ack_count++;
    }
    write_spend(m, s);
}

static struct str key_of_budget(struct machine *m, const struct spend_limit *b)
{
    switch (b->scope) {
    case STORE_BUDGET_QUEUE:
        return spend_key(m, STORE_BUDGET_QUEUE, b->target, STR_EMPTY);
    case STORE_BUDGET_TAG:
        return spend_key(m, STORE_BUDGET_TAG, b->ns, b->target);
    default:
        return spend_key(m, STORE_BUDGET_GLOBAL, b->ns, STR_EMPTY);
    }
}

static bool has_tag(const struct job *j, struct str target)
{
    struct str value = target;
    struct str key = str_cut(&value, '=');
    return apply_policy__has_tag(j, key, value);
}

static bool is_about(const struct spend_limit *b, const struct job *j)
{
    if (b->scope == STORE_BUDGET_QUEUE) {
        return str_eq(b->target, j->queue);
    }
    return queue_name_is_of(b->ns, j->queue) &&
           (b->scope == STORE_BUDGET_GLOBAL || has_tag(j, b->target));
}

static bool is_day_over(struct machine *m, const struct spend_limit *b)
{
    const struct spend *s = find_spend(m, key_of_budget(m, b));
    int64_t spent = s != NULL && s->day == today(m) ? s->day_nusd : 0;
    return b->rec.has_daily && spent >= b->rec.daily_nusd;
}

static const char *scope_word(char scope)
{
    return scope == STORE_BUDGET_QUEUE ? "queue" : scope == STORE_BUDGET_TAG ? "tag" : "global";
}

static struct str reason_of(struct machine *m, const struct spend_limit *b)
{
    struct buf text;
    struct str target =
        b->scope == STORE_BUDGET_QUEUE ? queue_name_visible(b->ns, b->target) : b->target;
    buf_init(&text, LIMIT_REASON_BYTES);
    buf_printf(&text, "budget exceeded: %s:" STR_FMT, scope_word(b->scope), STR_ARG(target));
    return machine__keep(m, &text);
}

/* Once per budget and day. */
static void alert(struct machine *m, const struct spend_limit *b, const struct job *j)
{
    struct spend *told = need_spend(m, spend_key(m, 'a', b->name, STR_EMPTY));
    if (told->day != today(m)) {
        told->day = today(m);
        write_spend(m, told);
        jobs__emit_event(m, &(struct store_event){.type = STORE_EVENT_BUDGET_EXCEEDED,
                                                  .job = j->id,
                                                  .queue = j->queue,
                                                  .text = reason_of(m, b)});
    }
}

void apply_budget__spent(struct machine *m, const struct job *j, const struct store_tokens *t,
                         bool ack)
{
    if (m->budget_count == 0 || !store_rows_tokens_any(t)) {
        return;
    }
    add_spend(m, spend_key(m, STORE_BUDGET_QUEUE, j->queue, STR_EMPTY), t->cost_nusd, ack);
    add_spend(m, spend_key(m, STORE_BUDGET_GLOBAL, queue_name_namespace(j->queue), STR_EMPTY),
              t->cost_nusd, ack);
    for (uint32_t i = 0; i < m->budget_count; i++) {
        const struct spend_limit *b = m->budgets[i];
        if (!is_about(b, j)) {
            continue;
        }
        if (b->scope == STORE_BUDGET_TAG) {
            add_spend(m, key_of_budget(m, b), t->cost_nusd, ack);
        }
        if (is_day_over(m, b)) {
            alert(m, b, j);
        }
    }
}

/* --- what follows --- */

static const struct spend_limit *stricter(const struct spend_limit *a, const struct spend_limit *b)
{
    return a == NULL || b->rec.on_exceed > a->rec.on_exceed ? b : a;
}

/* Is the average of the queue's acks above what a job may cost? */
static bool is_average_over(struct machine *m, const struct spend_limit *b, struct str queue)
{
    const struct spend *s = find_spend(m, spend_key(m, STORE_BUDGET_QUEUE, queue, STR_EMPTY));
    if (!b->rec.has_per_job || s == NULL || s->ack_count == 0) {
        return false;
    }
    int64_t whole = s->ack_nusd / s->ack_count;
    return whole > b->rec.per_job_nusd ||
           (whole == b->rec.per_job_nusd && s->ack_nusd % s->ack_count > 0);
}

static const struct spend_limit *at_fetch(struct machine *m, struct str queue)
{
    const struct spend_limit *found = NULL;
    for (uint32_t i = 0; i < m->budget_count; i++) {
        const struct spend_limit *b = m->budgets[i];
        bool about = b->scope == STORE_BUDGET_QUEUE
                         ? str_eq(b->target, queue)
                         : b->scope == STORE_BUDGET_GLOBAL && queue_name_is_of(b->ns, queue);
        if (about && (is_day_over(m, b) || is_average_over(m, b, queue))) {
            found = stricter(found, b);
        }
    }
    return found;
}

static struct apply_budget_verdict verdict_of(struct machine *m, const struct spend_limit *b)
{
    if (b == NULL) {
        return (struct apply_budget_verdict){0};
    }
    return (struct apply_budget_verdict){
        .exceeded = true, .action = b->rec.on_exceed, .reason = reason_of(m, b)};
}

struct apply_budget_verdict apply_budget__at_fetch(struct machine *m, struct str queue)
{
    return verdict_of(m, m->budget_count == 0 ? NULL : at_fetch(m, queue));
}

struct apply_budget_verdict apply_budget__of_candidate(struct machine *m, const struct job *j)
{
    const struct spend_limit *found = NULL;
    for (uint32_t i = 0; i < m->budget_count; i++) {
        const struct spend_limit *b = m->budgets[i];
        if (b->scope == STORE_BUDGET_TAG && is_about(b, j) && is_day_over(m, b)) {
            found = stricter(found, b);
        }
    }
    return verdict_of(m, found);
}

static void sum_up(void *data, const struct store_usage *u)
{
    int64_t *sum = data;
    *sum = add_capped(*sum, u->tokens.cost_nusd);
}

struct apply_budget_verdict apply_budget__of_job(struct machine *m, const struct job *j,
                                                 const struct store_tokens *t)
{
    const struct spend_limit *lowest = NULL;
    int64_t sum = t->cost_nusd;
    if (m->budget_count == 0 || !store_rows_tokens_any(t)) {
        return (struct apply_budget_verdict){0};
    }
    for (uint32_t i = 0; i < m->budget_count; i++) {
        const struct spend_limit *b = m->budgets[i];
        if (!b->rec.has_per_job || !is_about(b, j)) {
            continue;
        }
        if (lowest == NULL || b->rec.per_job_nusd < lowest->rec.per_job_nusd) {
            lowest = b;
        } else if (b->rec.per_job_nusd == lowest->rec.per_job_nusd) {
            lowest = stricter(lowest, b);
        }
    }
    if (lowest == NULL) {
        return (struct apply_budget_verdict){0};
    }
    store_rows_each_usage(&m->store, j->id, sum_up, &sum);
    return verdict_of(m, sum > lowest->rec.per_job_nusd ? lowest : NULL);
}

void apply_budget__hold(struct machine *m, struct job *j, enum job_move move, struct str reason)
{
    bool moved = job_move_target(j->state, move, &j->state);
    CHECK(moved);
    jobs__clear_claim(j);
    j->hold_reason = reason;
    jobs__write(m, j, STORE_LIVE);
    jobs__emit_event(
        m, &(struct store_event){
               .type = STORE_EVENT_HELD, .job = j->id, .queue = j->queue, .text = reason});
}

bool apply_budget__blocks(struct machine *m, struct str queue)
{
    const struct spend_limit *b = m->budget_count == 0 ? NULL : at_fetch(m, queue);
    return b != NULL && b->rec.on_exceed != STORE_BUDGET_ALERT;
}

/* --- opening and closing --- */

static void load_spend(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct unpack u = unpack_from(value);
    struct spend *s = need_spend(m, rest);
    uint8_t version = unpack_u8(&u);
    s->day = unpack_i64(&u);
    s->day_nusd = unpack_i64(&u);
    s->ack_nusd = unpack_i64(&u);
    s->ack_count = unpack_i64(&u);
    if (version != PARTS_SPEND_VERSION || !unpack_done(&u)) {
        check_fatal("a record of what was spent cannot be read");
    }
}

static bool load_budget(void *data, struct str rest, struct str value)
{
    struct store_access_frame frame;
    if (store_access_decode_frame(value, &frame) && rest.len > 1) {
        apply_budget__changed(data, str_from_offset(rest, 1), frame.body);
    }
    return true;
}

void apply_budget__load(struct machine *m)
{
    const char kind = STORE_ACCESS_BUDGET;
    struct str prefix = str_from(&kind, 1);
    map_init(&m->spends);
    store_each(&m->store, STORE_KIND_SPEND, load_spend, m);
    store_each_from(&m->store, STORE_KIND_ACCESS, prefix, prefix, load_budget, m);
}

static void free_spend(struct map_node *n, void *data)
{
    map_remove(data, n);
    free(CONTAINER_OF(n, struct spend, node));
}

void apply_budget__close(struct machine *m)
{
    for (uint32_t i = 0; i < m->budget_count; i++) {
        free_limit(m->budgets[i]);
    }
    free(m->budgets);
    map_each(&m->spends, free_spend, &m->spends);
    map_deinit(&m->spends);
}

void apply_budget__forget_queue(struct machine *m, struct str queue)
{
    struct spend *s = m->spends.count == 0
                          ? NULL
                          : find_spend(m, spend_key(m, STORE_BUDGET_QUEUE, queue, STR_EMPTY));
    if (s != NULL) {
        store_delete(&m->store, STORE_KIND_SPEND, s->node.key);
        map_remove(&m->spends, &s->node);
        free(s);
    }
}
