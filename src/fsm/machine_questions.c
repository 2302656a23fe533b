/*
 * Queries of the machine between two entries. They change nothing.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"
#include "fsm/machine.h"
#include "store/store_job.h"

static void earliest(struct wall *at, const struct heap *h, int64_t after)
{
    int64_t first = heap_first_key(h);
    if (first < at->ns - after) {
        at->ns = first + after;
    }
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

/* A list of ids of active jobs, with limited room. */
struct leases {
    struct id *out;
    uint32_t count, max;
};

static bool add_lease(void *data, struct heap_node *node)
{
    struct leases *leases = data;
    const struct live_job *l = CONTAINER_OF(node, const struct live_job, due);
    if (l->state == JOB_ACTIVE) {
        leases->out[leases->count++] = l->id;
    }
    return leases->count < leases->max;
}

/* Jobs that wait for their due time are in the same heap, possibly very many: they are skipped. */
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
            found = b; /* the first of all, unless a later one follows */
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
    return q != NULL && machine__in_line(q) > 0 && queue_limits__open(q, now, out_until) &&
           !apply_budget__blocks(m, queue, now, out_until);
}

/* Read the first job in line from the store, because reads through store_docs_get count as cost of
 * an entry. */
static bool read_first(struct machine *m, const struct queue *q, struct buf *doc, struct job *out)
{
    const struct live_job *l = queue_lines__first(m, q);
    struct err err;
    return l != NULL && store_docs_read(&m->store, l->id, doc) &&
           store_job_decode(l->id, buf_str(doc), out, &err) == ERR_OK;
}

bool machine_next_is_held(struct machine *m, struct str queue, struct wall now,
                          struct wall *out_until)
{
    const struct queue *q = queues__find(m, queue);
    struct job j;
    struct buf doc;
    *out_until = WALL_NONE;
    if (q == NULL || m->tag_budgets == 0) {
        return false;
    }
    buf_init(&doc, SIZE_MAX);
    bool held = read_first(m, q, &doc, &j) && (j.expire_at.ns == 0 || j.expire_at.ns >= now.ns) &&
                apply_budget__holds(m, &j, now, out_until);
    buf_deinit(&doc);
    return held;
}

uint32_t machine_claimable_count(struct machine *m, struct str queue, struct wall now)
{
    const struct queue *q = queues__find(m, queue);
    if (q == NULL || machine_over_budget(m, queue, now)) {
        return 0;
    }
    uint32_t waiting = machine__in_line(q);
    uint32_t places = queue_limits__places(q, now);
    return waiting < places ? waiting : places;
}

uint32_t machine_places(struct machine *m, struct str queue, struct wall now, bool opened)
{
    const struct queue *q = queues__find(m, queue);
    if (machine_over_budget(m, queue, now)) {
        return 0;
    }
    return q == NULL ? UINT32_MAX
           : opened  ? queue_limits__places_unpaused(q, now)
                     : queue_limits__places(q, now);
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
        const struct live_job *l = CONTAINER_OF(due[i], const struct live_job, due);
        out[i] = m->queues[l->queue]->node.key;
    }
    free(due);
    return found;
}

bool machine_over_budget(struct machine *m, struct str queue, struct wall now)
{
    struct wall until;
    return apply_budget__blocks(m, queue, now, &until);
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
                                  .slots = q->slots.count,
                                  .lost_total = q->rec.lost_total,
                                  .last_ended_at = q->rec.last_ended_at,
                                  .oldest_pending = queue_lines__oldest_pending(m, q)};
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

struct calling {
    struct machine *m;
    struct str name;
    void (*fn)(void *data, const struct machine_queue *q);
    void *data;
};

static void call_one(struct map_node *space, void *data)
{
    const struct calling *c = data;
    struct machine_queue q;
    struct buf internal;
    buf_init(&internal, LIMIT_INTERNAL_NAME_BYTES);
    queue_name_add_internal(&internal, space->key, c->name);
    if (!internal.overflow && machine_queue_find(c->m, buf_str(&internal), &q)) {
        c->fn(c->data, &q);
    }
    buf_deinit(&internal);
}

void machine_each_queue_called(struct machine *m, struct str name,
                               void (*fn)(void *data, const struct machine_queue *q), void *data)
{
    struct calling c = {.m = m, .name = name, .fn = fn, .data = data};
    map_each(&m->spaces, call_one, &c);
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

void machine_repeats_until(struct machine *m, uint64_t index)
{
    m->repeated_until = index;
}

uint64_t machine_index_bytes(const struct machine *m)
{
    uint64_t items = (uint64_t)m->due.cap + m->expiry.cap;
    return m->queue_bytes + live_index_bytes(&m->live_index) + marks_bytes(&m->names) +
           items * sizeof(struct heap_item);
}

struct machine_kept machine_kept(const struct machine *m)
{
    return (struct machine_kept){.reply_bytes = m->reply_bytes,
                                 .open_batches = m->open_batch_shares.used,
                                 .batch_bytes = m->batch_shares.used};
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
    return m->live_index.count;
}
