/*
 * Worker endpoints (http-api.md 8): fetch, ack, fail, heartbeat.
 */
#include "base/limits.h"
#include "json/json_scan.h"
#include "rest/access/rest_auth_int.h"
#include "rest/rest_int.h"
#include "svc/svc_beat.h"
#include "svc/svc_work.h"

/* Fetch */

/* Members of both fetch requests and of `next` in an ack. */
#define FETCH_ROWS(wait)                                                                           \
    JSON_STRS(struct svc_work_fetch, queues, queues_count, 0, LIMIT_CLAIM_QUEUES,                  \
              LIMIT_INTERNAL_NAME_BYTES, JSON_INSISTED, "Queues to fetch from, in this order."),   \
        JSON_STR(struct svc_work_fetch, worker_id, 0, LIMIT_WORKER_ID_BYTES, 0,                    \
                 "ID of the worker. Registers the worker."),                                       \
        JSON_STR(struct svc_work_fetch, hostname, 0, LIMIT_WORKER_ID_BYTES, 0,                     \
                 "Host name of the worker."),                                                      \
        JSON_STR(struct svc_work_fetch, version, 0, LIMIT_WORKER_VERSION_BYTES, 0,                 \
                 "Version of the worker's program. Default: the X-Corvo-Client-Version header."),  \
        JSON_I64(struct svc_work_fetch, timeout, INT64_MIN, INT64_MAX, 0, wait),                   \
        JSON_I64(struct svc_work_fetch, lease_duration, 0, LIMIT_LEASE_S_MAX, 0,                   \
                 "Length of the lease in seconds. A heartbeat renews it. Default: 60, or timeout " \
                 "if that is longer.")

#define FETCH_COUNT                                                                                \
    JSON_I64(struct svc_work_fetch, count, INT64_MIN, INT64_MAX, 0,                                \
             "Maximum number of jobs, at most 512.")
#define FETCH_WAIT "Seconds to wait for a job. Default 30, at most 60."
#define NEXT_WAIT                                                                                  \
    "Seconds to wait for a job, at most 60. By default the request does not wait. The jobs are "   \
    "acknowledged before the wait."

static const struct json_field fetch_rows[] = {FETCH_ROWS(FETCH_WAIT)};
static const struct json_field fetch_batch_rows[] = {FETCH_ROWS(FETCH_WAIT), FETCH_COUNT};
static const struct json_field next_rows[] = {FETCH_ROWS(NEXT_WAIT)};
static const struct json_field next_batch_rows[] = {FETCH_ROWS(NEXT_WAIT), FETCH_COUNT};
static const struct svc_work_fetch fetch_init = {.count = 1};
static const struct json_schema fetch_schema =
    JSON_SCHEMA(struct svc_work_fetch, fetch_rows, .init = &fetch_init);
static const struct json_schema fetch_batch_schema =
    JSON_SCHEMA(struct svc_work_fetch, fetch_batch_rows, .init = &fetch_init);
static const struct json_schema next_schema =
    JSON_SCHEMA(struct svc_work_fetch, next_rows, .init = &fetch_init);
static const struct json_schema next_batch_schema =
    JSON_SCHEMA(struct svc_work_fetch, next_batch_rows, .init = &fetch_init);

static void submit_claim(struct rest_call *c,
                         void (*on_result)(struct rest_call *c, const struct result *r))
{
    struct svc_caller who = rest_call__caller(c);
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    int64_t wait_ms;
    (void)!http_request_known(c->req, HTTP_KNOWN_X_CORVO_CLIENT_VERSION, &who.version);
    if (svc_work_claim(&who, c->in, &command, &wait_ms, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, wait_ms, on_result);
}

/* Write the claimed jobs; false if the call has ended. */
static bool write_claimed(struct rest_call *c, struct json_write *w, const struct result *r)
{
    struct svc_caller who = rest_call__caller(c);
    for (uint32_t i = 0; i < r->count; i++) {
        ATTR_UNINITIALIZED struct svc_work_fetched job;
        ATTR_UNINITIALIZED struct err err;
        if (svc_work_fetched(&who, &r->items[i], &job, &err) != ERR_OK) {
            rest_call__fail_err(c, &err);
            return false;
        }
        rest_document__fetched(w, &job);
    }
    return true;
}

static void one_fetched(struct rest_call *c, const struct result *r)
{
    if (rest_call__refused(c, r)) {
        return;
    }
    if (r->count == 0) {
        rest_call__reply_empty(c, 204);
        return;
    }
    struct json_write w = rest_call__json(c);
    if (write_claimed(c, &w, r)) {
        rest_call__reply(c, 200, &w);
    }
}

/* Write an object with the claimed jobs; false if the call has ended. */
static bool write_jobs(struct rest_call *c, struct json_write *w, const struct result *r)
{
    json_write_object(w);
    json_write_key(w, STR("jobs"));
    json_write_array(w);
    if (!write_claimed(c, w, r)) {
        return false;
    }
    json_write_end(w);
    json_write_end(w);
    return true;
}

static void many_fetched(struct rest_call *c, const struct result *r)
{
    if (rest_call__refused(c, r)) {
        return;
    }
    struct json_write w = rest_call__json(c);
    if (write_jobs(c, &w, r)) {
        rest_call__reply(c, 200, &w);
    }
}

static void handle_fetch(struct rest_call *c)
{
    submit_claim(c, one_fetched);
}

static void handle_fetch_batch(struct rest_call *c)
{
    submit_claim(c, many_fetched);
}

static uint64_t cost_of_fetch(const struct rest_call *c)
{
    return svc_work_fetch_count(c->in);
}

/* Usage reports */

static const struct json_field usage_rows[] = {
    JSON_I64(struct svc_usage, input_tokens, INT64_MIN, INT64_MAX, 0, "Input tokens."),
    JSON_I64(struct svc_usage, output_tokens, INT64_MIN, INT64_MAX, 0, "Output tokens."),
    JSON_I64(struct svc_usage, cache_creation_tokens, INT64_MIN, INT64_MAX, 0,
             "Tokens written to the cache."),
    JSON_I64(struct svc_usage, cache_read_tokens, INT64_MIN, INT64_MAX, 0,
             "Tokens read from the cache."),
    JSON_F64(struct svc_usage, cost_usd, INT64_MIN, SVC_USAGE_USD_MAX, 0, "Dollars."),
    JSON_STR(struct svc_usage, model, 0, LIMIT_MODEL_NAME_BYTES, 0, "Model."),
    JSON_STR(struct svc_usage, provider, 0, LIMIT_MODEL_NAME_BYTES, 0, "Provider."),
};
static const struct json_schema usage_schema = JSON_SCHEMA(struct svc_usage, usage_rows);

/* Ack */

#define ACK_ROWS                                                                                   \
    JSON_I64(struct svc_work_ack, lease_token, 0, INT64_MAX, 0,                                    \
             "Lease token of the fetch. Refused if another worker has the job by now."),           \
        JSON_RAW(struct svc_work_ack, result, LIMIT_RESULT_BYTES, JSON_KEEP_NULL,                  \
                 "Result, stored with the job."),                                                  \
        JSON_RAW(struct svc_work_ack, checkpoint, LIMIT_RESULT_BYTES, 0, "New checkpoint."),       \
        JSON_OBJECT(struct svc_work_ack, usage, struct svc_usage, &usage_schema, 0,                \
                    "Token usage and cost."),                                                      \
        JSON_STR(struct svc_work_ack, agent_status, 0, LIMIT_NAME_BYTES, 0,                        \
                 "Agent jobs: outcome of the iteration.", .words = svc_work_agent_words),          \
        JSON_STR(struct svc_work_ack, ack_status, 0, LIMIT_NAME_BYTES, 0,                          \
                 "done completes the job. hold waits for approval first.",                         \
                 .words = svc_work_ack_words),                                                     \
        JSON_STR(struct svc_work_ack, hold_reason, 0, LIMIT_REASON_BYTES, JSON_CUT,                \
                 "Reason for the hold."),                                                          \
        JSON_STR(struct svc_work_ack, step_status, 0, LIMIT_NAME_BYTES, 0,                         \
                 "Chains: whether the chain continues.", .words = svc_work_step_words),            \
        JSON_STR(struct svc_work_ack, exit_reason, 0, LIMIT_REASON_BYTES, JSON_CUT,                \
                 "Reason, passed to the chain's on_exit step.")

struct ack_in {
    struct svc_work_ack ack; /* first, because ACK_ROWS refer to its members */
    struct svc_work_fetch *next;
};
_Static_assert(offsetof(struct ack_in, ack) == 0, "the rows of an ack are those of its request");

static const struct json_field ack_rows[] = {
    ACK_ROWS,
    JSON_OBJECT(
        struct ack_in, next, struct svc_work_fetch, &next_schema, 0,
        "Fetches the next job in the same request, with the fields of a fetch. If the ack is "
        "refused, no job is fetched."),
};
static const struct json_field ack_item_rows[] = {
    /* a truncated id matches no job */
    JSON_STR(struct svc_work_ack, job_id, 1, LIMIT_NAME_BYTES, JSON_REQUIRED | JSON_CUT, "Job ID."),
    ACK_ROWS,
};
static const struct json_schema ack_schema = JSON_SCHEMA(struct ack_in, ack_rows);
static const struct json_schema ack_item_schema = JSON_SCHEMA(struct svc_work_ack, ack_item_rows);

struct ack_batch_in {
    struct svc_work_ack *acks;
    size_t acks_count;
    struct svc_work_fetch *next;
};

static const struct json_field ack_batch_rows[] = {
    /* a higher limit than LIMIT_ACK_BATCH: svc_work_ack_many refuses with the contract's message */
    JSON_OBJECTS(struct ack_batch_in, acks, acks_count, struct svc_work_ack, &ack_item_schema, 0,
                 LIMIT_ENQUEUE_BATCH, JSON_INSISTED, "Jobs to acknowledge.",
                 .told_max = LIMIT_ACK_BATCH),
    JSON_OBJECT(struct ack_batch_in, next, struct svc_work_fetch, &next_batch_schema, 0,
                "Fetches the next jobs in the same request, with the fields of fetch/batch."),
};
static const struct json_schema ack_batch_schema = JSON_SCHEMA(struct ack_batch_in, ack_batch_rows);

/* An ack with a fetch, in one log entry. If there is no job, the call may wait for one; but the ack
 * is durable by then, so later errors are reported in addition to its result. */
struct ack_next {
    bool is_batch;
    int64_t wait_ms; /* 0: does not wait */
    uint32_t acked;
    struct command_claim claim;
};

static void write_next_error(struct json_write *w, enum err_code code, struct str message)
{
    rest_document__object(w, "next_error");
    rest_document__text(w, "error", message);
    rest_document__text(w, "code", str_from_z(err_wire(code)));
    json_write_end(w);
}

/* Respond with the claimed jobs, or with the reason why nothing could be claimed. */
static void reply_next(struct rest_call *c, const struct result *r, enum err_code code,
                       struct str message)
{
    const struct ack_next *n = c->data;
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    if (n->is_batch) {
        rest_document__i64(&w, "acked", n->acked);
    } else {
        rest_document__text(&w, "status", STR("ok"));
    }
    json_write_key(&w, STR("next"));
    if (!n->is_batch && r->count == 0) {
        json_write_null(&w);
    } else if (!(n->is_batch ? write_jobs : write_claimed)(c, &w, r)) {
        return;
    }
    if (code != ERR_OK) {
        write_next_error(&w, code, message);
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void next_fetched(struct rest_call *c, const struct result *r)
{
    reply_next(c, r, r->code, r->message);
}

static void next_failed(struct rest_call *c, const struct err *err)
{
    reply_next(c, &(struct result){0}, err->code, str_from_z(err->msg));
}

static void acked_with_next(struct rest_call *c, const struct result *r)
{
    struct ack_next *n = c->data;
    if (rest_call__refused(c, r)) {
        return;
    }
    n->acked = r->affected;
    if (r->count > 0 || r->next_code != ERR_OK || n->wait_ms == 0 || c->client.shut) {
        reply_next(c, r, r->next_code, r->message);
        return;
    }
    struct command command;
    command_init(&command, COMMAND_CLAIM);
    command.claim = n->claim;
    rest_call__submit_more(c, &command, n->wait_ms, next_fetched, next_failed);
}

/* A custom role may allow acks but not fetches. False if the call has ended. */
static bool may_fetch(struct rest_call *c)
{
    if ((c->route->roles & c->caller.role_bit) != 0) {
        return true;
    }
    struct auth_rule rule = auth_rule_of_route(c->route->roles, STR("POST"), STR("/api/v1/fetch"));
    return rest_auth__allows(c, &rule);
}

/* Add the fetch to the ack; false if the call has ended. */
static bool add_next(struct rest_call *c, const struct svc_work_fetch *next, bool is_batch,
                     struct command *ack)
{
    struct svc_caller who = rest_call__caller(c);
    struct ack_next *n = REST_NEW(c, struct ack_next);
    struct err err;
    if (!may_fetch(c)) {
        return false;
    }
    n->is_batch = is_batch;
    c->data = n;
    if (svc_work_next(&who, next, &n->claim, ack, &n->wait_ms, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return false;
    }
    return true;
}

static void acked(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        rest_call__reply_status(c, "ok");
    }
}

static void handle_ack(struct rest_call *c)
{
    struct ack_in *in = c->in;
    struct svc_caller who = rest_call__caller(c);
    ATTR_UNINITIALIZED struct command_ack_item room;
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    in->ack.job_id = c->param[0];
    if (svc_work_ack_one(&who, &in->ack, &room, &command, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
    } else if (in->next == NULL) {
        rest_call__submit(c, &command, 0, acked);
    } else if (add_next(c, in->next, false, &command)) {
        rest_call__submit(c, &command, 0, acked_with_next);
    }
}

static uint64_t cost_of_ack(const struct rest_call *c)
{
    const struct ack_in *in = c->in;
    return in->next != NULL ? 2 : 1;
}

static void reply_acked(struct rest_call *c, uint32_t count)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__i64(&w, "acked", count);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void many_acked(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        reply_acked(c, r->affected);
    }
}

/* Nothing is left to acknowledge: submit only the fetch. */
static void submit_next(struct rest_call *c)
{
    struct ack_next *n = c->data;
    struct command command;
    command_init(&command, COMMAND_CLAIM);
    command.claim = n->claim;
    rest_call__submit(c, &command, n->wait_ms, next_fetched);
}

static void handle_ack_batch(struct rest_call *c)
{
    const struct ack_batch_in *in = c->in;
    struct svc_caller who = rest_call__caller(c);
    struct command command;
    struct err err;
    if (svc_work_ack_many(&who, in->acks, in->acks_count, &command, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
    } else if (in->next != NULL && !add_next(c, in->next, true, &command)) {
        return;
    } else if (command.ack.count == 0) {
        in->next == NULL ? reply_acked(c, 0) : submit_next(c);
    } else {
        rest_call__submit(c, &command, 0, in->next == NULL ? many_acked : acked_with_next);
    }
}

static uint64_t cost_of_acks(const struct rest_call *c)
{
    const struct ack_batch_in *in = c->in;
    uint64_t acks = in->acks_count > 1 ? in->acks_count : 1;
    return acks + (in->next == NULL ? 0 : svc_work_fetch_count(in->next));
}

/* Fail */

static const struct json_field fail_rows[] = {
    JSON_STR(struct svc_work_fail, error, 0, LIMIT_ERROR_BYTES, JSON_CUT, "Error message."),
    JSON_STR(struct svc_work_fail, backtrace, 0, LIMIT_BACKTRACE_BYTES, JSON_CUT, "Stack trace."),
    JSON_I64(struct svc_work_fail, lease_token, 0, INT64_MAX, 0,
             "Lease token of the fetch. Refused if another worker has the job by now."),
};
static const struct json_schema fail_schema = JSON_SCHEMA(struct svc_work_fail, fail_rows);

static void failed_over(struct rest_call *c, const struct result *r)
{
    if (rest_call__refused(c, r)) {
        return;
    }
    struct svc_work_failed failed = svc_work_fail_answer(r);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status", str_from_z(failed.status));
    rest_document__time(&w, "next_attempt_at", failed.next_attempt_at);
    rest_document__i64(&w, "attempts_remaining", failed.attempts_remaining);
    rest_document__i64(&w, "attempt", failed.attempt);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_fail(struct rest_call *c)
{
    struct svc_work_fail *in = c->in;
    struct svc_caller who = rest_call__caller(c);
    ATTR_UNINITIALIZED struct command command;
    ATTR_UNINITIALIZED struct err err;
    in->job_id = c->param[0];
    if (svc_work_fail(&who, in, &command, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, failed_over);
}

/* Heartbeat: {"jobs": {"<id>": {…}}}. The keys are ids, so the members are decoded without a
 * schema. Newer clients send {"jobs": [{"job_id": "<id>", …}]}, where values may be JSON inside a
 * string. */

#define BEAT_ROWS                                                                                  \
    JSON_RAW(struct svc_beat, progress, LIMIT_PROGRESS_BYTES, 0, "Progress, shown with the job."), \
        JSON_RAW(struct svc_beat, checkpoint, LIMIT_RESULT_BYTES, 0, "New checkpoint."),           \
        JSON_OBJECT(struct svc_beat, usage, struct svc_usage, &usage_schema, 0,                    \
                    "Token usage and cost."),                                                      \
        JSON_I64(struct svc_beat, lease_token, 0, INT64_MAX, 0, "Lease token of the fetch.")

static const struct json_field beat_rows[] = {BEAT_ROWS};
static const struct json_schema beat_schema = JSON_SCHEMA(struct svc_beat, beat_rows);

static const struct json_field beat_item_rows[] = {
    /* An id that is too long is unknown like any id of no job, and shown as it came. */
    JSON_STR(struct svc_beat, job_id, 1, LIMIT_OP_BYTES, JSON_REQUIRED, "Job ID.",
             .told_max = LIMIT_NAME_BYTES),
    BEAT_ROWS,
};
static const struct json_schema beat_item_schema = JSON_SCHEMA(struct svc_beat, beat_item_rows);

struct heartbeat_in {
    struct str jobs;
};

static const struct json_field heartbeat_rows[] = {
    JSON_RAW(struct heartbeat_in, jobs, 0, JSON_DEEP,
             "Object from job ID to progress, checkpoint, usage and lease_token; or an array of "
             "objects with job_id.",
             .told_type = "{{any}} | [{any}]", .told_max = LIMIT_HEARTBEAT_JOBS),
};
static const struct json_schema heartbeat_schema = JSON_SCHEMA(struct heartbeat_in, heartbeat_rows);

/* Write the ids of the beats with one of these statuses (bits). */
static void write_list(struct json_write *w, const char *key, const struct svc_beats *b,
                       unsigned statuses)
{
    rest_document__array(w, key);
    for (size_t i = 0; i < b->count; i++) {
        if ((statuses >> b->list[i].status & 1) != 0) {
            json_write_str(w, b->list[i].job_id);
        }
    }
    json_write_end(w);
}

static void reply_beats(struct rest_call *c)
{
    const struct svc_beats *b = c->data;
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__object(&w, "jobs");
    for (size_t i = 0; i < b->count; i++) {
        json_write_key(&w, b->list[i].job_id);
        json_write_object(&w);
        rest_document__text(&w, "status",
                            b->list[i].status == SVC_BEAT_OK ? STR("ok") : STR("cancel"));
        rest_document__time(&w, "lease_expires_at", b->list[i].lease_expires_at);
        if (b->list[i].budget_exceeded) {
            rest_document__bool(&w, "budget_exceeded", true);
        }
        json_write_end(&w);
    }
    json_write_end(&w);
    write_list(&w, "acked", b, 1U << SVC_BEAT_OK);
    write_list(&w, "unknown", b, 1U << SVC_BEAT_UNKNOWN);
    write_list(&w, "canceled", b, 1U << SVC_BEAT_CANCEL | 1U << SVC_BEAT_UNKNOWN);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void beaten(struct rest_call *c, const struct result *r)
{
    struct err err;
    if (rest_call__refused(c, r)) {
        return;
    }
    if (svc_beat_answer(c->data, r, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    reply_beats(c);
}

/* The type of jobs: object, array, or null if it is missing. */
static enum err_code shape_of(struct str jobs, enum json_type *out, struct err *err)
{
    struct json_scan s = json_scan_from(jobs);
    *out = jobs.len == 0 ? JSON_TYPE_NULL : json_scan_peek(&s);
    if (*out == JSON_TYPE_NULL || *out == JSON_TYPE_OBJECT || *out == JSON_TYPE_ARRAY) {
        return ERR_OK;
    }
    return err_set(err, ERR_PARSE, "jobs: expected an object or an array, got %s",
                   json_value_type_name(*out));
}

static bool enter_jobs(struct json_scan *s, enum json_type shape)
{
    return shape == JSON_TYPE_OBJECT  ? json_scan_enter_object(s)
           : shape == JSON_TYPE_ARRAY ? json_scan_enter_array(s)
                                      : false;
}

/* Read the next job: its key, in an object, and its value. */
static bool next_job(struct json_scan *s, enum json_type shape, struct json_value *key,
                     struct json_value *value)
{
    return (shape == JSON_TYPE_OBJECT ? json_scan_next_key(s, key) : json_scan_next_element(s)) &&
           json_scan_value(s, value);
}

static size_t count_jobs(struct str jobs, enum json_type shape)
{
    struct json_scan s = json_scan_from(jobs);
    struct json_value key;
    struct json_value value;
    size_t n = 0;
    bool any = enter_jobs(&s, shape);
    while (any && next_job(&s, shape, &key, &value)) {
        n++;
    }
    return n;
}

/* Decode a member of an object. */
static enum err_code read_member(struct arena *arena, struct json_value key,
                                 struct json_value value, struct svc_beat *beat, struct err *err)
{
    struct str body = value.type == JSON_TYPE_NULL ? STR("{}") : value.text;
    struct str id;
    if (json_value_text(key, arena, &id, err) != ERR_OK) {
        return err->code;
    }
    if (json_schema_decode(&beat_schema, body, arena, beat, err) != ERR_OK) {
        return err_wrap(err, "jobs." STR_FMT, STR_ARG(id));
    }
    beat->job_id = id;
    return ERR_OK;
}

/* Replace a string by the JSON that it contains. A string without JSON is itself the value. */
static enum err_code unwrap(struct arena *arena, const char *field, struct str *json,
                            struct err *err)
{
    struct json_value v;
    struct str inside;
    struct err ignored;
    if (json->len == 0 || json_scan_first(*json, &v, &ignored) != ERR_OK ||
        v.type != JSON_TYPE_STRING) {
        return ERR_OK;
    }
    if (json_value_text(v, arena, &inside, err) != ERR_OK) {
        return err->code;
    }
    inside = str_trim(inside);
    enum err_code code = inside.len == 0 ? ERR_OK : json_scan_check_value(inside, err);
    if (code == ERR_OK) {
        *json = inside;
    }
    /* nested too deeply, or not JSON */
    return code == ERR_VALIDATION ? err_wrap(err, "%s", field) : ERR_OK;
}

/* Decode an element of an array. */
static enum err_code read_element(struct arena *arena, size_t at, struct json_value value,
                                  struct svc_beat *beat, struct err *err)
{
    if (json_schema_decode(&beat_item_schema, value.text, arena, beat, err) != ERR_OK ||
        unwrap(arena, "progress", &beat->progress, err) != ERR_OK ||
        unwrap(arena, "checkpoint", &beat->checkpoint, err) != ERR_OK) {
        return err_wrap(err, "jobs[%zu]", at);
    }
    return ERR_OK;
}

static enum err_code read_beats(struct arena *arena, struct str jobs, enum json_type shape,
                                struct svc_beats *beats, struct err *err)
{
    struct json_scan s = json_scan_from(jobs);
    struct json_value key;
    struct json_value value;
    bool any = enter_jobs(&s, shape);
    while (any && next_job(&s, shape, &key, &value)) {
        struct svc_beat *beat = &beats->list[beats->count];
        enum err_code code = shape == JSON_TYPE_OBJECT
                                 ? read_member(arena, key, value, beat, err)
                                 : read_element(arena, beats->count, value, beat, err);
        if (code != ERR_OK) {
            return code;
        }
        beats->count++;
    }
    return ERR_OK;
}

static void handle_heartbeat(struct rest_call *c)
{
    const struct heartbeat_in *in = c->in;
    struct svc_caller who = rest_call__caller(c);
    struct command command;
    struct err err;
    enum json_type shape;
    struct svc_beats *beats = SVC_CALLER_ARRAY(&who, struct svc_beats, 1, &err);
    c->data = beats;
    if (beats == NULL || shape_of(in->jobs, &shape, &err) != ERR_OK ||
        svc_beat_room(&who, count_jobs(in->jobs, shape), beats, &err) != ERR_OK ||
        read_beats(c->arena, in->jobs, shape, beats, &err) != ERR_OK ||
        svc_beat_command(&who, beats, &command, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
    } else if (command.heartbeat.count == 0) {
        reply_beats(c);
    } else {
        rest_call__submit(c, &command, 0, beaten);
    }
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method    pattern                 roles      flags                                          in                   handler             cost           answer                                                doc */
    {HTTP_POST, "/api/v1/fetch",         ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &fetch_schema,       handle_fetch,       NULL,          "200 fetched job, 204 no job arrived within the timeout",            "Fetch a job. Waits for one up to timeout."},
    {HTTP_POST, "/api/v1/fetch/batch",   ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &fetch_batch_schema, handle_fetch_batch, cost_of_fetch, "200 fetched jobs",                                   "Fetch several jobs."},
    {HTTP_POST, "/api/v1/ack/batch",     ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &ack_batch_schema,   handle_ack_batch,   cost_of_acks,  "200 {acked, next}",                                  "Acknowledge several jobs. Jobs that cannot be acknowledged are left out."},
    {HTTP_POST, "/api/v1/ack/{job_id}",  ROLES_AOW, ROUTE_LEADER | ROUTE_BODY | ROUTE_BODY_EMPTY,  &ack_schema,         handle_ack,         cost_of_ack,   "200 {status, next}",                                 "Acknowledge a job: complete it, or end an iteration of an agent job."},
    {HTTP_POST, "/api/v1/fail/{job_id}", ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &fail_schema,        handle_fail,        NULL,          "200 {status, next_attempt_at, attempts_remaining}",  "Report that an attempt failed."},
    {HTTP_POST, "/api/v1/heartbeat",     ROLES_AOW, ROUTE_LEADER | ROUTE_BODY,                     &heartbeat_schema,   handle_heartbeat,   NULL,          "200 {jobs, acked, unknown, canceled}",               "Renew leases, report progress and learn which jobs were cancelled."},
};
/* clang-format on */

const struct rest_routes rest_work_routes = {.rows = rows, .count = COUNT_OF(rows)};
