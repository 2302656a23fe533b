/*
 * Hosts that jobs are delivered to (docs/push.md), with the state of the leader's sender.
 */
#include <stdlib.h>

#include "push/push.h"
#include "rest/rest_document_int.h"
#include "rest/rest_page_int.h"

struct host_row {
    struct push_host_seen seen;
    uint64_t waiting;
};

static void list_one(void *data, const struct push_host_seen *h)
{
    struct rest_page *p = data;
    if (!str_starts_with(h->name, p->prefix) || !rest_page__wants(p, h->name)) {
        return;
    }
    struct host_row *row = REST_NEW(p->call, struct host_row);
    row->seen = *h;
    row->seen.name = arena_str(p->call->arena, h->name);
    row->seen.error = arena_str(p->call->arena, h->error);
    rest_page__add(p, row->seen.name, row);
}

static int compare_row(const void *name, const void *row)
{
    return str_cmp(*(const struct str *)name, ((const struct rest_page_row *)row)->key);
}

static bool count_line(void *data, const struct machine_push_line *l)
{
    const struct rest_page *p = data;
    struct rest_page_row *row = bsearch(&l->host, p->rows, p->count, sizeof *p->rows, compare_row);
    if (row != NULL) {
        ((struct host_row *)row->data)->waiting += l->waiting;
    }
    return true;
}

/* This walks all lines; so does the sender after every change. */
static void count_waiting(struct rest_call *c, struct machine *m)
{
    machine_each_push_line(m, engine_time(c->rest->config.engine), 0, count_line, c->data);
}

static void write_host(struct json_write *w, const struct host_row *row)
{
    static const char *const breakers[] = {[PUSH_BREAKER_CLOSED] = "closed",
                                           [PUSH_BREAKER_OPEN] = "open",
                                           [PUSH_BREAKER_HALF_OPEN] = "half_open"};
    const struct push_host_seen *h = &row->seen;
    json_write_object(w);
    rest_document__text(w, "host", h->name);
    rest_document__text(w, "breaker", str_from_z(breakers[h->breaker]));
    rest_document__i64(w, "in_flight", h->in_flight);
    rest_document__i64(w, "waiting", (int64_t)row->waiting);
    rest_document__i64(w, "succeeded", (int64_t)h->succeeded);
    rest_document__i64(w, "failed", (int64_t)h->failed);
    rest_document__i64(w, "unanswered", h->failures);
    if (h->latency_us >= 0) {
        json_write_key(w, STR("latency_ms"));
        json_write_f64(w, (double)h->latency_us / 1000);
    }
    if (h->called_at.ns != 0) {
        rest_document__time(w, "last_call_at", h->called_at);
    }
    if (h->probe_at.ns != 0) {
        rest_document__time(w, "next_probe_at", h->probe_at);
    }
    if (h->error.len > 0) {
        rest_document__text(w, "last_error", h->error);
        rest_document__time(w, "last_error_at", h->error_at);
    }
    json_write_end(w);
}

static void counted(struct rest_call *c)
{
    const struct rest_page *p = c->data;
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < p->count; i++) {
        write_host(&w, p->rows[i].data);
    }
    json_write_end(&w);
    rest_page__reply(p, &w);
}

static void handle_hosts(struct rest_call *c)
{
    struct rest_page *page = REST_NEW(c, struct rest_page);
    struct push_sender *push = c->rest->push;
    if (!rest_page__begin(c, page)) {
        return;
    }
    if (push != NULL) {
        push_hosts(push, list_one, page);
    }
    rest_page__finish(page);
    c->data = page;
    rest_call__on_core(c, count_waiting, counted);
}

/* clang-format off */
static const struct rest_route rows[] = {
    {HTTP_GET, "/api/v1/push/hosts", ROLES_AOR, ROUTE_LEADER | ROUTE_SERVER, NULL, handle_hosts, NULL, "200 [push_host]", "List the hosts that jobs are delivered to, by name, with calls, circuit breaker and latency. The leader counts since its own start."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/push/hosts", &rest_page__schema},
};

const struct rest_routes rest_push_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
