/*
 * Converts request messages to the structs of svc, and its results to response messages.
 */
#include "base/limits.h"
#include "fsm/command/command_names.h"
#include "rpc/rpc_int.h"
#include "svc/svc_enqueue.h"
#include "svc/svc_names.h"
#include "svc/svc_work.h"

const struct command_names rpc_work__names = {
    .jobs = "", /* a call has one job */
    .acks = "items",
    .payload = "payload_json",
    .result = "result_json",
    .checkpoint = "checkpoint_json",
};

const struct command_names rpc_work__frame_names = {
    .jobs = "enqueues",
    .acks = "acks",
    .payload = "payload_json",
    .result = "result_json",
    .checkpoint = "checkpoint_json",
};

enum err_code rpc_work__id(const struct svc_caller *who, struct id id, struct str *out,
                           struct err *err)
{
    char *text = svc_caller_room(who, ID_TEXT_MAX, 1, err);
    if (text == NULL) {
        return err->code;
    }
    *out = str_from(text, id_format(id, ID_JOB, text));
    return ERR_OK;
}

enum err_code rpc_work__job(const struct svc_caller *who, const struct rpc_enqueue *in,
                            struct svc_enqueue_job *out, struct err *err)
{
    *out = (struct svc_enqueue_job){SVC_ENQUEUE_DEFAULTS, .queue = str_trim(in->queue),
                                    .payload = str_trim(in->payload_json)};
    if (out->queue.len == 0) {
        return err_set(err, ERR_VALIDATION, "queue is required");
    }
    if (in->agent != NULL) {
        out->agent = SVC_CALLER_ARRAY(who, struct svc_enqueue_agent, 1, err);
        if (out->agent == NULL) {
            return err->code;
        }
        *out->agent = (struct svc_enqueue_agent){.max_iterations = in->agent->max_iterations,
                                                 .max_cost_usd = in->agent->max_cost_usd,
                                                 .iteration_timeout = in->agent->iteration_timeout};
    }
    return ERR_OK;
}

enum err_code rpc_work__usage(const struct svc_caller *who, const struct rpc_usage *in,
                              struct svc_usage **out, struct err *err)
{
    *out = NULL;
    if (in == NULL) {
        return ERR_OK;
    }
    *out = SVC_CALLER_ARRAY(who, struct svc_usage, 1, err);
    if (*out == NULL) {
        return err->code;
    }
    **out = (struct svc_usage){.input_tokens = in->input_tokens,
                               .output_tokens = in->output_tokens,
                               .cache_creation_tokens = in->cache_creation_tokens,
                               .cache_read_tokens = in->cache_read_tokens,
                               .cost_usd = in->cost_usd,
                               .model = in->model,
                               .provider = in->provider};
    return ERR_OK;
}

/* The status must be empty or one of those in svc (10.4). */
static enum err_code check_agent_status(struct str word, struct err *err)
{
    enum { SHOWN_MAX = 64 };
    int status;
    if (svc_names_find(svc_work_agent_words, word, "agent_status", ERR_ACK, &status, err) ==
        ERR_OK) {
        return ERR_OK;
    }
    return err_set(err, ERR_ACK,
                   "invalid agent_status \"" STR_FMT "\": expected continue, done or hold",
                   STR_ARG(str_at_most(word, SHOWN_MAX)));
}

enum err_code rpc_work__ack(const struct svc_caller *who, const struct rpc_ack *in,
                            struct svc_work_ack *out, struct err *err)
{
    struct str result = str_trim(in->result_json);
    *out = (struct svc_work_ack){.job_id = str_trim(in->job_id),
                                 .lease_token = (int64_t)in->lease_token,
                                 .result = result.len > 0 ? result : STR("{}"),
                                 .checkpoint = str_trim(in->checkpoint_json),
                                 .agent_status = str_trim(in->agent_status),
                                 .hold_reason = str_trim(in->hold_reason)};
    if (out->job_id.len == 0) {
        return err_set(err, ERR_VALIDATION, "job_id is required");
    }
    if (check_agent_status(out->agent_status, err) != ERR_OK) {
        return err->code;
    }
    return rpc_work__usage(who, in->usage, &out->usage, err);
}

enum err_code rpc_work__acks(const struct svc_caller *who, const struct svc_work_ack *acks,
                             size_t count, struct command *out, struct err *err)
{
    if (count > LIMIT_ACK_BATCH) {
        return err_set(err, ERR_VALIDATION, "%s has more than %d items", who->names->acks,
                       LIMIT_ACK_BATCH);
    }
    enum err_code code = svc_work_ack_many(who, acks, count, out, err);
    out->ack.any_cost = true;
    return code;
}

struct svc_work_fetch rpc_work__fetch(const struct rpc_fetch *in)
{
    bool given = in->lease_duration > 0;
    return (struct svc_work_fetch){.queues = in->queues,
                                   .queues_count = in->queue_count,
                                   .worker_id = in->worker_id,
                                   .hostname = in->hostname,
                                   .lease_duration = given ? in->lease_duration : 0,
                                   .timeout = given ? in->lease_duration : 0,
                                   .count = in->count};
}

static enum err_code fill_job(const struct svc_caller *who, const struct svc_work_fetched *in,
                              struct rpc_job *out, struct err *err)
{
    *out = (struct rpc_job){.found = true,
                            .queue = in->queue,
                            .payload_json = in->payload,
                            .attempt = (int32_t)in->attempt,
                            .max_retries = (int32_t)in->max_retries,
                            .lease_duration = (int32_t)in->lease_s,
                            .checkpoint_json = in->checkpoint,
                            .tags_json = in->tags,
                            .lease_token = in->lease_token};
    if (in->is_agent) {
        out->agent = SVC_CALLER_ARRAY(who, struct rpc_agent_state, 1, err);
        if (out->agent == NULL) {
            return err->code;
        }
        *out->agent = (struct rpc_agent_state){
            .max_iterations = (int32_t)in->agent.max_iterations,
            .max_cost_usd = (double)in->agent.max_cost_nusd / (double)JOB_NUSD_PER_USD,
            .iteration_timeout = in->agent.timeout,
            .iteration = (int32_t)in->agent.iteration,
            .total_cost_usd = (double)in->agent.total_cost_nusd / (double)JOB_NUSD_PER_USD};
    }
    return rpc_work__id(who, in->id, &out->job_id, err);
}

enum err_code rpc_work__jobs(const struct svc_caller *who, const struct result *r,
                             struct rpc_job **out, struct err *err)
{
    *out = SVC_CALLER_ROOM(who, struct rpc_job, r->count, err);
    if (*out == NULL) {
        return err->code;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        ATTR_UNINITIALIZED struct svc_work_fetched fetched;
        if (svc_work_fetched(who, &r->items[i], &fetched, err) != ERR_OK ||
            fill_job(who, &fetched, &(*out)[i], err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}
