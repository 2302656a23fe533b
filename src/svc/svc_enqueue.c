#include "svc/svc_enqueue.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/limits.h"
#include "core/duration.h"
#include "fsm/command/command_names.h"
#include "json/json_scan.h"
#include "svc/svc_names.h"
#include "svc/svc_usage.h"

/* Check that the values fit into the members of struct job, which are narrower. */
static enum err_code check_ranges(const struct svc_enqueue_job *in, struct err *err)
{
    const struct {
        const char *field;
        int64_t min, max, value;
    } rows[] = {
        {"priority", JOB_PRIORITY_CRITICAL, JOB_PRIORITY_NORMAL, in->priority},
        {"retry_backoff", JOB_BACKOFF_NONE, JOB_BACKOFF_EXPONENTIAL, in->retry_backoff},
        {"max_retries", 0, INT32_MAX, in->max_retries},
        {"unique_period", INT64_MIN, INT32_MAX, in->unique_period},
        {"chain_step", JOB_STEP_ON_FAILURE, LIMIT_CHAIN_STEPS, in->chain_step},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].value > rows[i].max && rows[i].min == INT64_MIN) {
            return err_set(err, ERR_VALIDATION, "%s: expected at most %" PRId64 ", got %" PRId64,
                           rows[i].field, rows[i].max, rows[i].value);
        }
        if (rows[i].value < rows[i].min || rows[i].value > rows[i].max) {
            return err_set(err, ERR_VALIDATION,
                           "%s: expected %" PRId64 " to %" PRId64 ", got %" PRId64, rows[i].field,
                           rows[i].min, rows[i].max, rows[i].value);
        }
    }
    return ERR_OK;
}

static enum err_code set_agent(const struct svc_enqueue_agent *in, struct job *j, struct err *err)
{
    struct err ignored;
    int64_t cost_nusd;
    if (svc_usage_nusd("agent.max_cost_usd", in->max_cost_usd, &cost_nusd, err) != ERR_OK) {
        return err->code;
    }
    j->is_agent = true;
    j->agent.max_iterations = in->max_iterations > 0 ? in->max_iterations : 0;
    /* 0 is no limit: a limit that is smaller than the unit must not become that */
    j->agent.max_cost_nusd = in->max_cost_usd > 0 && cost_nusd == 0 ? 1 : cost_nusd;
    j->agent.timeout = in->iteration_timeout;
    /* An invalid duration is stored and shown, but not enforced. */
    if (duration_parse(in->iteration_timeout, &j->agent.timeout_ms, &ignored) != ERR_OK) {
        j->agent.timeout_ms = 0;
    }
    return ERR_OK;
}

/* Texts that name jobs to wait for: of the request, or of a raw chain_config. */
struct named {
    struct str *depends_on;
    size_t count;
};

static const struct json_field named_rows[] = {
    JSON_STRS(struct named, depends_on, count, 0, LIMIT_DEPENDS_ON, LIMIT_NAME_BYTES, 0,
              "IDs of jobs that must complete first."),
};
static const struct json_schema named_schema = JSON_SCHEMA(struct named, named_rows);

/* Ids, one after the other. */
struct ids {
    char *bytes;
    size_t len;
};

static bool is_listed(const struct ids *ids, const struct id *id)
{
    for (size_t at = 0; at < ids->len; at += ID_BYTES) {
        if (memcmp(ids->bytes + at, id->b, ID_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

/* Add the ids that are not listed yet to *ids, which has room for them. Blank ones are ignored. */
static enum err_code add_dependencies(const struct svc_caller *who, const char *field,
                                      const struct named *named, struct ids *ids, struct err *err)
{
    for (size_t i = 0; i < named->count; i++) {
        struct str text = str_trim(named->depends_on[i]);
        struct id id;
        if (text.len == 0) {
            continue;
        }
        if (!svc_names_may_name(who, text, &id)) {
            return err_set(err, ERR_VALIDATION, "%s: job \"" STR_FMT "\" not found", field,
                           STR_ARG(text));
        }
        if (!is_listed(ids, &id)) {
            memcpy(ids->bytes + ids->len, id.b, ID_BYTES);
            ids->len += ID_BYTES;
        }
    }
    return ERR_OK;
}

/* Store the ids to wait for without duplicates. */
static enum err_code set_dependencies(const struct svc_caller *who,
                                      const struct svc_enqueue_job *in, struct job *j,
                                      struct err *err)
{
    struct named given = {.depends_on = in->depends_on, .count = in->depends_on_count};
    struct named raw = {0};
    struct ids ids = {0};
    if (in->chain == NULL && in->chain_config.len > 0 &&
        json_schema_decode(&named_schema, in->chain_config, who->arena, &raw, err) != ERR_OK) {
        return json_schema_inside("chain_config", err);
    }
    if (given.count + raw.count == 0) {
        return ERR_OK;
    }
    ids.bytes = svc_caller_alloc(who, given.count + raw.count, ID_BYTES, err);
    if (ids.bytes == NULL || add_dependencies(who, "depends_on", &given, &ids, err) != ERR_OK ||
        add_dependencies(who, "chain_config.depends_on", &raw, &ids, err) != ERR_OK) {
        return err->code;
    }
    j->waits_for = str_from(ids.bytes, ids.len);
    return ERR_OK;
}

static enum err_code set_chain(const struct svc_caller *who, const struct svc_enqueue_job *in,
                               struct command_new *out, struct err *err)
{
    struct job *j = &out->job;
    struct json_value named;
    enum err_code code;
    out->starts_chain = in->chain != NULL;
    if (in->chain != NULL) {
        code = svc_chain_define(who, in->chain, &j->chain_config, err);
    } else {
        j->chain_id = in->chain_id;
        j->chain_step = (int32_t)in->chain_step;
        j->has_chain_step = in->has_chain_step;
        code = svc_chain_adopt(who, in->chain_config, &j->chain_config, err);
    }
    if (code == ERR_OK && j->chain_config.len > 0) {
        code = svc_chain_check(who, in->chain != NULL ? "chain" : "chain_config", j->chain_config,
                               err);
    }
    const bool names_any = in->chain == NULL &&
                           json_scan_member(in->chain_config, STR("depends_on"), &named) &&
                           named.type == JSON_TYPE_ARRAY; /* it may be empty */
    if (code == ERR_OK && (j->waits_for.len > 0 || names_any)) {
        code =
            svc_chain_add_dependencies(who, j->chain_config, j->waits_for, &j->chain_config, err);
    }
    return code;
}

/* The first job of a chain uses the first step's payload by default. */
static struct str payload_of(const struct svc_enqueue_job *in)
{
    if (in->payload.len > 0) {
        return in->payload;
    }
    if (in->chain != NULL && in->chain->steps_count > 0 && in->chain->steps[0].payload.len > 0) {
        return in->chain->steps[0].payload;
    }
    return STR("{}");
}

/* The same for the push target. */
static const struct svc_push *push_of(const struct svc_enqueue_job *in)
{
    return in->push == NULL && in->chain != NULL && in->chain->steps_count > 0
               ? in->chain->steps[0].push
               : in->push;
}

static enum err_code set_push(const struct svc_caller *who, const struct svc_enqueue_job *in,
                              struct command_new *out, struct err *err)
{
    const struct svc_push *push = push_of(in);
    if (push == NULL) {
        return ERR_OK;
    }
    if (in->agent != NULL) {
        return err_set(err, ERR_VALIDATION, "push and agent cannot both be set");
    }
    out->push_is_target = true;
    return svc_push_define(who, push, &out->job.push, err);
}

static enum err_code set_batch(const struct svc_caller *who, struct str text, struct job *j,
                               struct err *err)
{
    if (text.len == 0 || svc_batch_find(who, text, &j->batch_id, err) == ERR_OK) {
        return ERR_OK;
    }
    return err_set(err, ERR_VALIDATION, "batch_id: batch \"" STR_FMT "\" is not open",
                   STR_ARG(text));
}

/* Fill *out, which is zeroed. */
static enum err_code fill(const struct svc_caller *who, const struct svc_enqueue_job *in,
                          struct command_new *out, struct err *err)
{
    struct job *j = &out->job;
    if (check_ranges(in, err) != ERR_OK) {
        return err->code;
    }
    out->expire_after_ms = in->expire_after_ms;
    j->payload = payload_of(in);
    /* The payload of a chain's step was checked by its schema, and {} is valid. */
    out->payload_is_json = in->payload_checked || in->payload.len == 0;
    j->priority = (uint8_t)in->priority;
    j->backoff = (enum job_backoff)in->retry_backoff;
    j->max_retries = (uint32_t)in->max_retries;
    j->retry_base_ms = in->retry_base_ms;
    j->retry_max_ms = in->retry_max_ms;
    j->unique_key = in->unique_key;
    j->unique_period_s = in->unique_key.len > 0 && in->unique_period > 0 ? in->unique_period : 0;
    j->scheduled_at = in->scheduled_at;
    j->tags = in->tags;
    j->checkpoint = in->checkpoint;
    j->parent_id = in->parent_id;
    if (in->agent != NULL && set_agent(in->agent, j, err) != ERR_OK) {
        return err->code;
    }
    if (set_push(who, in, out, err) != ERR_OK || set_batch(who, in->batch_id, j, err) != ERR_OK ||
        svc_names_target(who, "queue", in->queue, &j->queue, err) != ERR_OK ||
        set_dependencies(who, in, j, err) != ERR_OK) {
        return err->code;
    }
    return set_chain(who, in, out, err);
}

enum err_code svc_enqueue_one(const struct svc_caller *who, const struct svc_enqueue_job *job,
                              struct command_new *room, struct command *out, struct err *err)
{
    memset(room, 0, sizeof *room);
    command_init(out, COMMAND_ENQUEUE);
    out->enqueue = (struct command_enqueue){.jobs = room, .count = 1, .names = who->names};
    return fill(who, job, room, err);
}

enum err_code svc_enqueue_list(const struct svc_caller *who, size_t count, struct command *out,
                               struct err *err)
{
    command_init(out, COMMAND_ENQUEUE);
    out->enqueue = (struct command_enqueue){.count = count, .is_list = true, .names = who->names};
    if (count == 0) {
        return err_set(err, ERR_VALIDATION, "jobs array is required");
    }
    if (count > LIMIT_ENQUEUE_BATCH) {
        return err_set(err, ERR_VALIDATION, "%s has more than %d items",
                       command_names_or_http(who->names)->jobs, LIMIT_ENQUEUE_BATCH);
    }
    out->enqueue.jobs = SVC_CALLER_ARRAY(who, struct command_new, count, err);
    return out->enqueue.jobs == NULL ? err->code : ERR_OK;
}

enum err_code svc_enqueue_put(const struct svc_caller *who, struct command *command, size_t at,
                              const struct svc_enqueue_job *job, struct err *err)
{
    CHECK(at < command->enqueue.count);
    if (job->queue.len == 0) {
        return err_set(err, ERR_VALIDATION, "queue is required for each job");
    }
    return fill(who, job, &command->enqueue.jobs[at], err) == ERR_OK
               ? ERR_OK
               : err_wrap(err, "%s[%zu]", command_names_or_http(who->names)->jobs, at);
}

enum err_code svc_enqueue_as_batch(const struct svc_caller *who, struct command *command,
                                   const struct svc_batch *batch, struct err *err)
{
    struct command_enqueue *e = &command->enqueue;
    e->has_batch = true;
    e->callback_payload = batch->callback_payload;
    e->owner = svc_batch_owner(who, batch->callback_queue);
    for (size_t i = 0; i < e->count; i++) {
        if (!id_is_none(e->jobs[i].job.batch_id)) {
            return err_set(err, ERR_VALIDATION, "jobs[%zu]: batch_id and batch cannot both be set",
                           i);
        }
    }
    return svc_names_target(who, "callback_queue", batch->callback_queue, &e->callback_queue, err);
}

/* The hash is stored, so this function must never change. 0 means unknown. */
static uint64_t hash_of(const struct svc_once *once)
{
    uint64_t hash = once->target.len > 0 ? hash_bytes(0, once->target.ptr, once->target.len) : 0;
    hash = hash_bytes(hash, once->body.ptr, once->body.len);
    return hash == 0 ? 1 : hash;
}

/* NULL for an enqueue, which has separate members. */
static struct command_once *once_of(struct command *command)
{
    switch ((int)command->type) {
    case COMMAND_REPLAY:
        return &command->replay.once;
    case COMMAND_BATCH_OPEN:
        return &command->batch_open.once;
    case COMMAND_SCHEDULE_FIRE:
        return &command->schedule_fire.once;
    default:
        return NULL;
    }
}

enum err_code svc_enqueue_once(const struct svc_caller *who, struct command *command,
                               const struct svc_once *once, struct err *err)
{
    static const char *const words[SVC_ONCE_COUNT] = {
        [SVC_ONCE_ONE] = "one",       [SVC_ONCE_MANY] = "many",   [SVC_ONCE_INGEST] = "ingest",
        [SVC_ONCE_REPLAY] = "replay", [SVC_ONCE_BATCH] = "batch", [SVC_ONCE_RUN] = "run"};
    struct buf b;
    struct str *key = &command->enqueue.idempotency_key;
    uint64_t *hash = &command->enqueue.body_hash;
    struct command_once *of = once_of(command);
    if (of != NULL) {
        key = &of->key;
        hash = &of->hash;
    }
    if (once->key.len == 0) {
        return ERR_OK;
    }
    if (once->key.len > LIMIT_IDEMPOTENCY_KEY_BYTES) {
        return err_set(err, ERR_VALIDATION, "Idempotency-Key too large: %zu bytes (max %d)",
                       once->key.len, LIMIT_IDEMPOTENCY_KEY_BYTES);
    }
    buf_init(&b, LIMIT_OP_BYTES);
    buf_printf(&b, "%s " STR_FMT " ", words[once->route], STR_ARG(who->ns));
    buf_add_str(&b, once->key);
    *hash = hash_of(once);
    return svc_caller_keep(who, &b, key, err);
}

enum { MOST = 100 };

enum err_code svc_enqueue_urgency(int64_t urgency, int *out_priority, struct err *err)
{
    enum { CRITICAL_FROM = 90, HIGH_FROM = 75 };
    if (urgency < 0 || urgency > MOST) {
        return err_set(err, ERR_VALIDATION, "priority: expected 0 to %d, got %" PRId64, MOST,
                       urgency);
    }
    *out_priority = urgency >= CRITICAL_FROM ? JOB_PRIORITY_CRITICAL
                    : urgency >= HIGH_FROM   ? JOB_PRIORITY_HIGH
                                             : JOB_PRIORITY_NORMAL;
    return ERR_OK;
}

int64_t svc_enqueue_priority(const struct svc_caller *who, uint8_t priority)
{
    static const int64_t urgencies[] = {
        [JOB_PRIORITY_CRITICAL] = MOST, [JOB_PRIORITY_HIGH] = 75, [JOB_PRIORITY_NORMAL] = 50};
    return who->urgencies && priority < COUNT_OF(urgencies) ? urgencies[priority] : priority;
}

struct svc_enqueued svc_enqueue_answer(const struct svc_caller *who, const struct result_item *item,
                                       struct str queue)
{
    static const char *const words[RESULT_STATUS_COUNT] = {
        [RESULT_PENDING] = "pending",
        [RESULT_SCHEDULED] = "scheduled",
        [RESULT_DUPLICATE] = "duplicate",
    };
    return (struct svc_enqueued){.job = item->id,
                                 .queue = svc_names_visible(who, queue),
                                 .status = words[item->status],
                                 .is_duplicate = item->status == RESULT_DUPLICATE};
}
