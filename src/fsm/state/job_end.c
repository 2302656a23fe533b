/*
 * Job_end: the consequences when a job completes, dies, is cancelled or is removed.
 *
 * The batch is counted before the job is written, because the document records that it was. Jobs
 * that result from the end (the next step, a failure handler) are created after it, so that readers
 * of the event log see the cause before the effect.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

void job_end__completed(struct machine *m, struct job *j, enum store_family was_in,
                        const struct job_end_ack *ack)
{
    CHECK(j->state == JOB_COMPLETED);
    j->completed_at = m->now;
    history__ran(m, j);
    batches__count(m, j, true);
    jobs__write(m, j, was_in);
    jobs__emit(m, STORE_EVENT_COMPLETED, j);
    locks__release(m, j);
    chains__completed(m, j, ack);
    releases__completed(m, j->id);
}

void job_end__dead(struct machine *m, struct job *j, enum store_family was_in, struct str error)
{
    CHECK(j->state == JOB_DEAD);
    j->failed_at = m->now;
    batches__count(m, j, false);
    jobs__write(m, j, was_in);
    jobs__emit(m, STORE_EVENT_DEAD, j);
    chains__dead(m, j, error);
}

void job_end__expired(struct machine *m, struct job *j, enum store_family was_in)
{
    bool moved = job_move_target(j->state, JOB_MOVE_EXPIRE, &j->state);
    CHECK(moved);
    CHECK(j->state == JOB_DEAD);
    j->scheduled_at = WALL_NONE;
    j->hold_reason = STR_EMPTY;
    jobs__add_error(m, j, STR("job expired"), STR_EMPTY);
    jobs__emit(m, STORE_EVENT_EXPIRED, j);
    job_end__dead(m, j, was_in, STR("job expired"));
}

void job_end__cancelled(struct machine *m, struct job *j, enum store_family was_in)
{
    CHECK(j->state == JOB_CANCELLED);
    if (j->lease_expires_at.ns != 0) {
        jobs__tell_taken(m, j);
        tries__abandoned(m, j, JOB_OUTCOME_CANCELLED, STR("the job was cancelled"));
    }
    j->cancelled_at = m->now;
    j->scheduled_at = WALL_NONE;
    jobs__clear_claim(j);
    batches__count(m, j, false);
    jobs__write(m, j, was_in);
    jobs__emit(m, STORE_EVENT_CANCELLED, j);
    locks__release(m, j);
}

void job_end__removed(struct machine *m, struct job *j, enum store_family was_in)
{
    if (j->state == JOB_ACTIVE && j->push.len > 0 && m->hooks.push_gone != NULL) {
        m->hooks.push_gone(m->hooks.data, j->id);
    }
    if (j->state == JOB_ACTIVE) {
        jobs__tell_taken(m, j);
    }
    batches__count(m, j, false);
    locks__release(m, j);
    jobs__remove(m, j, was_in);
    jobs__emit(m, STORE_EVENT_DELETED, j);
}

/* The result of a failure of j at this time. */
static void outcome_at(const struct job *j, struct wall at, struct result *out)
{
    bool expired = j->expire_at.ns != 0 && j->expire_at.ns < at.ns;
    out->attempt = j->attempt;
    out->remaining = expired ? 0 : job_attempts_remaining(j);
    out->state = out->remaining > 0 ? JOB_RETRYING : JOB_DEAD;
    out->at = out->remaining > 0 ? wall_add_ms(at, job_backoff_delay_ms(j, j->attempt)) : WALL_NONE;
}

void job_end__failed_again(const struct job *j, struct result *r)
{
    outcome_at(j, j->fail_ended_at, r);
}

static void count_failure(struct machine *m, const struct job *j)
{
    struct queue *q = queue_records__need(m, j->queue);
    q->rec.failures++;
    history__ran(m, j);
    queues__touch(m, q);
}

static void tell_failure(struct machine *m, const struct job *j, struct str error,
                         const struct result *out)
{
    jobs__emit_event(m, &(struct store_event){.type = STORE_EVENT_FAILED,
                                              .job = j->id,
                                              .queue = j->queue,
                                              .text = str_at_most(error, LIMIT_EVENT_ERROR_BYTES),
                                              .attempt = j->attempt,
                                              .remaining = out->remaining,
                                              .next_attempt_at = out->at});
}

void job_end__run_failed(struct machine *m, struct job *j, struct str error)
{
    struct result out = {0};
    count_failure(m, j);
    jobs__add_error(m, j, error, STR_EMPTY);
    tell_failure(m, j, error, &out);
}

static void fail(struct machine *m, struct job *j, struct str error, struct str backtrace,
                 struct wall not_before, struct result *out)
{
    outcome_at(j, m->now, out);
    if (out->remaining > 0 && out->at.ns < not_before.ns) {
        out->at = not_before;
    }
    bool moved =
        job_move_target(j->state, out->remaining > 0 ? JOB_MOVE_FAIL : JOB_MOVE_EXHAUST, &j->state);
    CHECK(moved);
    CHECK(j->state == out->state); /* the result for the worker has the job's new state */
    count_failure(m, j);
    jobs__add_error(m, j, error, backtrace);
    jobs__clear_claim(j);
    j->hold_reason = STR_EMPTY;
    j->failed_at = m->now;
    j->scheduled_at = out->at;
    tell_failure(m, j, error, out);
    if (out->remaining > 0) {
        jobs__write(m, j, STORE_LIVE);
        jobs__emit(m, STORE_EVENT_RETRYING, j);
    } else {
        job_end__dead(m, j, STORE_LIVE, error);
    }
}

void job_end__failed(struct machine *m, struct job *j, struct str error, struct str backtrace,
                     struct result *r)
{
    struct result unheard = {0};
    fail(m, j, error, backtrace, WALL_NONE, r != NULL ? r : &unheard);
}

void job_end__failed_later(struct machine *m, struct job *j, struct str error,
                           int64_t not_before_ms)
{
    struct result unheard = {0};
    fail(m, j, error, STR_EMPTY, wall_add_ms(m->now, not_before_ms), &unheard);
}
