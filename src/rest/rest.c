/*
 * The REST dialect, and the steps before a handler is called: authentication, rate limit, route,
 * and body (http-api.md 1.2). The functions for handlers are in rest_call.c.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/build.h"
#include "base/check.h"
#include "base/digits.h"
#include "base/limits.h"
#include "hub/hub.h"
#include "json/json_scan.h"
#include "os/os_clock.h"
#include "rest/access/rest_audit_int.h"
#include "rest/access/rest_auth_int.h"
#include "rest/access/rest_recheck_int.h"
#include "rest/access/rest_sso_int.h"
#include "rest/describe/rest_answer_int.h"
#include "rest/rest_query_int.h"

/* Sets of common response headers (http_request.common). */
enum { COMMON_API, COMMON_SCHEDULER };

struct rest_config rest_config_default(void)
{
    return (struct rest_config){
        .version = build_release,
        .node_id = "node-1",
        .raft_store = "segment",
        .mirror_async = true,
        .tuning = {.snapshot_threshold = 4096,
                   .snapshot_interval_ns = 60 * NS_PER_S,
                   .batch_extend_at = 64,
                   .fetch_inflight = 64,
                   .batch_min_wait_ns = 100 * NS_PER_US,
                   .batch_window_ns = 8 * NS_PER_MS},
        .max_body_bytes = 16 << 20,
        .docs_enabled = true,
        .limiter = rest_limiter_config_default(),
        .sdb = rest_sdb_config_default(),
    };
}

static void ended(struct rest_call *c, int status, int64_t took_ns)
{
    rest_audit__note(c, status, took_ns);
    rest_sdb_meter__answered(c, status, took_ns);
}

static void go_on_here(struct rest_call *c);

static const struct rest_steps steps = {.ended = ended,
                                        .asks_again = rest_forward__asks_again,
                                        .from_rpc = rest_forward__from_rpc,
                                        .go_on_here = go_on_here};

struct rest *rest_new(const struct rest_config *config)
{
    struct rest *a = calloc(1, sizeof *a);
    CHECK(a != NULL);
    a->config = *config;
    a->steps = &steps;
    auth_digest(config->admin_password, a->password_hash);
    a->router = rest_router__new();
    a->limiter = rest_limiter__new(&config->limiter);
    a->metrics = rest_metrics__new();
    a->hub_counts = calloc(1, sizeof *a->hub_counts);
    CHECK(a->hub_counts != NULL);
    a->openapi = rest_openapi__new(config->version);
    a->started = os_clock_mono();
    return a;
}

void rest_free(struct rest *a)
{
    if (a != NULL) {
        rest_router__free(a->router);
        rest_limiter__free(a->limiter);
        rest_metrics__free(a->metrics);
        free(a->hub_counts);
        rest_openapi__free(a->openapi);
        free(a);
    }
}

void rest_set_server(struct rest *a, const struct http_server *server, const char *url)
{
    a->url = url;
    a->server = server;
}

void rest_set_discover(struct rest *a, const struct discover *discover)
{
    atomic_store(&a->discover, discover);
}

void rest_set_push(struct rest *a, struct push_sender *push)
{
    a->push = push;
}

static void on_loop_start(void *data, struct http_loop *loop)
{
    struct rest *a = data;
    unsigned i = http_loop_index(loop);
    CHECK(i < REST_LOOPS_MAX);
    a->hubs[i] =
        hub_open(a->config.engine, http_loop_uv(loop), http_loop_mailbox(loop), a->hub_counts);
    a->outboxes[i].engine = a->config.engine;
    if (a->config.front != NULL) {
        a->gates[i] = front_gate_open(a->config.front, http_loop_uv(loop));
    }
}

static void on_loop_turn(void *data, struct http_loop *loop)
{
    struct rest *a = data;
    struct engine_outbox *outbox = &a->outboxes[http_loop_index(loop)];
    engine_outbox_flush(outbox);
    outbox->clients = http_loop_conn_count(loop);
    if (a->gates[http_loop_index(loop)] != NULL) {
        front_gate_turn(a->gates[http_loop_index(loop)]);
    }
}

static void on_loop_stop(void *data, struct http_loop *loop)
{
    struct rest *a = data;
    hub_close(a->hubs[http_loop_index(loop)]);
    if (a->gates[http_loop_index(loop)] != NULL) {
        front_gate_close(a->gates[http_loop_index(loop)]);
        a->gates[http_loop_index(loop)] = NULL;
    }
}

/* Request entry */

static void set_request_id(struct rest_call *c)
{
    static atomic_uint_fast64_t counter;
    struct str given;
    if (http_request_known(c->req, HTTP_KNOWN_X_REQUEST_ID, &given) && given.len > 0 &&
        given.len <= sizeof c->request_id && !str_has_control(given)) {
        memcpy(c->request_id, given.ptr, given.len);
        c->request_id_len = given.len;
        return;
    }
    char *at = digits_put_hex(c->request_id, (uint64_t)c->started.ns);
    *at++ = '-';
    at = digits_put_hex(at, atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed));
    c->request_id_len = (size_t)(at - c->request_id);
}

static bool is_read(const struct rest_call *c)
{
    return c->req->method == HTTP_GET;
}

static bool within_rate(struct rest_call *c, uint64_t paid, uint64_t cost)
{
    if (rest_limiter__take(c->rest->limiter, &c->who, is_read(c), paid, cost)) {
        return true;
    }
    rest_metrics__throttled(c->rest->metrics, rest_call__what(c));
    rest_call__fail(c, ERR_RATE_LIMITED, "rate limit exceeded");
    return false;
}

/* Charge the cost of a decoded request, minus the one token that every request has already paid,
 * and call the handler. */
static void handle(struct rest_call *c)
{
    uint64_t cost = c->route->cost != NULL ? c->route->cost(c) : 1;
    if (cost > 1 && !within_rate(c, 1, cost)) {
        return;
    }
    if (rest_call__has_memory(c)) {
        c->route->handle(c);
    }
}

/* False, with the call ended, if an overloaded server would refuse the write anyway. Checked before
 * the body is collected. */
static bool admitted(struct rest_call *c)
{
    ATTR_UNINITIALIZED struct err err;
    uint32_t retry_ms;
    if ((c->route->flags & ROUTE_LEADER) == 0 || is_read(c) ||
        engine_admits(c->rest->config.engine, rest_call__outbox(c), &retry_ms, &err)) {
        return true;
    }
    rest_call__fail_with(c, err.code, str_from_z(err.msg), retry_ms, NULL);
    return false;
}

/* An optional body may be empty or null. */
static bool is_nothing(struct str body)
{
    return body.len == 0 || str_eq(body, STR("null"));
}

/* Valid JSON of the wrong form gets a detailed error. For anything else the message is fixed,
 * because clients know it. */
static void fail_decode(struct rest_call *c, struct str body, const struct err *err)
{
    if (err->code == ERR_PARSE && json_scan_check(body, &(struct err){0}) != ERR_OK) {
        rest_call__fail(c, ERR_PARSE, "invalid JSON");
    } else {
        rest_call__fail_err(c, err);
    }
}

static void decode_and_handle(struct rest_call *c)
{
    const struct json_schema *schema = c->route->in;
    struct str body = c->req->body;
    ATTR_UNINITIALIZED struct err err;
    if (schema != NULL) {
        c->in = arena_need(c->arena, schema->size, _Alignof(max_align_t));
        if ((c->route->flags & ROUTE_BODY_EMPTY) != 0 && is_nothing(str_trim(body))) {
            body = STR("{}");
        }
        if (json_schema_decode(schema, body, c->arena, c->in, &err) != ERR_OK) {
            fail_decode(c, body, &err);
            return;
        }
    }
    handle(c);
}

static void body_collected(struct http_request *req, enum http_body_result result)
{
    struct rest_call *c = req->data;
    if (rest_call__may_ignore(c, result)) {
        req->body = STR_EMPTY;
        decode_and_handle(c);
    } else if (result != HTTP_BODY_COMPLETE) {
        rest_call__body_failed(c, result);
    } else {
        decode_and_handle(c);
    }
}

static void go_on_with_rpc(struct rest_call *c)
{
    struct rpc_peer peer = rest_call__peer(c);
    rpc_request(c->rest->config.rpc, c->req, &c->rpc, &peer);
}

static void go_on_here(struct rest_call *c)
{
    if (c->is_rpc) {
        go_on_with_rpc(c);
    } else if (!admitted(c)) {
        return;
    } else if ((c->route->flags & ROUTE_BODY) != 0) {
        http_request_collect(c->req, c->rest->config.max_body_bytes, body_collected);
    } else {
        handle(c);
    }
}

/* Under the base path, authentication and the rate limit come first, even if there is no such
 * route. Open routes there are rate limited, too. */
static bool may_go_on(struct rest_call *c, const struct rest_match *match)
{
    bool open = c->route != NULL ? (c->route->flags & ROUTE_OPEN) != 0 : match->path_open;
    if ((open || c->route == NULL) && !str_starts_with(c->req->path_raw, STR("/api/v1/"))) {
        return true;
    }
    /* A forwarded request was counted by the node that received it. */
    return rest_auth__identify(c) && (c->client.forwarded || within_rate(c, 0, 1)) &&
           (open || rest_auth__admit(c));
}

/* There is no such route. Outside /api/ the messages are those of Scheduled-DB (scheduler.md
 * 2.1). */
static void refuse_path(struct rest_call *c, const struct rest_match *match, bool known)
{
    bool other = c->rest->config.sdb.enabled && !str_starts_with(c->req->path_raw, STR("/api/"));
    if (known) {
        rest_call__fail_with(c, ERR_METHOD_NOT_ALLOWED,
                             other ? STR("Method not allowed") : STR("method not allowed"), 0,
                             match->allow);
    } else {
        rest_call__fail(c, ERR_NOT_FOUND, other ? "Not found" : "not found");
    }
}

static void go_on(struct rest_call *c, const struct rest_match *match)
{
    if (!may_go_on(c, match)) {
        return;
    }
    bool off = c->route != NULL && (c->route->flags & ROUTE_SCHEDULER) != 0 &&
               !c->rest->config.sdb.enabled;
    if (c->route == NULL || off) {
        refuse_path(c, match, match->path_known && !off);
        return;
    }
    if ((c->route->flags & ROUTE_OPEN) == 0 && !rest_auth__allows_route(c)) {
        return;
    }
    if (match->query != NULL && !rest_query__read(c, match->query)) {
        return;
    }
    if (rest_forward__is_quarantined(c)) {
        return;
    }
    c->local_read = rest_forward__is_local_read(c);
    bool streams = (c->route->flags & ROUTE_STREAM) != 0;
    bool strong = false;
    if (!rest_forward__consistency(c, &strong)) {
        return;
    }
    bool leaders = (c->route->flags & ROUTE_LEADER) != 0 || strong || rest_forward__is_behind(c);
    if (leaders && rest_forward__takes(c, streams)) {
        return;
    }
    if (strong) {
        rest_forward__prove(c);
    } else if (!rest_forward__catches_up(c)) {
        go_on_here(c);
    }
}

/* The same for RPC clients; the RPC service does the rest. */
static void go_on_rpc(struct rest_call *c)
{
    struct http_request *req = c->req;
    bool streams;
    c->is_rpc = true;
    c->rpc = rpc_target_of(req);
    bool open = rpc_is_open(&c->rpc);
    if (!rest_auth__identify(c) ||
        (rpc_is_rated(&c->rpc) && !c->client.forwarded && !within_rate(c, 0, 1)) ||
        (!open && (!rest_auth__admit(c) || !rest_auth__allows_rpc(c)))) {
        return;
    }
    if (!open && rest_forward__is_quarantined(c)) {
        return;
    }
    if (!rpc_is_leaders(req, &c->rpc, &streams) || !rest_forward__takes(c, streams)) {
        go_on_with_rpc(c);
    }
}

/* The Scheduled-DB API has its own CORS headers (scheduler.md 2.1). */
static void choose_headers(struct rest_call *c, const struct rest_match *match)
{
    bool face =
        match->route != NULL ? (match->route->flags & ROUTE_SCHEDULER) != 0 : match->path_scheduler;
    if (c->rest->config.sdb.enabled && (face || str_eq(c->req->path_raw, STR("/metrics")))) {
        c->req->common = COMMON_SCHEDULER;
    }
}

/* A CORS preflight, for any path. */
static void answer_options(struct rest_call *c)
{
    ATTR_UNINITIALIZED struct rest_match match;
    rest_router__match(c->rest->router, HTTP_OPTIONS, c->req->path_raw, c->arena, &match);
    choose_headers(c, &match);
    rest_call__reply_empty(c, 200);
}

/* Continue a request after its single sign-on token, if any, was verified. */
static void enter(struct rest_call *c)
{
    struct http_request *req = c->req;
    ATTR_UNINITIALIZED struct rest_match match;
    if (c->rest->config.rpc != NULL && rpc_is_path(req->path_raw)) {
        go_on_rpc(c);
        return;
    }
    rest_router__match(c->rest->router, req->method, req->path_raw, req->arena, &match);
    c->route = match.route;
    c->route_number = match.number;
    choose_headers(c, &match);
    memcpy(c->param, match.param, sizeof c->param);
    go_on(c, &match);
}

/* Begin the request's span, unless its caller does not want to trace it. */
static void begin_span(struct rest_call *c)
{
    struct str parent;
    bool inside = http_request_known(c->req, HTTP_KNOWN_TRACEPARENT, &parent);
    bool wanted = trace_begin(c->rest->config.trace, inside ? parent : STR_EMPTY, &c->span);
    c->client.span = wanted ? &c->span : NULL;
}

static void on_request(void *data, struct http_request *req)
{
    struct rest *a = data;
    struct rest_call *c = arena_need(req->arena, sizeof *c, _Alignof(struct rest_call));
    memset(c, 0, offsetof(struct rest_call, request_id_len));
    memset(&c->op, 0, offsetof(struct front_op, op));
    c->rest = a;
    c->req = req;
    c->arena = req->arena;
    c->client = (struct front_client){.engine = a->config.engine,
                                      .budget = a->config.budget,
                                      .req = req,
                                      .outbox = &a->outboxes[http_loop_index(req->loop)],
                                      .recheck = rest_recheck__call,
                                      .recheck_data = c};
    c->who.address = req->peer;
    c->started = os_clock_mono();
    req->on = &rest_call__handlers;
    req->data = c;
    rest_metrics__begin(a->metrics);
    set_request_id(c);
    if (a->config.trace != NULL) {
        begin_span(c);
    }
    if (req->method == HTTP_OPTIONS) {
        answer_options(c);
        return;
    }
    if (req->path_bad) {
        rest_call__fail(c, ERR_VALIDATION, "invalid percent-encoding in the path");
        return;
    }
    if (!rest_sso__waits(c, enter)) {
        enter(c);
    }
}

/* Headers of every response, including those that the HTTP server generates itself. */
#define LITERAL(text)                                                                              \
    {                                                                                              \
        .ptr = (text), .len = sizeof(text) - 1                                                     \
    }
#define ALL_ORIGINS                                                                                \
    {                                                                                              \
        LITERAL("Access-Control-Allow-Origin"), LITERAL("*")                                       \
    }
#define EXPOSED                                                                                    \
    {                                                                                              \
        LITERAL("Access-Control-Expose-Headers"),                                                  \
            LITERAL("Server-Timing, Retry-After, X-Request-Id, X-Corvo-View-Lag, "                 \
                    "X-Corvo-Next-Cursor, Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin")     \
    }
static const struct http_header every_answer[] = {
    ALL_ORIGINS,
    {LITERAL("Access-Control-Allow-Methods"), LITERAL("GET, POST, PUT, DELETE, OPTIONS")},
    {LITERAL("Access-Control-Allow-Headers"),
     LITERAL("Content-Type, Authorization, X-API-Key, X-Corvo-Namespace, Last-Event-ID, "
             "X-Request-Id, Idempotency-Key, X-Corvo-Api, Connect-Protocol-Version, "
             "Connect-Timeout-Ms, Grpc-Timeout, X-Grpc-Web, X-User-Agent")},
    EXPOSED,
};
static const struct http_header scheduler_answer[] = {
    ALL_ORIGINS,
    {LITERAL("Access-Control-Allow-Methods"), LITERAL("GET, POST, DELETE, OPTIONS")},
    {LITERAL("Access-Control-Allow-Headers"), LITERAL("Content-Type, Authorization")},
    EXPOSED,
};
#undef LITERAL
#undef ALL_ORIGINS
#undef EXPOSED

void rest_attach(struct rest *a, struct http_server_config *http)
{
    http->budget = a->config.budget;
    http->data = a;
    http->on_request = on_request;
    http->on_loop_start = on_loop_start;
    http->on_loop_turn = on_loop_turn;
    http->on_loop_stop = on_loop_stop;
    rest_set_headers(http);
}

void rest_set_headers(struct http_server_config *http)
{
    http->common[COMMON_API].headers = every_answer;
    http->common[COMMON_API].count = COUNT_OF(every_answer);
    http->common[COMMON_SCHEDULER].headers = scheduler_answer;
    http->common[COMMON_SCHEDULER].count = COUNT_OF(scheduler_answer);
}

bool rest_may_try(void *rest, struct str address, struct str credential)
{
    return rest_limiter__may_try(((struct rest *)rest)->limiter, address, credential);
}

void rest_tried(void *rest, struct str address, struct str credential, bool right)
{
    struct rest_limiter *l = ((struct rest *)rest)->limiter;
    if (right) {
        rest_limiter__was_right(l, address, credential);
    } else {
        rest_limiter__was_wrong(l, address);
    }
}
