#include "fsm/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply_int.h"
#include "store/store_job.h"

static const apply_fn appliers[] = {
    [COMMAND_ENQUEUE] = apply_enqueue,
    [COMMAND_CLAIM] = apply_claim,
    [COMMAND_ACK] = apply_ack,
    [COMMAND_FAIL] = apply_fail,
    [COMMAND_HEARTBEAT] = apply_heartbeat,
    [COMMAND_JOBS] = apply_jobs,
    [COMMAND_REPLAY] = apply_replay,
    [COMMAND_QUEUE] = apply_queue,
    [COMMAND_TICK] = apply_tick,
    [COMMAND_PURGE] = apply_purge,
    [COMMAND_BATCH_OPEN] = apply_batch_open,
    [COMMAND_BATCH_SEAL] = apply_batch_seal,
    [COMMAND_SCHEDULE_PUT] = apply_schedule_put,
    [COMMAND_SCHEDULE_DELETE] = apply_schedule_delete,
    [COMMAND_SCHEDULE_FIRE] = apply_schedule_fire,
    [COMMAND_WEBHOOK_PUT] = apply_webhook_put,
    [COMMAND_WEBHOOK_DELETE] = apply_webhook_delete,
    [COMMAND_WEBHOOK_MARK] = apply_webhook_mark,
    [COMMAND_BULK_PUT] = apply_bulk_put,
    [COMMAND_BULK_STEP] = apply_bulk_step,
    [COMMAND_BULK_END] = apply_bulk_end,
    [COMMAND_BULK_QUEUE] = apply_bulk_queue,
    [COMMAND_RESTORE] = apply_restore,
    [COMMAND_POLICY_PUT] = apply_policy_put,
    [COMMAND_POLICY_DELETE] = apply_policy_delete,
    [COMMAND_RETURN] = apply_return,
    [COMMAND_ACCESS] = apply_access,
    [COMMAND_AUDIT] = apply_access_audit,
    [COMMAND_PUSH_CLAIM] = apply_push_claim,
    [COMMAND_PUSH_FINISH] = apply_push_finish,
    [COMMAND_NAMED_PUT] = apply_named_put,
    [COMMAND_NAMED_PURGE] = apply_named_purge,
    [COMMAND_NODE_PUT] = apply_node_put,
    [COMMAND_NODE_STATE] = apply_node_state,
};
_Static_assert(COUNT_OF(appliers) == COMMAND_TYPE_LAST + 1, "every command can be applied");

/* Shared pieces */

void machine__refuse(struct machine *m, struct result *r, enum err_code code, const char *fmt, ...)
{
    char text[sizeof(((struct err *)0)->msg)];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    CHECK(n >= 0);
    size_t len = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    r->code = code;
    r->message = arena_str(m->arena, str_from(text, len));
}

static bool is_taken(struct machine *m, struct id id)
{
    struct job j;
    enum store_family family;
    struct str key = str_from(id.b, ID_BYTES);
    return jobs__get(m, id, &j, &family) || batches__is_known(m, id) ||
           map_find(&m->schedules, key) != NULL || apply_policy__is_known(m, id);
}

/* Ids of this log are all different. One that was restored may have come from another, and lie
 * ahead: it is passed over. Whether there can be such a one, newest_id says. */
struct id machine__new_id(struct machine *m)
{
    struct id id = id_make(m->now, m->index, m->next_number++);
    while (id_cmp(id, m->newest_id) <= 0 && is_taken(m, id)) {
        id = id_make(m->now, m->index, m->next_number++);
    }
    return id;
}

void *machine__alloc(struct machine *m, size_t size)
{
    void *p = arena_alloc(m->arena, size == 0 ? 1 : size, _Alignof(max_align_t));
    CHECK(p != NULL);
    return p;
}

struct str machine__id_text(struct machine *m, struct id id, struct str prefix)
{
    char *text = machine__alloc(m, ID_TEXT_MAX);
    return str_from(text, id_format(id, prefix, text));
}

/* What the entry has read and written so far: the same on every node. */
static uint64_t cost_of(const struct machine *m)
{
    return kv_batch_bytes(m->store.batch).len + m->events.bytes.len +
           store_docs_read_bytes(m->store.docs) + m->extra_bytes;
}

bool machine__is_full(const struct machine *m)
{
    if (m->entry_version < 2) {
        /* Whoever made it would have stopped here for ever, so that nobody can have gone on. */
        return kv_batch_bytes(m->store.batch).len > LIMIT_OLD_STEP_BYTES;
    }
    return cost_of(m) >= LIMIT_STEP_BYTES;
}

char *machine__own_texts(struct str *texts[], size_t count)
{
    size_t len = 1;
    for (size_t i = 0; i < count; i++) {
        len += texts[i]->len;
    }
    char *memory = malloc(len);
    CHECK(memory != NULL);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (texts[i]->len > 0) {
            memcpy(memory + at, texts[i]->ptr, texts[i]->len);
        }
        texts[i]->ptr = memory + at;
        at += texts[i]->len;
    }
    return memory;
}

struct str machine__keep(struct machine *m, struct buf *b)
{
    CHECK(!b->overflow);
    struct str kept = arena_str(m->arena, buf_str(b));
    CHECK(kept.len == b->len);
    buf_deinit(b);
    return kept;
}

/* Opening */

/* A pending job and its place, while the lines are put together again. */
struct place {
    uint64_t order;
    struct live *live;
};

struct loading {
    struct place *places;
    size_t count;
    size_t cap;
};

static int compare_places(const void *a, const void *b)
{
    uint64_t x = ((const struct place *)a)->order;
    uint64_t y = ((const struct place *)b)->order;
    return (x > y) - (x < y);
}

static void remember_place(struct loading *l, uint64_t order, struct live *live)
{
    if (l->count == l->cap) {
        l->cap = l->cap == 0 ? 1024 : l->cap * 2;
        l->places = realloc(l->places, l->cap * sizeof(struct place));
        CHECK(l->places != NULL);
    }
    CHECK(live != NULL);
    CHECK(!live->in_line);
    l->places[l->count++] = (struct place){.order = order, .live = live};
}

static enum err_code load_jobs(struct machine *m, struct err *err)
{
    struct loading loading = {0};
    struct kv_iter *it = kv_iter_new(m->store.kv, NULL, STORE_LIVE, STR_EMPTY);
    enum err_code code = ERR_OK;
    for (; kv_iter_valid(it) && code == ERR_OK; kv_iter_next(it)) {
        struct str key = kv_iter_key(it);
        struct job j;
        if (key.len != ID_BYTES) {
            code = err_set(err, ERR_CORRUPT, "a live job has a key of %zu bytes", key.len);
            break;
        }
        struct id id = id_from_bytes(key.ptr);
        size_t payload_bytes;
        code = store_job_decode_stored(id, kv_iter_value(it), &j, &payload_bytes, err);
        if (code == ERR_OK) {
            jobs__load(m, &j, payload_bytes);
            if (j.order != 0) {
                remember_place(&loading, j.order, live_find(&m->live, id));
            }
        }
    }
    if (code == ERR_OK) {
        code = kv_iter_error(it, err);
    }
    kv_iter_free(it);
    if (loading.count > 0) {
        qsort(loading.places, loading.count, sizeof(struct place), compare_places);
    }
    for (size_t i = 0; i < loading.count; i++) {
        struct live *l = loading.places[i].live;
        struct queue *q = m->queues[l->queue];
        CHECK(q != NULL);
        if (l->push_line != 0) {
            push_lines__stand(m, q, l);
        } else {
            queues__stand(m, q, l);
        }
    }
    free(loading.places);
    return code;
}

/* The largest id among the keys of a family that begin with these bytes. */
static void note_newest(struct machine *m, unsigned family, struct str prefix)
{
    char past[1 + ID_BYTES];
    memset(past, 0xff, sizeof past);
    memcpy(past, prefix.ptr, prefix.len);
    struct kv_iter *it = kv_iter_new(m->store.kv, NULL, family, STR_EMPTY);
    kv_iter_seek_back(it, str_from(past, prefix.len + ID_BYTES));
    if (kv_iter_valid(it)) {
        struct str key = kv_iter_key(it);
        if (key.len == prefix.len + ID_BYTES && str_starts_with(key, prefix)) {
            struct id id = id_from_bytes(key.ptr + prefix.len);
            m->newest_id = id_cmp(id, m->newest_id) > 0 ? id : m->newest_id;
        }
    }
    store_end_walk(it);
}

static void load_newest(struct machine *m)
{
    static const char kinds[] = {STORE_KIND_BATCH, STORE_KIND_SCHEDULE, STORE_KIND_POLICY};
    note_newest(m, STORE_LIVE, STR(""));
    note_newest(m, STORE_DONE, STR(""));
    for (size_t i = 0; i < sizeof kinds; i++) {
        note_newest(m, STORE_META, str_from(&kinds[i], 1));
    }
}

static enum err_code load(struct machine *m, const struct machine_hooks *hooks, struct err *err)
{
    spaces__load(m);
    queues__load(m);
    locks__load(m);
    replies__load(m);
    operations__load(m);
    batches__load(m);
    workers__load(m);
    apply_schedule__load(m);
    apply_bulk__load(m);
    apply_webhook__load(m);
    apply_policy__load(m);
    apply_access__load(m, hooks);
    spends__load(m);
    apply_budget__load(m);
    apply_node__load(m);
    apply_named__load(m);
    history__load(m);
    m->oldest_event_at = store_event_oldest_at(&m->store);
    m->now = m->store.meta.now;
    load_newest(m);
    dependencies__load(m);
    return load_jobs(m, err);
}

static void machine_closep(struct machine **m)
{
    machine_close(*m);
}

static void memory_init(struct machine *m)
{
    live_init(&m->live);
    heap_init_ranked(&m->due, live_due_before, live_due_rank);
    heap_init_ranked(&m->expiry, live_expiry_before, live_expiry_rank);
    store_event_block_init(&m->events);
    /* Decoded commands, results, new texts: what is in the log has to be applied. */
    m->arena = arena_new(SIZE_MAX);
    push_lines__open(m);
    marks_init(&m->names);
    map_init(&m->fresh_names);
}

static void memory_deinit(struct machine *m)
{
    apply_bulk__close(m);
    apply_schedule__close(m);
    apply_webhook__close(m);
    apply_policy__close(m);
    apply_access__close(m);
    apply_budget__close(m);
    spends__close(m);
    apply_node__close(m);
    workers__close(m);
    batches__close(m);
    replies__close(m);
    operations__close(m);
    locks__close(m);
    dependencies__close(m);
    push_lines__close(m);
    marks_deinit(&m->names);
    map_deinit(&m->fresh_names);
    queues__close(m);
    spaces__close(m);
    history__close(m);
    heap_deinit(&m->due);
    heap_deinit(&m->expiry);
    live_deinit(&m->live);
    store_event_block_deinit(&m->events);
    arena_free(m->arena);
    free(m->changed);
}

enum err_code machine_open(const char *path, const struct machine_hooks *hooks,
                           struct machine **out_machine, struct err *err)
{
    ATTR_CLEANUP(machine_closep) struct machine *m = calloc(1, sizeof *m);
    CHECK(m != NULL);
    memory_init(m);
    if (store_open(&m->store, path, err) != ERR_OK || load(m, hooks, err) != ERR_OK) {
        return err_wrap(err, "open the state in %s", path);
    }
    /* Not before: what is loaded is no news, except who may do what. */
    m->hooks = *hooks;
    *out_machine = TAKE(m);
    return ERR_OK;
}

enum err_code machine_replace(struct machine *m, const char *path, struct err *err)
{
    struct machine_hooks hooks = m->hooks;
    uint64_t changes = m->webhook_changes + 1; /* whoever has a copy of something reads it again */
    uint64_t puts = m->bulk_puts + 1;
    uint64_t nodes = m->node_changes + 1;
    memory_deinit(m);
    /* Others read through the store meanwhile, and through nothing else. */
    memset((char *)m + sizeof m->store, 0, sizeof *m - sizeof m->store);
    memory_init(m);
    if (store_replace(&m->store, path, err) != ERR_OK || load(m, &hooks, err) != ERR_OK) {
        return err_wrap(err, "open the state in %s", path);
    }
    m->hooks = hooks;
    m->webhook_changes = changes;
    m->bulk_puts = puts;
    m->node_changes = nodes;
    return ERR_OK;
}

void machine_close(struct machine *m)
{
    if (m == NULL) {
        return;
    }
    memory_deinit(m);
    store_close(&m->store);
    free(m);
}

/* Applying */

static void begin_entry(struct machine *m, uint64_t index, const struct command_entry *e)
{
    CHECK(index > m->store.meta.applied_index);
    CHECK(m->dirty_queues == NULL);
    CHECK(m->dirty_batches == NULL);
    CHECK(m->history_dirty == NULL);
    CHECK(m->events.count == 0);
    m->index = index;
    m->next_number = 0;
    if (m->fresh_names.count > 0) { /* they were in the arena */
        map_deinit(&m->fresh_names);
        map_init(&m->fresh_names);
    }
    arena_reset(m->arena);
    m->changed_count = 0;
    m->events_on = e->events;
    m->entry_version = e->version;
    m->store.bodies = e->version >= COMMAND_ENTRY_VERSION;
    m->extra_bytes = 0;
    /* The leader's clock may step back, or another leader's be behind: time here does not. */
    if (e->now.ns > m->now.ns) {
        m->now = e->now;
    }
    throughput_begin(&m->throughput, m->now);
    m->results = MACHINE_ARRAY(m, struct result, e->count);
    m->result_count = e->count;
}

/* Events that are too old go. What is remembered is never later than the oldest block, so a replica
 * that was restarted, and knows it exactly, trims in the same entry. Each removal is a range that
 * every later walk has to know: it goes by steps of minutes, not with every entry. */
static void trim_events(struct machine *m)
{
    struct wall keep_from = wall_add_ms(m->now, -(int64_t)LIMIT_EVENTS_KEPT_MS);
    if (m->entry_version >= 3) {
        keep_from.ns -= keep_from.ns % (LIMIT_EVENTS_TRIM_MS * NS_PER_MS);
    }
    if (m->oldest_event_at.ns != 0 && m->oldest_event_at.ns < keep_from.ns) {
        struct wall oldest = store_event_trim(&m->store, keep_from);
        m->oldest_event_at = oldest.ns == 0 && m->events.count > 0 ? m->now : oldest;
    }
}

static void end_entry(struct machine *m)
{
    batches__write_dirty(m);
    queues__write_dirty(m);
    operations__write(m);
    history__write(m);
    CHECK(m->dirty_queues == NULL);
    CHECK(m->dirty_batches == NULL);
    CHECK(m->pending_count <= m->live.count);
    CHECK(m->due.count <= m->live.count);
    CHECK(m->expiry.count <= m->live.count);
    CHECK(m->locks.count == m->lock_expiry.count);
    CHECK(m->replies.count == m->reply_expiry.count);
    CHECK(m->workers.count == m->worker_prune.count);
    CHECK(m->push_line_free <= m->push_line_count);
    CHECK(m->now.ns >= m->store.meta.now.ns);
    CHECK(m->index > m->store.meta.applied_index);
    m->store.meta.applied_index = m->index;
    m->store.meta.now = m->now;
    trim_events(m);
    store_event_write(&m->store, &m->events);
    store_commit(&m->store);
    for (uint32_t i = 0; i < m->changed_count && m->hooks.changed != NULL; i++) {
        m->hooks.changed(m->hooks.data, m->changed[i]);
    }
    apply_access__tell(m);
}

void machine_apply(struct machine *m, uint64_t index, struct str entry)
{
    struct command_entry e;
    struct err err;
    struct str bytes;
    if (command_entry_decode(entry, &e, &err) != ERR_OK) {
        check_fatal("entry %llu cannot be applied: %s", (unsigned long long)index, err.msg);
    }
    begin_entry(m, index, &e);
    for (uint32_t i = 0; i < m->result_count; i++) {
        struct command c;
        bool there = command_entry_next(&e, &bytes);
        CHECK(there);
        if (command_decode(bytes, m->arena, &c, &err) != ERR_OK) {
            check_fatal("entry %llu cannot be applied: %s", (unsigned long long)index, err.msg);
        }
        m->results[i] = (struct result){0};
        m->version = c.version;
        /* Nothing begins in a full entry; so whatever begins gets on by at least one job. */
        if (machine__is_full(m)) {
            m->results[i].postponed = true;
        } else if (!operations__find(m, e.name, e.since, &m->results[i])) {
            uint64_t before = cost_of(m);
            CHECK(c.type <= COMMAND_TYPE_LAST);
            CHECK(appliers[c.type] != NULL);
            appliers[c.type](m, &c, &m->results[i]);
            CHECK(cost_of(m) >= before);
            m->results[i].cost = cost_of(m) - before;
            operations__keep(m, e.name, c.type, &m->results[i]);
        }
    }
    end_entry(m);
}

/* Asking */

const struct result *machine_results(const struct machine *m, uint32_t *out_count)
{
    *out_count = m->result_count;
    return m->results;
}

uint64_t machine_applied_index(const struct machine *m)
{
    return m->store.meta.applied_index;
}

uint64_t machine_state_hash(const struct machine *m)
{
    return m->store.meta.state_hash;
}

uint64_t machine_digest(struct machine *m)
{
    return store_digest(&m->store);
}

static void earliest(struct wall *at, const struct heap *h, int64_t after)
{
    int64_t first = heap_first_key(h);
    if (first < at->ns - after) {
        at->ns = first + after;
    }
}

struct wall machine_now(const struct machine *m)
{
    return m->now;
}

struct wall machine_next_tick(const struct machine *m)
{
    struct wall at = {.ns = INT64_MAX};
    earliest(&at, &m->releases, 0);
    earliest(&at, &m->due, 0);
    earliest(&at, &m->expiry, 1);
    earliest(&at, &m->lock_expiry, 0);
    earliest(&at, &m->reply_expiry, 0);
    earliest(&at, &m->worker_prune, 1);
    return at;
}

/* Ids of active jobs, while there is room. */
struct leases {
    struct id *out;
    uint32_t count, max;
};

static bool add_lease(void *data, struct heap_node *node)
{
    struct leases *leases = data;
    const struct live *l = CONTAINER_OF(node, const struct live, due);
    if (l->state == JOB_ACTIVE) {
        leases->out[leases->count++] = l->id;
    }
    return leases->count < leases->max;
}

/* Jobs that wait for their time are due as well, perhaps a great many: those are passed over. */
uint32_t machine_ending_leases(const struct machine *m, struct wall until, struct id *out,
                               uint32_t max, bool *out_more)
{
    struct leases leases = {.out = out, .max = max};
    CHECK(max > 0);
    heap_each_until(&m->due, until.ns, add_lease, &leases);
    *out_more = leases.count == max;
    return leases.count;
}

bool machine_next_schedule(const struct machine *m, struct machine_due_schedule *out)
{
    return apply_schedule__first(m, out);
}

uint32_t machine_due_schedules(const struct machine *m, struct wall now,
                               struct machine_due_schedule *out, uint32_t max)
{
    return apply_schedule__due(m, now, out, max);
}

bool machine_next_bulk(const struct machine *m, struct id after, struct machine_bulk *out)
{
    const struct bulk *found = NULL;
    for (uint32_t i = 0; i < m->bulk_count; i++) {
        const struct bulk *b = m->bulks[i];
        if (store_bulk_is_over(&b->rec)) {
            continue;
        }
        if (found == NULL) {
            found = b; /* the first one of all, unless there is one behind */
        }
        if (id_cmp(b->id, after) > 0) {
            found = b;
            break;
        }
    }
    if (found != NULL) {
        *out = (struct machine_bulk){.id = found->id, .rec = found->rec};
    }
    return found != NULL;
}

uint64_t machine_webhook_changes(const struct machine *m)
{
    return m->webhook_changes;
}

uint64_t machine_bulk_puts(const struct machine *m)
{
    return m->bulk_puts;
}

bool machine_claimable(struct machine *m, struct str queue, struct wall now, struct wall *out_until)
{
    const struct queue *q = queues__find(m, queue);
    *out_until = WALL_NONE;
    return q != NULL && machine__in_line(q) > 0 && queues__open(q, now, out_until) &&
           !apply_budget__blocks(m, queue);
}

uint32_t machine_claimable_count(struct machine *m, struct str queue, struct wall now)
{
    const struct queue *q = queues__find(m, queue);
    if (q == NULL || apply_budget__blocks(m, queue)) {
        return 0;
    }
    uint32_t waiting = machine__in_line(q);
    uint32_t places = queues__places(q, now);
    return waiting < places ? waiting : places;
}

uint32_t machine_places(struct machine *m, struct str queue, struct wall now, bool opened)
{
    const struct queue *q = queues__find(m, queue);
    if (apply_budget__blocks(m, queue)) {
        return 0;
    }
    return q == NULL ? UINT32_MAX : opened ? queues__limits(q, now) : queues__places(q, now);
}

uint32_t machine_in_line(struct machine *m, struct str queue)
{
    const struct queue *q = queues__find(m, queue);
    return q == NULL ? 0 : machine__in_line(q);
}

uint32_t machine_due_queues(const struct machine *m, struct wall now, struct str *out, uint32_t max)
{
    struct heap_node **due = calloc(max, sizeof(struct heap_node *));
    CHECK(due != NULL);
    uint32_t found = heap_until(&m->due, now.ns, due, max);
    for (uint32_t i = 0; i < found; i++) {
        const struct live *l = CONTAINER_OF(due[i], const struct live, due);
        out[i] = m->queues[l->queue]->node.key;
    }
    free(due);
    return found;
}

bool machine_over_budget(struct machine *m, struct str queue)
{
    return apply_budget__blocks(m, queue);
}

void machine_each_push_line(struct machine *m, struct wall now, uint32_t first,
                            bool (*fn)(void *data, const struct machine_push_line *l), void *data)
{
    push_lines__each(m, now, first, fn, data);
}

struct wall machine_push_throttled_until(struct machine *m, struct wall now)
{
    return push_lines__throttled_until(m, now);
}

bool machine_worker_is_stale(struct machine *m, const struct command_claim *c, struct wall now)
{
    return workers__is_stale(m, c, now);
}

struct store *machine_store(struct machine *m)
{
    return &m->store;
}

static void describe_queue(const struct machine *m, const struct queue *q,
                           struct machine_queue *out)
{
    *out = (struct machine_queue){.name = q->node.key,
                                  .paused = q->rec.paused,
                                  .max_concurrency = q->rec.max_concurrency,
                                  .throttle_rate = q->rec.throttle_rate,
                                  .throttle_window_ms = q->rec.throttle_window_ms,
                                  .created_at = q->rec.created_at,
                                  .failures = q->rec.failures,
                                  .named_count = q->named_count,
                                  .named_bytes = q->named_bytes,
                                  .timed_out = q->rec.timed_out,
                                  .timed_out_waiting = q->timed_out_waiting,
                                  .pending_again = q->pending_again,
                                  .recurring = q->recurring + q->rec.recurring,
                                  .lost_total = q->rec.lost_total,
                                  .last_ended_at = q->rec.last_ended_at,
                                  .oldest_pending = queues__oldest_pending(m, q)};
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        out->count[s] = q->live_count[s];
    }
    out->count[JOB_COMPLETED] = q->rec.completed;
    out->count[JOB_DEAD] = q->rec.dead;
    out->count[JOB_CANCELLED] = q->rec.cancelled;
}

void machine_each_queue(struct machine *m, void (*fn)(void *data, const struct machine_queue *q),
                        void *data)
{
    for (uint32_t i = 0; i < m->queue_count; i++) {
        if (m->queues[i] != NULL) {
            struct machine_queue q;
            describe_queue(m, m->queues[i], &q);
            fn(data, &q);
        }
    }
}

bool machine_queue_find(struct machine *m, struct str name, struct machine_queue *out)
{
    const struct queue *q = queues__find(m, name);
    if (q != NULL) {
        describe_queue(m, q, out);
    }
    return q != NULL;
}

void machine_each_worker(struct machine *m, void (*fn)(void *data, const struct machine_worker *w),
                         void *data)
{
    workers__each(m, fn, data);
}

const struct throughput *machine_throughput(const struct machine *m)
{
    return &m->throughput;
}

uint64_t machine_index_bytes(const struct machine *m)
{
    uint64_t items = (uint64_t)m->due.cap + m->expiry.cap;
    for (uint32_t i = 0; i < m->queue_count; i++) {
        items += m->queues[i] == NULL ? 0 : m->queues[i]->aside.cap;
    }
    return live_bytes(&m->live) + marks_bytes(&m->names) + items * sizeof(struct heap_item);
}

void machine_space(const struct machine *m, struct str ns, struct machine_space *out)
{
    const struct space *s = spaces__find(m, ns);
    *out = (struct machine_space){0};
    if (s != NULL) {
        *out = (struct machine_space){
            .jobs = s->jobs, .payload_bytes = s->payload_bytes, .queues = s->queues};
    }
}

uint64_t machine_live_count(const struct machine *m)
{
    return m->live.count;
}

enum err_code machine_checkpoint(struct machine *m, const char *dir, struct err *err)
{
    struct kv *kv = store_hold(&m->store);
    enum err_code code = kv_checkpoint(kv, dir, err);
    kv_close(kv);
    return code;
}
