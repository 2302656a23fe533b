/*
 * Budgets: limits on what a queue, a tag or a namespace may cost per day, and on what a job may
 * cost in total (http-api.md 17.3).
 *
 * A budget is an access record (apply_access.c). Its name is its scope (one byte), its namespace,
 * NUL and its target. The budgets that apply to a job are looked up by its queue, namespace and
 * tags, so their total number does not matter. spends.c adds up what was spent. Costs are integers,
 * in billionths of a dollar.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"
#include "store/store_access.h"

struct spend_limit {
    struct map_node node; /* by the name of its record */
    char scope;
    struct str ns, target; /* of a queue: its internal name; of a tag: key=value */
    struct str key;        /* of the sum in spends.c */
    struct store_budget rec;
    char *bytes;
};

/* The budgets that apply to a queue or a job: global, then of the queue, then of tags. */
struct about {
    const struct spend_limit *list[3 + LIMIT_TAGS];
    unsigned count;
};

/* --- all budgets --- */

static void free_limit(struct spend_limit *b)
{
    free(b->bytes);
    free(b);
}

/* Create a budget; NULL if the body cannot be decoded. Its bytes are the name, the body and, for a
 * queue, 'q' and the target: the key of the queue's sum. */
static struct spend_limit *make_limit(struct str name, struct str body)
{
    struct spend_limit *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->bytes = malloc(2 * name.len + body.len + 1);
    CHECK(b->bytes != NULL);
    memcpy(b->bytes, name.ptr, name.len);
    memcpy(b->bytes + name.len, body.ptr, body.len);
    b->node.key = str_from(b->bytes, name.len);
    b->scope = name.ptr[0];
    b->target = str_from_offset(b->node.key, 1);
    b->ns = str_cut(&b->target, '\0');
    b->key = b->scope == STORE_BUDGET_TAG ? b->node.key : str_from(b->bytes, 1 + b->ns.len);
    if (b->scope == STORE_BUDGET_QUEUE) {
        char *key = b->bytes + name.len + body.len;
        key[0] = STORE_BUDGET_QUEUE;
        if (b->target.len > 0) {
            memcpy(key + 1, b->target.ptr, b->target.len);
        }
        b->key = str_from(key, 1 + b->target.len);
    }
    if (!store_access_decode_budget(str_from(b->bytes + name.len, body.len), &b->rec)) {
        free_limit(b);
        return NULL;
    }
    return b;
}

static struct spend_limit *find(const struct machine *m, struct str name)
{
    struct map_node *n = map_find(&m->budgets, name);
    return n == NULL ? NULL : CONTAINER_OF(n, struct spend_limit, node);
}

static void forget(struct machine *m, struct spend_limit *b)
{
    m->tag_budgets -= b->scope == STORE_BUDGET_TAG ? 1 : 0;
    map_remove(&m->budgets, &b->node);
    free_limit(b);
}

void apply_budget__changed(struct machine *m, struct str name, struct str body)
{
    struct spend_limit *was = find(m, name);
    struct spend_limit *b = body.len == 0 ? NULL : make_limit(name, body);
    if (was != NULL) {
        forget(m, was);
    }
    if (b != NULL) {
        map_add(&m->budgets, &b->node);
        m->tag_budgets += b->scope == STORE_BUDGET_TAG ? 1 : 0;
    }
}

bool apply_budget__is_there(const struct machine *m, struct str name)
{
    return find(m, name) != NULL;
}

struct str apply_budget__with_id(struct machine *m, struct str body)
{
    struct store_budget rec;
    struct buf out;
    if (!store_access_decode_budget(body, &rec) || rec.id.len > 0) {
        return body;
    }
    rec.id = entry__id_text(m, ids__new(m), ID_BUDGET);
    buf_init(&out, SIZE_MAX);
    store_access_encode_budget(&rec, &out);
    return entry__keep(m, &out);
}

/* --- the budgets that apply --- */

static void add_about(const struct machine *m, struct about *a, struct str name)
{
    const struct spend_limit *b = find(m, name);
    if (b != NULL) {
        a->list[a->count++] = b;
    }
}

static void add_named(const struct machine *m, struct about *a, char scope, struct str ns,
                      struct str target)
{
    char room[2 + LIMIT_NAMESPACE_BYTES + LIMIT_INTERNAL_NAME_BYTES];
    struct buf name;
    buf_init_room(&name, sizeof room, room, sizeof room);
    buf_add_char(&name, scope);
    buf_add_str(&name, ns);
    buf_add_char(&name, '\0');
    buf_add_str(&name, target);
    if (!name.overflow) {
        add_about(m, a, buf_str(&name));
    }
    buf_deinit(&name);
}

/* A queue of another namespace may also have a budget of the default namespace. */
static void find_for_queue(const struct machine *m, struct str queue, struct about *a)
{
    struct str ns = queue_name_namespace(queue);
    add_named(m, a, STORE_BUDGET_GLOBAL, ns, STR("*"));
    add_named(m, a, STORE_BUDGET_QUEUE, ns, queue);
    if (ns.len > 0) {
        add_named(m, a, STORE_BUDGET_QUEUE, STR_EMPTY, queue);
    }
}

static void find_for_tags(struct machine *m, const struct job *j, struct about *a)
{
    struct str names[LIMIT_TAGS];
    size_t count = m->tag_budgets == 0 ? 0 : spends__tags(m, j, names);
    for (size_t i = 0; i < count; i++) {
        add_about(m, a, names[i]);
    }
}

/* --- what was spent --- */

static bool is_day_over(const struct machine *m, const struct spend_limit *b, struct wall now)
{
    return b->rec.has_daily && spends__today(m, b->key, now) >= b->rec.daily_nusd;
}

static const char *scope_word(char scope)
{
    return scope == STORE_BUDGET_QUEUE ? "queue" : scope == STORE_BUDGET_TAG ? "tag" : "global";
}

static void write_reason(const struct spend_limit *b, struct buf *out)
{
    struct str target =
        b->scope == STORE_BUDGET_QUEUE ? queue_name_visible(b->ns, b->target) : b->target;
    if (b->rec.target.len > 0) {
        target = str_at_most(b->rec.target, LIMIT_ACCESS_NAME_BYTES);
    }
    buf_printf(out, "budget exceeded: %s:" STR_FMT, scope_word(b->scope), STR_ARG(target));
}

static struct str reason_of(struct machine *m, const struct spend_limit *b)
{
    struct buf text;
    buf_init(&text, LIMIT_REASON_BYTES);
    write_reason(b, &text);
    return entry__keep(m, &text);
}

static void add_to_sums(struct machine *m, const struct job *j, int64_t nusd, bool ack)
{
    struct about about = {.count = 0};
    spends__report(m, j, nusd, ack);
    if (m->budgets.count == 0) {
        return;
    }
    find_for_queue(m, j->queue, &about);
    find_for_tags(m, j, &about);
    for (unsigned i = 0; i < about.count; i++) {
        const struct spend_limit *b = about.list[i];
        if (is_day_over(m, b, m->now) && spends__alert(m, b->node.key)) {
            jobs__emit_event(m, &(struct store_event){.type = STORE_EVENT_BUDGET_EXCEEDED,
                                                      .job = j->id,
                                                      .queue = j->queue,
                                                      .text = reason_of(m, b)});
        }
    }
}

void apply_budget__report(struct machine *m, struct job *j, enum store_phase phase,
                          const struct store_tokens *t)
{
    if (store_rows_tokens_any(t)) {
        tallies__report(m, j, t);
        spends__add_to_job(m, j, t->cost_nusd);
        store_rows_add_usage(
            &m->store, j,
            &(struct store_usage){
                .attempt = j->attempt, .phase = phase, .created_at = m->now, .tokens = *t});
        add_to_sums(m, j, t->cost_nusd, phase == STORE_PHASE_ACK);
    }
}

/* --- decisions --- */

static const struct spend_limit *stricter(const struct spend_limit *a, const struct spend_limit *b)
{
    return a == NULL || b->rec.on_exceed > a->rec.on_exceed ? b : a;
}

static const struct spend_limit *at_fetch(const struct machine *m, struct str queue,
                                          struct wall now)
{
    const struct spend_limit *found = NULL;
    struct about about = {.count = 0};
    if (m->budgets.count > 0) {
        find_for_queue(m, queue, &about);
    }
    for (unsigned i = 0; i < about.count; i++) {
        const struct spend_limit *b = about.list[i];
        if (is_day_over(m, b, now) ||
            (b->rec.has_per_job && spends__average_above(m, queue, b->rec.per_job_nusd))) {
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
    return verdict_of(m, at_fetch(m, queue, m->now));
}

static const struct spend_limit *of_tags(struct machine *m, const struct job *j, struct wall now)
{
    const struct spend_limit *found = NULL;
    struct about about = {.count = 0};
    find_for_tags(m, j, &about);
    for (unsigned i = 0; i < about.count; i++) {
        if (is_day_over(m, about.list[i], now)) {
            found = stricter(found, about.list[i]);
        }
    }
    return found;
}

struct apply_budget_verdict apply_budget__of_candidate(struct machine *m, const struct job *j)
{
    if (m->tag_budgets == 0) { /* usual case; of_tags needs stack space for all tags */
        return (struct apply_budget_verdict){0};
    }
    return verdict_of(m, of_tags(m, j, m->now));
}

struct apply_budget_verdict apply_budget__of_job(struct machine *m, struct job *j,
                                                 const struct store_tokens *t)
{
    const struct spend_limit *lowest = NULL;
    struct about about = {.count = 0};
    if (m->budgets.count == 0 || !store_rows_tokens_any(t)) {
        return (struct apply_budget_verdict){0};
    }
    find_for_queue(m, j->queue, &about);
    find_for_tags(m, j, &about);
    for (unsigned i = 0; i < about.count; i++) {
        const struct spend_limit *b = about.list[i];
        if (!b->rec.has_per_job) {
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
    int64_t sum = spends__of_job(m, j, t->cost_nusd);
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

static bool blocks_at(const struct machine *m, struct str queue, struct wall now)
{
    const struct spend_limit *b = at_fetch(m, queue, now);
    return b != NULL && b->rec.on_exceed != STORE_BUDGET_ALERT;
}

bool apply_budget__blocks(const struct machine *m, struct str queue, struct wall now,
                          struct wall *out_until)
{
    struct wall tomorrow = spends__tomorrow(now);
    bool blocks = blocks_at(m, queue, now);
    *out_until = blocks && !blocks_at(m, queue, tomorrow) ? tomorrow : WALL_NONE;
    return blocks;
}

static bool holds_at(struct machine *m, const struct job *j, struct wall now)
{
    const struct spend_limit *b = of_tags(m, j, now);
    return b != NULL && b->rec.on_exceed == STORE_BUDGET_HOLD;
}

bool apply_budget__holds(struct machine *m, const struct job *j, struct wall now,
                         struct wall *out_until)
{
    struct wall tomorrow = spends__tomorrow(now);
    bool holds = holds_at(m, j, now);
    *out_until = holds && !holds_at(m, j, tomorrow) ? tomorrow : WALL_NONE;
    return holds;
}

/* --- explanations --- */

/* Does the budget keep jobs from being handed out? */
static bool stops(const struct spend_limit *b)
{
    return b != NULL && b->rec.on_exceed != STORE_BUDGET_ALERT;
}

static struct explain_budget explanation_of(const struct spend_limit *now,
                                            const struct spend_limit *next, struct wall tomorrow,
                                            struct arena *a)
{
    struct buf text;
    if (!stops(now)) {
        return (struct explain_budget){0};
    }
    buf_init(&text, LIMIT_REASON_BYTES);
    write_reason(now, &text);
    struct explain_budget stop = {.exceeded = true,
                                  .refuses = now->rec.on_exceed == STORE_BUDGET_REJECT,
                                  .reason = arena_str(a, buf_str(&text)),
                                  .until = stops(next) ? WALL_NONE : tomorrow};
    buf_deinit(&text);
    return stop;
}

struct explain_budget apply_budget__explain_queue(const struct machine *m, struct str queue,
                                                  struct wall now, struct arena *a)
{
    struct wall tomorrow = spends__tomorrow(now);
    return explanation_of(at_fetch(m, queue, now), at_fetch(m, queue, tomorrow), tomorrow, a);
}

struct explain_budget apply_budget__explain_job(struct machine *m, const struct job *j,
                                                struct wall now, struct arena *a)
{
    struct wall tomorrow = spends__tomorrow(now);
    return explanation_of(of_tags(m, j, now), of_tags(m, j, tomorrow), tomorrow, a);
}

/* --- opening and closing --- */

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
    map_init(&m->budgets);
    store_each_from(&m->store, STORE_KIND_ACCESS, prefix, prefix, load_budget, m);
}

static void free_one(struct map_node *n, void *data)
{
    forget(data, CONTAINER_OF(n, struct spend_limit, node));
}

void apply_budget__close(struct machine *m)
{
    map_each(&m->budgets, free_one, m);
    map_deinit(&m->budgets);
}
