/*
 * Jobs of the Scheduled-DB API: create, read, list, cancel, delete (scheduler.md 2).
 */
#include "rest/sdb/rest_sdb.h"

#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/command/push_target.h"
#include "json/json_scan.h"
#include "rest/sdb/rest_sdb_int.h"
#include "store/store_job.h"

struct rest_sdb_config rest_sdb_config_default(void)
{
    return (struct rest_sdb_config){
        .enabled = true,
        .execution_timeout_ms = PUSH_TARGET_TIMEOUT_MS,
        .max_attempts = JOB_MAX_RETRIES,
        .backoff = JOB_BACKOFF_EXPONENTIAL,
        .retry_base_ms = JOB_RETRY_BASE_MS,
        .retry_max_ms = JOB_RETRY_MAX_MS,
        .memory_limit = 1ULL << 30,
        .job_limit = 100000,
        .body_limit = 10 << 20,
        .failure_threshold = 0.1,
        .ok_word = STR("healthy"),
    };
}

bool rest_sdb_config_bytes(struct str text, uint64_t *out)
{
    static const struct {
        const char *suffix;
        unsigned shift;
    } units[] = {{"GB", 30}, {"MB", 20}, {"KB", 10}};
    unsigned shift = 0;
    int64_t n;
    text = str_trim(text);
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (text.len > 2 &&
            str_eq_nocase(str_from_offset(text, text.len - 2), str_from_z(units[i].suffix))) {
            shift = units[i].shift;
            text = str_trim(str_from(text.ptr, text.len - 2));
            break;
        }
    }
    if (!str_to_i64(text, &n) || n <= 0 || n > INT64_MAX >> shift) {
        return false;
    }
    *out = (uint64_t)n << shift;
    return true;
}

/* Lookup */

static bool read_job(struct rest_call *c, struct id id, struct buf *doc, struct job *out)
{
    ATTR_UNINITIALIZED struct err err;
    buf_clear(doc);
    return engine_read_job(c->rest->config.engine, id, doc) &&
           store_job_decode(id, buf_str(doc), out, &err) == ERR_OK;
}

/* Find a job by a name that the server assigned: the name contains the job's id. A UUID from a
 * client rarely contains a past time, so its time is checked before the store is read. The check
 * tolerates a clock that is up to CLOCK_MS_MAX behind the leader's. */
static bool find_given(struct rest_call *c, struct str queue, struct str name, struct buf *doc,
                       struct job *out)
{
    enum { CLOCK_MS_MAX = 24 * 3600 * 1000 };
    struct id id;
    return id_uuid_parse(name, &id) &&
           id_ms(id) <= engine_time(c->rest->config.engine).ns / NS_PER_MS + CLOCK_MS_MAX &&
           read_job(c, id, doc, out) && str_eq(out->queue, queue) && str_eq(out->name, name);
}

/* Find a job by name, with its document in doc; false if there is none. */
static bool find(struct rest_call *c, struct str name, struct buf *doc, struct job *out)
{
    struct engine *e = c->rest->config.engine;
    struct str queue;
    struct buf key;
    struct buf id;
    struct err err;
    if (!rest_names__internal(c, "queue", QUEUE_NAME_SCHEDULER, &queue, &err)) {
        return false;
    }
    if (find_given(c, queue, name, doc, out)) {
        return true;
    }
    buf_init(&key, LIMIT_INTERNAL_NAME_BYTES + 1 + LIMIT_JOB_NAME_BYTES);
    buf_init(&id, ID_BYTES);
    buf_add_str(&key, queue);
    buf_add_char(&key, '\0');
    buf_add_str(&key, name);
    bool found = !key.overflow && store_get(engine_store(e), STORE_KIND_NAME, buf_str(&key), &id) &&
                 id.len == ID_BYTES && read_job(c, id_from_bytes(id.ptr), doc, out);
    buf_deinit(&key);
    buf_deinit(&id);
    return found;
}

/* Call fn with the job in the path, or respond 404. */
static void with_job(struct rest_call *c, void (*fn)(struct rest_call *c, const struct job *j))
{
    struct buf doc;
    struct job j;
    buf_init(&doc, LIMIT_DOC_BYTES);
    if (find(c, c->param[0], &doc, &j)) {
        fn(c, &j);
    } else {
        rest_sdb_text__fail(c, ERR_NOT_FOUND, STR("Job not found"));
    }
    buf_deinit(&doc);
}

/* Creation */

/* Respond 507 with the numbers (scheduler.md 10). */
static void reply_full(struct rest_call *c, bool bytes, uint64_t current)
{
    const struct rest_sdb_config *sdb = &c->rest->config.sdb;
    const struct rest_sdb_creation *made = c->data;
    char text[REST_SDB_TEXT_BYTES];
    rest_sdb_create__full_text(c, bytes, current, made->size, text);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "error", str_from_z(text));
    rest_document__text(&w, "type", bytes ? STR("memory") : STR("job_count"));
    rest_document__i64(&w, "current", (int64_t)current);
    rest_document__i64(&w, "limit", (int64_t)(bytes ? sdb->memory_limit : sdb->job_limit));
    if (bytes) {
        rest_document__i64(&w, "requested", (int64_t)made->size);
    }
    json_write_end(&w);
    rest_call__reply(c, 507, &w);
}

static void reply_job(struct rest_call *c, const struct job *j)
{
    struct json_write w = rest_call__json(c);
    rest_sdb_show__job(&w, j);
    rest_call__reply(c, 200, &w);
}

static void reply_new(struct rest_call *c, struct rest_sdb_creation *made, struct id id)
{
    struct json_write w = rest_call__json(c);
    rest_sdb_show__new(&w, made, id);
    rest_call__reply(c, 200, &w);
}

static void created(struct rest_call *c, const struct result *r)
{
    struct rest_sdb_creation *made = c->data;
    if (r->code == ERR_CONFLICT) {
        rest_sdb_text__fail(c, ERR_CONFLICT, STR("Job already exists"));
    } else if (rest_call__refused(c, r)) {
        return;
    } else if (r->items[0].status == RESULT_NO_BYTES || r->items[0].status == RESULT_NO_PLACE) {
        bool bytes = r->items[0].status == RESULT_NO_BYTES;
        rest_sdb_create__full(c, bytes, r->items[0].order);
        reply_full(c, bytes, r->items[0].order);
    } else if (r->items[0].status != RESULT_DUPLICATE) {
        (void)atomic_fetch_add(&c->rest->sdb.created[made->asked.recurring ? 1 : 0], 1);
        reply_new(c, made, r->items[0].id);
    } else { /* it existed with the same definition */
        c->param[0] = made->room.job.name;
        with_job(c, reply_job);
    }
}

static void handle_create(struct rest_call *c)
{
    struct wall now = engine_time(c->rest->config.engine);
    struct rest_sdb_creation *made = REST_NEW(c, struct rest_sdb_creation);
    ATTR_UNINITIALIZED struct command command;
    struct str object;
    struct str queue;
    struct str text;
    if (!rest_sdb_read__text(c, &object)) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("Invalid request body"));
    } else if (!rest_sdb_read__new(c, object, now, &made->asked, &text)) {
        rest_sdb_text__fail(c, ERR_VALIDATION, text);
    } else if (rest_sdb_create__queue(c, &queue)) {
        rest_sdb_create__command(c, queue, now, made, &command);
        c->data = made;
        rest_call__submit(c, &command, 0, created);
    }
}

/* Reading */

static void handle_get(struct rest_call *c)
{
    with_job(c, reply_job);
}

static void reply_state(struct rest_call *c, const struct job *j)
{
    struct json_write w = rest_call__json(c);
    rest_sdb_show__state(&w, j, engine_store(c->rest->config.engine));
    rest_call__reply(c, 200, &w);
}

static void handle_status(struct rest_call *c)
{
    with_job(c, reply_state);
}

static void reply_executions(struct rest_call *c, const struct job *j)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "job_id", j->name);
    rest_sdb_show__attempts(&w, j, engine_store(c->rest->config.engine));
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_executions(struct rest_call *c)
{
    with_job(c, reply_executions);
}

/* Changes */

static void submit_action(struct rest_call *c, const struct job *j, enum command_job_action action,
                          struct str reason,
                          void (*then)(struct rest_call *c, const struct result *r))
{
    struct command command;
    struct id *id = REST_NEW(c, struct id);
    *id = j->id;
    command_init(&command, COMMAND_JOBS);
    command.jobs = (struct command_jobs){
        .action = action, .reason = str_at_most(reason, LIMIT_REASON_BYTES), .ids = id, .count = 1};
    rest_call__submit(c, &command, 0, then);
}

static void deleted(struct rest_call *c, const struct result *r)
{
    const unsigned *type = c->data;
    if (r->code != ERR_OK) {
        rest_sdb_text__fail(c, ERR_NOT_FOUND, STR("Job not found"));
    } else {
        (void)atomic_fetch_add(&c->rest->sdb.deleted[*type], 1);
        rest_call__reply_empty(c, 204);
    }
}

static void delete_job(struct rest_call *c, const struct job *j)
{
    unsigned *type = REST_NEW(c, unsigned);
    *type = j->cron.len > 0 ? 1 : 0;
    c->data = type;
    submit_action(c, j, COMMAND_JOB_DELETE, STR_EMPTY, deleted);
}

static void handle_delete(struct rest_call *c)
{
    with_job(c, delete_job);
}

/* The reason in the body; the body may be missing or invalid. */
static struct str reason_of(struct rest_call *c)
{
    struct json_value v;
    struct str object;
    struct str reason;
    struct err err;
    if (rest_sdb_read__body(c, &object) && json_scan_member(object, STR("reason"), &v) &&
        v.type == JSON_TYPE_STRING && json_value_text(v, c->arena, &reason, &err) == ERR_OK) {
        return reason;
    }
    return STR_EMPTY;
}

static void refuse_cancel(struct rest_call *c, const struct job *j)
{
    struct buf b;
    buf_init(&b, 64);
    buf_printf(&b, "Cannot cancel %s job", rest_sdb_show__word(rest_sdb_show__status(j)));
    rest_sdb_text__fail(c, ERR_VALIDATION, buf_str(&b));
    buf_deinit(&b);
}

static void reply_cancelled(struct rest_call *c, const struct job *j)
{
    const bool *was_active = c->data;
    (void)atomic_fetch_add(&c->rest->sdb.cancelled[j->cron.len > 0 ? 1 : 0], 1);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "job_id", j->name);
    rest_document__text(&w, "status", STR("cancelled"));
    rest_document__i64(&w, "cancelled_at", j->cancelled_at.ns / NS_PER_S);
    if (*was_active) {
        rest_document__text(&w, "message", STR("Job was in progress, cancellation attempted"));
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void cancelled(struct rest_call *c, const struct result *r)
{
    bool *was_active = REST_NEW(c, bool);
    if (r->code != ERR_OK) { /* the job ended or was deleted meanwhile */
        with_job(c, refuse_cancel);
        return;
    }
    *was_active = r->state == JOB_ACTIVE;
    c->data = was_active;
    with_job(c, reply_cancelled);
}

static void cancel_job(struct rest_call *c, const struct job *j)
{
    enum rest_sdb_status status = rest_sdb_show__status(j);
    if (status != REST_SDB_PENDING && status != REST_SDB_IN_PROGRESS) {
        refuse_cancel(c, j);
    } else {
        submit_action(c, j, COMMAND_JOB_CANCEL, reason_of(c), cancelled);
    }
}

static void handle_cancel(struct rest_call *c)
{
    with_job(c, cancel_job);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                  roles      flags                                          in    handler            cost  answer                                                     doc */
    {HTTP_POST,   "/jobs",                  ROLES_AOW, ROUTE_SCHEDULER | ROUTE_LEADER | ROUTE_BODY | ROUTE_ANY_BODY,  NULL, handle_create,     NULL, "200 sdb job, 409 the id belongs to another job, 507 the capacity is exhausted",    "Scheduled-DB: create a one-time or recurring job that calls a URL."},
    {HTTP_POST,   "/jobs/batch",            ROLES_AOW, ROUTE_SCHEDULER | ROUTE_LEADER | ROUTE_BODY | ROUTE_ANY_BODY,  NULL, rest_sdb_batch__handle, NULL, "200 sdb batch",                                                "Scheduled-DB: create up to 100 jobs. Each job is created or refused separately."},
    {HTTP_GET,    "/jobs",                  ROLES_ALL, ROUTE_SCHEDULER,                                             NULL, rest_sdb_list__handle,      NULL, "200 sdb list",                                                 "Scheduled-DB: list jobs with a status."},
    {HTTP_GET,    "/jobs/{id}",             ROLES_ALL, ROUTE_SCHEDULER,                                             NULL, handle_get,        NULL, "200 sdb job",                                                 "Scheduled-DB: return a job."},
    {HTTP_DELETE, "/jobs/{id}",             ROLES_AOW, ROUTE_SCHEDULER | ROUTE_LEADER,                                  NULL, handle_delete,     NULL, "204",                                                     "Scheduled-DB: delete a job. A call in progress is aborted."},
    {HTTP_GET,    "/jobs/{id}/status",      ROLES_ALL, ROUTE_SCHEDULER,                                             NULL, handle_status,     NULL, "200 sdb state",                                                 "Scheduled-DB: return the status of a job."},
    {HTTP_GET,    "/jobs/{id}/executions",  ROLES_ALL, ROUTE_SCHEDULER,                                             NULL, handle_executions, NULL, "200 sdb attempts",                                                 "Scheduled-DB: list the calls made for a job."},
    {HTTP_POST,   "/jobs/{id}/cancel",      ROLES_AOW, ROUTE_SCHEDULER | ROUTE_LEADER | ROUTE_BODY | ROUTE_ANY_BODY,  NULL, handle_cancel,     NULL, "200 sdb cancelled",                                                 "Scheduled-DB: cancel a job. A call in progress is aborted."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/jobs", &rest_sdb_list__schema},
};

const struct rest_routes rest_sdb_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
