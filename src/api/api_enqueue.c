/*
 * Producer endpoints (http-api.md 7): enqueue, batch, ingest, open batches.
 */
#include "api/api_chain_int.h"
#include "api/api_query_int.h"
#include "base/check.h"
#include "base/limits.h"
#include "core/duration.h"
#include "core/timestamp.h"
#include "json/json_scan.h"
#include "store/store_record.h"

/* What comes in */

struct agent_in {
    int64_t max_iterations;
    double max_cost_usd;
    struct str iteration_timeout;
};

static const struct json_field agent_rows[] = {
    JSON_I64(struct agent_in, max_iterations, INT64_MIN, INT64_MAX, 0,
             "Iterations before the job is held; 0 or less: no limit."),
    JSON_F64(struct agent_in, max_cost_usd, INT64_MIN, 1000000, 0,
             "Dollars before the job is held; 0 or less: no limit."),
    JSON_STR(struct agent_in, iteration_timeout, 0, LIMIT_NAME_BYTES, 0,
             "How long one iteration may take, as a duration."),
};
static const struct json_schema agent_schema = JSON_SCHEMA(struct agent_in, agent_rows);

struct enqueue_in {
    struct str queue;
    struct str payload;
    int priority;
    struct str unique_key;
    int64_t unique_period;
    int64_t max_retries;
    int retry_backoff;
    int64_t retry_base_ms;
    int64_t retry_max_ms;
    struct wall scheduled_at;
    int64_t expire_after_ms;
    struct str tags;
    struct str checkpoint;
    struct agent_in *agent;
    struct str parent_id;
    struct str chain_id;
    int64_t chain_step;
    struct str chain_config;
    struct str *depends_on;
    size_t depends_on_count;
    struct api_chain *chain;
    struct str batch_id;
    uint64_t set; /* which were present: bits of the rows below */
};

/* The row whose presence matters. */
enum { ENQUEUE_ROW_CHAIN_STEP = 16 };

static const struct json_word backoff_words[] = {
    {"none", JOB_BACKOFF_NONE},
    {"fixed", JOB_BACKOFF_FIXED},
    {"linear", JOB_BACKOFF_LINEAR},
    {"exponential", JOB_BACKOFF_EXPONENTIAL},
    {NULL, 0},
};

static const struct json_field enqueue_rows[] = {
    JSON_STR(struct enqueue_in, queue, 0, LIMIT_QUEUE_NAME_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Queue to put the job into."),
    JSON_RAW(struct enqueue_in, payload, 0, JSON_KEEP_NULL, "Any JSON value."),
    JSON_WORD(struct enqueue_in, priority, api_names__priorities, JSON_LAX | JSON_OR_NUMBER,
              "critical, high or normal."),
    JSON_STR(struct enqueue_in, unique_key, 0, LIMIT_UNIQUE_KEY_BYTES, 0,
             "While a job with this key holds it, no other is made."),
    JSON_I64(struct enqueue_in, unique_period, INT64_MIN, INT32_MAX, 0,
             "Seconds that the key is held."),
    JSON_I64(struct enqueue_in, max_retries, 0, INT32_MAX, 0, "Attempts in all."),
    JSON_WORD(struct enqueue_in, retry_backoff, backoff_words, 0,
              "none, fixed, linear or exponential."),
    JSON_DURATION(struct enqueue_in, retry_base_ms, "retry_base_delay", duration_parse, 0,
                  INT64_MAX, 0, "Delay that the back-off grows from."),
    JSON_DURATION(struct enqueue_in, retry_max_ms, "retry_max_delay", duration_parse, 0, INT64_MAX,
                  0, "Longest delay; 0s: no cap."),
    JSON_TIME(struct enqueue_in, scheduled_at, timestamp_parse_kept, 0, "Not before this moment."),
    JSON_DURATION(struct enqueue_in, expire_after_ms, "expire_after", duration_parse, 0, INT64_MAX,
                  0, "The job dies when it was not begun by then."),
    JSON_RAW(struct enqueue_in, tags, 0, 0, "Of strings as a rule.", .told_type = "{any}",
             .told_max = LIMIT_TAGS),
    JSON_RAW(struct enqueue_in, checkpoint, LIMIT_RESULT_BYTES, 0,
             "Handed to the worker with the first fetch."),
    JSON_OBJECT(struct enqueue_in, agent, struct agent_in, &agent_schema, 0,
                "Makes it an agent's job, with these limits."),
    JSON_STR(struct enqueue_in, parent_id, 0, LIMIT_NAME_BYTES, 0, "For information."),
    JSON_STR(struct enqueue_in, chain_id, 0, LIMIT_NAME_BYTES, 0, "Raw chain membership."),
    JSON_I64(struct enqueue_in, chain_step, -2, LIMIT_CHAIN_STEPS, 0, "Raw chain membership."),
    JSON_RAW(struct enqueue_in, chain_config, LIMIT_RESULT_BYTES, JSON_ONLY_OBJECT,
             "Raw chain membership."),
    JSON_STRS(struct enqueue_in, depends_on, depends_on_count, 0, LIMIT_DEPENDS_ON,
              LIMIT_NAME_BYTES, 0, "Ids of jobs that must complete first."),
    JSON_OBJECT(struct enqueue_in, chain, struct api_chain, &api_chain__schema, 0,
                "Steps that follow one another."),
    JSON_STR(struct enqueue_in, batch_id, 0, LIMIT_NAME_BYTES, 0, "Open batch to join."),
};

static const struct enqueue_in enqueue_init = {
    .priority = JOB_PRIORITY_NORMAL,
    .max_retries = JOB_MAX_RETRIES,
    .retry_backoff = JOB_BACKOFF_EXPONENTIAL,
    .retry_base_ms = JOB_RETRY_BASE_MS,
    .retry_max_ms = JOB_RETRY_MAX_MS,
};

static const struct json_schema enqueue_schema = JSON_SCHEMA(
    struct enqueue_in, enqueue_rows, .init = &enqueue_init, JSON_SET(struct enqueue_in, set));

struct batch_in {
    struct str callback_queue;
    struct str callback_payload;
};

static const struct json_field batch_rows[] = {
    JSON_STR(struct batch_in, callback_queue, 0, LIMIT_QUEUE_NAME_BYTES, JSON_NO_CONTROL,
             "Where the job that tells of the end is put."),
    JSON_RAW(struct batch_in, callback_payload, 0, JSON_KEEP_NULL, "Its payload."),
};
static const struct json_schema batch_schema = JSON_SCHEMA(struct batch_in, batch_rows);

struct enqueue_batch_in {
    struct enqueue_in *jobs;
    size_t jobs_count;
    struct batch_in *batch;
};

static const struct json_field enqueue_batch_rows[] = {
    JSON_OBJECTS(struct enqueue_batch_in, jobs, jobs_count, struct enqueue_in, &enqueue_schema, 0,
                 LIMIT_ENQUEUE_BATCH, JSON_INSISTED, "The jobs; all of them are made or none."),
    JSON_OBJECT(struct enqueue_batch_in, batch, struct batch_in, &batch_schema, 0,
                "Makes them a batch."),
};
static const struct json_schema enqueue_batch_schema =
    JSON_SCHEMA(struct enqueue_batch_in, enqueue_batch_rows);

/* From there to a command */

static bool set_agent(const struct agent_in *in, struct job *j, struct err *err)
{
    double cost = in->max_cost_usd > 0 ? in->max_cost_usd : 0;
    j->is_agent = true;
    j->agent.max_iterations = in->max_iterations > 0 ? in->max_iterations : 0;
    j->agent.max_cost_nusd = (int64_t)(cost * (double)JOB_NUSD_PER_USD + 0.5);
    j->agent.timeout = in->iteration_timeout;
    /* One that is no duration is kept and shown, and not enforced. */
    if (duration_parse(in->iteration_timeout, &j->agent.timeout_ms, err) != ERR_OK) {
        j->agent.timeout_ms = 0;
    }
    return true;
}

/* The ids to wait for, each once, without blanks. */
static bool set_dependencies(struct api_call *c, const struct enqueue_in *in, struct job *j,
                             struct err *err)
{
    size_t len = 0;
    if (in->depends_on_count == 0) {
        return true;
    }
    char *ids = api_call__alloc(c, in->depends_on_count * ID_BYTES);
    for (size_t i = 0; i < in->depends_on_count; i++) {
        struct str text = str_trim(in->depends_on[i]);
        struct id id;
        bool known = false;
        if (text.len == 0) {
            continue;
        }
        if (!api_names__may_name(c, text, &id)) {
            (void)err_set(err, ERR_VALIDATION, "depends_on: job \"" STR_FMT "\" not found",
                          STR_ARG(text));
            return false;
        }
        for (size_t at = 0; at < len && !known; at += ID_BYTES) {
            known = memcmp(ids + at, id.b, ID_BYTES) == 0;
        }
        if (!known) {
            memcpy(ids + len, id.b, ID_BYTES);
            len += ID_BYTES;
        }
    }
    j->waits_for = str_from(ids, len);
    return true;
}

static bool set_chain(struct api_call *c, const struct enqueue_in *in, struct command_new *out,
                      struct err *err)
{
    struct job *j = &out->job;
    out->starts_chain = in->chain != NULL;
    if (in->chain != NULL) {
        if (!api_chain__define(c, in->chain, &j->chain_config, err)) {
            return false;
        }
    } else {
        j->chain_id = in->chain_id;
        j->chain_step = (int32_t)in->chain_step;
        j->has_chain_step = (in->set >> ENQUEUE_ROW_CHAIN_STEP & 1) != 0;
        if (!api_chain__adopt(c, in->chain_config, &j->chain_config, err)) {
            return false;
        }
    }
    if (j->waits_for.len > 0) {
        j->chain_config = api_chain__add_dependencies(c, j->chain_config, j->waits_for);
    }
    return true;
}

/* A chain without a payload of its own takes that of its first step. */
static struct str payload_of(const struct enqueue_in *in)
{
    if (in->payload.len > 0) {
        return in->payload;
    }
    if (in->chain != NULL && in->chain->steps_count > 0 && in->chain->steps[0].payload.len > 0) {
        return in->chain->steps[0].payload;
    }
    return STR("{}");
}

/* The record of a batch that the caller may see, put into bytes, which *out points into; false when
 * there is none. The queue that a batch calls tells whose it is. */
static bool read_batch(struct api_call *c, struct str text, struct buf *bytes, struct id *out_id,
                       struct store_batch *out)
{
    return id_parse(text, ID_BATCH, out_id) &&
           store_get(engine_store(c->api->config.engine), STORE_KIND_BATCH,
                     str_from(out_id->b, ID_BYTES), bytes) &&
           store_record_decode_batch(buf_str(bytes), out) &&
           (out->callback_queue.len == 0 || api_names__is_visible(c, out->callback_queue));
}

static bool find_batch(struct api_call *c, struct str text, struct id *out)
{
    struct store_batch batch;
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    bool found = read_batch(c, text, &bytes, out, &batch);
    buf_deinit(&bytes);
    return found;
}

/* Into *out, which is zero. */
static bool to_new(struct api_call *c, const struct enqueue_in *in, struct command_new *out,
                   struct err *err)
{
    struct job *j = &out->job;
    out->expire_after_ms = in->expire_after_ms;
    j->payload = payload_of(in);
    out->payload_is_json = true; /* a schema has read it, or we have written it */
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
    if (in->batch_id.len > 0 && !find_batch(c, in->batch_id, &j->batch_id)) {
        (void)err_set(err, ERR_VALIDATION, "batch_id: batch \"" STR_FMT "\" is not open",
                      STR_ARG(in->batch_id));
        return false;
    }
    return api_names__internal(c, "queue", in->queue, &j->queue, err) &&
           (in->agent == NULL || set_agent(in->agent, j, err)) && set_dependencies(c, in, j, err) &&
           set_chain(c, in, out, err);
}

/* Answers */

static const char *const status_words[RESULT_STATUS_COUNT] = {
    [RESULT_PENDING] = "pending",
    [RESULT_SCHEDULED] = "scheduled",
    [RESULT_DUPLICATE] = "duplicate",
};

void api_enqueue__reply(struct api_call *c, struct id job, enum result_status status)
{
    bool duplicate = status == RESULT_DUPLICATE;
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    api_document__id(&w, "job_id", job, ID_JOB);
    api_document__text(&w, "status", str_from_z(status_words[status]));
    api_document__bool(&w, "unique_existing", duplicate);
    json_write_end(&w);
    api_call__reply(c, duplicate ? 200 : 201, &w);
}

static void one_enqueued(struct api_call *c, const struct result *r)
{
    if (!api_call__refused(c, r)) {
        api_enqueue__reply(c, r->items[0].id, r->items[0].status);
    }
}

static void many_enqueued(struct api_call *c, const struct result *r)
{
    if (api_call__refused(c, r)) {
        return;
    }
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    json_write_key(&w, STR("job_ids"));
    json_write_array(&w);
    for (uint32_t i = 0; i < r->count; i++) {
        char text[ID_TEXT_MAX];
        size_t len = id_format(r->items[i].id, ID_JOB, text);
        json_write_str(&w, str_from(text, len));
    }
    json_write_end(&w);
    /* An empty id where there is no batch: a client of ours requires the key. */
    if (id_is_none(r->id)) {
        json_write_key(&w, STR("batch_id"));
        json_write_str(&w, STR_EMPTY);
    } else {
        api_document__id(&w, "batch_id", r->id, ID_BATCH);
    }
    json_write_end(&w);
    api_call__reply(c, 201, &w);
}

/* Handlers */

/* The key of the request, if it has one, behind what it belongs to: the same key in another
 * namespace, or for another kind of answer, is another. */
static bool idempotency_key(struct api_call *c, const char *answer, struct str *out,
                            struct err *err)
{
    struct str given;
    struct buf b;
    *out = STR_EMPTY;
    if (!http_request_header(c->req, STR("idempotency-key"), &given) || given.len == 0) {
        return true;
    }
    if (given.len > LIMIT_IDEMPOTENCY_KEY_BYTES) {
        (void)err_set(err, ERR_VALIDATION, "Idempotency-Key too large: %zu bytes (max %d)",
                      given.len, LIMIT_IDEMPOTENCY_KEY_BYTES);
        return false;
    }
    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "%s " STR_FMT " ", answer, STR_ARG(c->ns));
    buf_add_str(&b, given);
    *out = arena_str(c->arena, buf_str(&b));
    buf_deinit(&b);
    return true;
}

static void handle_enqueue(struct api_call *c)
{
    struct command_new new = {0};
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    command.type = COMMAND_ENQUEUE;
    command.enqueue = (struct command_enqueue){.jobs = &new, .count = 1};
    if (!idempotency_key(c, "one", &command.enqueue.idempotency_key, &err) ||
        !to_new(c, c->in, &new, &err)) {
        api_call__fail_err(c, &err);
        return;
    }
    api_call__submit(c, &command, 0, one_enqueued);
}

static bool set_batch(struct api_call *c, const struct batch_in *in, struct str *out_queue,
                      struct str *out_payload, struct err *err)
{
    *out_payload = in->callback_payload;
    return api_names__internal(c, "callback_queue", in->callback_queue, out_queue, err);
}

static void handle_enqueue_batch(struct api_call *c)
{
    const struct enqueue_batch_in *in = c->in;
    struct command command = {.type = COMMAND_ENQUEUE};
    struct err err;
    command.enqueue.jobs = API_ARRAY(c, struct command_new, in->jobs_count);
    command.enqueue.count = in->jobs_count;
    command.enqueue.is_list = true;
    if (in->jobs_count == 0) {
        api_call__fail(c, ERR_VALIDATION, "jobs array is required");
        return;
    }
    if (!idempotency_key(c, "many", &command.enqueue.idempotency_key, &err)) {
        api_call__fail_err(c, &err);
        return;
    }
    for (size_t i = 0; i < in->jobs_count; i++) {
        if (in->jobs[i].queue.len == 0) {
            api_call__fail(c, ERR_VALIDATION, "queue is required for each job");
            return;
        }
        if (!to_new(c, &in->jobs[i], &command.enqueue.jobs[i], &err)) {
            (void)err_wrap(&err, "jobs[%zu]", i);
            api_call__fail_err(c, &err);
            return;
        }
    }
    if (in->batch != NULL) {
        command.enqueue.has_batch = true;
        if (!set_batch(c, in->batch, &command.enqueue.callback_queue,
                       &command.enqueue.callback_payload, &err)) {
            api_call__fail_err(c, &err);
            return;
        }
    }
    api_call__submit(c, &command, 0, many_enqueued);
}

static uint64_t cost_of_batch(const struct api_call *c)
{
    const struct enqueue_batch_in *in = c->in;
    return in->jobs_count > 1 ? in->jobs_count : 1;
}

/* Ingest: any body becomes the payload; the rest is in the query. */

static struct str ingested_payload(struct api_call *c)
{
    struct str body = c->req->body;
    struct err err;
    struct buf b;
    if (str_trim(body).len == 0) {
        return STR("{}");
    }
    if (json_scan_check(body, &err) == ERR_OK) {
        return str_trim(body);
    }
    api_call__buf(&b);
    struct json_write w = json_write_to(&b);
    json_write_str(&w, body);
    json_write_finish(&w);
    struct str kept = arena_str(c->arena, buf_str(&b));
    buf_deinit(&b);
    return kept;
}

struct ingest_in {
    int priority;
    struct str unique_key;
    int64_t max_retries;
    struct wall scheduled_at;
    struct str *tags;
    size_t tag_count;
};

static const struct json_field ingest_rows[] = {
    JSON_WORD(struct ingest_in, priority, api_names__priorities, JSON_LAX,
              "critical, high or normal."),
    JSON_STR(struct ingest_in, unique_key, 0, LIMIT_UNIQUE_KEY_BYTES, 0,
             "While a job with this key holds it, no other is made."),
    JSON_I64(struct ingest_in, max_retries, 0, INT32_MAX, 0, "Attempts in all."),
    JSON_TIME(struct ingest_in, scheduled_at, timestamp_parse_kept, 0, "Not before this moment."),
    JSON_STRS(struct ingest_in, tags, tag_count, 0, LIMIT_TAGS,
              LIMIT_TAG_KEY_BYTES + LIMIT_TAG_VALUE_BYTES + 1, API_QUERY_COMMAS,
              "Tags, as key:value each.", .told_pattern = "^[^:]+:"),
};

static const struct ingest_in ingest_init = {
    .priority = JOB_PRIORITY_NORMAL,
    .max_retries = JOB_MAX_RETRIES,
};
static const struct json_schema ingest_schema =
    JSON_SCHEMA(struct ingest_in, ingest_rows, .init = &ingest_init);

/* The pairs as an object. */
static bool join_tags(struct api_call *c, const struct ingest_in *in, struct str *out,
                      struct err *err)
{
    struct buf b;
    api_call__buf(&b);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    bool good = true;
    for (size_t i = 0; i < in->tag_count && good; i++) {
        struct str pair = in->tags[i];
        const char *colon = memchr(pair.ptr, ':', pair.len);
        good = colon != NULL && colon != pair.ptr;
        if (good) {
            size_t at = (size_t)(colon - pair.ptr);
            json_write_key(&w, str_trim(str_from(pair.ptr, at)));
            json_write_str(&w, str_trim(str_from_offset(pair, at + 1)));
        }
    }
    json_write_end(&w);
    json_write_finish(&w);
    *out = in->tag_count > 0 ? arena_str(c->arena, buf_str(&b)) : STR_EMPTY;
    buf_deinit(&b);
    if (!good) {
        (void)err_set(err, ERR_VALIDATION, "invalid tags: expected a list of key:value pairs");
    }
    return good;
}

static void handle_ingest(struct api_call *c)
{
    const struct ingest_in *query = c->query;
    struct enqueue_in in = enqueue_init;
    struct command_new new = {0};
    struct command command = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &new, .count = 1}};
    struct err err;
    in.queue = c->param[0];
    in.payload = ingested_payload(c);
    in.priority = query->priority;
    in.unique_key = query->unique_key;
    in.max_retries = query->max_retries;
    in.scheduled_at = query->scheduled_at;
    if (!join_tags(c, query, &in.tags, &err) || !to_new(c, &in, &new, &err)) {
        api_call__fail_err(c, &err);
        return;
    }
    api_call__submit(c, &command, 0, one_enqueued);
}

/* Open batches */

static void batch_opened(struct api_call *c, const struct result *r)
{
    if (api_call__refused(c, r)) {
        return;
    }
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    api_document__id(&w, "batch_id", r->id, ID_BATCH);
    json_write_end(&w);
    api_call__reply(c, 201, &w);
}

static void handle_batch_open(struct api_call *c)
{
    struct command command = {.type = COMMAND_BATCH_OPEN};
    struct err err;
    if (!set_batch(c, c->in, &command.batch_open.callback_queue,
                   &command.batch_open.callback_payload, &err)) {
        api_call__fail_err(c, &err);
        return;
    }
    api_call__submit(c, &command, 0, batch_opened);
}

static void batch_sealed(struct api_call *c, const struct result *r)
{
    if (!api_call__refused(c, r)) {
        api_call__reply_status(c, "sealed");
    }
}

static void refuse_batch(struct api_call *c)
{
    api_call__fail(c, ERR_NOT_FOUND, "batch \"" STR_FMT "\" not found", STR_ARG(c->param[0]));
}

static void handle_batch_seal(struct api_call *c)
{
    struct command command = {.type = COMMAND_BATCH_SEAL};
    if (find_batch(c, c->param[0], &command.batch_seal.id)) {
        api_call__submit(c, &command, 0, batch_sealed);
    } else {
        refuse_batch(c);
    }
}

static void write_batch(struct api_call *c, struct id id, const struct store_batch *b)
{
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    api_document__id(&w, "id", id, ID_BATCH);
    api_document__i64(&w, "total", (int64_t)b->total);
    api_document__i64(&w, "pending", (int64_t)b->pending);
    api_document__i64(&w, "succeeded", (int64_t)b->succeeded);
    api_document__i64(&w, "failed", (int64_t)b->failed);
    api_document__text(&w, "callback_queue", api_names__visible(c, b->callback_queue));
    api_document__raw(&w, "callback_payload", b->callback_payload);
    api_document__time(&w, "created_at", b->created_at);
    api_document__bool(&w, "sealed", b->sealed);
    json_write_end(&w);
    api_call__reply(c, 200, &w);
}

static void handle_batch_get(struct api_call *c)
{
    struct id id;
    struct store_batch rec;
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    if (read_batch(c, c->param[0], &bytes, &id, &rec)) {
        write_batch(c, id, &rec);
    } else {
        refuse_batch(c);
    }
    buf_deinit(&bytes);
}

/* clang-format off */
static const struct api_route rows[] = {
    /* method    pattern                       roles      flags                                      in                     handler               cost           answer                                   doc */
    {HTTP_POST, "/api/v1/enqueue",             ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_KEY,     &enqueue_schema,       handle_enqueue,       NULL,          "201 enqueued, 200 enqueued",             "Put a job into a queue."},
    {HTTP_POST, "/api/v1/enqueue/batch",       ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_KEY,     &enqueue_batch_schema, handle_enqueue_batch, cost_of_batch, "201 {job_ids, batch_id}",               "Put many jobs in; all of them or none."},
    {HTTP_POST, "/api/v1/webhooks/{queue}",    ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                 NULL,                  handle_ingest,        NULL,          "201 enqueued, 200 enqueued",             "Any body becomes the payload of a job."},
    {HTTP_POST, "/api/v1/batch",               ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_BODY_EMPTY, &batch_schema,      handle_batch_open,    NULL,          "201 {batch_id}",                        "Open a batch that jobs join later."},
    {HTTP_POST, "/api/v1/batch/{id}/seal",     ROLES_AOW, ROUTE_LEADER,                              NULL,                  handle_batch_seal,    NULL,          "200 {status}",                          "No more jobs join; the batch ends with its last one."},
    {HTTP_GET,  "/api/v1/batch/{id}",          ROLES_ALL, 0,                                         NULL,                  handle_batch_get,     NULL,          "200 batch",                             "A batch and its counters."},
};
/* clang-format on */

static const struct api_query queries[] = {
    {HTTP_POST, "/api/v1/webhooks/{queue}", &ingest_schema},
};

const struct api_routes api_enqueue_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
