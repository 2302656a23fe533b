/*
 * Worker endpoints (http-api.md 8): fetch, ack, fail, heartbeat.
 */
#include "api/api_int.h"
#include "base/check.h"
#include "base/limits.h"
#include "base/map.h"
#include "core/timestamp.h"
#include "json/json_scan.h"
#include "store/store_job.h"

/* Fetch */

enum {
    POLL_S_DEFAULT = 30,
    POLL_S_MAX = 60,
    /* Polls are answered a little early, long ones more so: a client's socket may time out at
     * exactly the length of its poll. */
    POLL_S_LONG = 5,
    POLL_EARLY_MS = 50,
    POLL_EARLY_LONG_MS = 250,
};

struct fetch_in {
    struct str *queues;
    size_t queues_count;
    struct str worker_id;
    struct str hostname;
    int64_t timeout;
    int64_t lease_duration;
    int64_t count;
};

/* The members of both requests. */
#define FETCH_ROWS                                                                                 \
    JSON_STRS(struct fetch_in, queues, queues_count, 0, LIMIT_CLAIM_QUEUES,                        \
              LIMIT_QUEUE_NAME_BYTES, JSON_INSISTED, "Queues to look into, in this order."),       \
        JSON_STR(struct fetch_in, worker_id, 0, LIMIT_WORKER_ID_BYTES, 0,                          \
                 "Who is asking; registers the worker."),                                          \
        JSON_STR(struct fetch_in, hostname, 0, LIMIT_WORKER_ID_BYTES, 0, "Where it runs."),        \
        JSON_I64(struct fetch_in, timeout, INT64_MIN, INT64_MAX, 0,                                \
                 "Seconds to wait for a job; 30 by default, 60 at most."),                         \
        JSON_I64(struct fetch_in, lease_duration, 0, LIMIT_LEASE_S_MAX, 0,                         \
                 "Seconds that the claim holds without a heartbeat; default the longer of 60 and " \
                 "timeout.")

static const struct json_field fetch_rows[] = {FETCH_ROWS};
static const struct json_field fetch_batch_rows[] = {
    FETCH_ROWS,
    JSON_I64(struct fetch_in, count, INT64_MIN, INT64_MAX, 0, "Jobs at most; 512 is the limit."),
};
static const struct fetch_in fetch_init = {.count = 1};
static const struct json_schema fetch_schema =
    JSON_SCHEMA(struct fetch_in, fetch_rows, .init = &fetch_init);
static const struct json_schema fetch_batch_schema =
    JSON_SCHEMA(struct fetch_in, fetch_batch_rows, .init = &fetch_init);

static int64_t poll_seconds(const struct fetch_in *in)
{
    int64_t s = in->timeout <= 0 ? POLL_S_DEFAULT : in->timeout;
    return s > POLL_S_MAX ? POLL_S_MAX : s;
}

static uint32_t fetch_count(const struct fetch_in *in)
{
    int64_t n = in->count < 1 ? 1 : in->count;
    return (uint32_t)(n > LIMIT_CLAIM_COUNT ? LIMIT_CLAIM_COUNT : n);
}

static void submit_claim(struct api_call *c, uint32_t count,
                         void (*on_result)(struct api_call *c, const struct result *r))
{
    const struct fetch_in *in = c->in;
    struct command command = {.type = COMMAND_CLAIM};
    int64_t poll_s = poll_seconds(in);
    int64_t lease_s = in->lease_duration > 0         ? in->lease_duration
                      : poll_s > JOB_LEASE_MS / 1000 ? poll_s
                                                     : JOB_LEASE_MS / 1000;
    struct str *queues = API_ARRAY(c, struct str, in->queues_count);
    ATTR_UNINITIALIZED struct err err;
    if (in->queues_count == 0) {
        api_call__fail(c, ERR_VALIDATION, "queues is required");
        return;
    }
    for (size_t i = 0; i < in->queues_count; i++) {
        if (!api_names__internal(c, "queues", in->queues[i], &queues[i], &err)) {
            api_call__fail_err(c, &err);
            return;
        }
    }
    command.claim = (struct command_claim){.queues = queues,
                                           .queue_count = in->queues_count,
                                           .worker_id = in->worker_id,
                                           .hostname = in->hostname,
                                           .ns = c->ns,
                                           .lease_ms = lease_s * 1000,
                                           .count = count};
    api_call__submit(c, &command,
                     poll_s * 1000 - (poll_s >= POLL_S_LONG ? POLL_EARLY_LONG_MS : POLL_EARLY_MS),
                     on_result);
}

static void write_claimed(struct api_call *c, struct json_write *w, const struct result_item *item)
{
    ATTR_UNINITIALIZED struct job j;
    ATTR_UNINITIALIZED struct err err;
    enum err_code code = store_job_decode(item->id, item->doc, &j, &err);
    CHECK(code == ERR_OK); /* the machine has just written it */
    api_document__fetched(w, c, &j);
}

static void one_fetched(struct api_call *c, const struct result *r)
{
    if (api_call__refused(c, r)) {
        return;
    }
    if (r->count == 0) {
        api_call__reply_empty(c, 204);
        return;
    }
    struct json_write w = api_call__json(c);
    write_claimed(c, &w, &r->items[0]);
    api_call__reply(c, 200, &w);
}

static void many_fetched(struct api_call *c, const struct result *r)
{
    if (api_call__refused(c, r)) {
        return;
    }
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    json_write_key(&w, STR("jobs"));
    json_write_array(&w);
    for (uint32_t i = 0; i < r->count; i++) {
        write_claimed(c, &w, &r->items[i]);
    }
    json_write_end(&w);
    json_write_end(&w);
    api_call__reply(c, 200, &w);
}

static void handle_fetch(struct api_call *c)
{
    submit_claim(c, 1, one_fetched);
}

static void handle_fetch_batch(struct api_call *c)
{
    submit_claim(c, fetch_count(c->in), many_fetched);
}

static uint64_t cost_of_fetch(const struct api_call *c)
{
    return fetch_count(c->in);
}

/* Usage reports */

struct usage_in {
    int64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
    double cost_usd;
    struct str model, provider;
};

static const struct json_field usage_rows[] = {
    JSON_I64(struct usage_in, input_tokens, INT64_MIN, INT64_MAX, 0, "Tokens read."),
    JSON_I64(struct usage_in, output_tokens, INT64_MIN, INT64_MAX, 0, "Tokens written."),
    JSON_I64(struct usage_in, cache_creation_tokens, INT64_MIN, INT64_MAX, 0,
             "Tokens put into the cache."),
    JSON_I64(struct usage_in, cache_read_tokens, INT64_MIN, INT64_MAX, 0,
             "Tokens taken from the cache."),
    JSON_F64(struct usage_in, cost_usd, INT64_MIN, 1000000, 0, "Dollars."),
    JSON_STR(struct usage_in, model, 0, LIMIT_MODEL_NAME_BYTES, 0, "Model."),
    JSON_STR(struct usage_in, provider, 0, LIMIT_MODEL_NAME_BYTES, 0, "Provider."),
};
static const struct json_schema usage_schema = JSON_SCHEMA(struct usage_in, usage_rows);

static int64_t not_negative(int64_t v)
{
    return v < 0 ? 0 : v;
}

static struct store_tokens to_tokens(const struct usage_in *in)
{
    if (in == NULL) {
        return (struct store_tokens){0};
    }
    double cost = in->cost_usd > 0 ? in->cost_usd : 0;
    return (struct store_tokens){
        .input = not_negative(in->input_tokens),
        .output = not_negative(in->output_tokens),
        .cache_creation = not_negative(in->cache_creation_tokens),
        .cache_read = not_negative(in->cache_read_tokens),
        .cost_nusd = (int64_t)(cost * (double)JOB_NUSD_PER_USD + 0.5),
        .model = str_trim(in->model),
        .provider = str_trim(in->provider),
    };
}

/* Ack */

struct ack_in {
    struct str job_id;
    int64_t lease_token;
    struct str result;
    struct str checkpoint;
    struct usage_in *usage;
    struct str agent_status;
    struct str hold_reason;
    struct str step_status;
    struct str exit_reason;
};

/* Without case, and what is empty is none of them. */
static const struct json_word agent_words[] = {
    {"continue", COMMAND_AGENT_CONTINUE},
    {"done", COMMAND_AGENT_DONE},
    {"hold", COMMAND_AGENT_HOLD},
    {NULL, 0},
};
static const struct json_word step_words[] = {
    {"continue", COMMAND_STEP_CONTINUE},
    {"exit", COMMAND_STEP_EXIT},
    {NULL, 0},
};

#define ACK_ROWS                                                                                   \
    JSON_I64(struct ack_in, lease_token, 0, INT64_MAX, 0,                                          \
             "The claim that is meant; refused when the job was handed on."),                      \
        JSON_RAW(struct ack_in, result, LIMIT_RESULT_BYTES, JSON_KEEP_NULL, "Kept with the job."), \
        JSON_RAW(struct ack_in, checkpoint, LIMIT_RESULT_BYTES, 0, "Replaces the checkpoint."),    \
        JSON_OBJECT(struct ack_in, usage, struct usage_in, &usage_schema, 0, "What was used."),    \
        JSON_STR(struct ack_in, agent_status, 0, LIMIT_NAME_BYTES, 0,                              \
                 "Agents: how the iteration ended.", .words = agent_words),                        \
        JSON_STR(struct ack_in, hold_reason, 0, LIMIT_REASON_BYTES, JSON_CUT, "With hold."),       \
        JSON_STR(struct ack_in, step_status, 0, LIMIT_NAME_BYTES, 0, "Chains: whether to go on.",  \
                 .words = step_words),                                                             \
        JSON_STR(struct ack_in, exit_reason, 0, LIMIT_REASON_BYTES, JSON_CUT,                      \
                 "Told to the exit handler.")

static const struct json_field ack_rows[] = {ACK_ROWS};
static const struct json_field ack_item_rows[] = {
    /* An id that is too long is no job's when it is cut, either. */
    JSON_STR(struct ack_in, job_id, 1, LIMIT_NAME_BYTES, JSON_REQUIRED | JSON_CUT, "The job."),
    ACK_ROWS,
};
static const struct json_schema ack_schema = JSON_SCHEMA(struct ack_in, ack_rows);
static const struct json_schema ack_item_schema = JSON_SCHEMA(struct ack_in, ack_item_rows);

struct ack_batch_in {
    struct ack_in *acks;
    size_t acks_count;
};

static const struct json_field ack_batch_rows[] = {
    /* More than are taken, so that the refusal has the contract's words. */
    JSON_OBJECTS(struct ack_batch_in, acks, acks_count, struct ack_in, &ack_item_schema, 0,
                 LIMIT_ENQUEUE_BATCH, JSON_INSISTED, "The jobs.", .told_max = LIMIT_ACK_BATCH),
};
static const struct json_schema ack_batch_schema = JSON_SCHEMA(struct ack_batch_in, ack_batch_rows);

/* Everything but the id. */
static bool to_ack(const struct ack_in *in, struct command_ack_item *out, struct err *err)
{
    int agent;
    int step;
    *out = (struct command_ack_item){.lease_token = (uint64_t)in->lease_token,
                                     .has_result = in->result.len > 0,
                                     .result = in->result,
                                     .checkpoint = in->checkpoint,
                                     .usage = to_tokens(in->usage),
                                     .hold_reason = in->hold_reason,
                                     .exit_reason = in->exit_reason};
    if (!api_names__word(agent_words, in->agent_status, &agent)) {
        (void)err_set(err, ERR_ACK,
                      "agent_status: expected continue, done or hold, got '" STR_FMT "'",
                      STR_ARG(in->agent_status));
        return false;
    }
    if (!api_names__word(step_words, in->step_status, &step)) {
        (void)err_set(err, ERR_ACK, "step_status: expected continue or exit, got '" STR_FMT "'",
                      STR_ARG(in->step_status));
        return false;
    }
    out->agent_status = (enum command_agent_status)agent;
    out->step_status = (enum command_step_status)step;
    return true;
}

static void acked(struct api_call *c, const struct result *r)
{
    if (!api_call__refused(c, r)) {
        api_call__reply_status(c, "ok");
    }
}

static void handle_ack(struct api_call *c)
{
    struct command_ack_item item;
    struct command command = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
    ATTR_UNINITIALIZED struct err err;
    if (!to_ack(c->in, &item, &err)) {
        api_call__fail_err(c, &err);
        return;
    }
    if (api_names__job_id(c, c->param[0], &item.id)) {
        api_call__submit(c, &command, 0, acked);
    }
}

static void reply_acked(struct api_call *c, uint32_t count)
{
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    api_document__i64(&w, "acked", count);
    json_write_end(&w);
    api_call__reply(c, 200, &w);
}

static void many_acked(struct api_call *c, const struct result *r)
{
    if (!api_call__refused(c, r)) {
        reply_acked(c, r->affected);
    }
}

static void handle_ack_batch(struct api_call *c)
{
    const struct ack_batch_in *in = c->in;
    struct command command = {.type = COMMAND_ACK};
    struct err err;
    if (in->acks_count == 0) {
        api_call__fail(c, ERR_VALIDATION, "acks array is required");
        return;
    }
    if (in->acks_count > LIMIT_ACK_BATCH) {
        api_call__fail(c, ERR_VALIDATION, "ack batch exceeds maximum of %d items", LIMIT_ACK_BATCH);
        return;
    }
    command.ack.lenient = true;
    command.ack.items = API_ARRAY(c, struct command_ack_item, in->acks_count);
    for (size_t i = 0; i < in->acks_count; i++) {
        struct command_ack_item *item = &command.ack.items[command.ack.count];
        if (!to_ack(&in->acks[i], item, &err)) {
            (void)err_wrap(&err, "acks[%zu]", i);
            api_call__fail_err(c, &err);
            return;
        }
        /* Ids that are none, or not the caller's, are passed over like missing jobs. */
        if (api_names__may_name(c, in->acks[i].job_id, &item->id)) {
            command.ack.count++;
        }
    }
    if (command.ack.count == 0) {
        reply_acked(c, 0);
        return;
    }
    api_call__submit(c, &command, 0, many_acked);
}

static uint64_t cost_of_acks(const struct api_call *c)
{
    const struct ack_batch_in *in = c->in;
    return in->acks_count > 1 ? in->acks_count : 1;
}

/* Fail */

struct fail_in {
    struct str error;
    struct str backtrace;
    int64_t lease_token;
};

static const struct json_field fail_rows[] = {
    JSON_STR(struct fail_in, error, 0, LIMIT_ERROR_BYTES, JSON_CUT, "What went wrong."),
    JSON_STR(struct fail_in, backtrace, 0, LIMIT_BACKTRACE_BYTES, JSON_CUT, "Where."),
    JSON_I64(struct fail_in, lease_token, 0, INT64_MAX, 0,
             "The claim that is meant; refused when the job was handed on."),
};
static const struct json_schema fail_schema = JSON_SCHEMA(struct fail_in, fail_rows);

static void failed(struct api_call *c, const struct result *r)
{
    if (api_call__refused(c, r)) {
        return;
    }
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    api_document__text(&w, "status", str_from_z(job_state_name(r->state)));
    api_document__time(&w, "next_attempt_at", r->at);
    api_document__i64(&w, "attempts_remaining", r->remaining);
    api_document__i64(&w, "attempt", r->attempt);
    json_write_end(&w);
    api_call__reply(c, 200, &w);
}

static void handle_fail(struct api_call *c)
{
    const struct fail_in *in = c->in;
    struct command command = {.type = COMMAND_FAIL,
                              .fail = {.lease_token = (uint64_t)in->lease_token,
                                       .error = in->error,
                                       .backtrace = in->backtrace}};
    if (api_names__job_id(c, c->param[0], &command.fail.id)) {
        api_call__submit(c, &command, 0, failed);
    }
}

/* Heartbeat: {"jobs": {"<id>": {…}}}. The keys are ids, so the members are walked by hand. */

struct beat_in {
    struct str progress;
    struct str checkpoint;
    struct usage_in *usage;
    int64_t lease_token;
};

static const struct json_field beat_rows[] = {
    JSON_RAW(struct beat_in, progress, LIMIT_PROGRESS_BYTES, 0, "Shown with the job."),
    JSON_RAW(struct beat_in, checkpoint, LIMIT_RESULT_BYTES, 0, "Replaces the checkpoint."),
    JSON_OBJECT(struct beat_in, usage, struct usage_in, &usage_schema, 0, "What was used."),
    JSON_I64(struct beat_in, lease_token, 0, INT64_MAX, 0, "The claim that is meant."),
};
static const struct json_schema beat_schema = JSON_SCHEMA(struct beat_in, beat_rows);

struct heartbeat_in {
    struct str jobs;
};

static const struct json_field heartbeat_rows[] = {
    JSON_RAW(struct heartbeat_in, jobs, 0, JSON_ONLY_OBJECT,
             "Job id to progress, checkpoint, usage and lease_token.", .told_type = "{{any}}",
             .told_max = LIMIT_HEARTBEAT_JOBS),
};
static const struct json_schema heartbeat_schema = JSON_SCHEMA(struct heartbeat_in, heartbeat_rows);

/* One job of the request, and where its answer comes from. */
struct beat {
    struct map_node by_text;             /* the id as it was sent */
    struct command_heartbeat_item *item; /* in the command; NULL: nobody knows the job */
    enum result_status status;
};

struct beats {
    struct beat *list;
    size_t count;
};

static void write_list(struct json_write *w, const char *key, const struct beats *b, bool ok,
                       bool unknown_only)
{
    json_write_key(w, str_from_z(key));
    json_write_array(w);
    for (size_t i = 0; i < b->count; i++) {
        bool is_ok = b->list[i].status == RESULT_OK;
        if (is_ok == ok && (!unknown_only || b->list[i].status == RESULT_UNKNOWN)) {
            json_write_str(w, b->list[i].by_text.key);
        }
    }
    json_write_end(w);
}

static void reply_beats(struct api_call *c)
{
    const struct beats *b = c->data;
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    json_write_key(&w, STR("jobs"));
    json_write_object(&w);
    for (size_t i = 0; i < b->count; i++) {
        json_write_key(&w, b->list[i].by_text.key);
        json_write_object(&w);
        api_document__text(&w, "status",
                           b->list[i].status == RESULT_OK ? STR("ok") : STR("cancel"));
        json_write_end(&w);
    }
    json_write_end(&w);
    write_list(&w, "acked", b, true, false);
    write_list(&w, "unknown", b, false, true);
    write_list(&w, "canceled", b, false, false);
    json_write_end(&w);
    api_call__reply(c, 200, &w);
}

static void beaten(struct api_call *c, const struct result *r)
{
    struct beats *b = c->data;
    uint32_t at = 0;
    if (api_call__refused(c, r)) {
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        if (b->list[i].item != NULL) {
            CHECK(at < r->count);
            b->list[i].status = r->items[at++].status;
        }
    }
    reply_beats(c);
}

static size_t count_members(struct str object)
{
    struct json_scan s = json_scan_from(object);
    struct json_value key;
    struct json_value value;
    size_t n = 0;
    if (object.len == 0 || !json_scan_enter_object(&s)) {
        return 0;
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        n++;
    }
    return n;
}

/* What the request's members come to; the table is needed only while they are read. */
struct beats_reader {
    struct api_call *call;
    struct beats *beats;
    struct command_heartbeat *command;
    struct map by_text;
};

/* The beat with this id: into the command when the caller may, into the answer in any case. */
static struct beat *need_beat(struct beats_reader *rd, struct str text)
{
    struct map_node *known = map_find(&rd->by_text, text);
    if (known != NULL) {
        return CONTAINER_OF(known, struct beat, by_text);
    }
    struct beat *beat = &rd->beats->list[rd->beats->count++];
    struct command_heartbeat_item *item = &rd->command->items[rd->command->count];
    *beat = (struct beat){.by_text.key = text, .status = RESULT_UNKNOWN};
    map_add(&rd->by_text, &beat->by_text);
    if (api_names__may_name(rd->call, text, &item->id)) {
        beat->item = item;
        rd->command->count++;
    }
    return beat;
}

/* One member of jobs. Of several with the same id the last counts, as with every key. */
static bool add_beat(struct beats_reader *rd, struct json_value key, struct json_value value,
                     struct err *err)
{
    struct arena *arena = rd->call->arena;
    struct str body = value.type == JSON_TYPE_NULL ? STR("{}") : value.text;
    struct beat_in in;
    struct str text;
    if (json_value_text(key, arena, &text, err) != ERR_OK) {
        return false;
    }
    if (json_schema_decode(&beat_schema, body, arena, &in, err) != ERR_OK) {
        (void)err_wrap(err, "jobs." STR_FMT, STR_ARG(text));
        return false;
    }
    const struct beat *beat = need_beat(rd, text);
    if (beat->item != NULL) {
        *beat->item = (struct command_heartbeat_item){.id = beat->item->id,
                                                      .lease_token = (uint64_t)in.lease_token,
                                                      .progress = in.progress,
                                                      .checkpoint = in.checkpoint,
                                                      .usage = to_tokens(in.usage)};
    }
    return true;
}

static bool read_beats(struct beats_reader *rd, struct str jobs, struct err *err)
{
    struct json_scan s = json_scan_from(jobs);
    struct json_value key;
    struct json_value value;
    bool good = true;
    map_init(&rd->by_text);
    if (jobs.len > 0 && json_scan_enter_object(&s)) {
        while (good && json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
            good = add_beat(rd, key, value, err);
        }
    }
    map_deinit(&rd->by_text);
    return good;
}

static void handle_heartbeat(struct api_call *c)
{
    const struct heartbeat_in *in = c->in;
    struct command command = {.type = COMMAND_HEARTBEAT};
    struct beats *b = API_NEW(c, struct beats);
    struct beats_reader rd = {.call = c, .beats = b, .command = &command.heartbeat};
    struct err err;
    size_t count = count_members(in->jobs);
    c->data = b;
    command.heartbeat.ns = c->ns;
    if (count > LIMIT_HEARTBEAT_JOBS) {
        api_call__fail(c, ERR_VALIDATION, "jobs has more than %d items", LIMIT_HEARTBEAT_JOBS);
        return;
    }
    b->list = API_ARRAY(c, struct beat, count);
    command.heartbeat.items = API_ARRAY(c, struct command_heartbeat_item, count);
    if (!read_beats(&rd, in->jobs, &err)) {
        api_call__fail_err(c, &err);
        return;
    }
    if (command.heartbeat.count == 0) {
        reply_beats(c);
        return;
    }
    api_call__submit(c, &command, 0, beaten);
}

/* clang-format off */
static const struct api_route rows[] = {
    /* method    pattern                 roles      flags                                          in                   handler             cost           answer                                                doc */
    {HTTP_POST, "/api/v1/fetch",         ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &fetch_schema,       handle_fetch,       NULL,          "200 fetched job, 204 when there is none",            "Claim a job, waiting for one if need be."},
    {HTTP_POST, "/api/v1/fetch/batch",   ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &fetch_batch_schema, handle_fetch_batch, cost_of_fetch, "200 fetched jobs",                                   "Claim several jobs."},
    {HTTP_POST, "/api/v1/ack/batch",     ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &ack_batch_schema,   handle_ack_batch,   cost_of_acks,  "200 {acked}",                                        "Complete several jobs; others are passed over."},
    {HTTP_POST, "/api/v1/ack/{job_id}",  ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_BODY_EMPTY,  &ack_schema,         handle_ack,         NULL,          "200 {status}",                                       "Complete a job, or end an agent's iteration."},
    {HTTP_POST, "/api/v1/fail/{job_id}", ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &fail_schema,        handle_fail,        NULL,          "200 {status, next_attempt_at, attempts_remaining}",  "Give up on an attempt."},
    {HTTP_POST, "/api/v1/heartbeat",     ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &heartbeat_schema,   handle_heartbeat,   NULL,          "200 {jobs, acked, unknown, canceled}",               "Renew leases, and hear which jobs to stop."},
};
/* clang-format on */

const struct api_routes api_work_routes = {.rows = rows, .count = COUNT_OF(rows)};
