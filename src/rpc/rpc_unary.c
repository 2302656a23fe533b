/*
 * The table of methods, and the unary methods (rpc.md 10, 13).
 */
#include "base/limits.h"
#include "json/json_scan.h"
#include "rpc/rpc_int.h"
#include "svc/svc_beat.h"
#include "svc/svc_enqueue.h"
#include "svc/svc_work.h"

/* svc refused the request, or memory ran out. */
static void refuse(struct rpc_call *c, const struct err *err)
{
    rpc_answer__fail_err(c, err, 0);
}

/* Enqueue */

static void enqueued(struct rpc_call *c, const struct result *r)
{
    struct err err;
    struct svc_enqueued job = svc_enqueue_answer(&c->who, &r->items[0], STR_EMPTY);
    struct rpc_enqueued out = {.status = str_from_z(job.status),
                               .unique_existing = job.is_duplicate};
    if (rpc_work__id(&c->who, job.job, &out.job_id, &err) != ERR_OK) {
        refuse(c, &err);
        return;
    }
    rpc_answer__reply(c, &out);
}

static void handle_enqueue(struct rpc_call *c)
{
    ATTR_UNINITIALIZED struct svc_enqueue_job job;
    ATTR_UNINITIALIZED struct command_new room;
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    if (rpc_work__job(&c->who, c->in, &job, &err) != ERR_OK ||
        svc_enqueue_one(&c->who, &job, &room, &command, &err) != ERR_OK) {
        refuse(c, &err);
        return;
    }
    rpc__submit(c, &command, 0, enqueued);
}

/* Fetch */

static void fetched_one(struct rpc_call *c, const struct result *r)
{
    struct err err;
    struct rpc_job none = {0};
    struct rpc_job *jobs = &none;
    if (r->count > 0 && rpc_work__jobs(&c->who, r, &jobs, &err) != ERR_OK) {
        refuse(c, &err);
        return;
    }
    rpc_answer__reply(c, jobs);
}

static void fetched_many(struct rpc_call *c, const struct result *r)
{
    struct err err;
    struct rpc_jobs out = {.job_count = r->count};
    if (rpc_work__jobs(&c->who, r, &out.jobs, &err) != ERR_OK) {
        refuse(c, &err);
        return;
    }
    rpc_answer__reply(c, &out);
}

static void claim(struct rpc_call *c, void (*on_result)(struct rpc_call *c, const struct result *r))
{
    const struct rpc_fetch *in = c->in;
    struct svc_work_fetch fetch = rpc_work__fetch(in);
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    int64_t wait_ms;
    if (in->queue_count == 0) {
        rpc_answer__fail(c, RPC_INVALID_ARGUMENT, STR("at least one queue is required"), 0);
    } else if (svc_work_claim(&c->who, &fetch, &command, &wait_ms, &err) != ERR_OK) {
        refuse(c, &err);
    } else {
        rpc__submit(c, &command, rpc_call__wait_within(c, wait_ms), on_result);
    }
}

static void handle_fetch(struct rpc_call *c)
{
    claim(c, fetched_one);
}

static void handle_fetch_batch(struct rpc_call *c)
{
    claim(c, fetched_many);
}

/* Ack */

static void acked_one(struct rpc_call *c, const struct result *r)
{
    (void)r;
    rpc_answer__reply(c, &(struct rpc_nothing){0});
}

static void handle_ack(struct rpc_call *c)
{
    ATTR_UNINITIALIZED struct svc_work_ack ack;
    ATTR_UNINITIALIZED struct command_ack_item room;
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    enum err_code code = rpc_work__ack(&c->who, c->in, &ack, &err);
    c->job_id = ack.job_id;
    if (code != ERR_OK || svc_work_ack_one(&c->who, &ack, &room, &command, &err) != ERR_OK) {
        refuse(c, &err);
        return;
    }
    rpc__submit(c, &command, 0, acked_one);
}

static void acked_many(struct rpc_call *c, const struct result *r)
{
    rpc_answer__reply(c, &(struct rpc_acked){.acked = (int32_t)r->affected});
}

static void handle_ack_batch(struct rpc_call *c)
{
    const struct rpc_acks *in = c->in;
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    if (in->item_count == 0) {
        rpc_answer__fail(c, RPC_INVALID_ARGUMENT, STR("items is required"), 0);
        return;
    }
    struct svc_work_ack *acks = SVC_CALLER_ROOM(&c->who, struct svc_work_ack, in->item_count, &err);
    for (size_t i = 0; i < in->item_count && acks != NULL; i++) {
        if (rpc_work__ack(&c->who, &in->items[i], &acks[i], &err) != ERR_OK) {
            acks = NULL;
        }
    }
    if (acks == NULL || rpc_work__acks(&c->who, acks, in->item_count, &command, &err) != ERR_OK) {
        refuse(c, &err);
    } else if (command.ack.count == 0) {
        rpc_answer__reply(c, &(struct rpc_acked){0});
    } else {
        rpc__submit(c, &command, 0, acked_many);
    }
}

/* Fail */

static void failed(struct rpc_call *c, const struct result *r)
{
    struct svc_work_failed f = svc_work_fail_answer(r);
    rpc_answer__reply(c, &(struct rpc_failed){.status = str_from_z(f.status),
                                              .next_attempt_at = f.next_attempt_at,
                                              .attempts_remaining = (int32_t)f.attempts_remaining});
}

static void handle_fail(struct rpc_call *c)
{
    const struct rpc_fail *in = c->in;
    struct svc_work_fail fail = {.job_id = str_trim(in->job_id),
                                 .error = in->error,
                                 .backtrace = in->backtrace,
                                 .lease_token = (int64_t)in->lease_token};
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    c->job_id = fail.job_id;
    if (fail.job_id.len == 0) {
        rpc_answer__fail(c, RPC_INVALID_ARGUMENT, STR("job_id is required"), 0);
    } else if (svc_work_fail(&c->who, &fail, &command, &err) != ERR_OK) {
        refuse(c, &err);
    } else {
        rpc__submit(c, &command, 0, failed);
    }
}

/* Heartbeat */

/* Check a member with JSON text; it may be empty. */
static enum err_code check_json(struct str text, const char *member, struct str job, size_t max,
                                struct err *err)
{
    if (text.len > max) {
        return err_set(err, ERR_VALIDATION, "%s for " STR_FMT " too large: %zu bytes (max %zu)",
                       member, STR_ARG(job), text.len, max);
    }
    if (text.len > 0 && json_scan_check_value(text, err) != ERR_OK) {
        return err_wrap(err, "invalid %s for " STR_FMT, member, STR_ARG(job));
    }
    return ERR_OK;
}

static enum err_code read_beat(struct rpc_call *c, const struct rpc_heartbeat_entry *in,
                               struct svc_beat *out, struct err *err)
{
    static const struct rpc_job_update nothing;
    const struct rpc_job_update *update = in->value != NULL ? in->value : &nothing;
    out->job_id = in->key;
    out->progress = str_trim(update->progress_json);
    out->checkpoint = str_trim(update->checkpoint_json);
    out->lease_token = (int64_t)update->lease_token;
    if (check_json(out->progress, "progress_json", in->key, LIMIT_PROGRESS_BYTES, err) != ERR_OK ||
        check_json(out->checkpoint, "checkpoint_json", in->key, LIMIT_RESULT_BYTES, err) !=
            ERR_OK) {
        return err->code;
    }
    return rpc_work__usage(&c->who, update->usage, &out->usage, err);
}

static void reply_beats(struct rpc_call *c)
{
    const struct svc_beats *beats = c->data;
    struct err err;
    struct rpc_heartbeat_answer out = {
        .jobs = SVC_CALLER_ARRAY(&c->who, struct rpc_heartbeat_answer_entry, beats->count, &err),
        .job_count = beats->count};
    static struct rpc_job_status ok = {.status = {.ptr = "ok", .len = 2}};
    static struct rpc_job_status cancel = {.status = {.ptr = "cancel", .len = 6}};
    if (out.jobs == NULL) {
        refuse(c, &err);
        return;
    }
    for (size_t i = 0; i < beats->count; i++) {
        out.jobs[i].key = beats->list[i].job_id;
        out.jobs[i].value = beats->list[i].status == SVC_BEAT_OK ? &ok : &cancel;
    }
    rpc_answer__reply(c, &out);
}

static void beaten(struct rpc_call *c, const struct result *r)
{
    struct err err;
    if (svc_beat_answer(c->data, r, &err) != ERR_OK) {
        refuse(c, &err);
        return;
    }
    reply_beats(c);
}

static void handle_heartbeat(struct rpc_call *c)
{
    const struct rpc_heartbeat *in = c->in;
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    struct svc_beats *beats = SVC_CALLER_ARRAY(&c->who, struct svc_beats, 1, &err);
    c->data = beats;
    if (beats == NULL || svc_beat_room(&c->who, in->job_count, beats, &err) != ERR_OK) {
        refuse(c, &err);
        return;
    }
    for (size_t i = 0; i < in->job_count; i++) {
        if (read_beat(c, &in->jobs[i], &beats->list[beats->count++], &err) != ERR_OK) {
            refuse(c, &err);
            return;
        }
    }
    if (svc_beat_command(&c->who, beats, &command, &err) != ERR_OK) {
        refuse(c, &err);
    } else if (command.heartbeat.count == 0) {
        reply_beats(c);
    } else {
        rpc__submit(c, &command, 0, beaten);
    }
}

/* GetServerInfo */

static void handle_server_info(struct rpc_call *c)
{
    struct str version = str_from_z(c->rpc->config.version);
    rpc_answer__reply(c, &(struct rpc_server_info){version, version});
}

/* clang-format off */
#define TEXT(literal) {.ptr = (literal), .len = sizeof(literal) - 1}
const struct rpc_method rpc_unary__methods[] = {
    /* name                   kind       request                           response                           handle */
    {TEXT("Enqueue"),         RPC_UNARY, &rpc_message_enqueue_request,     &rpc_message_enqueue_response,     handle_enqueue, false, NULL},
    {TEXT("Fetch"),           RPC_UNARY, &rpc_message_fetch_request,       &rpc_message_fetch_response,       handle_fetch, false, NULL},
    {TEXT("FetchBatch"),      RPC_UNARY, &rpc_message_fetch_batch_request, &rpc_message_fetch_batch_response, handle_fetch_batch, false, NULL},
    {TEXT("Ack"),             RPC_UNARY, &rpc_message_ack_request,         &rpc_message_ack_response,         handle_ack, false, NULL},
    {TEXT("AckBatch"),        RPC_UNARY, &rpc_message_ack_batch_request,   &rpc_message_ack_batch_response,   handle_ack_batch, false, NULL},
    {TEXT("StreamLifecycle"), RPC_BIDI,  &rpc_message_lifecycle_request,   &rpc_message_lifecycle_response,   rpc_exchange__handle, false, rpc_stream__open},
    {TEXT("Fail"),            RPC_UNARY, &rpc_message_fail_request,        &rpc_message_fail_response,        handle_fail, false, NULL},
    {TEXT("Heartbeat"),       RPC_UNARY, &rpc_message_heartbeat_request,   &rpc_message_heartbeat_response,   handle_heartbeat, false, NULL},
    {TEXT("GetServerInfo"),   RPC_UNARY, &rpc_message_server_info_request, &rpc_message_server_info_response, handle_server_info, true, NULL},
    {TEXT("Subscribe"),       RPC_SERVER_STREAM, &rpc_message_subscribe_request, &rpc_message_subscribe_event, rpc_subscribe__handle, false, NULL},
    {TEXT(""), RPC_UNARY, NULL, NULL, NULL, false, NULL},
};
/* clang-format on */
