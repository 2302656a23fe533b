#include "fsm/command/command_check.h"

#include "base/check.h"
#include "base/limits.h"
#include "fsm/command/command_check_int.h"

static enum err_code check_enqueue(const struct command *c, const struct command_limits *limits,
                                   struct err *err)
{
    const struct command_enqueue *e = &c->enqueue;
    const struct command_names *names = command_names_or_http(e->names);
    struct field_place at = {.in_list = e->is_list || e->count != 1, .list = names->jobs};
    if (e->count == 0) {
        return err_set(err, ERR_VALIDATION, "jobs array is required");
    }
    if (e->count > LIMIT_ENQUEUE_BATCH) {
        return err_set(err, ERR_VALIDATION, "jobs has more than %d items", LIMIT_ENQUEUE_BATCH);
    }
    for (at.index = 0; at.index < e->count; at.index++) {
        if (command_check__new(&at, &e->jobs[at.index], names, limits, err) != ERR_OK) {
            return err->code;
        }
    }
    if (field__text(&field__top, "Idempotency-Key", e->idempotency_key, LIMIT_REPLY_KEY_BYTES,
                    err) != ERR_OK) {
        return err->code;
    }
    return e->has_batch
               ? command_check__callback(e->callback_queue, e->callback_payload, limits, err)
               : ERR_OK;
}

static enum err_code check_claim(const struct command *c, const struct command_limits *limits,
                                 struct err *err)
{
    const struct command_claim *cl = &c->claim;
    struct field_place at = {.in_list = true, .list = "queues"};
    (void)limits;
    if (cl->queue_count == 0) {
        return err_set(err, ERR_VALIDATION, "queues is required");
    }
    if (cl->queue_count > LIMIT_CLAIM_QUEUES) {
        return err_set(err, ERR_VALIDATION, "queues has more than %d names", LIMIT_CLAIM_QUEUES);
    }
    for (at.index = 0; at.index < cl->queue_count; at.index++) {
        if (field__queue_name(&at, "", cl->queues[at.index], err) != ERR_OK) {
            return err->code;
        }
    }
    if (field__text(&field__top, "namespace", cl->ns, LIMIT_NAMESPACE_BYTES, err) != ERR_OK ||
        field__text(&field__top, "worker_id", cl->worker_id, LIMIT_WORKER_ID_BYTES, err) !=
            ERR_OK ||
        field__text(&field__top, "hostname", cl->hostname, LIMIT_WORKER_ID_BYTES, err) != ERR_OK ||
        field__text(&field__top, "version", cl->version, LIMIT_WORKER_VERSION_BYTES, err) !=
            ERR_OK) {
        return err->code;
    }
    if (cl->lease_ms < 1 || cl->lease_ms > LIMIT_LEASE_S_MAX * 1000LL) {
        return field__bad(&field__top, "lease_duration", "must be 1 to 86400 seconds", err);
    }
    if (cl->count < 1 || cl->count > LIMIT_CLAIM_COUNT) {
        return field__bad(&field__top, "count", "must be 1 to 512", err);
    }
    return ERR_OK;
}

static enum err_code check_next(const struct command_claim *next,
                                const struct command_limits *limits, struct err *err)
{
    struct command c = {.type = COMMAND_CLAIM, .claim = *next};
    return check_claim(&c, limits, err) == ERR_OK ? ERR_OK : err_wrap(err, "next");
}

static enum err_code check_ack(const struct command *c, const struct command_limits *limits,
                               struct err *err)
{
    const struct command_names *names = command_names_or_http(c->ack.names);
    struct field_place at = {.in_list = c->ack.lenient, .list = names->acks};
    if (c->ack.count == 0) {
        return err_set(err, ERR_VALIDATION, "acks array is required");
    }
    if (c->ack.count > LIMIT_ACK_BATCH) {
        return err_set(err, ERR_VALIDATION, "ack batch exceeds maximum of %d items",
                       LIMIT_ACK_BATCH);
    }
    for (size_t i = 0; i < c->ack.count; i++) {
        const struct command_ack_item *it = &c->ack.items[i];
        at.index = it->place;
        if (it->has_result && it->result.len == 0) {
            return field__bad(&at, names->result, "is empty", err);
        }
        if (field__json(&at, names->result, it->result, LIMIT_RESULT_BYTES, err) != ERR_OK ||
            field__json(&at, names->checkpoint, it->checkpoint, LIMIT_RESULT_BYTES, err) !=
                ERR_OK ||
            field__text(&at, "hold_reason", it->hold_reason, LIMIT_REASON_BYTES, err) != ERR_OK ||
            field__text(&at, "exit_reason", it->exit_reason, LIMIT_REASON_BYTES, err) != ERR_OK ||
            field__usage(&at, &it->usage, err) != ERR_OK) {
            return err->code;
        }
    }
    return c->ack.next == NULL ? ERR_OK : check_next(c->ack.next, limits, err);
}

static enum err_code check_fail(const struct command *c, const struct command_limits *limits,
                                struct err *err)
{
    (void)limits;
    if (field__text(&field__top, "error", c->fail.error, LIMIT_ERROR_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return field__text(&field__top, "backtrace", c->fail.backtrace, LIMIT_BACKTRACE_BYTES, err);
}

static enum err_code check_heartbeat(const struct command *c, const struct command_limits *limits,
                                     struct err *err)
{
    struct field_place at = {.in_list = true, .list = "jobs"};
    (void)limits;
    if (c->heartbeat.count > LIMIT_HEARTBEAT_JOBS) {
        return err_set(err, ERR_VALIDATION, "jobs has more than %d items", LIMIT_HEARTBEAT_JOBS);
    }
    if (field__text(&field__top, "namespace", c->heartbeat.ns, LIMIT_NAMESPACE_BYTES, err) !=
        ERR_OK) {
        return err->code;
    }
    for (at.index = 0; at.index < c->heartbeat.count; at.index++) {
        const struct command_heartbeat_item *it = &c->heartbeat.items[at.index];
        if (field__json(&at, "progress", it->progress, LIMIT_PROGRESS_BYTES, err) != ERR_OK ||
            field__json(&at, "checkpoint", it->checkpoint, LIMIT_RESULT_BYTES, err) != ERR_OK ||
            field__usage(&at, &it->usage, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static enum err_code check_jobs(const struct command *c, const struct command_limits *limits,
                                struct err *err)
{
    const struct command_jobs *j = &c->jobs;
    (void)limits;
    if (j->count == 0 || j->count > LIMIT_BULK_SYNC) {
        return err_set(err, ERR_BULK, "job_ids must have 1 to %d ids in one step", LIMIT_BULK_SYNC);
    }
    if ((j->action == COMMAND_JOB_MOVE &&
         field__queue_name(&field__top, "queue", j->queue, err) != ERR_OK) ||
        field__text(&field__top, "filter.queue", j->fit.queue, LIMIT_INTERNAL_NAME_BYTES, err) !=
            ERR_OK) {
        return err->code;
    }
    return field__text(&field__top, "reason", j->reason, LIMIT_REASON_BYTES, err);
}

static enum err_code check_replay(const struct command *c, const struct command_limits *limits,
                                  struct err *err)
{
    (void)limits;
    return c->replay.from < 1 ? err_set(err, ERR_VALIDATION, "from must be > 0") : ERR_OK;
}

static enum err_code check_queue(const struct command *c, const struct command_limits *limits,
                                 struct err *err)
{
    const struct command_queue *q = &c->queue;
    (void)limits;
    if (field__queue_name(&field__top, "queue", q->name, err) != ERR_OK) {
        return err->code;
    }
    if (q->action != COMMAND_QUEUE_THROTTLE) {
        return ERR_OK;
    }
    if (q->rate == 0 || q->window_ms <= 0) {
        return err_set(err, ERR_VALIDATION, "rate and window_ms must be positive");
    }
    return q->rate > LIMIT_THROTTLE_RATE
               ? err_set(err, ERR_VALIDATION, "rate must be at most %d", LIMIT_THROTTLE_RATE)
               : ERR_OK;
}

static enum err_code check_nothing(const struct command *c, const struct command_limits *limits,
                                   struct err *err)
{
    (void)c;
    (void)limits;
    (void)err;
    return ERR_OK;
}

static enum err_code check_purge(const struct command *c, const struct command_limits *limits,
                                 struct err *err)
{
    (void)limits;
    return c->purge.retention_ms < 0
               ? field__bad(&field__top, "retention", "must not be negative", err)
               : ERR_OK;
}

static enum err_code check_batch_open(const struct command *c, const struct command_limits *limits,
                                      struct err *err)
{
    return command_check__callback(c->batch_open.callback_queue, c->batch_open.callback_payload,
                                   limits, err);
}

static enum err_code check_bulk_put(const struct command *c, const struct command_limits *limits,
                                    struct err *err)
{
    const struct command_bulk_put *b = &c->bulk_put;
    (void)limits;
    if (b->count > LIMIT_BULK_IDS) {
        return err_set(err, ERR_BULK, "job_ids has more than %d ids", LIMIT_BULK_IDS);
    }
    if (b->filter.len > 0 && b->count > 0) {
        return err_set(err, ERR_BULK, "exactly one of filter and job_ids must be set");
    }
    if (b->action == COMMAND_JOB_MOVE &&
        field__queue_name(&field__top, "move_to_queue", b->queue, err) != ERR_OK) {
        return err->code;
    }
    if (field__json(&field__top, "filter", b->filter, LIMIT_BULK_FILTER_BYTES, err) != ERR_OK ||
        field__text(&field__top, "namespace", b->ns, LIMIT_NAME_BYTES, err) != ERR_OK ||
        field__text(&field__top, "filter.queue", b->fit.queue, LIMIT_INTERNAL_NAME_BYTES, err) !=
            ERR_OK ||
        field__text(&field__top, "queue_scope", b->scope, LIMIT_QUEUE_SCOPE_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return field__text(&field__top, "reason", b->reason, LIMIT_REASON_BYTES, err);
}

static enum err_code check_bulk_step(const struct command *c, const struct command_limits *limits,
                                     struct err *err)
{
    (void)limits;
    return c->bulk_step.count > LIMIT_BULK_CHUNK
               ? err_set(err, ERR_BULK, "a step must have at most %d ids", LIMIT_BULK_CHUNK)
               : ERR_OK;
}

static enum err_code check_bulk_end(const struct command *c, const struct command_limits *limits,
                                    struct err *err)
{
    (void)limits;
    return field__text(&field__top, "error", c->bulk_end.error, LIMIT_REASON_BYTES, err);
}

static enum err_code check_bulk_queue(const struct command *c, const struct command_limits *limits,
                                      struct err *err)
{
    (void)limits;
    return field__queue_name(&field__top, "queue", c->bulk_queue.name, err) != ERR_OK
               ? err->code
               : field__text(&field__top, "namespace", c->bulk_queue.ns, LIMIT_NAME_BYTES, err);
}

static enum err_code (*const checks[])(const struct command *c, const struct command_limits *limits,
                                       struct err *err) = {
    [COMMAND_ENQUEUE] = check_enqueue,
    [COMMAND_CLAIM] = check_claim,
    [COMMAND_ACK] = check_ack,
    [COMMAND_FAIL] = check_fail,
    [COMMAND_HEARTBEAT] = check_heartbeat,
    [COMMAND_JOBS] = check_jobs,
    [COMMAND_REPLAY] = check_replay,
    [COMMAND_QUEUE] = check_queue,
    [COMMAND_TICK] = check_nothing,
    [COMMAND_PURGE] = check_purge,
    [COMMAND_BATCH_OPEN] = check_batch_open,
    [COMMAND_BATCH_SEAL] = check_nothing,
    [COMMAND_SCHEDULE_PUT] = command_check__schedule_put,
    [COMMAND_SCHEDULE_DELETE] = check_nothing,
    [COMMAND_SCHEDULE_FIRE] = check_nothing,
    [COMMAND_WEBHOOK_PUT] = command_check__webhook_put,
    [COMMAND_WEBHOOK_DELETE] = check_nothing,
    [COMMAND_WEBHOOK_MARK] = check_nothing,
    [COMMAND_BULK_PUT] = check_bulk_put,
    [COMMAND_BULK_STEP] = check_bulk_step,
    [COMMAND_BULK_END] = check_bulk_end,
    [COMMAND_BULK_QUEUE] = check_bulk_queue,
    [COMMAND_RESTORE] = command_check__restore,
    [COMMAND_POLICY_PUT] = command_check__policy_put,
    [COMMAND_POLICY_DELETE] = check_nothing,
    [COMMAND_ACCESS] = command_access__check,
    [COMMAND_AUDIT] = command_access__check_audit,
    [COMMAND_RETURN] = check_nothing, /* the machine skips jobs that this claim does not hold */
    [COMMAND_PUSH_CLAIM] = command_push__check_claim,
    [COMMAND_PUSH_FINISH] = command_push__check_finish,
    [COMMAND_NAMED_PUT] = command_push__check_put,
    [COMMAND_NAMED_PURGE] = check_nothing,
    [COMMAND_NODE_PUT] = command_node__check_put,
    [COMMAND_NODE_STATE] = check_nothing,
};
_Static_assert(COUNT_OF(checks) == COMMAND_TYPE_LAST + 1, "every command is checked");

enum err_code command_check(const struct command *c, const struct command_limits *limits,
                            struct err *err)
{
    CHECK(command_exists(c->type));
    return checks[c->type](c, limits, err);
}
