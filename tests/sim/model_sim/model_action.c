/*
 * Actions on jobs by their ids (http-api.md 5.2, 5.3, 6.14, 9, 11.1).
 */
#include "base/buf.h"
#include "base/check.h"
#include "sim/model_sim/model_int.h"

enum { TEXT_BYTES = 1 << 16 };

static bool waits_or_runs(enum job_state s)
{
    return s == JOB_SCHEDULED || s == JOB_PENDING || s == JOB_ACTIVE || s == JOB_RETRYING;
}

/* Does the action apply to a job in this state? */
static bool applies(enum command_job_action action, enum job_state s)
{
    switch (action) {
    case COMMAND_JOB_RETRY:
        return s == JOB_SCHEDULED || s == JOB_COMPLETED || s == JOB_DEAD || s == JOB_CANCELLED;
    case COMMAND_JOB_REQUEUE:
        return s == JOB_DEAD;
    case COMMAND_JOB_CANCEL:
    case COMMAND_JOB_HOLD:
        return waits_or_runs(s);
    case COMMAND_JOB_APPROVE:
    case COMMAND_JOB_REJECT:
        return s == JOB_HELD;
    case COMMAND_JOB_CHANGE_PRIORITY:
        return s == JOB_SCHEDULED || s == JOB_PENDING;
    case COMMAND_JOB_MOVE:
    case COMMAND_JOB_DELETE:
        return true;
    }
    UNREACHABLE("an action has a number");
}

static enum err_code refusal(enum command_job_action action)
{
    static const enum err_code codes[] = {
        [COMMAND_JOB_RETRY] = ERR_RETRY,   [COMMAND_JOB_CANCEL] = ERR_CANCEL,
        [COMMAND_JOB_HOLD] = ERR_HOLD,     [COMMAND_JOB_APPROVE] = ERR_APPROVE,
        [COMMAND_JOB_REJECT] = ERR_REJECT,
    };
    CHECK(action < COUNT_OF(codes));
    return codes[action];
}

static void retry(struct model *m, struct model_job *j, bool keep_attempt)
{
    if (job_state_is_terminal(j->doc.state)) {
        model_job_owes_nothing(m, j->doc.id);
        j->doc.waits_for = model_enqueue_unmet(m, j->doc.waits_for);
    }
    j->doc.attempt = keep_attempt ? j->doc.attempt : 0;
    j->doc.ended = JOB_ENDED_NOT;
    j->doc.fail_ended_at = (struct wall){0};
    if (model_job_expired(m, j)) {
        j->doc.expire_at = (struct wall){0};
    }
    j->doc.failed_at = (struct wall){0};
    j->doc.completed_at = (struct wall){0};
    j->doc.cancelled_at = (struct wall){0};
    j->doc.scheduled_at = (struct wall){0};
    j->doc.hold_reason = STR_EMPTY;
    model_job_clear_worker(j);
    model_job_join(m, j);
    model_job_to_state(m, j, JOB_PENDING);
    (void)model_event(m, STORE_EVENT_RETRIED, &j->doc);
}

/* Cancel a job. A cancelled member of a batch counts as failed. */
static void cancel(struct model *m, struct model_job *j)
{
    j->doc.cancelled_at = m->now;
    j->doc.scheduled_at = (struct wall){0};
    model_job_clear_worker(j);
    model_job_to_state(m, j, JOB_CANCELLED);
    model_lock_release(m, j);
    (void)model_event(m, STORE_EVENT_CANCELLED, &j->doc);
    model_batch_count_end(m, j, false);
}

static void hold(struct model *m, struct model_job *j, struct str reason)
{
    j->doc.hold_reason = model_keep(m, reason);
    j->doc.scheduled_at = (struct wall){0};
    model_job_clear_worker(j);
    model_job_to_state(m, j, JOB_HELD);
    struct store_event *e = model_event(m, STORE_EVENT_HELD, &j->doc);
    if (e != NULL) {
        e->text = j->doc.hold_reason;
    }
}

static void approve(struct model *m, struct model_job *j)
{
    if (j->doc.ended == JOB_ENDED_CONTINUE) {
        j->doc.ended = JOB_ENDED_ACK;
        j->doc.attempt = 0;
    }
    j->doc.hold_reason = STR_EMPTY;
    j->doc.scheduled_at = (struct wall){0};
    model_job_clear_worker(j);
    model_job_join(m, j);
    model_job_to_state(m, j, JOB_PENDING);
    (void)model_event(m, STORE_EVENT_APPROVED, &j->doc);
}

static void reject(struct model *m, struct model_job *j, struct str reason)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_printf(&text, "rejected%s" STR_FMT, reason.len > 0 ? ": " : "", STR_ARG(reason));
    struct str error = model_keep(m, buf_str(&text));
    buf_deinit(&text);
    j->doc.hold_reason = STR_EMPTY;
    model_job_add_error(m, j, error, STR_EMPTY);
    (void)model_event(m, STORE_EVENT_REJECTED, &j->doc);
    model_job_die(m, j, error);
}

static void move(struct model *m, struct model_job *j, const struct command_jobs *c)
{
    struct str from = j->doc.queue;
    (void)model_queue_of(m, c->queue);
    model_lock_move(m, j, c->queue);
    j->doc.queue = model_keep(m, c->queue);
    if (c->reset_attempts) {
        j->doc.attempt = j->doc.state == JOB_ACTIVE ? 1 : 0; /* free: the running attempt counts */
        j->doc.ended = JOB_ENDED_NOT; /* free: earlier failures are forgotten */
        j->doc.fail_ended_at = (struct wall){0};
    }
    model_job_join(m, j);
    model_job_to_state(m, j, j->doc.state);
    struct store_event *e = model_event(m, STORE_EVENT_MOVED, &j->doc);
    if (e != NULL) {
        e->text = from;
        e->text2 = j->doc.queue;
    }
}

/* Free: the job moves to the end of the line of its new priority. With the same priority it keeps
 * its place. */
static void change_priority(struct model *m, struct model_job *j, uint8_t priority)
{
    if (m->version >= COMMAND_ENTRY_SOUND && j->doc.priority == priority) {
        return;
    }
    j->doc.priority = priority;
    model_job_to_state(m, j, j->doc.state);
    (void)model_event(m, STORE_EVENT_PRIORITY_CHANGED, &j->doc);
}

static void act(struct model *m, struct model_job *j, const struct command_jobs *c)
{
    switch (c->action) {
    case COMMAND_JOB_RETRY:
        retry(m, j, false);
        break;
    case COMMAND_JOB_REQUEUE:
        retry(m, j, true);
        break;
    case COMMAND_JOB_CANCEL:
        cancel(m, j);
        break;
    case COMMAND_JOB_HOLD:
        hold(m, j, c->reason);
        break;
    case COMMAND_JOB_APPROVE:
        approve(m, j);
        break;
    case COMMAND_JOB_REJECT:
        reject(m, j, c->reason);
        break;
    case COMMAND_JOB_MOVE:
        move(m, j, c);
        break;
    case COMMAND_JOB_CHANGE_PRIORITY:
        change_priority(m, j, c->priority);
        break;
    case COMMAND_JOB_DELETE:
        model_job_delete(m, j);
        break;
    }
}

/* Does the job still match the filter? */
static bool still_meant(const struct job_fit *fit, const struct job *j)
{
    if (fit->states != 0 && (fit->states & 1U << j->state) == 0) {
        return false;
    }
    if (fit->priorities != 0 && (fit->priorities & 1U << j->priority) == 0) {
        return false;
    }
    return fit->queue.len == 0 || str_eq(fit->queue, j->queue);
}

/* Was the job brought into its queue after an operation with a filter began? Or would the operation
 * end a job with which a request was answered since? */
static bool is_later(const struct model *m, const struct model_job *j, const struct command_jobs *c)
{
    bool spares = m->version >= COMMAND_ENTRY_SPARING && command_job_action_ends(c->action);
    return id_cmp(j->doc.joined, c->until) > 0 || (spares && id_cmp(j->promised, c->until) > 0);
}

void model_action(struct model *m, const struct command_jobs *c, struct result *out)
{
    for (size_t i = 0; i < c->count; i++) {
        struct model_job *j = model_find_job(m, c->ids[i]);
        if (j == NULL) {
            out->missing++;
            if (!c->lenient) {
                model_refuse(out, ERR_NOT_FOUND);
                return;
            }
        } else if (still_meant(&c->fit, &j->doc) && (id_is_none(c->until) || !is_later(m, j, c)) &&
                   applies(c->action, j->doc.state)) {
            out->state = j->doc.state;
            out->affected++;
            act(m, j, c);
        } else if (!c->lenient) {
            model_refuse(out, refusal(c->action));
            return;
        }
    }
}

/* Free: the copy has the retry options of the source. If an iteration has several rows, the newest
 * one counts. Rows of the same entry are not visible yet. */
void model_replay(struct model *m, const struct command_replay *c, struct result *out)
{
    const struct model_job *source = model_find_job(m, c->id);
    if (source == NULL) {
        model_refuse(out, ERR_NOT_FOUND);
        return;
    }
    const struct store_iteration *row = NULL;
    for (const struct model_iteration *it = source->iterations; it != NULL; it = it->next) {
        row = it->row.iteration == c->from && it->index < m->index ? &it->row : row;
    }
    if (!source->doc.is_agent || row == NULL) {
        model_refuse(out, ERR_REPLAY);
        return;
    }
    const struct model_job *j = model_job_create(m, &(struct job){
                                                        .queue = source->doc.queue,
                                                        .payload = source->doc.payload,
                                                        .priority = source->doc.priority,
                                                        .tags = source->doc.tags,
                                                        .is_agent = true,
                                                        .agent = source->doc.agent,
                                                        .checkpoint = row->checkpoint,
                                                        .backoff = source->doc.backoff,
                                                        .max_retries = source->doc.max_retries,
                                                        .retry_base_ms = source->doc.retry_base_ms,
                                                        .retry_max_ms = source->doc.retry_max_ms,
                                                    });
    out->id = j->doc.id;
}
