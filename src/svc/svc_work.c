#include "svc/svc_work.h"

#include "base/limits.h"
#include "engine/engine_cluster.h"
#include "fsm/command/command_names.h"
#include "store/store_job.h"
#include "svc/svc_names.h"

/* Fetch */

enum {
    WAIT_S_DEFAULT = 30,
    WAIT_S_MAX = 60,
    /* A wait ends slightly before the requested time, because the client's socket may time out
     * exactly then. Waits of WAIT_S_LONG or more end EARLY_LONG_MS earlier, shorter ones
     * EARLY_MS. */
    WAIT_S_LONG = 5,
    EARLY_MS = 50,
    EARLY_LONG_MS = 250,
};

static int64_t wait_seconds(const struct svc_work_fetch *in)
{
    int64_t s = in->timeout <= 0 ? WAIT_S_DEFAULT : in->timeout;
    return s > WAIT_S_MAX ? WAIT_S_MAX : s;
}

static int64_t lease_seconds(const struct svc_work_fetch *in)
{
    int64_t wait_s = wait_seconds(in);
    int64_t least_s = JOB_LEASE_MS / 1000;
    if (in->lease_duration > 0) {
        return in->lease_duration;
    }
    return wait_s > least_s ? wait_s : least_s;
}

uint32_t svc_work_fetch_count(const struct svc_work_fetch *in)
{
    int64_t n = in->count < 1 ? 1 : in->count;
    return (uint32_t)(n > LIMIT_CLAIM_COUNT ? LIMIT_CLAIM_COUNT : n);
}

/* The version of the worker. A version from a header has not been checked, so an invalid one is
 * omitted. Any version is omitted while a member of the cluster cannot read it. */
static struct str version_of(const struct svc_caller *who, const struct svc_work_fetch *in)
{
    struct str version = in->version.len > 0 ? in->version : who->version;
    if (version.len == 0 || version.len > LIMIT_WORKER_VERSION_BYTES ||
        engine_cluster_reads(who->engine) < COMMAND_ENTRY_AGED_NAMED) {
        return STR_EMPTY;
    }
    for (size_t i = 0; i < version.len && in->version.len == 0; i++) {
        if (version.ptr[i] <= ' ' || version.ptr[i] >= 0x7f) {
            return STR_EMPTY;
        }
    }
    return version;
}

enum err_code svc_work_claim(const struct svc_caller *who, const struct svc_work_fetch *in,
                             struct command *out, int64_t *out_wait_ms, struct err *err)
{
    int64_t wait_s = wait_seconds(in);
    if (in->queues_count == 0) {
        return err_set(err, ERR_VALIDATION, "queues is required");
    }
    if (in->lease_duration < 0 || in->lease_duration > LIMIT_LEASE_S_MAX) {
        return err_set(err, ERR_VALIDATION, "lease_duration must be 1 to %d seconds",
                       LIMIT_LEASE_S_MAX);
    }
    struct str *queues = SVC_CALLER_ARRAY(who, struct str, in->queues_count, err);
    if (queues == NULL) {
        return err->code;
    }
    for (size_t i = 0; i < in->queues_count; i++) {
        if (svc_names_internal(who, "queues", in->queues[i], &queues[i], err) != ERR_OK) {
            return err->code;
        }
    }
    command_init(out, COMMAND_CLAIM);
    out->claim = (struct command_claim){.queues = queues,
                                        .queue_count = in->queues_count,
                                        .worker_id = in->worker_id,
                                        .hostname = in->hostname,
                                        .ns = who->ns,
                                        .version = version_of(who, in),
                                        .lease_ms = lease_seconds(in) * 1000,
                                        .count = svc_work_fetch_count(in)};
    *out_wait_ms = wait_s * 1000 - (wait_s >= WAIT_S_LONG ? EARLY_LONG_MS : EARLY_MS);
    return ERR_OK;
}

enum err_code svc_work_next(const struct svc_caller *who, const struct svc_work_fetch *in,
                            struct command_claim *room, struct command *ack, int64_t *out_wait_ms,
                            struct err *err)
{
    ATTR_UNINITIALIZED struct command claim;
    if (svc_work_claim(who, in, &claim, out_wait_ms, err) != ERR_OK) {
        return err_wrap(err, "next");
    }
    *room = claim.claim;
    ack->ack.next = room;
    *out_wait_ms = in->timeout > 0 ? *out_wait_ms : 0;
    return ERR_OK;
}

enum err_code svc_work_fetched(const struct svc_caller *who, const struct result_item *item,
                               struct svc_work_fetched *out, struct err *err)
{
    ATTR_UNINITIALIZED struct job j;
    if (store_job_decode(item->id, item->doc, &j, err) != ERR_OK) {
        err->code = ERR_INTERNAL;
        return err->code;
    }
    int64_t lease_ms = (j.lease_expires_at.ns - j.started_at.ns) / NS_PER_MS;
    *out = (struct svc_work_fetched){.id = j.id,
                                     .queue = svc_names_visible(who, j.queue),
                                     .payload = j.payload,
                                     .attempt = j.attempt,
                                     .max_retries = j.max_retries,
                                     .lease_s = (lease_ms + 999) / 1000,
                                     .lease_token = j.lease_token,
                                     .checkpoint = j.checkpoint,
                                     .tags = j.tags,
                                     .is_agent = j.is_agent,
                                     .agent = j.agent};
    return ERR_OK;
}

struct str svc_work_given(struct str json)
{
    return str_eq(str_trim(json), STR("null")) ? STR_EMPTY : json;
}

/* Ack */

const struct json_word svc_work_agent_words[] = {
    {"continue", COMMAND_AGENT_CONTINUE},
    {"done", COMMAND_AGENT_DONE},
    {"hold", COMMAND_AGENT_HOLD},
    {NULL, 0},
};
const struct json_word svc_work_ack_words[] = {
    {"done", COMMAND_AGENT_NONE},
    {"hold", COMMAND_AGENT_HOLD_ANY},
    {NULL, 0},
};
const struct json_word svc_work_step_words[] = {
    {"continue", COMMAND_STEP_CONTINUE},
    {"exit", COMMAND_STEP_EXIT},
    {NULL, 0},
};

static enum err_code set_words(const struct svc_work_ack *in, struct command_ack_item *out,
                               struct err *err)
{
    int agent;
    int any;
    int step;
    if (svc_names_find(svc_work_agent_words, in->agent_status, "agent_status", ERR_ACK, &agent,
                       err) != ERR_OK ||
        svc_names_find(svc_work_ack_words, in->ack_status, "ack_status", ERR_ACK, &any, err) !=
            ERR_OK ||
        svc_names_find(svc_work_step_words, in->step_status, "step_status", ERR_ACK, &step, err) !=
            ERR_OK) {
        return err->code;
    }
    if (in->ack_status.len > 0 && in->agent_status.len > 0) {
        return err_set(err, ERR_ACK, "ack_status and agent_status cannot both be set");
    }
    out->agent_status = (enum command_agent_status)(in->ack_status.len > 0 ? any : agent);
    out->step_status = (enum command_step_status)step;
    return ERR_OK;
}

/* Fill everything except the id. */
static enum err_code fill_ack(const struct svc_work_ack *in, struct command_ack_item *out,
                              struct err *err)
{
    *out = (struct command_ack_item){
        .lease_token = (uint64_t)in->lease_token,
        .has_result = in->result.len > 0,
        .result = in->result,
        .checkpoint = svc_work_given(in->checkpoint),
        .hold_reason = str_at_most(in->hold_reason, LIMIT_REASON_BYTES),
        .exit_reason = str_at_most(in->exit_reason, LIMIT_REASON_BYTES),
    };
    return set_words(in, out, err) == ERR_OK ? svc_usage_tokens(in->usage, &out->usage, err)
                                             : err->code;
}

enum err_code svc_work_ack_one(const struct svc_caller *who, const struct svc_work_ack *ack,
                               struct command_ack_item *room, struct command *out, struct err *err)
{
    command_init(out, COMMAND_ACK);
    out->ack = (struct command_ack){.items = room, .count = 1, .names = who->names};
    return fill_ack(ack, room, err) == ERR_OK ? svc_names_job_id(who, ack->job_id, &room->id, err)
                                              : err->code;
}

enum err_code svc_work_ack_many(const struct svc_caller *who, const struct svc_work_ack *acks,
                                size_t count, struct command *out, struct err *err)
{
    command_init(out, COMMAND_ACK);
    out->ack = (struct command_ack){.lenient = true, .names = who->names};
    if (count == 0) {
        return err_set(err, ERR_VALIDATION, "acks array is required");
    }
    if (count > LIMIT_ACK_BATCH) {
        return err_set(err, ERR_VALIDATION, "ack batch exceeds maximum of %d items",
                       LIMIT_ACK_BATCH);
    }
    out->ack.items = SVC_CALLER_ROOM(who, struct command_ack_item, count, err);
    if (out->ack.items == NULL) {
        return err->code;
    }
    for (size_t i = 0; i < count; i++) {
        struct command_ack_item *item = &out->ack.items[out->ack.count];
        if (fill_ack(&acks[i], item, err) != ERR_OK) {
            return err_wrap(err, "%s[%zu]", command_names_or_http(who->names)->acks, i);
        }
        item->place = (uint32_t)i;
        if (svc_names_may_name(who, acks[i].job_id, &item->id)) {
            out->ack.count++;
        }
    }
    return ERR_OK;
}

/* Fail */

enum err_code svc_work_fail(const struct svc_caller *who, const struct svc_work_fail *in,
                            struct command *out, struct err *err)
{
    command_init(out, COMMAND_FAIL);
    out->fail =
        (struct command_fail){.lease_token = (uint64_t)in->lease_token,
                              .error = str_at_most(in->error, LIMIT_ERROR_BYTES),
                              .backtrace = str_at_most(in->backtrace, LIMIT_BACKTRACE_BYTES)};
    return svc_names_job_id(who, in->job_id, &out->fail.id, err);
}

struct svc_work_failed svc_work_fail_answer(const struct result *r)
{
    return (struct svc_work_failed){.status = job_state_name(r->state),
                                    .next_attempt_at = r->at,
                                    .attempts_remaining = r->remaining,
                                    .attempt = r->attempt};
}
