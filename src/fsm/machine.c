#include "fsm/machine.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
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

/* Opening */

/* A pending job and its place, while the lines are rebuilt. */
struct place {
    uint64_t order;
    struct live_job *live;
};

struct loading {
    struct place *places;
    size_t count;
    size_t cap;
    bool out_of_order; /* some jobs are in line after newer ones */
};

static int compare_places(const void *a, const void *b)
{
    uint64_t x = ((const struct place *)a)->order;
    uint64_t y = ((const struct place *)b)->order;
    return (x > y) - (x < y);
}

static void remember_place(struct loading *l, uint64_t order, struct live_job *live)
{
    if (l->count == l->cap) {
        l->cap = l->cap == 0 ? 1024 : l->cap * 2;
        l->places = realloc(l->places, l->cap * sizeof(struct place));
        CHECK(l->places != NULL);
    }
    CHECK(!live->in_line);
    l->out_of_order |= l->count > 0 && order < l->places[l->count - 1].order;
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
            struct live_job *l = jobs__load(m, &j, payload_bytes);
            if (j.order != 0) {
                remember_place(&loading, j.order, l);
            }
        }
    }
    if (code == ERR_OK) {
        code = kv_iter_error(it, err);
    }
    kv_iter_free(it);
    if (loading.out_of_order) {
        qsort(loading.places, loading.count, sizeof(struct place), compare_places);
    }
    for (size_t i = 0; i < loading.count; i++) {
        struct live_job *l = loading.places[i].live;
        struct queue *q = m->queues[l->queue];
        CHECK(q != NULL);
        if (l->push_line != 0) {
            push_lines__stand(m, q, l);
        } else {
            queue_lines__stand(m, q, l);
        }
    }
    free(loading.places);
    queues__settle_oldest(m); /* so that the first entry updates only the queues that it changes */
    return code;
}

/* Raise newest_id to the largest id among the keys of a family that have this prefix. */
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
    m->hooks.slot_ns = hooks->slot_ns; /* loaded jobs wait in slots, too */
    spaces__load(m);
    queue_records__load(m);
    locks__load(m);
    promises__load(m);
    replies__load(m);
    operations__load(m);
    batches__load(m);
    workers__load(m);
    apply_schedule__load(m);
    apply_bulk__load(m);
    apply_webhook__load(m);
    policies__load(m);
    apply_access__load(m, hooks);
    spends__load(m);
    apply_budget__load(m);
    apply_node__load(m);
    names__load(m);
    history__load(m);
    tallies__load(m);
    m->oldest_event_at = store_event_oldest_at(&m->store);
    m->now = m->store.meta.now;
    load_newest(m);
    releases__load(m);
    dependencies__load(m);
    return load_jobs(m, err);
}

static void machine_closep(struct machine **m)
{
    machine_close(*m);
}

static void memory_init(struct machine *m)
{
    live_index_init(&m->live_index);
    heap_init_ranked(&m->due, live_index_due_before, live_index_due_rank);
    heap_init_ranked(&m->expiry, live_index_expiry_before, live_index_expiry_rank);
    store_event_block_init(&m->events);
    /* For decoded commands, results and new texts. Without a limit, because every entry of the log
     * must be applied. */
    m->arena = arena_new(SIZE_MAX);
    push_lines__open(m);
    marks_init(&m->names);
    map_init(&m->fresh_names);
    map_init(&m->givens);
}

static void memory_deinit(struct machine *m)
{
    apply_bulk__close(m);
    apply_schedule__close(m);
    apply_webhook__close(m);
    policies__close(m);
    apply_access__close(m);
    apply_budget__close(m);
    spends__close(m);
    apply_node__close(m);
    workers__close(m);
    batches__close(m);
    replies__close(m);
    operations__close(m);
    locks__close(m);
    promises__close(m);
    dependencies__close(m);
    releases__close(m);
    push_lines__close(m);
    marks_deinit(&m->names);
    map_deinit(&m->fresh_names);
    map_deinit(&m->givens);
    queue_records__close(m);
    spaces__close(m);
    history__close(m);
    tallies__close(m);
    heap_deinit(&m->due);
    heap_deinit(&m->expiry);
    live_index_deinit(&m->live_index);
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
    /* Set after loading, because loaded objects are not changes. Only access records are
     * reported. */
    m->hooks = *hooks;
    *out_machine = TAKE(m);
    return ERR_OK;
}

enum err_code machine_replace(struct machine *m, const char *path, struct err *err)
{
    struct machine_hooks hooks = m->hooks;
    uint64_t changes = m->webhook_changes + 1; /* copies must be read again */
    uint64_t puts = m->bulk_puts + 1;
    uint64_t nodes = m->node_changes + 1;
    uint64_t repeated = m->repeated_until;
    memory_deinit(m);
    /* Other threads may be reading through the store, but use nothing else. */
    memset((char *)m + sizeof m->store, 0, sizeof *m - sizeof m->store);
    memory_init(m);
    if (store_replace(&m->store, path, err) != ERR_OK || load(m, &hooks, err) != ERR_OK) {
        return err_wrap(err, "open the state in %s", path);
    }
    m->hooks = hooks;
    m->webhook_changes = changes;
    m->bulk_puts = puts;
    m->node_changes = nodes;
    m->repeated_until = repeated;
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
    CHECK(m->tallies.dirty == NULL);
    CHECK(m->events.count == 0);
    m->index = index;
    m->next_number = 0;
    m->fresh_named = NULL;
    if (m->fresh_names.count > 0) { /* the nodes were in the arena */
        map_deinit(&m->fresh_names);
        map_init(&m->fresh_names);
    }
    given__begin(m);
    arena_reset(m->arena);
    m->changed_count = 0;
    m->events_on = e->events;
    m->entry_version = e->version;
    m->store.bodies = e->version >= COMMAND_ENTRY_SPLIT;
    m->store.oldest = e->version >= COMMAND_ENTRY_AGED;
    m->extra_bytes = 0;
    /* The leader's clock may step back, or the clock of a new leader may be behind. The machine's
     * time does not go back. */
    if (e->now.ns > m->now.ns) {
        m->now = e->now;
    }
    throughput_begin(&m->throughput, m->now, index <= m->repeated_until);
    m->results = ENTRY_ARRAY(m, struct result, e->count);
    m->result_count = e->count;
}

/* Remove events that are too old. oldest_event_at is never later than the oldest block. So a node
 * that was restarted, and knows the exact time, removes blocks in the same entry as the others.
 * Each removal is a range that every later read must skip, so since version 3 it is done in steps
 * of minutes and not with every entry. */
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
    batch_end__write_dirty(m);
    queue_records__write(m);
    given__write(m);
    operations__write(m);
    history__write(m);
    tallies__write(m);
    CHECK(m->dirty_queues == NULL);
    CHECK(m->dirty_batches == NULL);
    CHECK(m->pending_count <= m->live_index.count);
    CHECK(m->due.count <= m->live_index.count);
    CHECK(m->expiry.count <= m->live_index.count);
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
        /* No command starts in a full entry, so a command that starts makes progress by at least
         * one job. */
        if (entry__is_full(m)) {
            m->results[i].postponed = true;
        } else if (!operations__find(m, e.name, e.since, &m->results[i])) {
            uint64_t before = entry__cost(m);
            CHECK(c.type <= COMMAND_TYPE_LAST);
            CHECK(appliers[c.type] != NULL);
            appliers[c.type](m, &c, &m->results[i]);
            CHECK(entry__cost(m) >= before);
            m->results[i].cost = entry__cost(m) - before;
            operations__keep(m, e.name, c.type, &m->results[i]);
        } else {
            apply_batch__seal_again(m, &c, &m->results[i]);
        }
    }
    end_entry(m);
}

/* Reading */

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

struct wall machine_now(const struct machine *m)
{
    return m->now;
}

struct store *machine_store(struct machine *m)
{
    return &m->store;
}

enum err_code machine_checkpoint(struct machine *m, const char *dir, struct err *err)
{
    struct kv *kv = store_hold(&m->store);
    enum err_code code = kv_checkpoint(kv, dir, err);
    kv_close(kv);
    return code;
}
