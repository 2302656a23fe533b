/*
 * The history of this node: the times of its writes and flushes, and its lag behind the leader
 * (engine/engine_history.h). Every node has its own, so these requests are not forwarded.
 */
#include "base/limits.h"
#include "core/timestamp.h"
#include "engine/engine_history.h"
#include "rest/rest_history_int.h"
#include "rest/rest_query_int.h"

struct node_history_in {
    struct str from, to, step, format;
};

/* clang-format off */
static const struct json_field query_rows[] = {
    JSON_STR(struct node_history_in, from, 0, REST_HISTORY_TIME_BYTES, 0, "Start of the range: a time, or a duration before now such as 1h or 7d."),
    JSON_STR(struct node_history_in, to, 0, REST_HISTORY_TIME_BYTES, 0, "End of the range, in the same form. Now if left out."),
    JSON_STR(struct node_history_in, step, 0, REST_HISTORY_TIME_BYTES, 0, "Length of a step: whole minutes, such as 1m, 15m or 1d. Chosen to return about 120 points if left out."),
    JSON_STR(struct node_history_in, format, 0, LIMIT_NAME_BYTES, 0, "json, or csv for a table with one line per step.", .words = rest_history__formats),
};
/* clang-format on */
static const struct node_history_in query_init = {.from = {.ptr = "1h", .len = 2},
                                                  .format = {.ptr = "json", .len = 4}};
static const struct json_schema query_schema =
    JSON_SCHEMA(struct node_history_in, query_rows, .init = &query_init);

struct reading {
    enum engine_history_step step;
    uint32_t first;      /* cell */
    uint32_t from, last; /* range of cells that may exist, last excluded */
    uint32_t per_point;
    bool csv;
    struct engine_history_cell *points;
    size_t count;
};

/* Members of a point. */
static const char *const names[] = {"writes",  "write_mean_us", "write_p50_us", "write_p99_us",
                                    "flushes", "flush_mean_us", "flush_max_us", "lag_ms"};

static int64_t rank_us(const struct engine_times *t, uint64_t count, uint64_t percent)
{
    return count == 0 ? 0 : engine_times_rank_ns(t, (count * percent + 99) / 100) / NS_PER_US;
}

static void values_of(const struct engine_history_cell *c, int64_t out[COUNT_OF(names)])
{
    uint64_t writes = engine_times_count(&c->writes);
    out[0] = (int64_t)writes;
    out[1] = writes == 0 ? 0 : (int64_t)(c->writes.sum_ns / writes / NS_PER_US);
    out[2] = rank_us(&c->writes, writes, 50);
    out[3] = rank_us(&c->writes, writes, 99);
    out[4] = (int64_t)c->flush_count;
    out[5] = c->flush_count == 0 ? 0 : (int64_t)(c->flush_ns / c->flush_count / NS_PER_US);
    out[6] = (int64_t)(c->flush_max_ns / NS_PER_US);
    out[7] = (int64_t)c->lag_max_ms;
}

static struct wall time_of(const struct reading *r, size_t point)
{
    int64_t cell = r->first + (int64_t)point * r->per_point;
    return (struct wall){.ns = cell * engine_history_seconds(r->step) * NS_PER_S};
}

static void reply_csv(struct rest_call *c, const struct reading *r)
{
    struct buf *out = &c->answer;
    rest_call__buf(c, out);
    buf_add_str(out, STR("at"));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        buf_printf(out, ",%s", names[i]);
    }
    buf_add_str(out, STR("\r\n"));
    for (size_t p = 0; p < r->count; p++) {
        char text[TIMESTAMP_TEXT_MAX];
        int64_t values[COUNT_OF(names)];
        values_of(&r->points[p], values);
        buf_add(out, text, timestamp_format(time_of(r, p), text));
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            buf_printf(out, ",%lld", (long long)values[i]);
        }
        buf_add_str(out, STR("\r\n"));
    }
    rest_call__reply_type(c, 200, STR("text/csv; charset=utf-8"), buf_str(out));
}

static void reply(struct rest_call *c)
{
    const struct reading *r = c->data;
    if (r->csv) {
        reply_csv(c, r);
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "node_id", str_from_z(c->rest->config.node_id));
    rest_document__time(&w, "from", time_of(r, 0));
    rest_document__time(&w, "to", time_of(r, r->count));
    rest_document__i64(&w, "step_seconds", r->per_point * engine_history_seconds(r->step));
    rest_document__array(&w, "points");
    for (size_t p = 0; p < r->count; p++) {
        int64_t values[COUNT_OF(names)];
        values_of(&r->points[p], values);
        json_write_object(&w);
        rest_document__time(&w, "at", time_of(r, p));
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            rest_document__i64(&w, names[i], values[i]);
        }
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Runs on the core thread; reads at most a few thousand cells in memory. */
static void look(struct rest_call *c, struct machine *m)
{
    const struct reading *r = c->data;
    (void)m;
    for (uint32_t cell = r->from; cell < r->last; cell++) {
        struct engine_history_cell found = engine_history_at(c->rest->config.engine, r->step, cell);
        engine_history_merge(&r->points[(cell - r->first) / r->per_point], &found);
    }
}

static void handle_node_history(struct rest_call *c)
{
    const struct node_history_in *in = c->query;
    struct reading *r = REST_NEW(c, struct reading);
    struct rest_history_span span;
    int format = 0;
    if (!rest_call__has_memory(c)) {
        return;
    }
    if (!rest_names__word(rest_history__formats, in->format, &format)) {
        rest_call__fail(c, ERR_VALIDATION, "format: must be json or csv");
        return;
    }
    if (!rest_history__span(c, in->from, in->to, in->step, &span)) {
        return;
    }
    struct wall oldest = wall_add_ms(span.now, -(int64_t)LIMIT_HISTORY_MINUTES * 60 * 1000);
    bool minutes = span.step_s % 3600 != 0 || span.from.ns >= oldest.ns;
    int64_t step_ns = span.step_s * NS_PER_S;
    *r = (struct reading){.step = minutes ? ENGINE_HISTORY_MINUTE : ENGINE_HISTORY_HOUR,
                          .csv = format == 1};
    r->per_point = (uint32_t)(span.step_s / engine_history_seconds(r->step));
    r->count = (size_t)((span.to.ns + step_ns - 1) / step_ns - span.from.ns / step_ns);
    r->first = (uint32_t)(span.from.ns / step_ns) * r->per_point;
    uint32_t now = (uint32_t)(span.now.ns / NS_PER_S / engine_history_seconds(r->step));
    uint32_t kept = minutes ? LIMIT_HISTORY_MINUTES : LIMIT_HISTORY_HOURS;
    uint32_t end = r->first + (uint32_t)r->count * r->per_point;
    r->from = r->first > now - kept ? r->first : now - kept;
    r->last = end < now + 1 ? end : now + 1;
    r->points = REST_ARRAY(c, struct engine_history_cell, r->count);
    c->data = r;
    rest_call__on_core(c, look, reply);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method  pattern                    roles      flags                       in    handler              cost  answer                                      doc */
    {HTTP_GET, "/api/v1/cluster/history", ROLES_AOR, ROUTE_LOCAL | ROUTE_SERVER, NULL, handle_node_history, NULL, "200 {node_id, from, to, step_seconds, points} | text/csv", "Return the history of the node that answers, step by step: write latency, flush time of the log, lag behind the leader. Minutes are kept for 48 hours, hours for 90 days."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, "/api/v1/cluster/history", &query_schema}};

const struct rest_routes rest_node_history_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
