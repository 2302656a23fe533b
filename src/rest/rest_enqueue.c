/*
 * Producer endpoints (http-api.md 7): enqueue, batch, ingest, open batches.
 */
#include <assert.h>

#include "base/limits.h"
#include "core/duration.h"
#include "core/timestamp.h"
#include "json/json_scan.h"
#include "rest/rest_int.h"
#include "rest/rest_query_int.h"
#include "svc/svc_names.h"
#include "svc/svc_usage.h"

/* Requests */

static const struct json_field agent_rows[] = {
    JSON_I64(struct svc_enqueue_agent, max_iterations, INT64_MIN, INT64_MAX, 0,
             "Maximum number of iterations; then the job is held. 0 or less: no limit."),
    JSON_F64(struct svc_enqueue_agent, max_cost_usd, INT64_MIN, SVC_USAGE_USD_MAX, 0,
             "Maximum cost in US dollars; then the job is held. 0 or less: no limit."),
    JSON_STR(struct svc_enqueue_agent, iteration_timeout, 0, LIMIT_NAME_BYTES, 0,
             "Time limit of one iteration, as a duration."),
};
static const struct json_schema agent_schema = JSON_SCHEMA(struct svc_enqueue_agent, agent_rows);

/* A job in a request. struct svc_enqueue_job is first, so that rows can refer to its members. */
struct enqueue_in {
    struct svc_enqueue_job job;
    /* Alternative names in milliseconds; only one of the two may be used. */
    int64_t retry_base_delay_ms;
    int64_t retry_max_delay_ms;
    int64_t expire_after_ms;
    struct str group;
    uint64_t set; /* which members are present: bits of the rows below */
};
static_assert(offsetof(struct enqueue_in, job) == 0, "rows of svc_enqueue_job are rows of ours");

/* Rows whose presence matters. */
enum {
    ROW_RETRY_BASE = 7,
    ROW_RETRY_MAX = 8,
    ROW_EXPIRE_AFTER = 10,
    ROW_CHAIN_STEP = 16,
    ROW_RETRY_BASE_MS = 21,
    ROW_RETRY_MAX_MS = 22,
    ROW_EXPIRE_AFTER_MS = 23,
    ROW_JOBS = 26, /* the list of jobs, after the rows of a job */
};
/* The longest duration. */
#define DURATION_MS_MAX (INT64_MAX / NS_PER_MS)

static const struct json_word backoff_words[] = {
    {"none", JOB_BACKOFF_NONE},
    {"fixed", JOB_BACKOFF_FIXED},
    {"linear", JOB_BACKOFF_LINEAR},
    {"exponential", JOB_BACKOFF_EXPONENTIAL},
    {NULL, 0},
};

/* The members of a job. */
#define JOB_ROWS                                                                                   \
    JSON_STR(struct svc_enqueue_job, queue, 0, LIMIT_INTERNAL_NAME_BYTES,                          \
             JSON_NO_CONTROL | JSON_INSISTED, "Queue of the job.",                                 \
             .told_max = LIMIT_QUEUE_NAME_BYTES),                                                  \
        JSON_RAW(struct svc_enqueue_job, payload, 0, JSON_KEEP_NULL, "Payload: any JSON value."),  \
        JSON_WORD(struct svc_enqueue_job, priority, rest_names__priorities,                        \
                  JSON_OR_NUMBER | JSON_NUMBER_APART, "Priority: critical, high or normal."),      \
        JSON_STR(struct svc_enqueue_job, unique_key, 0, LIMIT_UNIQUE_KEY_BYTES, 0,                 \
                 "Unique key. While a job holds it, no second job with the same key is created."), \
        JSON_I64(struct svc_enqueue_job, unique_period, INT64_MIN, INT32_MAX, 0,                   \
                 "How long the key is held, in seconds."),                                         \
        JSON_I64(struct svc_enqueue_job, max_retries, 0, INT32_MAX, 0,                             \
                 "Maximum number of attempts, including the first."),                              \
        JSON_WORD(struct svc_enqueue_job, retry_backoff, backoff_words, 0,                         \
                  "How the delay between attempts grows: none, fixed, linear or exponential."),    \
        JSON_DURATION(struct svc_enqueue_job, retry_base_ms, "retry_base_delay", duration_parse,   \
                      0, INT64_MAX, 0, "Base delay between attempts, as a duration."),             \
        JSON_DURATION(struct svc_enqueue_job, retry_max_ms, "retry_max_delay", duration_parse, 0,  \
                      INT64_MAX, 0,                                                                \
                      "Maximum delay between attempts, as a duration. 0s: no maximum."),           \
        JSON_TIME(struct svc_enqueue_job, scheduled_at, timestamp_parse_kept, 0,                   \
                  "The job does not start before this time."),                                     \
        JSON_DURATION(struct svc_enqueue_job, expire_after_ms, "expire_after", duration_parse, 0,  \
                      INT64_MAX, 0,                                                                \
                      "The job expires if it has not started within this duration."),              \
        JSON_RAW(struct svc_enqueue_job, tags, 0, 0,                                               \
                 "Tags: an object, usually with string values.", .told_type = "{any}",             \
                 .told_max = LIMIT_TAGS),                                                          \
        JSON_RAW(struct svc_enqueue_job, checkpoint, LIMIT_RESULT_BYTES, 0,                        \
                 "Checkpoint passed to the worker with the first fetch."),                         \
        JSON_OBJECT(struct svc_enqueue_job, agent, struct svc_enqueue_agent, &agent_schema, 0,     \
                    "Makes the job an agent job with these limits."),                              \
        JSON_STR(struct svc_enqueue_job, parent_id, 0, LIMIT_NAME_BYTES, 0,                        \
                 "ID of a parent job. Informational."),                                            \
        JSON_STR(struct svc_enqueue_job, chain_id, 0, LIMIT_NAME_BYTES, 0,                         \
                 "Chain ID, for clients that build chains themselves."),                           \
        JSON_I64(struct svc_enqueue_job, chain_step, -2, LIMIT_CHAIN_STEPS, 0,                     \
                 "Position in the chain, for clients that build chains themselves."),              \
        JSON_RAW(struct svc_enqueue_job, chain_config, LIMIT_RESULT_BYTES, JSON_ONLY_OBJECT,       \
                 "Chain definition, for clients that build chains themselves."),                   \
        JSON_STRS(struct svc_enqueue_job, depends_on, depends_on_count, 0, LIMIT_DEPENDS_ON,       \
                  LIMIT_NAME_BYTES, 0, "IDs of jobs that must complete first."),                   \
        JSON_OBJECT(struct svc_enqueue_job, chain, struct svc_chain, &svc_chain_schema, 0,         \
                    "Chain of jobs that run one after another."),                                  \
        JSON_STR(struct svc_enqueue_job, batch_id, 0, LIMIT_NAME_BYTES, 0,                         \
                 "Open batch that the job joins."),                                                \
        JSON_I64(struct enqueue_in, retry_base_delay_ms, 0, DURATION_MS_MAX, 0,                    \
                 "retry_base_delay in milliseconds. Set only one of the two."),                    \
        JSON_I64(struct enqueue_in, retry_max_delay_ms, 0, DURATION_MS_MAX, 0,                     \
                 "retry_max_delay in milliseconds. Set only one of the two."),                     \
        JSON_I64(struct enqueue_in, expire_after_ms, 0, DURATION_MS_MAX, 0,                        \
                 "expire_after in milliseconds. Set only one of the two."),                        \
        JSON_STR(struct enqueue_in, group, 0, LIMIT_NAME_BYTES, 0, "Reserved. Must be empty."),    \
        JSON_OBJECT(struct svc_enqueue_job, push, struct svc_push, &svc_push_schema, 0,            \
                    "Target URL. The server delivers the job; workers do not get it.")

static const struct json_field job_rows[] = {JOB_ROWS};
static_assert(COUNT_OF(job_rows) == ROW_JOBS, "the row of the list is the next");

static const struct enqueue_in job_init = {.job = {SVC_ENQUEUE_DEFAULTS}};

static const struct json_schema job_schema =
    JSON_SCHEMA(struct enqueue_in, job_rows, .init = &job_init, JSON_SET(struct enqueue_in, set));

static const struct json_field batch_rows[] = {
    JSON_STR(struct svc_batch, callback_queue, 0, LIMIT_INTERNAL_NAME_BYTES, JSON_NO_CONTROL,
             "Queue of the callback job, which is enqueued when all jobs have finished.",
             .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_RAW(struct svc_batch, callback_payload, 0, JSON_KEEP_NULL, "Payload of the callback job."),
};
static const struct json_schema batch_schema = JSON_SCHEMA(struct svc_batch, batch_rows);

struct list_in {
    struct enqueue_in *jobs;
    size_t jobs_count;
    struct svc_batch *batch;
    struct str batch_id; /* refused: otherwise the jobs would silently not join that batch */
};

static const struct json_field list_rows[] = {
    JSON_OBJECTS(struct list_in, jobs, jobs_count, struct enqueue_in, &job_schema, 0,
                 LIMIT_ENQUEUE_BATCH, JSON_INSISTED,
                 "Jobs to create. Either all of them are created or none."),
    JSON_OBJECT(struct list_in, batch, struct svc_batch, &batch_schema, 0,
                "Makes the jobs a batch."),
    JSON_STR(struct list_in, batch_id, 0, LIMIT_NAME_BYTES, 0,
             "Must be empty. Jobs that join an open batch each have their own batch_id."),
};
static const struct json_schema list_schema = JSON_SCHEMA(struct list_in, list_rows);

/* One job, or a list of jobs, which newer clients send to the same route. */
struct either_in {
    struct enqueue_in one;
    struct enqueue_in *jobs;
    size_t jobs_count;
    struct svc_batch *batch;
};
static_assert(offsetof(struct either_in, one) == 0, "rows of a job are rows of ours");

static const struct json_field either_rows[] = {
    JOB_ROWS,
    JSON_OBJECTS(struct either_in, jobs, jobs_count, struct enqueue_in, &job_schema, 0,
                 LIMIT_ENQUEUE_BATCH, 0,
                 "List of jobs, as for enqueue/batch. Instead of a single job."),
    JSON_OBJECT(struct either_in, batch, struct svc_batch, &batch_schema, 0,
                "Makes the list a batch."),
};
static const struct either_in either_init = {.one = {.job = {SVC_ENQUEUE_DEFAULTS}}};
static const struct json_schema either_schema = JSON_SCHEMA(
    struct either_in, either_rows, .init = &either_init, JSON_SET(struct either_in, one.set));

static bool is_set(const struct enqueue_in *in, unsigned row)
{
    return (in->set >> row & 1) != 0;
}

/* Process what the schema cannot: members with two names, and presence. */
static bool finish_job(const struct rest_call *c, struct enqueue_in *in, struct err *err)
{
    const struct {
        const char *name;
        unsigned text_row, number_row;
        int64_t number;
        int64_t *to;
    } lengths[] = {
        {"retry_base_delay", ROW_RETRY_BASE, ROW_RETRY_BASE_MS, in->retry_base_delay_ms,
         &in->job.retry_base_ms},
        {"retry_max_delay", ROW_RETRY_MAX, ROW_RETRY_MAX_MS, in->retry_max_delay_ms,
         &in->job.retry_max_ms},
        {"expire_after", ROW_EXPIRE_AFTER, ROW_EXPIRE_AFTER_MS, in->expire_after_ms,
         &in->job.expire_after_ms},
    };
    in->job.payload_checked = true; /* checked by the schema */
    in->job.has_chain_step = is_set(in, ROW_CHAIN_STEP);
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        if (!is_set(in, lengths[i].number_row)) {
            continue;
        }
        if (is_set(in, lengths[i].text_row)) {
            (void)err_set(err, ERR_VALIDATION, "%s and %s_ms cannot both be set", lengths[i].name,
                          lengths[i].name);
            return false;
        }
        *lengths[i].to = lengths[i].number;
    }
    if (in->group.len > 0) {
        (void)err_set(err, ERR_VALIDATION,
                      "group: fair scheduling within a queue is not supported");
        return false;
    }
    return rest_names__priority_apart(c, &in->job.priority, err);
}

/* Responses */

/* Write a created job in the form of newer clients. */
static void write_ref(struct json_write *w, const char *key, struct str quoted_id, struct str queue,
                      const char *status)
{
    rest_document__object(w, key);
    rest_document__raw(w, "id", quoted_id);
    rest_document__text(w, "queue", queue);
    rest_document__text(w, "status", str_from_z(status));
    json_write_end(w);
}

/* Respond 409, as newer clients expect for a unique key in use. */
static void reply_conflict(struct rest_call *c, const struct svc_enqueued *made)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "error", STR("a job with this unique_key already exists"));
    rest_document__text(&w, "code", str_from_z(err_wire(ERR_CONFLICT)));
    rest_document__id(&w, "unique_job_id", made->job, ID_JOB);
    json_write_end(&w);
    rest_call__reply(c, err_http_status(ERR_CONFLICT), &w);
}

static void reply_one(struct rest_call *c, const struct svc_enqueued *made)
{
    if (made->is_duplicate && rest_names__is_second(c)) {
        reply_conflict(c, made);
        return;
    }
    char room[REST_DOCUMENT_ID_ROOM];
    struct str id = rest_document__quoted_id(made->job, ID_JOB, room);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__raw(&w, "job_id", id);
    rest_document__text(&w, "status", str_from_z(made->status));
    rest_document__bool(&w, "unique_existing", made->is_duplicate);
    if (made->queue.len > 0) {
        write_ref(&w, "job", id, made->queue, made->status);
        if (made->is_duplicate) {
            rest_document__raw(&w, "unique_job_id", id);
        }
    }
    json_write_end(&w);
    rest_call__reply(c, made->is_duplicate ? 200 : 201, &w);
}

void rest_enqueue__reply(struct rest_call *c, struct id job, struct str queue,
                         enum result_status status)
{
    struct svc_caller who = rest_call__caller(c);
    struct svc_enqueued made =
        svc_enqueue_answer(&who, &(struct result_item){.id = job, .status = status}, queue);
    reply_one(c, &made);
}

static void one_enqueued(struct rest_call *c, const struct result *r)
{
    struct svc_caller who = rest_call__caller(c);
    const struct enqueue_in *in = c->in; /* NULL for ingest */
    if (!rest_call__refused(c, r)) {
        struct svc_enqueued made =
            svc_enqueue_answer(&who, &r->items[0], in != NULL ? in->job.queue : c->param[0]);
        reply_one(c, &made);
    }
}

static void many_enqueued(struct rest_call *c, const struct result *r)
{
    if (rest_call__refused(c, r)) {
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    json_write_key(&w, STR("job_ids"));
    json_write_array(&w);
    for (uint32_t i = 0; i < r->count; i++) {
        char text[ID_TEXT_MAX];
        size_t len = id_format(r->items[i].id, ID_JOB, text);
        json_write_str(&w, str_from(text, len));
    }
    json_write_end(&w);
    /* Write an empty id if there is no batch: one of our SDKs requires the member. */
    if (id_is_none(r->id)) {
        json_write_key(&w, STR("batch_id"));
        json_write_str(&w, STR_EMPTY);
    } else {
        rest_document__id(&w, "batch_id", r->id, ID_BATCH);
    }
    json_write_end(&w);
    rest_call__reply(c, 201, &w);
}

/* Handlers */

struct svc_once rest_enqueue__once(const struct rest_call *c, enum svc_once_route route)
{
    struct svc_once once = {.route = route, .body = c->req->body};
    if (!http_request_known(c->req, HTTP_KNOWN_IDEMPOTENCY_KEY, &once.key)) {
        once.key = STR_EMPTY;
    }
    if (route == SVC_ONCE_INGEST || route == SVC_ONCE_REPLAY || route == SVC_ONCE_RUN) {
        once.target = c->req->target;
    }
    return once;
}

static void enqueue_one(struct rest_call *c, struct enqueue_in *in)
{
    struct svc_caller who = rest_call__caller(c);
    struct svc_once once = rest_enqueue__once(c, SVC_ONCE_ONE);
    ATTR_UNINITIALIZED struct command_new room;
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    if (!finish_job(c, in, &err) ||
        svc_enqueue_one(&who, &in->job, &room, &command, &err) != ERR_OK ||
        svc_enqueue_once(&who, &command, &once, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, one_enqueued);
}

static enum err_code put_jobs(const struct rest_call *c, const struct svc_caller *who,
                              const struct list_in *in, struct command *command, struct err *err)
{
    for (size_t i = 0; i < in->jobs_count; i++) {
        if (!finish_job(c, &in->jobs[i], err)) {
            return err_wrap(err, "jobs[%zu]", i);
        }
        if (svc_enqueue_put(who, command, i, &in->jobs[i].job, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static void enqueue_list(struct rest_call *c, const struct list_in *in)
{
    struct svc_caller who = rest_call__caller(c);
    struct svc_once once = rest_enqueue__once(c, SVC_ONCE_MANY);
    struct command command;
    struct err err;
    if (svc_enqueue_list(&who, in->jobs_count, &command, &err) != ERR_OK ||
        svc_enqueue_once(&who, &command, &once, &err) != ERR_OK ||
        put_jobs(c, &who, in, &command, &err) != ERR_OK ||
        (in->batch != NULL && svc_enqueue_as_batch(&who, &command, in->batch, &err) != ERR_OK)) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, many_enqueued);
}

/* The name of a job member that was sent next to a list of jobs and would be ignored; NULL:
 * none. */
static const char *member_beside_list(const struct enqueue_in *in)
{
    for (unsigned row = in->job.queue.len > 0 ? 0 : 1; row < ROW_JOBS; row++) {
        if (is_set(in, row)) {
            return either_rows[row].name;
        }
    }
    return NULL;
}

static void handle_enqueue(struct rest_call *c)
{
    struct either_in *in = c->in;
    struct list_in list = {.jobs = in->jobs, .jobs_count = in->jobs_count, .batch = in->batch};
    bool has_queue = in->one.job.queue.len > 0;
    bool is_one = in->jobs_count == 0 && (has_queue || !is_set(&in->one, ROW_JOBS));
    const char *beside = is_one ? NULL : member_beside_list(&in->one);
    if (is_one && in->batch != NULL) {
        rest_call__fail(c, ERR_VALIDATION, "batch is for a list of jobs; use batch_id to join one");
    } else if (is_one) {
        enqueue_one(c, &in->one);
    } else if (beside != NULL) {
        rest_call__fail(c, ERR_VALIDATION, "%s and jobs cannot both be set", beside);
    } else {
        enqueue_list(c, &list);
    }
}

static void handle_enqueue_batch(struct rest_call *c)
{
    const struct list_in *in = c->in;
    if (in->batch_id.len > 0) {
        rest_call__fail(c, ERR_VALIDATION, "batch_id and jobs cannot both be set");
    } else {
        enqueue_list(c, in);
    }
}

static uint64_t cost_of_either(const struct rest_call *c)
{
    const struct either_in *in = c->in;
    return in->jobs_count > 1 ? in->jobs_count : 1;
}

static uint64_t cost_of_batch(const struct rest_call *c)
{
    const struct list_in *in = c->in;
    return in->jobs_count > 1 ? in->jobs_count : 1;
}

/* Ingest: any body becomes the payload; the rest is in the query. Only a body without bytes is
 * empty: blanks are a text, as they are not JSON. */

static enum err_code ingested_payload(const struct svc_caller *who, struct str body,
                                      struct str *out, struct err *err)
{
    struct buf b;
    *out = str_trim(body);
    enum err_code code = body.len == 0 ? ERR_OK : json_scan_check_value(body, err);
    if (code == ERR_OK) {
        return ERR_OK;
    }
    if (code == ERR_VALIDATION) { /* nested too deeply; anything else is not JSON */
        return err_wrap(err, "payload");
    }
    buf_init(&b, LIMIT_OP_BYTES);
    struct json_write w = json_write_to(&b);
    json_write_str(&w, body);
    json_write_finish(&w);
    return svc_caller_keep(who, &b, out, err);
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
    JSON_WORD(struct ingest_in, priority, rest_names__priorities,
              JSON_OR_NUMBER | JSON_NUMBER_APART, "Priority: critical, high or normal."),
    JSON_STR(struct ingest_in, unique_key, 0, LIMIT_UNIQUE_KEY_BYTES, 0,
             "Unique key. While a job holds it, no second job with the same key is created."),
    JSON_I64(struct ingest_in, max_retries, 0, INT32_MAX, 0,
             "Maximum number of attempts, including the first."),
    JSON_TIME(struct ingest_in, scheduled_at, timestamp_parse_kept, 0,
              "The job does not start before this time."),
    JSON_STRS(struct ingest_in, tags, tag_count, 0, LIMIT_TAGS,
              LIMIT_TAG_KEY_BYTES + LIMIT_TAG_VALUE_BYTES + 1, REST_QUERY_COMMAS,
              "Tags, each as key:value.", .told_pattern = "^[^:]+:"),
};

static const struct ingest_in ingest_init = {
    .priority = JOB_PRIORITY_NORMAL,
    .max_retries = JOB_MAX_RETRIES,
};
static const struct json_schema ingest_schema =
    JSON_SCHEMA(struct ingest_in, ingest_rows, .init = &ingest_init);

/* Convert the key:value pairs to a JSON object. */
static enum err_code join_tags(const struct svc_caller *who, const struct ingest_in *in,
                               struct str *out, struct err *err)
{
    struct buf b;
    if (in->tag_count == 0) {
        return ERR_OK;
    }
    buf_init(&b, LIMIT_OP_BYTES);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    for (size_t i = 0; i < in->tag_count; i++) {
        struct str pair = in->tags[i];
        const char *colon = memchr(pair.ptr, ':', pair.len);
        if (colon == NULL || colon == pair.ptr) {
            buf_deinit(&b);
            return err_set(err, ERR_VALIDATION, "invalid tags: expected a list of key:value pairs");
        }
        size_t at = (size_t)(colon - pair.ptr);
        json_write_key(&w, str_trim(str_from(pair.ptr, at)));
        json_write_str(&w, str_trim(str_from_offset(pair, at + 1)));
    }
    json_write_end(&w);
    json_write_finish(&w);
    return svc_caller_keep(who, &b, out, err);
}

static void handle_ingest(struct rest_call *c)
{
    const struct ingest_in *query = c->query;
    struct svc_caller who = rest_call__caller(c);
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = c->param[0],
                                  .payload_checked = true, .unique_key = query->unique_key,
                                  .scheduled_at = query->scheduled_at};
    struct svc_once once = rest_enqueue__once(c, SVC_ONCE_INGEST);
    struct command_new room;
    struct command command;
    struct err err;
    job.priority = query->priority;
    job.max_retries = query->max_retries;
    if (job.priority >= JSON_NUMBER && !rest_names__is_second(c)) {
        rest_call__fail(c, ERR_VALIDATION, "priority: expected critical, high or normal, got '%d'",
                        job.priority - JSON_NUMBER);
        return;
    }
    if (!rest_names__priority_apart(c, &job.priority, &err) ||
        ingested_payload(&who, c->req->body, &job.payload, &err) != ERR_OK ||
        join_tags(&who, query, &job.tags, &err) != ERR_OK ||
        svc_enqueue_one(&who, &job, &room, &command, &err) != ERR_OK ||
        svc_enqueue_once(&who, &command, &once, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, one_enqueued);
}

/* Open batches */

static void batch_opened(struct rest_call *c, const struct result *r)
{
    if (rest_call__refused(c, r)) {
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__id(&w, "batch_id", r->id, ID_BATCH);
    json_write_end(&w);
    rest_call__reply(c, 201, &w);
}

static void handle_batch_open(struct rest_call *c)
{
    struct svc_caller who = rest_call__caller(c);
    struct svc_once once = rest_enqueue__once(c, SVC_ONCE_BATCH);
    struct command command;
    struct err err;
    if (svc_batch_open(&who, c->in, &command, &err) != ERR_OK ||
        svc_enqueue_once(&who, &command, &once, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, batch_opened);
}

/* The callback job as it is now, unless it was deleted: a seal may be repeated at any time. */
static void write_callback(struct rest_call *c, struct json_write *w, struct id id)
{
    struct svc_caller who = rest_call__caller(c);
    char room[REST_DOCUMENT_ID_ROOM];
    struct job j;
    struct buf doc;
    buf_init(&doc, SIZE_MAX);
    if (svc_names_read_job(&who, id, &doc, &j)) {
        write_ref(w, "callback_job", rest_document__quoted_id(id, ID_JOB, room),
                  svc_names_visible(&who, j.queue), job_state_name(j.state));
    }
    buf_deinit(&doc);
}

static void batch_sealed(struct rest_call *c, const struct result *r)
{
    if (rest_call__refused(c, r)) {
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status", STR("sealed"));
    if (!id_is_none(r->id)) {
        write_callback(c, &w, r->id);
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_batch_seal(struct rest_call *c)
{
    struct svc_caller who = rest_call__caller(c);
    struct command command;
    struct err err;
    if (svc_batch_seal(&who, c->param[0], &command, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, batch_sealed);
}

static void write_batch(struct rest_call *c, struct id id, const struct store_batch *b)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__id(&w, "id", id, ID_BATCH);
    rest_document__i64(&w, "total", (int64_t)b->total);
    rest_document__i64(&w, "pending", (int64_t)b->pending);
    rest_document__i64(&w, "succeeded", (int64_t)b->succeeded);
    rest_document__i64(&w, "failed", (int64_t)b->failed);
    rest_document__text(&w, "callback_queue", b->callback_queue);
    rest_document__raw(&w, "callback_payload", b->callback_payload);
    rest_document__time(&w, "created_at", b->created_at);
    rest_document__bool(&w, "sealed", b->sealed);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_batch_get(struct rest_call *c)
{
    struct svc_caller who = rest_call__caller(c);
    struct id id;
    struct store_batch rec;
    struct buf bytes;
    struct err err;
    buf_init(&bytes, LIMIT_OP_BYTES);
    if (svc_batch_read(&who, c->param[0], &bytes, &id, &rec, &err) == ERR_OK) {
        write_batch(c, id, &rec);
    } else {
        rest_call__fail_err(c, &err);
    }
    buf_deinit(&bytes);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method    pattern                       roles      flags                                      in                     handler               cost           answer                                   doc */
    {HTTP_POST, "/api/v1/enqueue",             ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_KEY | ROUTE_GENERATION, &either_schema,        handle_enqueue,       cost_of_either, "201 enqueued | {job_ids, batch_id}, 200 enqueued, 409", "Enqueue a job, or a list of jobs."},
    {HTTP_POST, "/api/v1/enqueue/batch",       ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_KEY | ROUTE_GENERATION, &list_schema,          handle_enqueue_batch, cost_of_batch, "201 {job_ids, batch_id}",               "Enqueue many jobs. Either all of them are created or none."},
    {HTTP_POST, "/api/v1/webhooks/{queue}",    ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_KEY | ROUTE_GENERATION, NULL,               handle_ingest,        NULL,          "201 enqueued, 200 enqueued, 409",        "Enqueue a job with the request body as its payload."},
    {HTTP_POST, "/api/v1/batch",               ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_BODY_EMPTY | ROUTE_KEY, &batch_schema,      handle_batch_open,    NULL,          "201 {batch_id}",                        "Open a batch. Jobs can join it until it is sealed."},
    {HTTP_POST, "/api/v1/batch/{id}/seal",     ROLES_AOW, ROUTE_LEADER,                              NULL,                  handle_batch_seal,    NULL,          "200 sealed",                            "Seal a batch. No more jobs can join; the batch ends when its last job ends."},
    {HTTP_GET,  "/api/v1/batch/{id}",          ROLES_ALL, 0,                                         NULL,                  handle_batch_get,     NULL,          "200 batch",                             "Return a batch and its counters."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_POST, "/api/v1/webhooks/{queue}", &ingest_schema},
};

const struct rest_routes rest_enqueue_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
