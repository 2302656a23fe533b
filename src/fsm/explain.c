#include "fsm/explain.h"

#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "json/json_write.h"
#include "store/store_job.h"

/* A search for the workers of a queue. Workers store the names of their queues as a JSON array of
 * strings. A name with its quotes cannot occur inside another string, where quotes are escaped. */
struct look {
    struct str quoted;
    struct explain_queue *out;
};

static bool asks_for(const struct machine_worker *w, struct str quoted)
{
    return w->queues.len >= quoted.len &&
           memmem(w->queues.ptr, w->queues.len, quoted.ptr, quoted.len) != NULL;
}

static bool heard_before(const struct machine_worker *a, const struct machine_worker *b)
{
    return a->last_heartbeat.ns != b->last_heartbeat.ns
               ? a->last_heartbeat.ns > b->last_heartbeat.ns
               : str_cmp(a->id, b->id) < 0;
}

/* Keep the workers that were seen most recently, in order. */
static void add_worker(void *data, const struct machine_worker *w)
{
    const struct look *look = data;
    struct explain_queue *out = look->out;
    if (!asks_for(w, look->quoted)) {
        return;
    }
    out->workers_total++;
    uint32_t at = out->worker_count;
    if (at == EXPLAIN_WORKERS_MAX) {
        if (!heard_before(w, &out->workers[at - 1])) {
            return;
        }
        at--;
    } else {
        out->worker_count++;
    }
    for (; at > 0 && heard_before(w, &out->workers[at - 1]); at--) {
        out->workers[at] = out->workers[at - 1];
    }
    out->workers[at] = *w;
}

static void find_workers(struct machine *m, struct str name, struct arena *a,
                         struct explain_queue *out)
{
    enum { ESCAPED_BYTES_MAX = 6 }; /* maximum bytes of JSON per byte of a name */
    struct buf quoted;
    buf_init(&quoted, (size_t)LIMIT_INTERNAL_NAME_BYTES * ESCAPED_BYTES_MAX + 2);
    struct json_write w = json_write_to(&quoted);
    json_write_str(&w, name);
    struct look look = {.quoted = buf_str(&quoted), .out = out};
    machine_each_worker(m, add_worker, &look);
    buf_deinit(&quoted);
    for (uint32_t i = 0; i < out->worker_count; i++) {
        out->workers[i].id = arena_str(a, out->workers[i].id);
        out->workers[i].hostname = arena_str(a, out->workers[i].hostname);
        out->workers[i].queues = STR_EMPTY;
        out->workers[i].ns = STR_EMPTY;
    }
}

static void find_holders(const struct machine *m, const struct queue *q, struct explain_queue *out)
{
    uint32_t at = q->active.first;
    while (at != LIVE_NONE && out->holder_count < EXPLAIN_HOLDERS_MAX) {
        const struct live_job *l = live_index_at(&m->live_index, at);
        out->holders[out->holder_count++] = l->id;
        at = l->next;
    }
}

void explain_queue(struct machine *m, struct str name, struct wall now, struct arena *a,
                   struct explain_queue *out)
{
    const struct queue *q = queues__find(m, name);
    *out = (struct explain_queue){0};
    if (q == NULL) {
        return;
    }
    out->known = machine_queue_find(m, name, &out->settings);
    out->settings.name = STR_EMPTY;
    out->at_limit =
        q->rec.max_concurrency > 0 && q->live_count[JOB_ACTIVE] >= q->rec.max_concurrency;
    out->throttled_until = queue_limits__throttled_until(q, now);
    out->budget = apply_budget__explain_queue(m, name, now, a);
    out->waiting = machine__in_line(q);
    find_holders(m, q, out);
    find_workers(m, name, a, out);
}

/* Count the jobs before l: the lines of higher priorities, and the jobs before it in its own
 * line. */
static void find_place(const struct machine *m, const struct live_job *l, struct explain_job *out)
{
    const struct queue *q = m->queues[l->queue];
    uint32_t steps = 0;
    for (unsigned i = 0; i < q->priority_line_count && q->priority_lines[i].priority < l->priority;
         i++) {
        out->ahead += q->priority_lines[i].line.count;
    }
    for (; l->prev != LIVE_NONE && steps < EXPLAIN_STEPS_MAX; steps++) {
        l = live_index_at(&m->live_index, l->prev);
    }
    out->ahead += steps;
    out->ahead_is_least = l->prev != LIVE_NONE;
    out->in_line = true;
}

/* Copy what an explanation needs of the document, without the large texts. */
static struct job copy_of(const struct job *j, struct arena *a)
{
    struct job copy = *j;
    copy.queue = arena_str(a, j->queue);
    copy.worker_id = arena_str(a, j->worker_id);
    copy.hostname = arena_str(a, j->hostname);
    copy.hold_reason = arena_str(a, j->hold_reason);
    copy.waits_for = arena_str(a, j->waits_for);
    copy.payload = copy.unique_key = copy.tags = copy.progress = STR_EMPTY;
    copy.checkpoint = copy.result = copy.parent_id = copy.chain_id = STR_EMPTY;
    copy.chain_config = copy.agent.timeout = STR_EMPTY;
    return copy;
}

void explain_job(struct machine *m, struct id id, struct wall now, struct arena *a,
                 struct explain_job *out)
{
    const struct live_job *l = live_index_find(&m->live_index, id);
    struct job j;
    struct err err;
    struct buf doc;
    *out = (struct explain_job){0};
    buf_init(&doc, SIZE_MAX);
    if (store_docs_read(&m->store, id, &doc)) {
        if (store_job_decode(id, buf_str(&doc), &j, &err) != ERR_OK) {
            check_fatal("a document cannot be read: %s", err.msg);
        }
        out->found = true;
        out->job = copy_of(&j, a);
        if (j.state == JOB_PENDING) {
            out->budget = apply_budget__explain_job(m, &j, now, a);
        }
        if (l != NULL && l->in_line && l->state == JOB_PENDING) {
            find_place(m, l, out);
        }
        explain_queue(m, j.queue, now, a, &out->queue);
    }
    buf_deinit(&doc);
}
