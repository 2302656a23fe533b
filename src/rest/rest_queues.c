/*
 * Queue endpoints (http-api.md 12): list, pause, limits, clear, delete.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/duration.h"
#include "rest/rest_page_int.h"
#include "rest/rest_queues_int.h"

/* Listing. The names come from the store, in order. The numbers of one page are copied on the core
 * thread. The response is written on the call's thread. */

struct queue_list {
    struct rest_call *call;
    struct rest_page page;
    struct machine_queue *rows; /* numbers of the queues on the page */
    size_t count;
};

static bool add_name(void *data, struct str name, struct str value)
{
    struct queue_list *list = data;
    (void)value;
    if (rest_names__is_visible(list->call, name) && rest_page__wants(&list->page, name)) {
        rest_page__add(&list->page, name, NULL);
    }
    return list->page.count <= list->page.limit; /* one more row shows that there is a next page */
}

static void look_page(struct rest_call *c, struct machine *m)
{
    struct queue_list *list = c->data;
    for (size_t i = 0; i < list->page.count; i++) {
        struct str name = list->page.rows[i].key;
        if (machine_queue_find(m, name, &list->rows[list->count])) {
            list->rows[list->count++].name = name;
        }
    }
}

/* When the job was created; 0 if it was removed since the copy was made. */
static struct wall created_at(const struct rest_call *c, struct id id)
{
    struct job j;
    struct buf doc;
    struct wall at = WALL_NONE;
    buf_init(&doc, SIZE_MAX);
    if (!id_is_none(id) && rest_names__read_job_by_id(c, id, &doc, &j)) {
        at = j.created_at;
    }
    buf_deinit(&doc);
    return at;
}

static void write_queue(struct json_write *w, const struct rest_call *c,
                        const struct machine_queue *q)
{
    static const enum job_state shown[] = {JOB_PENDING, JOB_ACTIVE,    JOB_HELD,     JOB_COMPLETED,
                                           JOB_DEAD,    JOB_SCHEDULED, JOB_RETRYING, JOB_CANCELLED};
    uint64_t all = 0;
    json_write_object(w);
    rest_document__text(w, "name", rest_names__visible(c, q->name));
    rest_document__bool(w, "paused", q->paused);
    rest_document__i64_if_set(w, "max_concurrency", q->max_concurrency);
    if (q->throttle_rate > 0) {
        rest_document__i64(w, "rate_limit", q->throttle_rate);
        rest_document__i64(w, "rate_window_ms", q->throttle_window_ms);
    }
    rest_document__time(w, "created_at", q->created_at);
    for (size_t i = 0; i < COUNT_OF(shown); i++) {
        rest_document__i64(w, job_state_name(shown[i]), (int64_t)q->count[shown[i]]);
        all += q->count[shown[i]];
    }
    rest_document__i64(w, "enqueued", (int64_t)all);
    rest_document__i64(w, "failed", (int64_t)q->failures);
    rest_document__time(w, "oldest_pending_at", created_at(c, q->oldest_pending));
    json_write_end(w);
}

static void write_page(struct rest_call *c)
{
    const struct queue_list *list = c->data;
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < list->count; i++) {
        write_queue(&w, c, &list->rows[i]);
    }
    json_write_end(&w);
    rest_page__reply(&list->page, &w);
}

static void handle_list(struct rest_call *c)
{
    struct queue_list *list = REST_NEW(c, struct queue_list);
    struct str prefix;
    list->call = c;
    c->data = list;
    if (!rest_page__begin(c, &list->page)) {
        return;
    }
    prefix = rest_names__prefix(c, list->page.prefix);
    store_each_from(engine_store(c->rest->config.engine), STORE_KIND_QUEUE, prefix,
                    list->page.after, add_name, list);
    rest_page__finish(&list->page);
    list->rows = REST_ARRAY(c, struct machine_queue, list->page.count);
    rest_call__on_core(c, look_page, write_page);
}

static void look_one(struct rest_call *c, struct machine *m)
{
    struct queue_list *list = c->data;
    if (machine_queue_find(m, c->param[0], &list->rows[0]) &&
        rest_names__is_visible(c, c->param[0])) {
        list->rows[0].name = c->param[0];
        list->count = 1;
    }
}

static void write_one(struct rest_call *c)
{
    const struct queue_list *list = c->data;
    if (list->count == 0) {
        rest_call__fail(c, ERR_NOT_FOUND, "queue \"" STR_FMT "\" not found",
                        STR_ARG(rest_names__visible(c, c->param[0])));
        return;
    }
    struct json_write w = rest_call__json(c);
    write_queue(&w, c, &list->rows[0]);
    rest_call__reply(c, 200, &w);
}

static void handle_get(struct rest_call *c)
{
    struct queue_list *list = REST_NEW(c, struct queue_list);
    struct err err;
    list->call = c;
    list->rows = REST_NEW(c, struct machine_queue);
    c->data = list;
    if (!rest_names__internal(c, "queue", c->param[0], &c->param[0], &err)) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__on_core(c, look_one, write_one);
}

/* Actions */

struct limits_in {
    int64_t max;
    int64_t rate;
    int64_t window_ms;
    int64_t period_ms;
    uint64_t set; /* bits of throttle_rows */
};

enum { ROW_WINDOW = 1 }; /* window_ms in throttle_rows */

static const struct json_field concurrency_rows[] = {
    JSON_I64(struct limits_in, max, INT64_MIN, INT32_MAX, JSON_CLAMP,
             "Maximum number of active jobs. 0 or less removes the limit."),
};
static const struct json_field throttle_rows[] = {
    JSON_I64(struct limits_in, rate, INT64_MIN, INT64_MAX, JSON_INSISTED,
             "Maximum number of jobs started per window.", .told_max = LIMIT_THROTTLE_RATE),
    JSON_I64(struct limits_in, window_ms, INT64_MIN, INT64_MAX, 0,
             "Length of the window, in milliseconds.", .told_min = 1),
    JSON_DURATION(struct limits_in, period_ms, "period", duration_parse, 0, INT64_MAX, 0,
                  "Length of the window, as a duration. window_ms takes precedence."),
};
static const struct json_schema concurrency_schema =
    JSON_SCHEMA(struct limits_in, concurrency_rows);
static const struct json_schema throttle_schema =
    JSON_SCHEMA(struct limits_in, throttle_rows, JSON_SET(struct limits_in, set));

static void acted(struct rest_call *c, const struct result *r)
{
    const char *const *word = c->data;
    if (!rest_call__refused(c, r)) {
        rest_call__reply_status(c, *word);
    }
}

static void act(struct rest_call *c, struct command_queue *action, const char *word)
{
    struct command command = {.type = COMMAND_QUEUE, .queue = *action};
    struct err err;
    const char **kept = REST_NEW(c, const char *);
    *kept = word;
    c->data = kept;
    if (!rest_names__internal(c, "queue", c->param[0], &command.queue.name, &err)) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, acted);
}

static void handle_pause(struct rest_call *c)
{
    act(c, &(struct command_queue){.action = COMMAND_QUEUE_PAUSE}, "paused");
}

static void handle_resume(struct rest_call *c)
{
    act(c, &(struct command_queue){.action = COMMAND_QUEUE_RESUME}, "resumed");
}

static void handle_drain(struct rest_call *c)
{
    act(c, &(struct command_queue){.action = COMMAND_QUEUE_PAUSE}, "draining");
}

static void handle_concurrency(struct rest_call *c)
{
    const struct limits_in *in = c->in;
    act(c,
        &(struct command_queue){.action = COMMAND_QUEUE_CONCURRENCY,
                                .max = in->max > 0 ? (uint32_t)in->max : 0},
        "ok");
}

static void handle_throttle(struct rest_call *c)
{
    const struct limits_in *in = c->in;
    bool has_window = (in->set >> ROW_WINDOW & 1) != 0;
    int64_t window_ms = has_window ? in->window_ms : in->period_ms;
    if (in->rate <= 0 || window_ms <= 0) {
        rest_call__fail(c, ERR_VALIDATION, "rate and window_ms must be positive");
        return;
    }
    act(c,
        &(struct command_queue){.action = COMMAND_QUEUE_THROTTLE,
                                .rate = (uint32_t)(in->rate > UINT32_MAX ? UINT32_MAX : in->rate),
                                .window_ms = window_ms},
        "ok");
}

static void handle_unthrottle(struct rest_call *c)
{
    act(c, &(struct command_queue){.action = COMMAND_QUEUE_UNTHROTTLE}, "ok");
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                              roles      flags                      in                   handler             cost  answer          doc */
    {HTTP_GET,    "/api/v1/queues",                     ROLES_AOR, 0,                         NULL,                handle_list,        NULL, "200 [queue]",  "List queues with their settings and counts, by name."},
    {HTTP_GET,    "/api/v1/queues/{name}",              ROLES_AOR, 0,                         NULL,                handle_get,         NULL, "200 queue",    "Return a queue."},
    {HTTP_POST,   "/api/v1/queues/{name}/pause",        ROLES_AO,  ROUTE_LEADER,              NULL,                handle_pause,       NULL, "200 {status}", "Pause a queue. Workers get no more jobs from it."},
    {HTTP_POST,   "/api/v1/queues/{name}/resume",       ROLES_AO,  ROUTE_LEADER,              NULL,                handle_resume,      NULL, "200 {status}", "Resume a queue."},
    {HTTP_POST,   "/api/v1/queues/{name}/drain",        ROLES_AO,  ROUTE_LEADER,              NULL,                handle_drain,       NULL, "200 {status}", "Drain a queue: pause it while active jobs continue."},
    {HTTP_POST,   "/api/v1/queues/{name}/clear",        ROLES_AO,  ROUTE_LEADER,              NULL,                rest_queue_removal__clear, NULL, "200 {status}, 202 {bulk_operation_id, progress_url}", "Delete all pending and scheduled jobs of a queue."},
    {HTTP_POST,   "/api/v1/queues/{name}/concurrency",  ROLES_AO,  ROUTE_LEADER | ROUTE_BODY, &concurrency_schema, handle_concurrency, NULL, "200 {status}", "Limit the number of active jobs of a queue."},
    {HTTP_POST,   "/api/v1/queues/{name}/throttle",     ROLES_AO,  ROUTE_LEADER | ROUTE_BODY, &throttle_schema,    handle_throttle,    NULL, "200 {status}", "Limit the number of jobs started per time window."},
    {HTTP_DELETE, "/api/v1/queues/{name}/throttle",     ROLES_AO,  ROUTE_LEADER,              NULL,                handle_unthrottle,  NULL, "200 {status}", "Remove the rate limit of a queue."},
    {HTTP_DELETE, "/api/v1/queues/{name}",              ROLES_AO,  ROUTE_LEADER,              NULL,                rest_queue_removal__delete, NULL, "200 {status}, 202 {bulk_operation_id, progress_url}", "Delete a queue with all its jobs."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/queues", &rest_page__schema},
    {HTTP_POST, "/api/v1/queues/{name}/clear", &rest_queue_removal__clear_schema},
    {HTTP_DELETE, "/api/v1/queues/{name}", &rest_queue_removal__delete_schema},
};

const struct rest_routes rest_queues_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
