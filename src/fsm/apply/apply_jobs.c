/*
 * Jobs: operators' actions on jobs: on one job, or on a chunk of a bulk operation.
 *
 * To add an action: a number in command_jobs.h, a function here, and a row in the table.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"

/* Apply the action to j. False if it is refused; r then has the reason. */
typedef bool (*action_fn)(struct machine *m, const struct command_jobs *c, struct job *j,
                          enum store_family was_in, struct result *r);

/* Put the job back into line, from any state. */
static void back_in_line(struct machine *m, struct job *j, enum store_family was_in)
{
    j->scheduled_at = WALL_NONE;
    j->hold_reason = STR_EMPTY;
    jobs__clear_claim(j);
    jobs__join(m, j);
    jobs__write(m, j, was_in);
}

static bool again(struct machine *m, struct job *j, enum store_family was_in)
{
    bool waits = was_in == STORE_DONE && j->waits_for.len > 0;
    struct id missing;
    j->failed_at = WALL_NONE;
    j->completed_at = WALL_NONE;
    j->cancelled_at = WALL_NONE;
    if (j->push.len > 0) { /* this is a new run */
        j->due_at = m->now;
        j->first_try_at = WALL_NONE;
        j->cancel_reason = STR_EMPTY;
    }
    jobs__forget_end(j);
    if (m->version >= 2 && j->expire_at.ns != 0 && j->expire_at.ns < m->now.ns) {
        j->expire_at = WALL_NONE; /* a job that runs again must not expire at once */
    }
    if (was_in == STORE_DONE) {
        releases__undo(m, j->id);
    }
    if (waits) {
        (void)dependencies__settle(m, j, &missing); /* missing jobs will never complete */
    }
    back_in_line(m, j, was_in);
    if (waits) {
        dependencies__add(m, j);
    }
    jobs__emit(m, STORE_EVENT_RETRIED, j);
    return true;
}

static bool do_retry(struct machine *m, const struct command_jobs *c, struct job *j,
                     enum store_family was_in, struct result *r)
{
    (void)c;
    if (!jobs__move(m, j, JOB_MOVE_RETRY, ERR_RETRY, r)) {
        return false;
    }
    j->attempt = 0;
    return again(m, j, was_in);
}

static bool do_requeue(struct machine *m, const struct command_jobs *c, struct job *j,
                       enum store_family was_in, struct result *r)
{
    (void)c;
    return jobs__move(m, j, JOB_MOVE_REQUEUE, ERR_RETRY, r) && again(m, j, was_in);
}

static bool do_cancel(struct machine *m, const struct command_jobs *c, struct job *j,
                      enum store_family was_in, struct result *r)
{
    /* The API of named jobs shows a held job as pending, which can be cancelled. */
    if (j->name.len > 0 && j->state == JOB_HELD) {
        j->state = JOB_CANCELLED;
        j->hold_reason = STR_EMPTY;
    } else if (!jobs__move(m, j, JOB_MOVE_CANCEL, ERR_CANCEL, r)) {
        return false;
    }
    if (j->push.len > 0) {
        j->cancel_reason = c->reason;
        j->outcome = JOB_OUTCOME_CANCELLED;
    }
    job_end__cancelled(m, j, was_in);
    return true;
}

static bool do_hold(struct machine *m, const struct command_jobs *c, struct job *j,
                    enum store_family was_in, struct result *r)
{
    bool active = j->state == JOB_ACTIVE;
    if (!jobs__move(m, j, JOB_MOVE_HOLD, ERR_HOLD, r)) {
        return false;
    }
    if (active) {
        jobs__tell_taken(m, j);
        tries__abandoned(m, j, JOB_OUTCOME_CANCELLED, STR("the job was held"));
    }
    jobs__clear_claim(j);
    j->scheduled_at = WALL_NONE;
    j->hold_reason = c->reason;
    jobs__write(m, j, was_in);
    jobs__emit_event(
        m, &(struct store_event){
               .type = STORE_EVENT_HELD, .job = j->id, .queue = j->queue, .text = c->reason});
    return true;
}

static bool do_approve(struct machine *m, const struct command_jobs *c, struct job *j,
                       enum store_family was_in, struct result *r)
{
    (void)c;
    if (!jobs__move(m, j, JOB_MOVE_APPROVE, ERR_APPROVE, r)) {
        return false;
    }
    if (m->version >= 2 && j->ended == JOB_ENDED_CONTINUE) {
        j->attempt = 0; /* the next iteration begins: retries count per iteration */
        j->ended = JOB_ENDED_ACK;
    }
    if (m->entry_version >= COMMAND_ENTRY_SOUND && j->push.len > 0 && j->due_at.ns > m->now.ns) {
        j->due_at = m->now; /* it runs now; what was planned for later is another run */
    }
    back_in_line(m, j, was_in);
    jobs__emit(m, STORE_EVENT_APPROVED, j);
    return true;
}

static struct str rejection(struct machine *m, struct str reason)
{
    struct buf text;
    if (reason.len == 0) {
        return STR("rejected");
    }
    buf_init(&text, LIMIT_REASON_BYTES + 16);
    buf_add_str(&text, STR("rejected: "));
    buf_add_str(&text, reason);
    return entry__keep(m, &text);
}

static bool do_reject(struct machine *m, const struct command_jobs *c, struct job *j,
                      enum store_family was_in, struct result *r)
{
    if (!jobs__move(m, j, JOB_MOVE_REJECT, ERR_REJECT, r)) {
        return false;
    }
    struct str error = rejection(m, c->reason);
    jobs__clear_claim(j);
    j->hold_reason = STR_EMPTY;
    jobs__add_error(m, j, error, STR_EMPTY);
    jobs__emit(m, STORE_EVENT_REJECTED, j);
    job_end__dead(m, j, was_in, error);
    return true;
}

static bool do_move(struct machine *m, const struct command_jobs *c, struct job *j,
                    enum store_family was_in, struct result *r)
{
    struct str from = j->queue;
    if (j->name.len > 0) {
        entry__refuse(m, r, ERR_MOVE,
                      "job " STR_FMT " cannot be moved: its name belongs to the queue",
                      STR_ARG(entry__id_text(m, j->id, ID_JOB)));
        return false;
    }
    locks__move(m, j, c->queue);
    j->queue = c->queue;
    if (c->reset_attempts) {
        j->attempt = j->state == JOB_ACTIVE ? 1 : 0; /* the attempt that is running counts */
        jobs__forget_end(j); /* the result of that end cannot be repeated any more */
    }
    jobs__join(m, j);
    jobs__write(m, j, was_in);
    jobs__emit_event(m, &(struct store_event){.type = STORE_EVENT_MOVED,
                                              .job = j->id,
                                              .queue = j->queue,
                                              .text = from,
                                              .text2 = j->queue});
    return true;
}

static bool do_change_priority(struct machine *m, const struct command_jobs *c, struct job *j,
                               enum store_family was_in, struct result *r)
{
    if (j->state != JOB_SCHEDULED && j->state != JOB_PENDING) {
        entry__refuse(m, r, ERR_BULK, "cannot change the priority of job " STR_FMT " in state %s",
                      STR_ARG(entry__id_text(m, j->id, ID_JOB)), job_state_name(j->state));
        return false;
    }
    if (m->entry_version >= COMMAND_ENTRY_SOUND && j->priority == c->priority) {
        return true; /* it keeps its place */
    }
    j->priority = c->priority;
    jobs__write(m, j, was_in);
    jobs__emit(m, STORE_EVENT_PRIORITY_CHANGED, j);
    return true;
}

static bool do_delete(struct machine *m, const struct command_jobs *c, struct job *j,
                      enum store_family was_in, struct result *r)
{
    (void)c;
    (void)r;
    job_end__removed(m, j, was_in);
    return true;
}

static const action_fn actions[] = {
    [COMMAND_JOB_RETRY] = do_retry,     [COMMAND_JOB_REQUEUE] = do_requeue,
    [COMMAND_JOB_CANCEL] = do_cancel,   [COMMAND_JOB_HOLD] = do_hold,
    [COMMAND_JOB_APPROVE] = do_approve, [COMMAND_JOB_REJECT] = do_reject,
    [COMMAND_JOB_MOVE] = do_move,       [COMMAND_JOB_CHANGE_PRIORITY] = do_change_priority,
    [COMMAND_JOB_DELETE] = do_delete,
};

/* Read the live documents of many jobs together: most of the jobs were created in sequence. */
static void fetch_ahead(struct machine *m, const struct id *ids, size_t count)
{
    struct id live[STORE_DOCS_FETCH_MAX];
    size_t live_count = 0;
    for (size_t i = 0; i < count && i < STORE_DOCS_FETCH_MAX; i++) {
        if (live_index_find(&m->live_index, ids[i]) != NULL) {
            live[live_count++] = ids[i];
        }
    }
    if (live_count > 1) {
        store_docs_fetch(m->store.docs, live, live_count);
    }
}

/* Was the job brought into its queue or back into line after an operation with a filter began, or
 * would the operation end a job with which a request was answered since? */
static bool is_later(const struct machine *m, const struct command_jobs *cj, const struct job *j)
{
    if (id_is_none(cj->until)) {
        return false;
    }
    bool spares = m->entry_version >= COMMAND_ENTRY_SPARING && command_job_action_ends(cj->action);
    return id_cmp(j->joined, cj->until) > 0 ||
           (spares && id_cmp(promises__since(m, j->id), cj->until) > 0);
}

void apply_jobs__each(struct machine *m, const struct command_jobs *cj, struct str ns,
                      struct result *r)
{
    CHECK(cj->action < COUNT_OF(actions));
    for (size_t i = 0; i < cj->count; i++) {
        if (entry__is_full(m)) {
            r->more = true;
            r->done = (uint32_t)i;
            return;
        }
        if (i % STORE_DOCS_FETCH_MAX == 0) {
            fetch_ahead(m, cj->ids + i, cj->count - i);
        }
        struct job j;
        enum store_family family;
        bool found =
            job_read__need(m, cj->ids[i], &j, &family, r) && queue_name_is_visible(ns, j.queue);
        /* A job that has left the filter since is treated like one in another state: another
         * request has changed it and was answered. */
        bool fits = found && job_fit_has(&cj->fit, &j) && !is_later(m, cj, &j);
        enum job_state before = found ? j.state : JOB_SCHEDULED;
        if (fits && actions[cj->action](m, cj, &j, family, r)) {
            r->affected++;
            r->state = before;
        } else if (!cj->lenient) {
            return;
        } else {
            r->missing += found ? 0 : 1;
            r->code = ERR_OK; /* skipped */
        }
    }
}

void apply_jobs(struct machine *m, const struct command *c, struct result *r)
{
    apply_jobs__each(m, &c->jobs, STR_EMPTY, r);
}
