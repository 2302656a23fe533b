/*
 * Spends: the amounts spent, as reported by workers (http-api.md 17.3). Budgets are compared with
 * them.
 *
 * There is a sum for each queue and namespace, and for up to LIMIT_SPEND_TAGS tags of jobs that
 * cost something; a tag with a budget always has one. Sums are kept whether there is a budget or
 * not, so that a new budget knows what was spent today. Sums of earlier days are removed a few at a
 * time. The sum of a queue is kept as long as the queue, for the average cost of its acks. When the
 * queue is deleted, what was spent today is kept until the day is over, because a budget is for the
 * day, even if the queue is created again.
 *
 * Entries before version 3 are not counted: they keep their old effect when a log is applied.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"
#include "json/json_scan.h"

enum { FIRST_ENTRY_VERSION = 3 };

/* Sums of earlier days that one report removes: more than most reports add. */
enum { STALE_STEP = 16 };

/* 'a' and the name of a budget: the key of a record with the day of its last alert. */
enum { KEY_ALERT = 'a' };

struct spend {
    struct map_node node;    /* by key: scope byte and name */
    struct heap_node by_day; /* in machine.spend_days, unless it is the sum of an existing queue */
    int64_t day;             /* days since 1970 */
    int64_t day_nusd;        /* spent on that day */
    int64_t ack_nusd;        /* total of all acks */
    int64_t ack_count;
    uint32_t tags; /* of a namespace: number of tags with a sum of that day; not stored */
    char key[];
};

#define DAY_NS (INT64_C(24) * 3600 * NS_PER_S)

/* The day of a time, in UTC, since 1970. */
static int64_t day_of(struct wall now)
{
    return now.ns / DAY_NS;
}

static int64_t today(const struct machine *m)
{
    return day_of(m->now);
}

static bool is_before(const struct heap_node *a, const struct heap_node *b)
{
    return str_cmp(CONTAINER_OF(a, const struct spend, by_day)->node.key,
                   CONTAINER_OF(b, const struct spend, by_day)->node.key) < 0;
}

static bool is_of(const struct spend *s, char scope)
{
    return s->key[0] == scope;
}

static struct spend *find(const struct machine *m, struct str key)
{
    struct map_node *n = map_find(&m->spends, key);
    return n == NULL ? NULL : CONTAINER_OF(n, struct spend, node);
}

static struct spend *need(struct machine *m, struct str key)
{
    struct spend *s = find(m, key);
    if (s == NULL) {
        s = calloc(1, sizeof *s + key.len);
        CHECK(s != NULL);
        memcpy(s->key, key.ptr, key.len);
        s->node.key = str_from(s->key, key.len);
        s->by_day = heap_node_out();
        map_add(&m->spends, &s->node);
        m->spend_tags += is_of(s, STORE_BUDGET_TAG) ? 1 : 0;
    }
    return s;
}

/* Is this the sum of an existing queue? It is kept after its day. */
static bool is_of_queue(const struct machine *m, const struct spend *s)
{
    const struct queue *q =
        is_of(s, STORE_BUDGET_QUEUE) ? queues__find(m, str_from_offset(s->node.key, 1)) : NULL;
    return q != NULL && !q->gone;
}

static void set_day(struct machine *m, struct spend *s, int64_t day)
{
    s->day = day;
    if (is_of_queue(m, s)) {
        heap_remove(&m->spend_days, &s->by_day);
    } else {
        heap_set(&m->spend_days, &s->by_day, day);
    }
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

static void forget(struct machine *m, struct spend *s)
{
    CHECK(m->spend_tags > 0 || !is_of(s, STORE_BUDGET_TAG));
    m->spend_tags -= is_of(s, STORE_BUDGET_TAG) ? 1 : 0;
    heap_remove(&m->spend_days, &s->by_day);
    map_remove(&m->spends, &s->node);
    free(s);
}

static void drop(struct machine *m, struct spend *s)
{
    store_delete(&m->store, STORE_KIND_SPEND, s->node.key);
    forget(m, s);
}

/* Remove the oldest sum of an earlier day. False if there is none. */
static bool drop_stale(struct machine *m)
{
    struct heap_node *n = heap_first_until(&m->spend_days, today(m) - 1);
    if (n == NULL) {
        return false;
    }
    drop(m, CONTAINER_OF(n, struct spend, by_day));
    return true;
}

static int64_t add_capped(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static struct spend *add(struct machine *m, struct str key, int64_t nusd, bool ack)
{
    struct spend *s = need(m, key);
    if (s->day != today(m)) {
        set_day(m, s, today(m));
        s->day_nusd = 0;
        s->tags = 0;
    }
    CHECK(s->day == today(m));
    s->day_nusd = add_capped(s->day_nusd, nusd);
    if (ack) {
        s->ack_nusd = add_capped(s->ack_nusd, nusd);
        s->ack_count++;
    }
    write_spend(m, s);
    return s;
}

static struct str make_key(struct machine *m, char scope, struct str name)
{
    char *key = entry__alloc(m, 1 + name.len);
    key[0] = scope;
    if (name.len > 0) {
        memcpy(key + 1, name.ptr, name.len);
    }
    return str_from(key, 1 + name.len);
}

/* --- tags --- */

/* The key of a tag: scope, namespace, NUL, name=value. *name_len is its length up to the value.
 * Empty if no budget can exist for this tag. */
static struct str tag_key(struct machine *m, struct str ns, struct json_value name,
                          struct json_value value, size_t *name_len)
{
    char room[LIMIT_NAMESPACE_BYTES + LIMIT_NAME_BYTES + 2];
    struct str key = STR_EMPTY;
    struct buf b;
    buf_init_room(&b, sizeof room, room, sizeof room);
    buf_add_char(&b, STORE_BUDGET_TAG);
    buf_add_str(&b, ns);
    buf_add_char(&b, '\0');
    size_t begin = b.len;
    json_value_text_buf(name, &b);
    *name_len = b.len + 1;
    bool plain = !b.overflow && memchr(room + begin, '=', b.len - begin) == NULL;
    buf_add_char(&b, '=');
    if (value.type == JSON_TYPE_STRING) {
        json_value_text_buf(value, &b);
    } else {
        buf_add_str(&b, value.text);
    }
    if (plain && !b.overflow) {
        key = arena_str(m->arena, buf_str(&b));
    }
    buf_deinit(&b);
    return key;
}

/* The place of a tag with this name: if a name occurs twice, the last tag counts. */
static size_t place_of(const struct str *keys, size_t count, struct str key, size_t name_len)
{
    size_t at = 0;
    while (at < count && !str_starts_with(keys[at], str_from(key.ptr, name_len))) {
        at++;
    }
    return at;
}

size_t spends__tags(struct machine *m, const struct job *j, struct str out[LIMIT_TAGS])
{
    struct str ns = queue_name_namespace(j->queue);
    struct json_scan s = json_scan_from(j->tags);
    struct json_value name;
    struct json_value value;
    size_t count = 0;
    if (j->tags.len == 0 || !json_scan_enter_object(&s)) {
        return 0;
    }
    while (json_scan_next_key(&s, &name) && json_scan_value(&s, &value)) {
        size_t name_len = 0;
        struct str key = tag_key(m, ns, name, value, &name_len);
        size_t at = key.len == 0 ? LIMIT_TAGS : place_of(out, count, key, name_len);
        if (at < LIMIT_TAGS) {
            out[at] = key;
            count += at == count ? 1 : 0;
        }
    }
    return count;
}

/* May a tag that has no sum of today get one? Removes sums of earlier days if necessary. */
static bool has_room(struct machine *m, const struct spend *ns)
{
    while (m->spend_tags >= LIMIT_SPEND_TAGS && drop_stale(m)) {
    }
    return m->spend_tags < LIMIT_SPEND_TAGS && ns->tags < LIMIT_SPEND_TAGS_SPACE;
}

/* Is there a budget for the tag? The name of its record equals the key of the sum. */
static bool has_budget(const struct machine *m, struct str key)
{
    return m->tag_budgets > 0 && map_find(&m->budgets, key) != NULL;
}

static void add_tags(struct machine *m, const struct job *j, int64_t nusd, struct spend *ns)
{
    struct str keys[LIMIT_TAGS];
    size_t count = spends__tags(m, j, keys);
    for (size_t i = 0; i < count; i++) {
        const struct spend *s = find(m, keys[i]);
        bool known = s != NULL && s->day == today(m);
        if (known || has_budget(m, keys[i]) || has_room(m, ns)) {
            (void)add(m, keys[i], nusd, false);
            ns->tags += known ? 0 : 1;
        }
    }
}

/* --- single jobs --- */

static void add_row(void *data, const struct store_usage *u)
{
    int64_t *sum = data;
    *sum = add_capped(*sum, u->tokens.cost_nusd);
}

static int64_t sum_rows(struct machine *m, struct id job)
{
    int64_t sum = 0;
    store_rows_each_usage(&m->store, job, add_row, &sum);
    return sum;
}

/* Rows that are not in the sum were written by earlier entries, because later ones add theirs at
 * once. So all of them can be read from the store. */
static void catch_up(struct machine *m, struct job *j)
{
    if (j->usage_summed != j->usage_count) {
        j->usage_nusd = sum_rows(m, j->id);
        j->usage_summed = j->usage_count;
    }
}

int64_t spends__of_job(struct machine *m, struct job *j, int64_t more_nusd)
{
    if (m->entry_version < COMMAND_ENTRY_STRICT) {
        return add_capped(sum_rows(m, j->id), more_nusd);
    }
    catch_up(m, j);
    return add_capped(j->usage_nusd, more_nusd);
}

void spends__add_to_job(struct machine *m, struct job *j, int64_t nusd)
{
    if (m->entry_version >= COMMAND_ENTRY_STRICT) {
        catch_up(m, j);
        j->usage_nusd = add_capped(j->usage_nusd, nusd);
        j->usage_summed++;
    }
}

/* --- interface --- */

void spends__report(struct machine *m, const struct job *j, int64_t nusd, bool ack)
{
    if (m->entry_version < FIRST_ENTRY_VERSION) {
        return;
    }
    for (unsigned i = 0; i < STALE_STEP && drop_stale(m); i++) {
    }
    (void)add(m, make_key(m, STORE_BUDGET_QUEUE, j->queue), nusd, ack);
    if (nusd > 0) {
        struct str ns = queue_name_namespace(j->queue);
        add_tags(m, j, nusd, add(m, make_key(m, STORE_BUDGET_GLOBAL, ns), nusd, false));
    }
}

int64_t spends__today(const struct machine *m, struct str key, struct wall now)
{
    const struct spend *s = find(m, key);
    return s != NULL && s->day == day_of(now) ? s->day_nusd : 0;
}

struct wall spends__tomorrow(struct wall now)
{
    return (struct wall){.ns = (day_of(now) + 1) * DAY_NS};
}

bool spends__average_above(const struct machine *m, struct str queue, int64_t nusd)
{
    char key[1 + LIMIT_INTERNAL_NAME_BYTES];
    if (queue.len == 0 || queue.len >= sizeof key) {
        return false;
    }
    key[0] = STORE_BUDGET_QUEUE;
    memcpy(key + 1, queue.ptr, queue.len);
    const struct spend *s = find(m, str_from(key, 1 + queue.len));
    if (s == NULL || s->ack_count == 0) {
        return false;
    }
    int64_t whole = s->ack_nusd / s->ack_count;
    return whole > nusd || (whole == nusd && s->ack_nusd % s->ack_count > 0);
}

bool spends__alert(struct machine *m, struct str budget)
{
    struct spend *told = need(m, make_key(m, KEY_ALERT, budget));
    if (told->day == today(m)) {
        return false;
    }
    set_day(m, told, today(m));
    write_spend(m, told);
    return true;
}

static struct spend *find_queue(struct machine *m, struct str queue)
{
    return m->spends.count == 0 ? NULL : find(m, make_key(m, STORE_BUDGET_QUEUE, queue));
}

void spends__queue_gone(struct machine *m, struct str queue)
{
    struct spend *s = find_queue(m, queue);
    if (s == NULL) {
        return;
    }
    if (m->entry_version < COMMAND_ENTRY_EXACT || s->day != today(m) || s->day_nusd == 0) {
        drop(m, s);
        return;
    }
    s->ack_nusd = 0;
    s->ack_count = 0;
    set_day(m, s, s->day);
    write_spend(m, s);
}

void spends__queue_made(struct machine *m, struct str queue)
{
    struct spend *s = find_queue(m, queue);
    if (s != NULL) {
        set_day(m, s, s->day);
    }
}

/* --- opening and closing --- */

static void load_spend(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    int64_t day = unpack_i64(&u);
    int64_t day_nusd = unpack_i64(&u);
    int64_t ack_nusd = unpack_i64(&u);
    int64_t ack_count = unpack_i64(&u);
    if (version != PARTS_SPEND_VERSION || rest.len == 0 || !unpack_done(&u)) {
        check_fatal("a spending record cannot be read");
    }
    struct spend *s = need(m, rest);
    s->day_nusd = day_nusd;
    s->ack_nusd = ack_nusd;
    s->ack_count = ack_count;
    set_day(m, s, day);
}

/* Count the tag for its namespace. The sum of a tag has the day of its namespace's sum, or an
 * earlier one. */
static void count_tag(struct map_node *n, void *data)
{
    struct machine *m = data;
    const struct spend *s = CONTAINER_OF(n, struct spend, node);
    if (is_of(s, STORE_BUDGET_TAG)) {
        char key[1 + LIMIT_NAMESPACE_BYTES] = {STORE_BUDGET_GLOBAL};
        struct str rest = str_from_offset(n->key, 1);
        struct str ns = str_at_most(str_cut(&rest, '\0'), LIMIT_NAMESPACE_BYTES);
        memcpy(key + 1, ns.ptr, ns.len);
        struct spend *of = find(m, str_from(key, 1 + ns.len));
        if (of != NULL && of->day == s->day) {
            of->tags++;
        }
    }
}

void spends__load(struct machine *m)
{
    map_init(&m->spends);
    heap_init(&m->spend_days, is_before);
    store_each(&m->store, STORE_KIND_SPEND, load_spend, m);
    map_each(&m->spends, count_tag, m);
}

static void free_spend(struct map_node *n, void *data)
{
    forget(data, CONTAINER_OF(n, struct spend, node));
}

void spends__close(struct machine *m)
{
    map_each(&m->spends, free_spend, m);
    map_deinit(&m->spends);
    heap_deinit(&m->spend_days);
}
