/*
 * Errors (http-api.md 20.11): failures grouped by error message.
 */
#include "base/check.h"
#include "base/limits.h"
#include "os/os_clock.h"
#include "rest/rest_query_int.h"
#include "view/view_errors.h"

enum { GROUPS_USUAL = 50, TIME_BYTES_MAX = 64 };

struct errors_in {
    struct str queue, from, to;
    int64_t limit;
};

/* clang-format off */
static const struct json_field errors_rows[] = {
    JSON_STR(struct errors_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES, 0, "Queue to report on. All queues if left out.", .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_STR(struct errors_in, from, 0, TIME_BYTES_MAX, 0, "Start of the range: a time, or a duration before now such as 1h or 7d."),
    JSON_STR(struct errors_in, to, 0, TIME_BYTES_MAX, 0, "End of the range, in the same form. Now if left out."),
    JSON_I64(struct errors_in, limit, 1, VIEW_ERRORS_GROUPS_MAX, 0, "Maximum number of groups. 50 if left out."),
};
/* clang-format on */
static const struct errors_in errors_init = {.from = {.ptr = "24h", .len = 3},
                                             .limit = GROUPS_USUAL};
static const struct json_schema errors_schema =
    JSON_SCHEMA(struct errors_in, errors_rows, .init = &errors_init);

static void write_group(struct rest_call *c, struct json_write *w,
                        const struct view_errors_group *g)
{
    char mark[VIEW_ERRORS_MARK_TEXT];
    char id[ID_TEXT_MAX];
    struct buf pattern;
    view_errors_format(g->mark, mark);
    buf_init(&pattern, VIEW_ERRORS_PATTERN_MAX);
    (void)view_errors_mark(g->example_error, &pattern);
    json_write_object(w);
    rest_document__text(w, "fingerprint", str_from(mark, sizeof mark));
    json_write_key(w, STR("message"));
    json_write_str(w, buf_str(&pattern));
    rest_document__i64(w, "count", g->count);
    rest_document__i64(w, "jobs", g->jobs);
    rest_document__i64(w, "dead", g->dead);
    rest_document__time(w, "first_seen", g->first_seen);
    rest_document__time(w, "last_seen", g->last_seen);
    rest_document__object(w, "example");
    rest_document__text(w, "job_id", str_from(id, id_format(g->example, ID_JOB, id)));
    json_write_key(w, STR("error"));
    json_write_str(w, g->example_error);
    json_write_end(w);
    rest_document__array(w, "queues");
    for (size_t i = 0; i < g->queue_count; i++) {
        json_write_object(w);
        rest_document__text(w, "queue", rest_names__visible(c, g->queues[i].name));
        rest_document__i64(w, "count", g->queues[i].count);
        json_write_end(w);
    }
    json_write_end(w);
    if (g->version_count > 0) {
        rest_document__array(w, "versions");
        for (size_t i = 0; i < g->version_count; i++) {
            json_write_object(w);
            rest_document__text(w, "version", g->versions[i].name);
            rest_document__i64(w, "count", g->versions[i].count);
            json_write_end(w);
        }
        json_write_end(w);
    }
    rest_document__array(w, "chart");
    for (size_t i = 0; i < VIEW_ERRORS_STEPS; i++) {
        json_write_i64(w, g->steps[i]);
    }
    json_write_end(w);
    json_write_end(w);
    buf_deinit(&pattern);
}

static void run_errors(struct rest_call *c, struct view_reader *r)
{
    struct view_errors *e = c->data;
    if (view_errors_run(r, e, c->arena, &c->ask_err) != ERR_OK) {
        return;
    }
    struct json_write w = json_write_to(&c->answer);
    json_write_object(&w);
    rest_document__time(&w, "from", e->from);
    rest_document__time(&w, "to", e->to);
    rest_document__i64(&w, "total", e->total);
    rest_document__array(&w, "groups");
    for (size_t i = 0; i < e->count; i++) {
        write_group(c, &w, &e->groups[i]);
    }
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

static void handle_errors(struct rest_call *c)
{
    const struct errors_in *in = c->query;
    struct view_errors *e = REST_NEW(c, struct view_errors);
    struct wall now = os_clock_wall();
    struct err err;
    if (!rest_call__has_memory(c)) {
        return;
    }
    *e = (struct view_errors){.ns = c->ns, .scope = c->caller.scope, .limit = (uint32_t)in->limit};
    if (!rest_query__moment(in->from, now, &e->from) || !rest_query__moment(in->to, now, &e->to)) {
        rest_call__fail(c, ERR_VALIDATION, REST_QUERY_MOMENT_REFUSAL);
        return;
    }
    if (e->from.ns < 0 || e->from.ns >= e->to.ns) {
        rest_call__fail(c, ERR_VALIDATION, "from: must be before to");
        return;
    }
    if (!rest_names__internal(c, "queue", in->queue, &e->queue, &err)) {
        rest_call__fail_err(c, &err);
        return;
    }
    c->data = e;
    rest_call__on_view(c, run_errors, rest_call__reply_asked);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method  pattern           roles      flags in    handler        cost  answer                           doc */
    {HTTP_GET, "/api/v1/errors", ROLES_AOR, 0,    NULL, handle_errors, NULL, "200 {from, to, total, groups}", "Group the failures in a time range by error message. Numbers, ids, addresses and paths in messages are ignored."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, "/api/v1/errors", &errors_schema}};

const struct rest_routes rest_errors_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
