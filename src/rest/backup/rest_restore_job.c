/*
 * Decodes a job, queue, schedule, batch or other record of a backup (rest_backup_int.h).
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/duration.h"
#include "core/timestamp.h"
#include "engine/engine_cluster.h"
#include "engine/engine_schedule.h"
#include "fsm/command/push_target.h"
#include "rest/backup/rest_backup_int.h"
#include "rest/backup/rest_backup_push.h"
#include "rest/backup/rest_backup_sums.h"
#include "svc/svc_batch.h"
#include "svc/svc_chain.h"
#include "svc/svc_names.h"

/* Maximum integer for clients that use doubles. */
#define COUNTER_MAX  (INT64_C(1) << 53)
#define COST_USD_MAX INT64_C(10000000000) /* exceeds INT64_MAX nano-dollars */

/* Rows */

struct tokens_in {
    int64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens, cost_nusd;
    double cost_usd;
    struct str model, provider;
};

struct row_in {
    int64_t attempt, iteration;
    struct str error, backtrace, worker_version, status, phase, checkpoint, hold_reason, result;
    struct wall created_at;
    bool in_sums;
    struct tokens_in tokens;
};

/* clang-format off */
#define COUNT_ROW(member, text)                                                                    \
    {JSON_ROW(#member, text, JSON_KIND_I64, 0), JSON_RANGE(0, INT64_MAX),                          \
     .offset = JSON_OFFSET(struct row_in, tokens.member, int64_t)}
#define NAME_ROW(member, text)                                                                     \
    {JSON_ROW(#member, text, JSON_KIND_STR, 0), JSON_RANGE(0, LIMIT_MODEL_NAME_BYTES),             \
     .offset = JSON_OFFSET(struct row_in, tokens.member, struct str)}
/* clang-format on */

static const struct json_field row_rows[] = {
    JSON_I64(struct row_in, attempt, 0, UINT32_MAX, 0, "Attempt, from 1."),
    JSON_I64(struct row_in, iteration, INT64_MIN, INT64_MAX, 0, "Iteration, from 1."),
    JSON_STR(struct row_in, error, 0, LIMIT_ERROR_BYTES, JSON_CUT, "What went wrong."),
    JSON_STR(struct row_in, backtrace, 0, LIMIT_BACKTRACE_BYTES, JSON_CUT, "Where."),
    JSON_STR(struct row_in, worker_version, 0, LIMIT_WORKER_VERSION_BYTES, 0, "Worker's version."),
    JSON_STR(struct row_in, status, 0, LIMIT_NAME_BYTES, 0, "continue, done or hold."),
    JSON_STR(struct row_in, phase, 0, LIMIT_NAME_BYTES, 0, "ack or heartbeat."),
    JSON_RAW(struct row_in, checkpoint, LIMIT_RESULT_BYTES, 0, "Checkpoint."),
    JSON_STR(struct row_in, hold_reason, 0, LIMIT_REASON_BYTES, JSON_CUT, "Why it was held."),
    JSON_RAW(struct row_in, result, LIMIT_RESULT_BYTES, JSON_KEEP_NULL, "Result."),
    JSON_TIME(struct row_in, created_at, timestamp_parse, 0, "When."),
    JSON_BOOL(struct row_in, in_sums, 0, "Whether usage_sums contain it."),
    COUNT_ROW(input_tokens, "Tokens read."),
    COUNT_ROW(output_tokens, "Tokens written."),
    COUNT_ROW(cache_creation_tokens, "Tokens written to a cache."),
    COUNT_ROW(cache_read_tokens, "Tokens read from a cache."),
    COUNT_ROW(cost_nusd, "Cost in billionths of a dollar. Takes precedence over cost_usd."),
    {JSON_ROW("cost_usd", "Cost in dollars.", JSON_KIND_F64, 0), JSON_RANGE(0, COST_USD_MAX),
     .offset = JSON_OFFSET(struct row_in, tokens.cost_usd, double)},
    NAME_ROW(model, "Model."),
    NAME_ROW(provider, "Provider."),
};
static const struct json_schema row_schema = JSON_SCHEMA(struct row_in, row_rows);

/* Jobs */

struct agent_in {
    int64_t max_iterations, iteration;
    double max_cost_usd, total_cost_usd;
    struct str iteration_timeout;
};

static const struct json_field agent_rows[] = {
    JSON_I64(struct agent_in, max_iterations, 0, INT64_MAX, 0, "Limit; 0 for none."),
    JSON_I64(struct agent_in, iteration, 0, INT64_MAX, 0, "From 1."),
    JSON_F64(struct agent_in, max_cost_usd, 0, COST_USD_MAX, 0, "Limit; 0 for none."),
    JSON_F64(struct agent_in, total_cost_usd, 0, COST_USD_MAX, 0, "So far."),
    JSON_STR(struct agent_in, iteration_timeout, 0, LIMIT_NAME_BYTES, 0, "As sent by the client."),
};
static const struct json_schema agent_schema = JSON_SCHEMA(struct agent_in, agent_rows);

struct rest_in {
    int64_t lease_token, max_cost_nusd, total_cost_nusd;
    bool batch_counted, chain_leaves;
    struct wall unique_until;
    struct str *waits_for;
    size_t waits_for_count;
    struct rest_backup_push_in push;
    struct str chain_config;
};

static const struct json_field rest_rows[] = {
    JSON_I64(struct rest_in, lease_token, 0, COUNTER_MAX, 0, "Lease token of the last claim."),
    JSON_I64(struct rest_in, max_cost_nusd, 0, INT64_MAX, 0, "Exact value."),
    JSON_I64(struct rest_in, total_cost_nusd, 0, INT64_MAX, 0, "Exact value."),
    JSON_BOOL(struct rest_in, batch_counted, 0, "Whether its end is counted in its batch."),
    JSON_BOOL(struct rest_in, chain_leaves, 0,
              "Whether its chain has steps in another namespace, whose names lack it."),
    JSON_TIME(struct rest_in, unique_until, timestamp_parse, 0,
              "Time until which it holds its unique key."),
    JSON_STRS(struct rest_in, waits_for, waits_for_count, 0, LIMIT_DEPENDS_ON, LIMIT_NAME_BYTES, 0,
              "Jobs that it still waits for."),
    JSON_RAW(struct rest_in, chain_config, LIMIT_RESULT_BYTES, JSON_ONLY_OBJECT | JSON_DEEP,
             "Chain definition, with credentials."),
    {JSON_ROW("push_target", "Target URL, with credentials.", JSON_KIND_RAW, JSON_ONLY_OBJECT),
     JSON_RANGE(0, LIMIT_PUSH_BYTES),
     .offset = JSON_OFFSET(struct rest_in, push.push_target, struct str)},
    {JSON_ROW("definition", "Hash of the definition of a named job.", JSON_KIND_I64, 0),
     JSON_RANGE(INT64_MIN, INT64_MAX),
     .offset = JSON_OFFSET(struct rest_in, push.definition, int64_t)},
    {JSON_ROW("counted_bytes", "Size of a named job.", JSON_KIND_I64, 0), JSON_RANGE(0, UINT32_MAX),
     .offset = JSON_OFFSET(struct rest_in, push.counted_bytes, int64_t)},
    {JSON_ROW("first_try_at", "First attempt of its run.", JSON_KIND_TIME, 0),
     .parse_time = timestamp_parse,
     .offset = JSON_OFFSET(struct rest_in, push.first_try_at, struct wall)},
};
static const struct json_schema rest_schema = JSON_SCHEMA(struct rest_in, rest_rows);

struct job_in {
    struct str id, queue, state, payload, retry_backoff, unique_key, batch_id, parent_id, chain_id;
    struct str chain_config, schedule_id, worker_id, hostname, tags, progress, checkpoint, result;
    struct str hold_reason;
    int64_t priority, attempt, max_retries, retry_base_delay_ms, retry_max_delay_ms;
    int64_t unique_period, chain_step;
    struct wall lease_expires_at, scheduled_at, expire_at, created_at, started_at, completed_at;
    struct wall failed_at, cancelled_at;
    struct row_in *errors, *iterations, *usage;
    size_t errors_count, iterations_count, usage_count;
    struct agent_in *agent;
    struct rest_in *restore;
    struct str push, name, cron, cancel_reason, last_outcome;
    struct wall due_at, cron_until;
    uint64_t set;
};

enum { SET_CHAIN_STEP = 3 };

#define TEXT(member, max)   JSON_STR(struct job_in, member, 0, max, 0, "As in the job's document.")
#define NUMBER(member, max) JSON_I64(struct job_in, member, 0, max, 0, "As in the job's document.")
#define MOMENT(member)                                                                             \
    JSON_TIME(struct job_in, member, timestamp_parse, 0, "As in the job's document.")

static const struct json_field job_rows[] = {
    JSON_STR(struct job_in, queue, 1, LIMIT_INTERNAL_NAME_BYTES, JSON_REQUIRED, "Visible name."),
    JSON_RAW(struct job_in, payload, 0, JSON_KEEP_NULL | JSON_REQUIRED | JSON_DEEP,
             "Any JSON value."),
    JSON_I64(struct job_in, priority, 0, JOB_PRIORITY_NORMAL, JSON_REQUIRED, "0, 1 or 2."),
    [SET_CHAIN_STEP] = JSON_I64(struct job_in, chain_step, INT32_MIN, INT32_MAX, 0, "Step."),
    TEXT(id, LIMIT_NAME_BYTES),
    TEXT(state, LIMIT_NAME_BYTES),
    NUMBER(attempt, INT32_MAX),
    NUMBER(max_retries, INT32_MAX),
    TEXT(retry_backoff, LIMIT_NAME_BYTES),
    NUMBER(retry_base_delay_ms, INT64_MAX),
    NUMBER(retry_max_delay_ms, INT64_MAX),
    TEXT(unique_key, LIMIT_UNIQUE_KEY_BYTES),
    NUMBER(unique_period, INT64_MAX),
    TEXT(batch_id, LIMIT_NAME_BYTES),
    TEXT(parent_id, LIMIT_NAME_BYTES),
    TEXT(chain_id, LIMIT_NAME_BYTES),
    JSON_RAW(struct job_in, chain_config, LIMIT_RESULT_BYTES, JSON_ONLY_OBJECT | JSON_DEEP,
             "Definition."),
    TEXT(schedule_id, LIMIT_NAME_BYTES),
    TEXT(worker_id, LIMIT_WORKER_ID_BYTES),
    TEXT(hostname, LIMIT_WORKER_ID_BYTES),
    JSON_RAW(struct job_in, tags, 0, 0, "An object of strings."),
    JSON_RAW(struct job_in, progress, LIMIT_PROGRESS_BYTES, 0, "Any JSON value."),
    JSON_RAW(struct job_in, checkpoint, LIMIT_RESULT_BYTES, 0, "Any JSON value."),
    JSON_RAW(struct job_in, result, LIMIT_RESULT_BYTES, JSON_KEEP_NULL, "Any JSON value."),
    TEXT(hold_reason, LIMIT_REASON_BYTES),
    MOMENT(lease_expires_at),
    MOMENT(scheduled_at),
    MOMENT(expire_at),
    MOMENT(created_at),
    MOMENT(started_at),
    MOMENT(completed_at),
    MOMENT(failed_at),
    MOMENT(cancelled_at),
    JSON_OBJECTS(struct job_in, errors, errors_count, struct row_in, &row_schema, 0,
                 LIMIT_JOB_ERRORS, 0, "Error entries."),
    JSON_OBJECTS(struct job_in, iterations, iterations_count, struct row_in, &row_schema, 0,
                 LIMIT_RESTORE_ROWS, 0, "Iterations."),
    JSON_OBJECTS(struct job_in, usage, usage_count, struct row_in, &row_schema, 0,
                 LIMIT_RESTORE_ROWS, 0, "Usage reports."),
    JSON_OBJECT(struct job_in, agent, struct agent_in, &agent_schema, 0,
                "Settings of an agent job."),
    JSON_OBJECT(struct job_in, restore, struct rest_in, &rest_schema, 0,
                "Data that the job's document does not show."),
    JSON_RAW(struct job_in, push, LIMIT_PUSH_BYTES, JSON_ONLY_OBJECT, "Without credentials."),
    TEXT(name, LIMIT_JOB_NAME_BYTES),
    TEXT(cron, LIMIT_CRON_BYTES),
    TEXT(cancel_reason, LIMIT_REASON_BYTES),
    TEXT(last_outcome, LIMIT_NAME_BYTES),
    MOMENT(due_at),
    MOMENT(cron_until),
};
#undef TEXT
#undef NUMBER
#undef MOMENT

static const struct job_in job_init = {.max_retries = JOB_MAX_RETRIES,
                                       .retry_base_delay_ms = JOB_RETRY_BASE_MS,
                                       .retry_max_delay_ms = JOB_RETRY_MAX_MS};
static const struct json_schema job_schema =
    JSON_SCHEMA(struct job_in, job_rows, .init = &job_init, JSON_SET(struct job_in, set));

/* Conversion to structs */

static bool bad(struct err *err, const char *member, struct str got)
{
    (void)err_set(err, ERR_VALIDATION, "%s: '" STR_FMT "' is not valid", member, STR_ARG(got));
    return false;
}

/* Parse an id; an empty text gives none. */
static bool read_id(const char *member, struct str text, struct str prefix, struct id *out,
                    struct err *err)
{
    *out = ID_NONE;
    return text.len == 0 || id_parse(text, prefix, out) || bad(err, member, text);
}

static int64_t nusd(int64_t exact, double usd)
{
    double rounded = usd * (double)JOB_NUSD_PER_USD + 0.5;
    if (exact != 0) {
        return exact;
    }
    return rounded < (double)INT64_MAX ? (int64_t)rounded : INT64_MAX;
}

/* Limit a counter to a value that no server reaches, so that it can still be incremented, even
 * after another backup. */
static uint64_t counter(int64_t given)
{
    uint64_t value = (uint64_t)given;
    return value < COMMAND_RESTORE_COUNTER_MAX ? value : COMMAND_RESTORE_COUNTER_MAX;
}

static struct store_tokens tokens_of(const struct row_in *in)
{
    const struct tokens_in *t = &in->tokens;
    return (struct store_tokens){.input = t->input_tokens,
                                 .output = t->output_tokens,
                                 .cache_creation = t->cache_creation_tokens,
                                 .cache_read = t->cache_read_tokens,
                                 .cost_nusd = nusd(t->cost_nusd, t->cost_usd),
                                 .model = t->model,
                                 .provider = t->provider};
}

static bool read_waits(struct rest_call *c, const struct rest_in *in, struct str *out,
                       struct err *err)
{
    struct id *ids = REST_ARRAY(c, struct id, in->waits_for_count);
    for (size_t i = 0; i < in->waits_for_count; i++) {
        if (!id_parse(in->waits_for[i], ID_JOB, &ids[i])) {
            return bad(err, "restore.waits_for", in->waits_for[i]);
        }
    }
    *out = str_from(ids, in->waits_for_count * ID_BYTES);
    return true;
}

static void read_agent(const struct job_in *in, struct job *j)
{
    static const struct rest_in nothing;
    const struct agent_in *a = in->agent;
    const struct rest_in *rest = in->restore != NULL ? in->restore : &nothing;
    struct err ignored;
    if (a == NULL) {
        return;
    }
    j->is_agent = true;
    j->agent =
        (struct job_agent){.max_iterations = a->max_iterations,
                           .max_cost_nusd = nusd(rest->max_cost_nusd, a->max_cost_usd),
                           .timeout = a->iteration_timeout,
                           .iteration = a->iteration,
                           .total_cost_nusd = nusd(rest->total_cost_nusd, a->total_cost_usd)};
    if (a->iteration_timeout.len > 0 &&
        duration_parse(a->iteration_timeout, &j->agent.timeout_ms, &ignored) != ERR_OK) {
        j->agent.timeout_ms = 0; /* not enforced, as on enqueue */
    }
}

static struct str chain_of(const struct job_in *in)
{
    return in->restore != NULL && in->restore->chain_config.len > 0 ? in->restore->chain_config
                                                                    : in->chain_config;
}

/* Read the members that a job has in every format. */
static bool read_basics(struct rest_call *c, const struct job_in *in, struct job *j,
                        struct err *err)
{
    if (in->retry_backoff.len == 0 || !job_backoff_parse(in->retry_backoff, &j->backoff)) {
        j->backoff = JOB_BACKOFF_EXPONENTIAL;
    }
    j->payload = in->payload;
    j->priority = (uint8_t)in->priority;
    j->max_retries = (uint32_t)in->max_retries;
    j->retry_base_ms = in->retry_base_delay_ms;
    j->retry_max_ms = in->retry_max_delay_ms;
    j->tags = in->tags;
    j->checkpoint = in->checkpoint;
    struct svc_caller who = rest_call__caller(c);
    return svc_names_internal(&who, "queue", in->queue, &j->queue, err) == ERR_OK &&
           svc_chain_adopt(&who, chain_of(in), &j->chain_config, err) == ERR_OK;
}

static void read_times(const struct job_in *in, struct job *j)
{
    j->lease_expires_at = in->lease_expires_at;
    j->scheduled_at = in->scheduled_at;
    j->expire_at = in->expire_at;
    j->created_at = in->created_at;
    j->started_at = in->started_at;
    j->completed_at = in->completed_at;
    j->failed_at = in->failed_at;
    j->cancelled_at = in->cancelled_at;
}

static bool read_job(struct rest_call *c, const struct job_in *in, struct job *j, struct err *err)
{
    if (in->state.len == 0 || !job_state_parse(in->state, &j->state)) {
        return bad(err, "state", in->state);
    }
    j->attempt = (uint32_t)in->attempt;
    j->unique_key = in->unique_key;
    j->unique_period_s = in->unique_period;
    j->parent_id = in->parent_id;
    j->chain_id = in->chain_id;
    j->chain_step = (int32_t)in->chain_step;
    j->has_chain_step = (in->set >> SET_CHAIN_STEP & 1U) != 0;
    j->worker_id = in->worker_id;
    j->hostname = in->hostname;
    j->progress = in->progress;
    j->result = in->result;
    j->hold_reason = in->hold_reason;
    j->error_count = (uint32_t)in->errors_count;
    j->iteration_count = (uint32_t)in->iterations_count;
    j->usage_count = (uint32_t)in->usage_count;
    read_times(in, j);
    if (in->restore != NULL) {
        j->lease_token = counter(in->restore->lease_token);
        j->batch_counted = in->restore->batch_counted;
    }
    read_agent(in, j);
    rest_backup_push__read(&(struct rest_backup_push_job){.push = in->push,
                                                          .name = in->name,
                                                          .cron = in->cron,
                                                          .cancel_reason = in->cancel_reason,
                                                          .last_outcome = in->last_outcome,
                                                          .due_at = in->due_at,
                                                          .cron_until = in->cron_until},
                           in->restore != NULL ? &in->restore->push : NULL, j);
    rest_backup_push__read_chain(chain_of(in), j);
    return read_basics(c, in, j, err) &&
           read_id("batch_id", in->batch_id, ID_BATCH, &j->batch_id, err) &&
           read_id("schedule_id", in->schedule_id, ID_SCHEDULE, &j->schedule_id, err) &&
           (in->restore == NULL || read_waits(c, in->restore, &j->waits_for, err));
}

/* Does the record have an id? The time in the id is not checked, so that records created with a
 * wrong clock can be restored. */
static bool has_id(enum command_restore_kind kind)
{
    return kind == COMMAND_RESTORE_JOB || kind == COMMAND_RESTORE_BATCH ||
           kind == COMMAND_RESTORE_SCHEDULE || kind == COMMAND_RESTORE_POLICY;
}

static struct command_restore_item *add_item(struct rest_restore_list *list,
                                             enum command_restore_kind kind, size_t bytes)
{
    if (list->count == list->cap) {
        list->cap = list->cap == 0 ? 64 : list->cap * 2;
        list->items = realloc(list->items, list->cap * sizeof *list->items);
        CHECK(list->items != NULL);
    }
    struct command_restore_item *it = &list->items[list->count++];
    *it = (struct command_restore_item){.kind = kind, .any_id = has_id(kind)};
    list->bytes += bytes;
    return it;
}

static void add_rows(const struct rest_call *c, const struct job_in *in, struct id id,
                     struct rest_restore_list *list)
{
    bool has_sums = rest_backup_sums__are_known(c);
    for (size_t i = 0; i < in->errors_count; i++) {
        const struct row_in *r = &in->errors[i];
        struct command_restore_item *it =
            add_item(list, COMMAND_RESTORE_ERROR, r->error.len + r->backtrace.len);
        it->id = id;
        it->place = (uint32_t)i;
        it->error = (struct store_error){.attempt = (uint32_t)r->attempt,
                                         .created_at = r->created_at,
                                         .error = r->error,
                                         .backtrace = r->backtrace,
                                         .version = r->worker_version};
    }
    for (size_t i = 0; i < in->iterations_count; i++) {
        const struct row_in *r = &in->iterations[i];
        struct command_restore_item *it =
            add_item(list, COMMAND_RESTORE_ITERATION, r->checkpoint.len + r->result.len);
        it->id = id;
        it->place = (uint32_t)i;
        it->iteration = (struct store_iteration){
            .iteration = r->iteration,
            .status = str_eq(r->status, STR("hold"))   ? STORE_ITERATION_HOLD
                      : str_eq(r->status, STR("done")) ? STORE_ITERATION_DONE
                                                       : STORE_ITERATION_CONTINUE,
            .created_at = r->created_at,
            .checkpoint = r->checkpoint,
            .hold_reason = r->hold_reason,
            .result = r->result,
            .tokens = tokens_of(r)};
    }
    for (size_t i = 0; i < in->usage_count; i++) {
        const struct row_in *r = &in->usage[i];
        struct command_restore_item *it = add_item(list, COMMAND_RESTORE_USAGE, 0);
        it->summed = r->in_sums && has_sums;
        it->id = id;
        it->place = (uint32_t)i;
        it->usage = (struct store_usage){
            .attempt = (uint32_t)r->attempt,
            .phase = str_eq(r->phase, STR("heartbeat")) ? STORE_PHASE_HEARTBEAT : STORE_PHASE_ACK,
            .created_at = r->created_at,
            .tokens = tokens_of(r)};
    }
}

/* Is there a job with this id that the caller may not see? */
static bool is_foreign_job(const struct svc_caller *who, struct id id, struct buf *doc)
{
    struct job ignored;
    buf_clear(doc);
    bool exists = engine_read_job(who->engine, id, doc);
    buf_clear(doc);
    return exists && !svc_names_read_job(who, id, doc, &ignored);
}

/* Remove the foreign jobs from the list. Returns whether there were any. */
static bool cut_waits(struct rest_call *c, const struct svc_caller *who, struct job *j)
{
    size_t count = j->waits_for.len / ID_BYTES;
    struct id *ids = REST_ARRAY(c, struct id, count);
    size_t kept = 0;
    struct buf doc;
    buf_init(&doc, SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        struct id id = id_from_bytes(j->waits_for.ptr + i * ID_BYTES);
        if (!is_foreign_job(who, id, &doc)) {
            ids[kept++] = id;
        }
    }
    buf_deinit(&doc);
    j->waits_for = str_from(ids, kept * ID_BYTES);
    return kept < count;
}

/* A job must not be counted in a batch of another namespace, and must not learn when a job of
 * another namespace ends. Enqueuing refuses both. A backup may be restored into a namespace other
 * than its own, next to what it was made from; so here they are left out. */
static void cut_off(struct rest_call *c, struct job *j, struct rest_restore_list *list)
{
    struct svc_caller who = rest_call__caller(c);
    if (who.ns.len == 0 && who.scope.len == 0) {
        return; /* sees everything */
    }
    bool cut = !id_is_none(j->batch_id) && svc_batch_is_foreign(&who, j->batch_id);
    if (cut) {
        j->batch_id = ID_NONE;
        j->batch_counted = false;
    }
    if (j->waits_for.len > 0) {
        cut = cut_waits(c, &who, j) || cut;
    }
    list->cut += cut ? 1 : 0;
}

static bool add_job(struct rest_call *c, struct str json, struct rest_restore_list *list,
                    struct err *err)
{
    struct job_in in;
    struct job j = {0};
    if (json_schema_decode(&job_schema, json, c->arena, &in, err) != ERR_OK ||
        !read_id("id", in.id, ID_JOB, &j.id, err) || !read_job(c, &in, &j, err)) {
        return false;
    }
    if (id_is_none(j.id)) {
        return bad(err, "id", in.id);
    }
    cut_off(c, &j, list);
    list->rerouted += in.restore != NULL && in.restore->chain_leaves ? 1 : 0;
    struct command_restore_item *it = add_item(list, COMMAND_RESTORE_JOB, json.len);
    it->id = j.id;
    it->unique_until = in.restore != NULL ? in.restore->unique_until : WALL_NONE;
    it->job = j;
    add_rows(c, &in, j.id, list);
    return true;
}

size_t rest_restore_job__item_bytes(const struct command_restore_item *it)
{
    const struct job *j = &it->job;
    switch ((int)it->kind) {
    case COMMAND_RESTORE_JOB:
        return j->payload.len + j->result.len + j->checkpoint.len + j->chain_config.len +
               j->tags.len + j->progress.len + j->waits_for.len + j->push.len;
    case COMMAND_RESTORE_ERROR:
        return it->error.error.len + it->error.backtrace.len;
    case COMMAND_RESTORE_ITERATION:
        return it->iteration.checkpoint.len + it->iteration.result.len;
    case COMMAND_RESTORE_SCHEDULE:
        return it->schedule.payload.len;
    case COMMAND_RESTORE_BATCH:
        return it->batch.callback_payload.len;
    case COMMAND_RESTORE_TALLY:
        return it->name.len;
    default:
        return 0;
    }
}

bool rest_restore_job__read_new(struct rest_call *c, struct str json, struct command_new *out,
                                struct err *err)
{
    struct job_in in;
    *out = (struct command_new){0};
    return json_schema_decode(&job_schema, json, c->arena, &in, err) == ERR_OK &&
           read_basics(c, &in, &out->job, err);
}

/* Queues, schedules, batches */

struct record_in {
    struct str id, name, queue, cron, timezone, payload, unique_key, tags, push;
    struct str callback_queue, callback_payload, callback_job;
    bool paused, enabled, sealed;
    bool all_namespaces; /* absent in older backups, where it was always true */
    int64_t max_concurrency, rate_limit, rate_window_ms, failed, max_retries, priority;
    int64_t total, pending, succeeded;
    struct wall created_at, updated_at, last_run, next_run, finished_at;
    struct str url, secret, queue_scope;
    struct str mode, tag_key, tag_value;
    struct str *events;
    size_t events_count;
    int64_t retry_limit;
};

#define TEXT(member, max)   JSON_STR(struct record_in, member, 0, max, 0, "As in the backup.")
#define NUMBER(member, max) JSON_I64(struct record_in, member, 0, max, 0, "As in the backup.")
#define MOMENT(member)      JSON_TIME(struct record_in, member, timestamp_parse, 0, "As in the backup.")
#define FLAG(member)        JSON_BOOL(struct record_in, member, 0, "As in the backup.")
#define VALUE(member)       JSON_RAW(struct record_in, member, 0, JSON_DEEP, "As in the backup.")
static const struct json_field record_rows[] = {
    TEXT(id, LIMIT_NAME_BYTES),
    TEXT(name, LIMIT_INTERNAL_NAME_BYTES),
    TEXT(queue, LIMIT_INTERNAL_NAME_BYTES),
    TEXT(cron, LIMIT_NAME_BYTES),
    TEXT(timezone, LIMIT_NAME_BYTES),
    TEXT(unique_key, LIMIT_UNIQUE_KEY_BYTES),
    TEXT(callback_queue, LIMIT_INTERNAL_NAME_BYTES),
    TEXT(callback_job, LIMIT_NAME_BYTES),
    VALUE(payload),
    VALUE(tags),
    VALUE(push),
    VALUE(callback_payload),
    FLAG(paused),
    FLAG(enabled),
    FLAG(sealed),
    NUMBER(max_concurrency, INT32_MAX),
    NUMBER(rate_limit, LIMIT_THROTTLE_RATE),
    NUMBER(rate_window_ms, INT64_MAX),
    NUMBER(failed, COUNTER_MAX),
    NUMBER(max_retries, INT32_MAX),
    NUMBER(priority, JOB_PRIORITY_NORMAL),
    NUMBER(total, COUNTER_MAX),
    NUMBER(pending, COUNTER_MAX),
    NUMBER(succeeded, COUNTER_MAX),
    MOMENT(created_at),
    MOMENT(updated_at),
    MOMENT(last_run),
    MOMENT(next_run),
    MOMENT(finished_at),
    TEXT(url, LIMIT_WEBHOOK_URL_BYTES),
    TEXT(secret, LIMIT_WEBHOOK_SECRET_BYTES),
    TEXT(queue_scope, LIMIT_QUEUE_SCOPE_BYTES),
    JSON_STRS(struct record_in, events, events_count, 0, LIMIT_WEBHOOK_EVENTS, LIMIT_NAME_BYTES, 0,
              "As in the backup."),
    NUMBER(retry_limit, INT32_MAX),
    TEXT(mode, LIMIT_NAME_BYTES),
    TEXT(tag_key, LIMIT_TAG_KEY_BYTES),
    TEXT(tag_value, LIMIT_TAG_VALUE_BYTES),
    FLAG(all_namespaces),
};
#undef TEXT
#undef NUMBER
#undef MOMENT
#undef FLAG
#undef VALUE
static const struct record_in record_init = {.all_namespaces = true};
static const struct json_schema record_schema =
    JSON_SCHEMA(struct record_in, record_rows, .init = &record_init);

static bool add_queue(struct rest_call *c, const struct record_in *in,
                      struct rest_restore_list *list, struct err *err)
{
    struct command_restore_item *it = add_item(list, COMMAND_RESTORE_QUEUE, 512);
    it->queue = (struct store_queue){.paused = in->paused,
                                     .max_concurrency = (uint32_t)in->max_concurrency,
                                     .throttle_rate = (uint32_t)in->rate_limit,
                                     .throttle_window_ms = in->rate_window_ms,
                                     .created_at = in->created_at,
                                     .failures = counter(in->failed)};
    return rest_names__internal(c, "name", in->name, &it->name, err);
}

/* Check cron and time zone, as for a new schedule: an invalid one would never run. */
static bool check_times(struct rest_call *c, const struct store_schedule *s, struct err *err)
{
    struct zone *zone = NULL;
    struct wall now = engine_time(c->rest->config.engine);
    struct wall since = s->created_at.ns == 0 ? now : s->created_at;
    struct wall next;
    bool good = engine_schedule_zone(s->timezone, &zone, err) == ERR_OK &&
                engine_schedule_next(s->cron, zone, since, now, &next, err) == ERR_OK;
    zone_free(zone);
    return good;
}

static bool add_schedule(struct rest_call *c, const struct record_in *in,
                         struct rest_restore_list *list, struct err *err)
{
    bool redacted = in->push.len > 0 && push_target_is_redacted(in->push);
    struct command_restore_item *it =
        add_item(list, COMMAND_RESTORE_SCHEDULE, in->payload.len + 1024);
    it->schedule =
        (struct store_schedule){.cron = in->cron,
                                .timezone = in->timezone.len > 0 ? in->timezone : STR("UTC"),
                                .payload = in->payload.len > 0 ? in->payload : STR("null"),
                                .unique_key = in->unique_key,
                                .tags = in->tags,
                                .push = in->push,
                                .max_retries = (uint32_t)in->max_retries,
                                .priority = (uint8_t)in->priority,
                                .enabled = in->enabled && !redacted,
                                .created_at = in->created_at,
                                .updated_at = in->updated_at,
                                .last_run = in->last_run,
                                .next_run = in->next_run};
    list->disabled += in->enabled && redacted ? 1 : 0;
    return id_parse(in->id, ID_SCHEDULE, &it->id)
               ? check_times(c, &it->schedule, err) &&
                     rest_names__internal(c, "name", in->name, &it->schedule.name, err) &&
                     rest_names__internal(c, "queue", in->queue, &it->schedule.queue, err)
               : bad(err, "id", in->id);
}

static bool add_batch(struct rest_call *c, const struct record_in *in,
                      struct rest_restore_list *list, struct err *err)
{
    struct command_restore_item *it =
        add_item(list, COMMAND_RESTORE_BATCH, in->callback_payload.len + in->queue_scope.len + 512);
    struct svc_caller who = rest_call__caller(c);
    it->batch = (struct store_batch){.total = counter(in->total),
                                     .pending = counter(in->pending),
                                     .succeeded = counter(in->succeeded),
                                     .failed = counter(in->failed),
                                     .callback_payload = in->callback_payload,
                                     .owner = svc_batch_owner(&who, in->callback_queue),
                                     .created_at = in->created_at,
                                     .finished_at = in->finished_at,
                                     .sealed = in->sealed};
    if (it->batch.owner.known && who.scope.len == 0) {
        it->batch.owner.scope = in->queue_scope;
    }
    if (!read_id("callback_job", in->callback_job, ID_JOB, &it->batch.callback_job, err)) {
        return false;
    }
    if (engine_cluster_reads(who.engine) < COMMAND_ENTRY_STRICT_NAMED) {
        it->batch.callback_job = ID_NONE; /* a member could not read the record */
    }
    return id_parse(in->id, ID_BATCH, &it->id)
               ? rest_names__internal(c, "callback_queue", in->callback_queue,
                                      &it->batch.callback_queue, err)
               : bad(err, "id", in->id);
}

/* Join the patterns, one per line. */
static struct str joined(struct rest_call *c, const struct record_in *in)
{
    struct buf b;
    buf_init(&b, SIZE_MAX);
    for (size_t i = 0; i < in->events_count; i++) {
        buf_add_str(&b, i == 0 ? STR_EMPTY : STR("\n"));
        buf_add_str(&b, in->events[i]);
    }
    struct str text = arena_str(c->arena, buf_str(&b));
    buf_deinit(&b);
    return text;
}

static bool add_webhook(struct rest_call *c, const struct record_in *in,
                        struct rest_restore_list *list, struct err *err)
{
    struct command_restore_item *it =
        add_item(list, COMMAND_RESTORE_WEBHOOK, in->url.len + in->queue_scope.len + 512);
    it->webhook = (struct store_webhook){.ns = c->ns,
                                         .scope = in->queue_scope,
                                         .url = in->url,
                                         .events = joined(c, in),
                                         .secret = in->secret,
                                         .retry_limit = (uint32_t)in->retry_limit,
                                         .enabled = in->enabled,
                                         .created_at = in->created_at};
    for (size_t i = 0; i < in->events_count; i++) {
        if (str_has_control(in->events[i])) {
            return bad(err, "events", in->events[i]);
        }
    }
    return str_has_control(in->id) ? bad(err, "id", in->id)
                                   : rest_names__internal(c, "id", in->id, &it->name, err);
}

static bool add_policy(struct rest_call *c, const struct record_in *in,
                       struct rest_restore_list *list, struct err *err)
{
    struct command_restore_item *it = add_item(list, COMMAND_RESTORE_POLICY, 4096);
    it->policy = (struct store_policy){.ns = c->ns,
                                       .all_namespaces = c->ns.len == 0 && in->all_namespaces,
                                       .name = in->name,
                                       .tag_key = in->tag_key,
                                       .tag_value = in->tag_value,
                                       .all = str_eq(in->mode, STR("all")),
                                       .enabled = in->enabled,
                                       .created_at = in->created_at};
    return id_parse(in->id, ID_POLICY, &it->id)
               ? rest_names__internal(c, "queue", in->queue, &it->policy.queue, err)
               : bad(err, "id", in->id);
}

bool rest_restore_job__read(struct rest_call *c, enum rest_restore_what what, struct str json,
                            struct rest_restore_list *list, struct err *err)
{
    static bool (*const adders[REST_RESTORE_WHAT_COUNT])(
        struct rest_call * c, const struct record_in *in, struct rest_restore_list *list,
        struct err *err) = {[REST_RESTORE_QUEUE] = add_queue,
                            [REST_RESTORE_SCHEDULE] = add_schedule,
                            [REST_RESTORE_BATCH] = add_batch,
                            [REST_RESTORE_WEBHOOK] = add_webhook,
                            [REST_RESTORE_POLICY] = add_policy};
    struct record_in in;
    if (what == REST_RESTORE_JOB) {
        return add_job(c, json, list, err);
    }
    if (what == REST_RESTORE_BUDGET) {
        return rest_backup_budget__read(
            c, json, add_item(list, COMMAND_RESTORE_BUDGET, json.len + 512), err);
    }
    if (what == REST_RESTORE_SUM) {
        return !rest_backup_sums__are_known(c) ||
               rest_backup_sums__read(c, json, add_item(list, COMMAND_RESTORE_TALLY, json.len + 64),
                                      err);
    }
    return json_schema_decode(&record_schema, json, c->arena, &in, err) == ERR_OK &&
           adders[what](c, &in, list, err);
}
