/*
 * Push: jobs that the server itself delivers (scheduler.md 4, 5, 7, 8).
 *
 * A claim permits one call. The result of the call is accepted only with the token of that claim.
 * The consequences of the result are part of the entry that records it: a retry, the end of the
 * job, or the next run of a recurring one.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "fsm/command/push_target.h"

/* Time after the timeout of the call, to write its result to the log. */
enum { LEASE_MARGIN_MS = 5000 };

static int64_t lease_ms(const struct command_push_claim *c, const struct job *j)
{
    int64_t timeout = push_target_timeout_ms(j->push);
    int64_t needed = timeout < INT64_MAX - LEASE_MARGIN_MS ? timeout + LEASE_MARGIN_MS : INT64_MAX;
    return needed > c->lease_ms ? needed : c->lease_ms;
}

static void hand_out(struct machine *m, const struct command_push_claim *c, struct queue *q,
                     struct job *j, struct result_item *item)
{
    if (j->first_try_at.ns == 0) {
        j->first_try_at = m->now;
    }
    j->completed_at = WALL_NONE;
    apply_claim__hand_out(m, q, j,
                          &(struct command_claim){.worker_id = c->node,
                                                  .hostname = STR_EMPTY,
                                                  .lease_ms = lease_ms(c, j)},
                          item);
}

/* Claim from a line until it is empty, its queue allows no more, or the count is reached. */
static void claim_line(struct machine *m, const struct command_push_claim *c,
                       const struct command_push_line *wanted, struct result *r)
{
    struct wall until;
    unsigned expired = 0;
    uint32_t taken = 0;
    while (taken < wanted->count && expired < LIMIT_TICK_JOBS && !entry__is_full(m)) {
        struct push_line *line = push_lines__find(m, wanted->queue, wanted->priority, wanted->host);
        struct queue *q = line == NULL ? NULL : m->queues[line->queue];
        struct job j;
        if (line == NULL || !queue_limits__open(q, m->now, &until)) {
            break;
        }
        bool found = store_docs_get(m->store.docs, STORE_LIVE,
                                    live_index_at(&m->live_index, line->line.first)->id, &j);
        CHECK(found);
        if (j.expire_at.ns != 0 && j.expire_at.ns < m->now.ns) {
            job_end__expired(m, &j, STORE_LIVE);
            expired++;
        } else {
            hand_out(m, c, q, &j, &r->items[r->count]);
            r->count++;
            taken++;
        }
    }
}

void apply_push_claim(struct machine *m, const struct command *c, struct result *r)
{
    const struct command_push_claim *p = &c->push_claim;
    size_t most = 0;
    for (size_t i = 0; i < p->count; i++) {
        most += p->lines[i].count;
    }
    r->items = ENTRY_ARRAY(m, struct result_item, most);
    for (size_t i = 0; i < p->count; i++) {
        claim_line(m, p, &p->lines[i], r);
    }
}

/* End the run: the job waits for its next run, under the same id. Without one, it is removed. */
static void rearm(struct machine *m, struct job *j, struct wall next)
{
    if (next.ns == 0 || (j->cron_until.ns != 0 && next.ns > j->cron_until.ns)) {
        job_end__removed(m, j, STORE_LIVE);
        return;
    }
    bool moved = job_move_target(j->state, JOB_MOVE_REARM, &j->state);
    CHECK(moved);
    jobs__clear_claim(j);
    j->attempt = 0;
    j->due_at = j->scheduled_at = next;
    j->first_try_at = j->completed_at = j->failed_at = WALL_NONE;
    jobs__write(m, j, STORE_LIVE);
}

static void note_end(struct machine *m, const struct job *j)
{
    if (j->name.len > 0) {
        struct queue *q = queue_records__need(m, j->queue);
        q->rec.last_ended_at = m->now;
        queues__touch(m, q);
    }
}

static void succeeded(struct machine *m, struct job *j, const struct command_push_end *it)
{
    if (it->result.len > 0) {
        j->result = it->result;
    }
    note_end(m, j);
    if (j->cron.len > 0) {
        jobs__emit(m, STORE_EVENT_COMPLETED, j);
        rearm(m, j, it->next);
        return;
    }
    bool moved = job_move_target(j->state, JOB_MOVE_COMPLETE, &j->state);
    CHECK(moved);
    jobs__clear_claim(j);
    job_end__completed(
        m, j, STORE_LIVE,
        &(struct job_end_ack){.has_result = it->result.len > 0, .result = it->result});
}

static void failed(struct machine *m, struct job *j, const struct command_push_end *it)
{
    if (it->result.len > 0) {
        j->result = it->result;
    }
    if (job_attempts_remaining(j) == 0) {
        note_end(m, j);
    }
    if (job_attempts_remaining(j) == 0 && j->cron.len > 0) {
        job_end__run_failed(m, j, it->error);
        rearm(m, j, it->next);
    } else {
        job_end__failed_later(m, j, it->error, it->retry_after_ms);
    }
}

static bool finish(struct machine *m, const struct command_push_end *it, struct wall keep_from)
{
    struct job j;
    enum store_family family;
    if (!job_read__get(m, it->id, &j, &family) || j.push.len == 0 || j.state != JOB_ACTIVE ||
        j.lease_token != it->lease_token) {
        return false; /* cancelled, removed or lost: the end of this claim is already recorded */
    }
    if (it->outcome == JOB_OUTCOME_NONE) {
        rearm(m, &j, j.cron.len > 0 ? it->next : WALL_NONE);
        return true;
    }
    tries__ended(m, &j, it, keep_from);
    if (it->outcome == JOB_OUTCOME_COMPLETED) {
        succeeded(m, &j, it);
    } else {
        failed(m, &j, it);
    }
    return true;
}

void apply_push_finish(struct machine *m, const struct command *c, struct result *r)
{
    struct wall keep_from =
        c->push_finish.keep_ms > 0 ? wall_add_ms(m->now, -c->push_finish.keep_ms) : WALL_NONE;
    for (size_t i = 0; i < c->push_finish.count; i++) {
        if (entry__is_full(m)) {
            r->more = true;
            r->done = (uint32_t)i;
            return;
        }
        r->affected += finish(m, &c->push_finish.items[i], keep_from) ? 1 : 0;
    }
}

/* The node that made the call was lost, or did not report in time. The job waits as after a
 * failure. A recurring job without attempts left is claimed once more, because its next run can
 * only be computed outside the machine. */
void apply_push__lost(struct machine *m, struct job *j)
{
    static const char text[] = "the node that made the call was lost";
    bool last = job_attempts_remaining(j) == 0;
    tries__abandoned(m, j, JOB_OUTCOME_TIMEOUT, str_from_z(text));
    if (j->name.len > 0) {
        struct queue *q = queue_records__need(m, j->queue);
        q->rec.lost_total++;
        queues__touch(m, q);
        if (m->hooks.push_lost != NULL) {
            m->hooks.push_lost(m->hooks.data, j, last);
        }
    }
    if (last && j->cron.len > 0) {
        job_end__run_failed(m, j, str_from_z(text));
        bool moved = job_move_target(j->state, JOB_MOVE_FAIL, &j->state);
        CHECK(moved);
        jobs__clear_claim(j);
        j->scheduled_at = m->now;
        jobs__write(m, j, STORE_LIVE);
        return;
    }
    if (last) {
        note_end(m, j);
    }
    job_end__failed(m, j, str_from_z(text), STR_EMPTY, NULL);
}
