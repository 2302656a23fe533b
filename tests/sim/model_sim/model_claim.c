/*
 * Claim (http-api.md 6.4, 6.5, 6.10, 8.1): queues in the given order, and the first jobs in line of
 * each.
 */
#include "base/buf.h"
#include "base/check.h"
#include "base/limits.h"
#include "sim/model_sim/model_int.h"
#include "store/store_job.h"

enum { DOC_BYTES = 1 << 20 };

/* Count the claims of the queue within its window. */
static uint64_t claims_in_window(const struct model_queue *q, struct wall now)
{
    uint64_t count = 0;
    for (size_t i = 0; i < q->claim_count; i++) {
        count += wall_add_ms(q->claims[i], q->window_ms).ns > now.ns ? 1 : 0;
    }
    return count;
}

static bool has_place(const struct model *m, const struct model_queue *q)
{
    return q->max_concurrency == 0 || model_count(m, q->name, JOB_ACTIVE) < q->max_concurrency;
}

static bool throttled(const struct model_queue *q, struct wall now)
{
    return q->rate > 0 && claims_in_window(q, now) >= q->rate;
}

/* The first job in line: pending, without dependencies, by priority, then by the time it became
 * pending. */
static struct model_job *first_in_line(const struct model *m, struct str queue)
{
    struct model_job *best = NULL;
    for (size_t i = 0; i < m->jobs.count; i++) {
        struct model_job *j = model_job_at(m, i);
        if (j->doc.state != JOB_PENDING || j->doc.waits_for.len > 0 ||
            !str_eq(j->doc.queue, queue)) {
            continue;
        }
        if (best == NULL || j->doc.priority < best->doc.priority ||
            (j->doc.priority == best->doc.priority && j->doc.order < best->doc.order)) {
            best = j;
        }
    }
    return best;
}

static void claim_job(struct model *m, struct model_queue *q, struct model_job *j,
                      const struct command_claim *c)
{
    j->doc.attempt++;
    j->claimed_from = j->doc.order;
    j->doc.worker_id = model_keep(m, c->worker_id);
    j->doc.hostname = model_keep(m, c->hostname);
    j->doc.started_at = m->now;
    j->doc.lease_expires_at = wall_add_ms(m->now, c->lease_ms);
    j->doc.lease_token = ++m->lease_token;
    j->doc.ended = JOB_ENDED_NOT;
    j->doc.fail_ended_at = (struct wall){0};
    model_job_to_state(m, j, JOB_ACTIVE);
    if (q->rate > 0) {
        model_queue_remember_claim(m, q);
    }
    struct store_event *e = model_event(m, STORE_EVENT_STARTED, &j->doc);
    if (e != NULL) {
        e->text = j->doc.worker_id;
        e->attempt = j->doc.attempt;
    }
}

static struct str document(struct model *m, const struct model_job *j)
{
    struct buf doc;
    buf_init(&doc, DOC_BYTES);
    store_job_encode(&j->doc, &doc);
    struct str kept = model_keep(m, buf_str(&doc));
    buf_deinit(&doc);
    return kept;
}

/* Claim the next job of the queue. Expired jobs in line are ended. */
static struct model_job *claim_from(struct model *m, struct str queue,
                                    const struct command_claim *c, uint32_t count)
{
    struct model_queue *q = model_find_queue(m, queue);
    while (q != NULL && !q->paused && has_place(m, q) && !throttled(q, m->now)) {
        struct model_job *j = first_in_line(m, queue);
        if (j == NULL || !model_reaches(m, j->doc.id) ||
            (m->reach != NULL && count == m->reach->got->count && !model_job_expired(m, j))) {
            return NULL;
        }
        if (!model_job_expired(m, j)) {
            claim_job(m, q, j, c);
            return j;
        }
        model_job_expire(m, j);
    }
    return NULL;
}

void model_claim(struct model *m, const struct command_claim *c, struct result *out)
{
    out->items = model_alloc(m, c->count * sizeof *out->items);
    for (size_t i = 0; i < c->queue_count; i++) {
        while (out->count < c->count) {
            const struct model_job *j = claim_from(m, c->queues[i], c, out->count);
            if (j == NULL) {
                break;
            }
            out->items[out->count++] = (struct result_item){
                .id = j->doc.id, .doc = document(m, j), .order = j->claimed_from};
        }
    }
    out->more = m->reach != NULL && m->reach->got->more;
    if (c->worker_id.len > 0) {
        model_worker_seen(m, c);
    }
}

/* Count the jobs in the same line with this order or a lower one. */
static size_t ahead_of(const struct model *m, const struct model_job *j, uint64_t order)
{
    size_t count = 0;
    for (size_t i = 0; i < m->jobs.count; i++) {
        const struct job *o = &model_job_at(m, i)->doc;
        count += o->state == JOB_PENDING && o->waits_for.len == 0 &&
                         str_eq(o->queue, j->doc.queue) && o->priority == j->doc.priority &&
                         o->order <= order
                     ? 1
                     : 0;
    }
    return count;
}

/* Undo the claim of each job. Free: if hundreds of jobs are before it, a job goes to the end of the
 * line. */
void model_claim_return(struct model *m, const struct command_return *c, struct result *out)
{
    for (size_t i = c->count; i > 0; i--) {
        const struct command_return_item *item = &c->items[i - 1];
        struct model_job *j = model_find_job(m, item->id);
        if (j == NULL || j->doc.state != JOB_ACTIVE || j->doc.lease_token != item->lease_token) {
            continue;
        }
        bool has_place = item->order != 0 && item->order < m->next_order &&
                         ahead_of(m, j, item->order) <= LIMIT_CLAIM_COUNT;
        uint64_t next = m->next_order;
        j->doc.attempt--;
        model_job_clear_worker(j);
        model_job_to_state(m, j, JOB_PENDING);
        if (has_place) {
            j->doc.order = item->order;
            m->next_order = next;
        }
        (void)model_event(m, STORE_EVENT_RECLAIMED, &j->doc);
        out->affected++;
    }
}

/* Count jobs as long as the limits allow one more claim. */
uint32_t model_claimable_count(const struct model *m, struct str queue, struct wall now)
{
    const struct model_queue *q = model_find_queue(m, queue);
    uint64_t active = model_count(m, queue, JOB_ACTIVE);
    uint64_t claims = q == NULL ? 0 : claims_in_window(q, now);
    uint32_t count = 0;
    for (size_t i = 0; q != NULL && !q->paused && i < m->jobs.count; i++) {
        const struct job *j = &model_job_at(m, i)->doc;
        if (j->state == JOB_PENDING && j->waits_for.len == 0 && str_eq(j->queue, queue) &&
            (q->max_concurrency == 0 || active + count < q->max_concurrency) &&
            (q->rate == 0 || claims + count < q->rate)) {
            count++;
        }
    }
    return count;
}

bool model_claimable(const struct model *m, struct str queue, struct wall now,
                     struct wall *out_until)
{
    *out_until = (struct wall){0};
    const struct model_queue *q = model_find_queue(m, queue);
    if (q == NULL || q->paused || !has_place(m, q) || first_in_line(m, queue) == NULL) {
        return false;
    }
    if (!throttled(q, now)) {
        return true;
    }
    /* Find the time at which enough claims have left the window. */
    struct wall until = now;
    while (throttled(q, until)) {
        struct wall next = {.ns = INT64_MAX};
        for (size_t i = 0; i < q->claim_count; i++) {
            struct wall leaves = wall_add_ms(q->claims[i], q->window_ms);
            next = leaves.ns > until.ns && leaves.ns < next.ns ? leaves : next;
        }
        until = next;
    }
    *out_until = until;
    return false;
}
