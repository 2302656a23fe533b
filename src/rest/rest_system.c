/*
 * System endpoints (http-api.md 14 and 20): health, status, metrics, workers, and the description
 * of the API.
 */
#include "base/check.h"
#include "engine/engine_leader.h"
#include "json/json_scan.h"
#include "rest/describe/rest_answer_int.h"
#include "rest/describe/rest_docs_int.h"
#include "rest/rest_numbers_int.h"
#include "rest/rest_page_int.h"
#include "rpc/rpc_schema.h"

/* Health */

static void begin_healthy(struct json_write *w, const char *role, bool leads)
{
    json_write_object(w);
    rest_document__text(w, "status", STR("ok"));
    rest_document__text(w, "raft_state", str_from_z(role));
    rest_document__bool(w, "leader", leads);
}

static void say_healthy(struct rest_call *c, const char *role, bool leads)
{
    struct json_write w = rest_call__json(c);
    begin_healthy(&w, role, leads);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Write problems that do not stop the server but need attention. */
static void write_warnings(struct json_write *w, const struct rest_numbers *v)
{
    if (v->engine.clock_ahead_ms == 0) {
        return;
    }
    struct buf text;
    buf_init(&text, 256);
    buf_printf(
        &text,
        "the system clock jumped %lld s ahead and was not accepted; if it is right, send POST "
        "/api/v1/admin/accept-clock",
        (long long)(v->engine.clock_ahead_ms / 1000));
    json_write_key(w, STR("warnings"));
    json_write_array(w);
    json_write_str(w, buf_str(&text));
    json_write_end(w);
    buf_deinit(&text);
}

/* Report whether the node is ready for requests: a leader is known, and there is space for
 * writes. */
static void say_ready(struct rest_call *c, const struct rest_numbers *v)
{
    struct err err;
    if (v->cluster->quarantined) {
        rest_call__fail(c, ERR_UNHEALTHY, "%s", rest_forward__quarantined);
    } else if (v->cluster->removed) {
        rest_call__fail(c, ERR_UNHEALTHY,
                        "this node was removed from the cluster; use another node");
    } else if (v->engine.node.leader_id == 0) {
        rest_call__fail(c, ERR_UNHEALTHY, "no leader is known");
    } else if (engine_space_reason(&v->engine.space, &err) != ERR_OK) {
        rest_call__fail(c, ERR_UNHEALTHY, "%s", err.msg);
    } else {
        struct json_write w = rest_call__json(c);
        begin_healthy(&w, v->engine.node.role, v->engine.node.leads);
        write_warnings(&w, v);
        json_write_end(&w);
        rest_call__reply(c, 200, &w);
    }
}

struct healthz_in {
    bool ready;
};

static const struct json_field healthz_rows[] = {
    JSON_BOOL(struct healthz_in, ready, 0, "Check readiness, as /readyz does."),
};
static const struct json_schema healthz_schema = JSON_SCHEMA(struct healthz_in, healthz_rows);

/* Responds without the core thread: if that waits for a slow disk, the process need not be
 * restarted, and failing storage stops it anyway. */
static void handle_healthz(struct rest_call *c)
{
    const struct healthz_in *in = c->query;
    if (in->ready) {
        rest_numbers__take(c, 0, say_ready);
    } else {
        const struct engine *e = c->rest->config.engine;
        bool leads = engine_leads(e);
        say_healthy(c, leads ? "Leader" : engine_stands(e) ? "Candidate" : "Follower", leads);
    }
}

static void handle_readyz(struct rest_call *c)
{
    rest_numbers__take(c, 0, say_ready);
}

static void handle_livez(struct rest_call *c)
{
    rest_call__reply_status(c, "ok");
}

static void handle_info(struct rest_call *c)
{
    struct str version = str_from_z(c->rest->config.version);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "server_version", version);
    rest_document__text(&w, "api_version", version);
    if (c->rest->config.sso != NULL && auth_table_sso(c->rest->config.auth) == STORE_SSO_OIDC) {
        rest_document__text(&w, "sso_login_url", STR("/api/v1/auth/sso/login"));
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Numbers */

static void write_status(struct rest_call *c, const struct rest_numbers *v)
{
    struct json_write w = rest_call__json(c);
    rest_status__write(&w, v);
    rest_call__reply(c, 200, &w);
}

static void handle_cluster_status(struct rest_call *c)
{
    rest_numbers__take(c, 0, write_status);
}

static void write_metrics(struct rest_call *c, const struct rest_numbers *v)
{
    struct buf text;
    rest_call__buf(c, &text);
    rest_metrics__write(c->rest->metrics, v, c->route, &text);
    if (!str_starts_with(c->req->path_raw, STR("/api/"))) {
        rest_sdb_meter__write(c, v, &text);
    }
    if (text.overflow) {
        rest_call__fail_memory(c, buf_error(&text));
    } else {
        rest_call__reply_type(c, 200, STR("text/plain; version=0.0.4; charset=utf-8"),
                              buf_str(&text));
    }
    buf_deinit(&text);
}

static void handle_metrics(struct rest_call *c)
{
    rest_numbers__take(c, REST_NUMBERS_COUNTS | REST_NUMBERS_QUEUES, write_metrics);
}

static void write_throughput(struct rest_call *c, const struct rest_numbers *v)
{
    int64_t last = throughput_minute_number(v->now);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (int64_t minute = last - THROUGHPUT_MINUTES + 1; minute <= last; minute++) {
        struct throughput_minute counts = throughput_minute(&v->throughput, minute);
        json_write_object(&w);
        rest_document__time(&w, "minute", (struct wall){.ns = minute * 60 * NS_PER_S});
        rest_document__i64(&w, "enqueued", (int64_t)counts.count[THROUGHPUT_ENQUEUED]);
        rest_document__i64(&w, "completed", (int64_t)counts.count[THROUGHPUT_COMPLETED]);
        rest_document__i64(&w, "failed", (int64_t)counts.count[THROUGHPUT_FAILED]);
        json_write_end(&w);
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_throughput(struct rest_call *c)
{
    rest_numbers__take(c, 0, write_throughput);
}

/* The member names are those of a garbage-collected runtime, because clients read them (20.3). */
static void handle_runtime(struct rest_call *c)
{
    struct os_process_usage usage;
    os_process_usage(&usage);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__i64(&w, "goroutines", (int64_t)usage.threads);
    rest_document__i64(&w, "gomaxprocs", (int64_t)usage.cpus);
    rest_document__i64(&w, "heap_inuse_bytes", (int64_t)usage.heap_bytes);
    rest_document__i64(&w, "stack_inuse_bytes", (int64_t)usage.stack_bytes);
    rest_document__i64(&w, "gc_pause_p99_ns", 0);
    rest_document__i64(&w, "cpu_user_ns", usage.cpu_user_ns);
    rest_document__i64(&w, "cpu_sys_ns", usage.cpu_system_ns);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Workers */

/* Write the caller's names of the worker's queues. False if none is visible to the caller. */
static bool visible_queues(struct rest_call *c, struct str queues, struct buf *out)
{
    struct json_scan scan = json_scan_from(queues);
    struct json_write w = json_write_to(out);
    struct json_value v;
    struct str name;
    struct err err;
    bool any = false;
    json_write_array(&w);
    if (json_scan_enter_array(&scan)) {
        while (json_scan_next_element(&scan) && json_scan_value(&scan, &v)) {
            if (json_value_text(v, c->arena, &name, &err) == ERR_OK &&
                rest_names__is_visible(c, name)) {
                json_write_str(&w, rest_names__visible(c, name));
                any = true;
            }
        }
    }
    json_write_end(&w);
    json_write_finish(&w);
    return any;
}

static void text_or_null(struct json_write *w, const char *key, struct str text)
{
    json_write_key(w, str_from_z(key));
    if (text.len > 0) {
        json_write_str(w, text);
    } else {
        json_write_null(w);
    }
}

static void write_worker(struct json_write *w, const struct machine_worker *worker,
                         struct str queues)
{
    json_write_object(w);
    rest_document__text(w, "id", worker->id);
    text_or_null(w, "hostname", worker->hostname);
    text_or_null(w, "queues", queues); /* a string that contains JSON, as clients expect */
    rest_document__text(w, "version", worker->version);
    rest_document__time(w, "last_heartbeat", worker->last_heartbeat);
    rest_document__time(w, "started_at", worker->started_at);
    json_write_end(w);
}

/* Sort key of a worker: the most recent heartbeat first. Ids are unique in a namespace. */
static struct str worker_key(struct rest_call *c, const struct machine_worker *w)
{
    char *name = REST_ARRAY(c, char, w->id.len + 1 + w->ns.len);
    memcpy(name, w->id.ptr, w->id.len);
    name[w->id.len] = '\0';
    if (w->ns.len > 0) {
        memcpy(name + w->id.len + 1, w->ns.ptr, w->ns.len);
    }
    return rest_page__time_key(c, w->last_heartbeat, true,
                               str_from(name, w->id.len + 1 + w->ns.len));
}

/* Runs on the core thread, for at most LIMIT_WORKERS workers. */
static void add_worker(void *data, const struct machine_worker *w)
{
    struct rest_page *p = data;
    struct rest_call *c = p->call;
    if ((c->ns.len > 0 && !str_eq(c->ns, w->ns)) || !str_starts_with(w->id, p->prefix)) {
        return;
    }
    struct str key = worker_key(c, w);
    if (!rest_page__wants(p, key)) {
        return;
    }
    struct machine_worker *row = REST_NEW(c, struct machine_worker);
    *row = *w;
    row->ns = STR_EMPTY;
    row->id = arena_str(c->arena, w->id);
    row->hostname = arena_str(c->arena, w->hostname);
    row->queues = arena_str(c->arena, w->queues);
    row->version = arena_str(c->arena, w->version);
    rest_page__add(p, key, row);
}

static void look_workers(struct rest_call *c, struct machine *m)
{
    machine_each_worker(m, add_worker, c->data);
}

static void write_workers(struct rest_call *c)
{
    struct rest_page *page = c->data;
    struct buf queues;
    rest_page__finish(page);
    rest_call__buf(c, &queues);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page->count; i++) {
        const struct machine_worker *worker = page->rows[i].data;
        buf_clear(&queues);
        if (c->ns.len == 0 && c->caller.scope.len == 0) {
            write_worker(&w, worker, worker->queues);
        } else if (visible_queues(c, worker->queues, &queues)) {
            write_worker(&w, worker, buf_str(&queues));
        }
    }
    json_write_end(&w);
    buf_deinit(&queues);
    rest_page__reply(page, &w);
}

static void handle_workers(struct rest_call *c)
{
    struct rest_page *page = REST_NEW(c, struct rest_page);
    c->data = page;
    if (rest_page__begin(c, page)) {
        rest_call__on_core(c, look_workers, write_workers);
    }
}

/* The clock */

static void accept_clock(struct rest_call *c, struct machine *m)
{
    int64_t *ahead_ms = c->data;
    (void)m;
    *ahead_ms = engine_accept_clock(c->rest->config.engine);
}

static void clock_accepted(struct rest_call *c)
{
    const int64_t *ahead_ms = c->data;
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status", STR("ok"));
    rest_document__i64(&w, "ahead_ms", *ahead_ms);
    rest_document__time(&w, "time", engine_time(c->rest->config.engine));
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_accept_clock(struct rest_call *c)
{
    c->data = REST_NEW(c, int64_t);
    rest_call__on_core(c, accept_clock, clock_accepted);
}

/* Description of the API */

static bool docs_are_on(struct rest_call *c)
{
    if (!c->rest->config.docs_enabled) {
        rest_call__fail(c, ERR_NOT_FOUND, "not found");
    }
    return c->rest->config.docs_enabled;
}

static void handle_openapi(struct rest_call *c)
{
    const struct http_header cache = {STR("Cache-Control"), STR("public, max-age=300")};
    if (docs_are_on(c)) {
        rest_call__reply_headers(c, 200, STR("application/json"),
                                 rest_openapi__text(c->rest->openapi), &cache, 1);
    }
}

static void handle_docs(struct rest_call *c)
{
    const struct http_header headers[] = {
        {STR("Cache-Control"), STR("no-cache")},
        {STR("Content-Security-Policy"), str_from_z(rest_docs_page_policy)},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("Referrer-Policy"), STR("no-referrer")},
    };
    if (docs_are_on(c)) {
        rest_call__reply_headers(c, 200, STR("text/html; charset=utf-8"), rest_docs_page, headers,
                                 COUNT_OF(headers));
    }
}

static void handle_rpc_schema(struct rest_call *c)
{
    const struct http_header cache = {STR("Cache-Control"), STR("public, max-age=300")};
    rest_call__reply_headers(c, 200, STR("text/plain; charset=utf-8"), rpc_schema, &cache, 1);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method   pattern                       roles      flags       in    handler                cost  answer                                            doc */
    {HTTP_GET, "/healthz",                    ROLES_ALL, ROUTE_OPEN, NULL, handle_healthz,        NULL, "200 {status, raft_state, leader}, 503 unhealthy", "Check whether the node responds. With ready=1, the same as /readyz."},
    {HTTP_GET, "/livez",                      ROLES_ALL, ROUTE_OPEN, NULL, handle_livez,          NULL, "200 {status}",                                   "Check whether the process responds."},
    {HTTP_GET, "/readyz",                     ROLES_ALL, ROUTE_OPEN, NULL, handle_readyz,         NULL, "200 {status, raft_state, leader}, 503 not ready", "Check whether the node can accept requests: it has a leader and enough disk space."},
    {HTTP_GET, "/api/v1/info",                ROLES_ALL, ROUTE_OPEN, NULL, handle_info,           NULL, "200 {server_version, api_version}",              "Return the versions of the server and of this API."},
    {HTTP_GET, "/api/v1/cluster/status",      ROLES_AOR, ROUTE_LOCAL | ROUTE_ALWAYS, NULL, handle_cluster_status, NULL, "200 cluster status",                             "Return the state of the node, its log and its write pipeline."},
    {HTTP_GET, "/api/v1/metrics",             ROLES_AOR, ROUTE_LOCAL | ROUTE_ALWAYS, NULL, handle_metrics,        NULL, "200 text/plain",                                 "Return all metrics in Prometheus text format."},
    {HTTP_GET, "/metrics",                    ROLES_AOR, ROUTE_LOCAL | ROUTE_ALWAYS, NULL, handle_metrics,        NULL, "200 text/plain",                                 "Return all metrics in Prometheus text format."},
    {HTTP_GET, "/api/v1/metrics/throughput",  ROLES_AOR, ROUTE_LOCAL, NULL, handle_throughput,     NULL, "200 [minute]",                                   "Return the jobs enqueued, completed and failed in each of the last 60 minutes."},
    {HTTP_GET, "/api/v1/debug/runtime",       ROLES_AOR, ROUTE_LOCAL | ROUTE_ALWAYS, NULL, handle_runtime,        NULL, "200 runtime", "Return thread count, memory and CPU time."},
    {HTTP_GET, "/api/v1/workers",             ROLES_AOR, 0,          NULL, handle_workers,        NULL, "200 [worker]",                                   "List workers seen in the last 24 hours, most recent first."},
    {HTTP_POST, "/api/v1/admin/accept-clock", ROLE_ADMIN, ROUTE_LEADER | ROUTE_SERVER, NULL, handle_accept_clock, NULL, "200 {status, ahead_ms, time}",                    "Accept the system clock after it jumped ahead (see --max-clock-jump)."},
    {HTTP_GET, "/openapi.json",               ROLES_ALL, ROUTE_OPEN, NULL, handle_openapi,        NULL, "200 OpenAPI document",                           "Return this OpenAPI document."},
    {HTTP_GET, "/docs",                       ROLES_ALL, ROUTE_OPEN, NULL, handle_docs,           NULL, "200 text/html",                                  "Show the API reference as a web page."},
    {HTTP_GET, "/corvo.v1.proto",             ROLES_ALL, ROUTE_OPEN, NULL, handle_rpc_schema,     NULL, "200 text/plain",                                 "Return the protobuf schema of the RPC service, for Connect and gRPC clients."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/healthz", &healthz_schema},
    {HTTP_GET, "/api/v1/workers", &rest_page__schema},
};

const struct rest_routes rest_system_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
