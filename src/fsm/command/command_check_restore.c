/*
 * Checks of what a backup contains.
 */
#include "base/limits.h"
#include "fsm/command/command_check_int.h"

/* Check that the machine can continue with the job in its state. */
static enum err_code check_restored_state(const struct field_place *at, const struct job *j,
                                          struct err *err)
{
    if (j->created_at.ns <= 0) {
        return field__bad(at, "created_at", "is required", err);
    }
    if ((j->state == JOB_SCHEDULED || j->state == JOB_RETRYING) && j->scheduled_at.ns <= 0) {
        return field__bad(at, "scheduled_at", "is required in this state", err);
    }
    if (j->state == JOB_ACTIVE && (j->lease_expires_at.ns <= 0 || j->started_at.ns <= 0)) {
        return field__bad(at, "lease_expires_at", "and started_at are required in state active",
                          err);
    }
    if (j->expire_at.ns < 0 || j->started_at.ns < 0 || j->completed_at.ns < 0 ||
        j->failed_at.ns < 0 || j->cancelled_at.ns < 0 || j->lease_expires_at.ns < 0) {
        return field__bad(at, "times", "must not be before 1970", err);
    }
    return j->error_count > LIMIT_JOB_ERRORS || j->iteration_count > LIMIT_RESTORE_ROWS ||
                   j->usage_count > LIMIT_RESTORE_ROWS
               ? field__bad(at, "errors, iterations and usage", "are too many", err)
               : ERR_OK;
}

static enum err_code check_restored_job(const struct field_place *at,
                                        const struct command_restore_item *i, struct err *err)
{
    static const struct command_limits any_payload = {0};
    const struct job *j = &i->job;
    if (id_is_none(i->id)) {
        return field__bad(at, "id", "is required", err);
    }
    if (command_check__new(at, &(struct command_new){.job = *j}, &command_names_http, &any_payload,
                           err) != ERR_OK ||
        check_restored_state(at, j, err) != ERR_OK ||
        field__json(at, "progress", j->progress, LIMIT_PROGRESS_BYTES, err) != ERR_OK ||
        field__json(at, "result", j->result, LIMIT_RESULT_BYTES, err) != ERR_OK ||
        field__text(at, "worker_id", j->worker_id, LIMIT_WORKER_ID_BYTES, err) != ERR_OK ||
        field__text(at, "hostname", j->hostname, LIMIT_WORKER_ID_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return field__text(at, "hold_reason", j->hold_reason, LIMIT_REASON_BYTES, err);
}

static enum err_code check_restored_queue(const struct field_place *at,
                                          const struct command_restore_item *i, struct err *err)
{
    const struct store_queue *q = &i->queue;
    if (field__queue_name(at, "name", i->name, err) != ERR_OK) {
        return err->code;
    }
    if ((q->throttle_rate == 0) != (q->throttle_window_ms == 0) || q->throttle_window_ms < 0 ||
        q->throttle_rate > LIMIT_THROTTLE_RATE) {
        return field__bad(at, "rate_limit", "and rate_window_ms must be positive or left out", err);
    }
    return q->created_at.ns < 0 ? field__bad(at, "created_at", "must not be before 1970", err)
                                : ERR_OK;
}

static enum err_code check_restored_row(const struct field_place *at,
                                        const struct command_restore_item *i, struct err *err)
{
    if (i->kind == COMMAND_RESTORE_ERROR) {
        return field__text(at, "error", i->error.error, LIMIT_ERROR_BYTES, err) != ERR_OK
                   ? err->code
                   : field__text(at, "backtrace", i->error.backtrace, LIMIT_BACKTRACE_BYTES, err);
    }
    if (i->kind == COMMAND_RESTORE_USAGE) {
        return field__usage(at, &i->usage.tokens, err);
    }
    const struct store_iteration *n = &i->iteration;
    if (field__json(at, "checkpoint", n->checkpoint, LIMIT_RESULT_BYTES, err) != ERR_OK ||
        field__json(at, "result", n->result, LIMIT_RESULT_BYTES, err) != ERR_OK ||
        field__text(at, "hold_reason", n->hold_reason, LIMIT_REASON_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return field__usage(at, &n->tokens, err);
}

static enum err_code check_restored(const struct field_place *at,
                                    const struct command_restore_item *i,
                                    const struct command_limits *limits, struct err *err)
{
    struct command put = {.type = COMMAND_SCHEDULE_PUT};
    const char *large = command_restore__large_counter(i);
    if (large != NULL) {
        return field__bad(at, large, "is too large", err);
    }
    switch ((int)i->kind) {
    case COMMAND_RESTORE_QUEUE:
        return check_restored_queue(at, i, err);
    case COMMAND_RESTORE_SCHEDULE:
        put.schedule_put.schedule = i->schedule;
        return command_check__schedule_put(&put, limits, err);
    case COMMAND_RESTORE_BATCH:
        return command_check__callback(i->batch.callback_queue, i->batch.callback_payload, limits,
                                       err);
    case COMMAND_RESTORE_JOB:
        return check_restored_job(at, i, err);
    case COMMAND_RESTORE_WEBHOOK:
        put.webhook_put = (struct command_webhook_put){.id = i->name, .webhook = i->webhook};
        return i->name.len == 0 ? field__bad(at, "id", "is required", err)
                                : command_check__webhook_put(&put, limits, err);
    case COMMAND_RESTORE_POLICY:
        put.policy_put.policy = i->policy;
        return command_check__policy_put(&put, limits, err);
    case COMMAND_RESTORE_BUDGET:
        return command_access__check_record(STORE_ACCESS_BUDGET, i->name, i->budget.body, err);
    default: /* the decoder has checked the sums */
        return i->kind == COMMAND_RESTORE_TALLY ? ERR_OK : check_restored_row(at, i, err);
    }
}

enum err_code command_check__restore(const struct command *c, const struct command_limits *limits,
                                     struct err *err)
{
    struct field_place at = {.in_list = true, .list = "items", .deep = true};
    enum err_code code = ERR_OK;
    for (at.index = 0; at.index < c->restore.count && code == ERR_OK; at.index++) {
        code = check_restored(&at, &c->restore.items[at.index], limits, err);
    }
    return code;
}
