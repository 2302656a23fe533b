/*
 * Job endpoints (http-api.md 9): read a job and apply actions to it.
 */
#include <assert.h>

#include "base/limits.h"
#include "rest/rest_int.h"
#include "svc/svc_jobs.h"
#include "svc/svc_names.h"

/* Reading */

static void handle_get(struct rest_call *c)
{
    struct svc_caller who = rest_call__caller(c);
    struct job j;
    struct buf doc;
    struct err err;
    buf_init(&doc, SIZE_MAX);
    if (svc_names_job(&who, c->param[0], &doc, &j, &err) == ERR_OK) {
        struct json_write w = rest_call__json(c);
        rest_document__job(&w, &who, &j, engine_store(c->rest->config.engine));
        rest_call__reply(c, 200, &w);
    } else {
        rest_call__fail_err(c, &err);
    }
    buf_deinit(&doc);
}

enum { BULK_GET_MAX = 1000 };

struct bulk_get_in {
    struct str *job_ids;
    size_t job_ids_count;
};

static const struct json_field bulk_get_rows[] = {
    /* a truncated id matches no job */
    JSON_STRS(struct bulk_get_in, job_ids, job_ids_count, 0, BULK_GET_MAX, LIMIT_NAME_BYTES,
              JSON_CUT, "Job IDs, at most 1000."),
};
static const struct json_schema bulk_get_schema = JSON_SCHEMA(struct bulk_get_in, bulk_get_rows);

static void handle_bulk_get(struct rest_call *c)
{
    const struct bulk_get_in *in = c->in;
    struct svc_caller who = rest_call__caller(c);
    struct buf doc;
    struct err missing;
    buf_init(&doc, SIZE_MAX);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__array(&w, "jobs");
    for (size_t i = 0; i < in->job_ids_count && !c->answer.overflow; i++) {
        struct job j;
        if (svc_names_job(&who, in->job_ids[i], &doc, &j, &missing) == ERR_OK) {
            rest_document__job(&w, &who, &j, engine_store(c->rest->config.engine));
        }
    }
    json_write_end(&w);
    json_write_end(&w);
    buf_deinit(&doc);
    rest_call__reply(c, 200, &w);
}

struct iterations {
    struct json_write *w;
    struct id job;
};

static void write_iteration(void *data, const struct store_iteration *it)
{
    const struct iterations *its = data;
    struct json_write *w = its->w;
    json_write_object(w);
    rest_document__i64(w, "id", (int64_t)it->row);
    rest_document__id(w, "job_id", its->job, ID_JOB);
    rest_document__i64(w, "iteration", it->iteration);
    rest_document__text(w, "status", str_from_z(rest_document__iteration_word(it->status)));
    rest_document__raw(w, "checkpoint", it->checkpoint);
    rest_document__text(w, "hold_reason", it->hold_reason);
    rest_document__raw(w, "result", it->result);
    rest_document__tokens(w, &it->tokens);
    rest_document__time(w, "created_at", it->created_at);
    json_write_end(w);
}

static void handle_iterations(struct rest_call *c)
{
    struct svc_caller who = rest_call__caller(c);
    struct job j;
    struct buf doc;
    struct err err;
    buf_init(&doc, SIZE_MAX);
    enum err_code code = svc_names_job(&who, c->param[0], &doc, &j, &err);
    buf_deinit(&doc);
    if (code != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    struct json_write w = rest_call__json(c);
    struct iterations its = {.w = &w, .job = j.id};
    json_write_object(&w);
    rest_document__array(&w, "iterations");
    store_rows_each_iteration(engine_store(c->rest->config.engine), j.id, write_iteration, &its);
    json_write_end(&w);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Actions */

struct action_in {
    struct str reason;
    struct str queue;
    bool reset_attempts;
    int64_t from;
    struct str comment;
};

static const struct json_field reason_rows[] = {
    JSON_STR(struct action_in, reason, 0, LIMIT_REASON_BYTES, JSON_CUT,
             "Reason, shown with the job."),
};
static const struct json_field move_rows[] = {
    JSON_STR(struct action_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Target queue.", .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_BOOL(struct action_in, reset_attempts, 0, "Reset the number of attempts."),
};
static const struct json_field replay_rows[] = {
    JSON_I64(struct action_in, from, INT64_MIN, INT64_MAX, 0, "Iteration to continue from.",
             .told_min = 1),
};
static const struct json_schema reason_schema = JSON_SCHEMA(struct action_in, reason_rows);
static const struct json_schema move_schema = JSON_SCHEMA(struct action_in, move_rows);
static const struct json_schema replay_schema = JSON_SCHEMA(struct action_in, replay_rows);

static void acted(struct rest_call *c, const struct result *r)
{
    const struct svc_jobs_action *asked = c->data;
    if (!rest_call__refused(c, r)) {
        rest_call__reply_status(c, svc_jobs_acted(asked->action, r));
    }
}

static void act(struct rest_call *c, enum command_job_action action)
{
    const struct action_in *in = c->in;
    struct svc_caller who = rest_call__caller(c);
    struct id id;
    struct command command;
    struct err err;
    struct svc_jobs_action *asked = SVC_CALLER_ARRAY(&who, struct svc_jobs_action, 1, &err);
    if (asked == NULL) {
        rest_call__fail_err(c, &err);
        return;
    }
    asked->action = action;
    asked->job_id = c->param[0];
    if (in != NULL) {
        asked->reason = in->reason;
        asked->queue = in->queue;
        asked->reset_attempts = in->reset_attempts;
    }
    if (svc_jobs_act(&who, asked, &id, &command, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    c->data = asked;
    rest_call__submit(c, &command, 0, acted);
}

static void handle_retry(struct rest_call *c)
{
    act(c, COMMAND_JOB_RETRY);
}

static void handle_cancel(struct rest_call *c)
{
    act(c, COMMAND_JOB_CANCEL);
}

static void handle_hold(struct rest_call *c)
{
    act(c, COMMAND_JOB_HOLD);
}

static void handle_approve(struct rest_call *c)
{
    act(c, COMMAND_JOB_APPROVE);
}

static void handle_reject(struct rest_call *c)
{
    act(c, COMMAND_JOB_REJECT);
}

static void handle_move(struct rest_call *c)
{
    act(c, COMMAND_JOB_MOVE);
}

static void handle_delete(struct rest_call *c)
{
    act(c, COMMAND_JOB_DELETE);
}

/* The job of a repeated request may have been deleted since. */
static void replayed(struct rest_call *c, const struct result *r)
{
    struct svc_caller who = rest_call__caller(c);
    char id[ID_TEXT_MAX];
    struct job j = {0};
    struct buf doc;
    struct err ignored;
    if (rest_call__refused(c, r)) {
        return;
    }
    buf_init(&doc, SIZE_MAX);
    size_t len = id_format(r->id, ID_JOB, id);
    bool there = svc_names_job(&who, str_from(id, len), &doc, &j, &ignored) == ERR_OK;
    rest_enqueue__reply(c, r->id, there ? j.queue : STR_EMPTY, RESULT_PENDING);
    buf_deinit(&doc);
}

/* The same parameter in the query; the body has priority. A value that is not a number counts as 0,
 * which is refused. */
static const struct json_field replay_query_rows[] = {
    JSON_I64(struct action_in, from, INT64_MIN, INT64_MAX, JSON_LAX,
             "Iteration to continue from, if the body does not name one.", .told_min = 1),
};
static const struct json_schema replay_query_schema =
    JSON_SCHEMA(struct action_in, replay_query_rows);

/* The comment is in the query because the audit log records that. Percent-encoded, it fits into
 * LIMIT_AUDIT_TEXT_BYTES. */
enum { COMMENT_BYTES_MAX = 300 };
static_assert(sizeof "comment=" + (size_t)3 * COMMENT_BYTES_MAX <= LIMIT_AUDIT_TEXT_BYTES,
              "the audit log keeps the whole comment");
static const struct json_field approve_query_rows[] = {
    JSON_STR(struct action_in, comment, 0, COMMENT_BYTES_MAX, 0,
             "Comment on the decision. The audit log records it in metadata.query."),
};
static const struct json_schema approve_query_schema =
    JSON_SCHEMA(struct action_in, approve_query_rows);

static void handle_replay(struct rest_call *c)
{
    const struct action_in *in = c->in;
    const struct action_in *query = c->query;
    struct svc_caller who = rest_call__caller(c);
    struct svc_once once = rest_enqueue__once(c, SVC_ONCE_REPLAY);
    struct command command;
    struct err err;
    int64_t from = in->from != 0 ? in->from : query->from;
    if (svc_jobs_replay(&who, c->param[0], from, &command, &err) != ERR_OK ||
        svc_enqueue_once(&who, &command, &once, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, replayed);
}

/* clang-format off */
enum { OPTIONAL_BODY = ROUTE_LEADER | ROUTE_BODY | ROUTE_BODY_EMPTY };

static const struct rest_route rows[] = {
    /* method      pattern                          roles      flags                     in                handler            cost  answer                   doc */
    {HTTP_GET,    "/api/v1/jobs/{id}",              ROLES_ALL, ROUTE_GENERATION,         NULL,             handle_get,        NULL, "200 job",               "Return a job with its errors."},
    {HTTP_POST,   "/api/v1/jobs/bulk-get",          ROLES_ALL, ROUTE_BODY | ROUTE_READ | ROUTE_GENERATION, &bulk_get_schema, handle_bulk_get,   NULL, "200 {jobs}",            "Return several jobs. Missing jobs are left out."},
    {HTTP_GET,    "/api/v1/jobs/{id}/iterations",   ROLES_ALL, 0,                        NULL,             handle_iterations, NULL, "200 {iterations}",      "List the iterations of an agent job."},
    {HTTP_POST,   "/api/v1/jobs/{id}/retry",        ROLES_AO,  ROUTE_LEADER,             NULL,             handle_retry,      NULL, "200 {status}",          "Retry a job from its first attempt."},
    {HTTP_POST,   "/api/v1/jobs/{id}/cancel",       ROLES_AO,  ROUTE_LEADER,             NULL,             handle_cancel,     NULL, "200 {status}",          "Cancel a job. Its worker learns of it with the next heartbeat."},
    {HTTP_POST,   "/api/v1/jobs/{id}/hold",         ROLES_AO,  OPTIONAL_BODY,            &reason_schema,   handle_hold,       NULL, "200 {status}",          "Hold a job until it is approved or rejected."},
    {HTTP_POST,   "/api/v1/jobs/{id}/approve",      ROLES_AO,  ROUTE_LEADER,             NULL,             handle_approve,    NULL, "200 {status}",          "Approve a held job. It becomes pending."},
    {HTTP_POST,   "/api/v1/jobs/{id}/reject",       ROLES_AO,  OPTIONAL_BODY,            &reason_schema,   handle_reject,     NULL, "200 {status}",          "Reject a held job. It ends in state dead."},
    {HTTP_POST,   "/api/v1/jobs/{id}/replay",       ROLES_AO,  OPTIONAL_BODY | ROUTE_KEY, &replay_schema,   handle_replay,     NULL, "201 enqueued",  "Create a new job that continues from an iteration of an agent job."},
    {HTTP_POST,   "/api/v1/jobs/{id}/move",         ROLES_AO,  ROUTE_LEADER | ROUTE_BODY, &move_schema,    handle_move,       NULL, "200 {status}",          "Move a job to another queue."},
    {HTTP_DELETE, "/api/v1/jobs/{id}",              ROLES_AO,  ROUTE_LEADER,             NULL,             handle_delete,     NULL, "200 {status}",          "Delete a job with its errors, iterations and usage."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_POST, "/api/v1/jobs/{id}/approve", &approve_query_schema},
    {HTTP_POST, "/api/v1/jobs/{id}/replay", &replay_query_schema},
};

const struct rest_routes rest_jobs_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
