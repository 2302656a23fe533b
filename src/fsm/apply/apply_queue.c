/*
 * Queue: pause, resume, limits, clear and delete.
 *
 * A clear or delete may affect millions of jobs, so it works in steps, in the order of ids, on the
 * jobs that existed when the first step was applied. Other commands are applied in between. Jobs
 * that are enqueued, moved in or brought back into line meanwhile stay, and with them the queue and
 * its settings. So a paused queue releases none of the jobs that are still to be removed.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "store/store_job.h"

static void tell(struct machine *m, enum store_event_type type, const struct queue *q)
{
    jobs__emit_event(m, &(struct store_event){.type = type, .queue = q->node.key});
}

static void set_paused(struct machine *m, struct queue *q, bool paused)
{
    if (q->rec.paused == paused) {
        return;
    }
    q->rec.paused = paused;
    queues__touch(m, q);
    tell(m, paused ? STORE_EVENT_QUEUE_PAUSED : STORE_EVENT_QUEUE_RESUMED, q);
    if (!paused) {
        queues__ready(m, q);
    }
}

/* Is the job in the queue, and does the action remove it? */
static bool is_meant(const struct machine *m, const struct command_queue *c, const struct queue *q,
                     struct id id, struct str doc)
{
    if (c->in_done) {
        struct job j;
        struct err err;
        if (live_index_find(&m->live_index, id) != NULL) {
            return false; /* this entry made it live again */
        }
        if (store_job_decode_head(id, doc, &j, &err) != ERR_OK) {
            check_fatal("a stored job cannot be read: %s", err.msg);
        }
        return str_eq(j.queue, q->node.key);
    }
    const struct live_job *l = live_index_find(&m->live_index, id);
    return l != NULL && l->queue == q->number &&
           (c->action == COMMAND_QUEUE_DELETE || l->state == JOB_PENDING ||
            l->state == JOB_SCHEDULED);
}

/* Was the job brought into the queue or back into line after the removal began, though its id is
 * older, or was a request answered with it since? A clear removes only jobs that were waiting when
 * it began. */
static bool is_later(const struct machine *m, const struct command_queue *c, const struct job *j,
                     struct id until)
{
    return id_cmp(j->joined, until) > 0 || id_cmp(promises__since(m, j->id), until) > 0 ||
           (c->action == COMMAND_QUEUE_CLEAR && id_cmp(j->waits_since, until) > 0);
}

/* Move the iterator to the next job that existed when the first step was applied. Younger jobs are
 * skipped at once. Ids that are later than the present were restored, and contain the time of a
 * wrong clock: such jobs are removed, too. False at the end. */
static bool pass_younger(const struct machine *m, struct kv_iter *it, struct id until)
{
    struct id present = id_make(m->now, m->index, UINT32_MAX);
    if (kv_iter_valid(it)) {
        struct str key = kv_iter_key(it);
        CHECK(key.len == ID_BYTES);
        struct id id = id_from_bytes(key.ptr);
        if (id_cmp(id, until) >= 0 && id_cmp(id, present) <= 0) {
            kv_iter_seek(it, str_from(present.b, ID_BYTES));
        }
    }
    return kv_iter_valid(it);
}

/* One step in one family. True if its end was reached. */
static bool remove_some(struct machine *m, const struct command_queue *c, const struct queue *q,
                        struct id until, struct result *r)
{
    enum store_family family = c->in_done ? STORE_DONE : STORE_LIVE;
    struct kv_iter *it = kv_iter_new(m->store.kv, NULL, family, str_from(c->cursor.b, ID_BYTES));
    unsigned docs_max = c->small_step ? LIMIT_BULK_QUEUE_DOCS : LIMIT_STEP_DOCS;
    unsigned jobs_max = c->small_step ? LIMIT_BULK_QUEUE_JOBS : LIMIT_TICK_JOBS;
    bool end = true;
    for (unsigned seen = 0; pass_younger(m, it, until); kv_iter_next(it), seen++) {
        struct id id = id_from_bytes(kv_iter_key(it).ptr);
        if (seen == docs_max || r->affected == jobs_max || entry__is_full(m)) {
            r->cursor = id;
            end = false;
            break;
        }
        if (c->in_done) {
            m->extra_bytes += kv_iter_value(it).len; /* of a live job, only the key is read */
        }
        struct job j;
        enum store_family in;
        /* The iterator's document may be older than this entry: read the current one. */
        if (is_meant(m, c, q, id, kv_iter_value(it)) && job_read__get(m, id, &j, &in) &&
            str_eq(j.queue, q->node.key) && !is_later(m, c, &j, until)) {
            job_end__removed(m, &j, in);
            r->affected++;
        }
    }
    store_end_walk(it);
    return end;
}

static bool is_empty(const struct queue *q)
{
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        if (q->live_count[s] > 0) {
            return false;
        }
    }
    return q->rec.completed == 0 && q->rec.dead == 0 && q->rec.cancelled == 0;
}

/* Before version 11, the first step removed the settings, and the jobs that it left could be
 * claimed. */
void apply_queue__begin_delete(struct machine *m, struct queue *q)
{
    if (m->entry_version >= COMMAND_ENTRY_STRICT) {
        return;
    }
    queue_limits__drop_throttle(m, q);
    q->rec.paused = false;
    q->rec.max_concurrency = 0;
    queues__touch(m, q);
    queues__ready(m, q); /* jobs that this step leaves may be claimed */
}

static void remove_jobs(struct machine *m, const struct command_queue *c, struct queue *q,
                        struct result *r)
{
    bool deleting = c->action == COMMAND_QUEUE_DELETE;
    bool first_step = id_is_none(c->until);
    struct id until = first_step ? id_make(m->now, m->index, 0) : c->until;
    if (deleting && first_step) {
        apply_queue__begin_delete(m, q);
    }
    bool end = remove_some(m, c, q, until, r);
    r->until = until;
    r->in_done = c->in_done;
    r->more = !end;
    if (end && deleting && !c->in_done) {
        r->more = true;
        r->in_done = true;
        r->cursor = ID_NONE;
    }
    if (r->more) {
        queues__note_removal(m, q, until);
    } else {
        tell(m, deleting ? STORE_EVENT_QUEUE_DELETED : STORE_EVENT_QUEUE_CLEARED, q);
        if (deleting && is_empty(q)) {
            queue_limits__drop_throttle(m, q);
            q->gone = true;
            spends__queue_gone(m, q->node.key);
        }
        queues__touch(m, q);
    }
}

void apply_queue__remove(struct machine *m, const struct command_queue *c, struct result *r)
{
    struct queue *q = queues__find(m, c->name);
    if (q != NULL && !q->gone) {
        remove_jobs(m, c, q, r);
    }
}

void apply_queue(struct machine *m, const struct command *c, struct result *r)
{
    const struct command_queue *cq = &c->queue;
    const struct queue *known = queues__find(m, cq->name);
    if (cq->action == COMMAND_QUEUE_DELETE && (known == NULL || known->gone)) {
        return;
    }
    struct queue *q = queue_records__need(m, cq->name);
    switch (cq->action) {
    case COMMAND_QUEUE_PAUSE:
    case COMMAND_QUEUE_RESUME:
        set_paused(m, q, cq->action == COMMAND_QUEUE_PAUSE);
        break;
    case COMMAND_QUEUE_CONCURRENCY:
        q->rec.max_concurrency = cq->max;
        queues__touch(m, q);
        queues__ready(m, q);
        break;
    case COMMAND_QUEUE_THROTTLE:
        if (queue_limits__set_throttle(m, q, cq->rate, cq->window_ms)) {
            queues__ready(m, q);
        }
        break;
    case COMMAND_QUEUE_UNTHROTTLE:
        queue_limits__drop_throttle(m, q);
        queues__ready(m, q);
        break;
    case COMMAND_QUEUE_CLEAR:
    case COMMAND_QUEUE_DELETE:
        remove_jobs(m, cq, q, r);
        break;
    default:
        UNREACHABLE("the decoder lets no other action through");
    }
}
