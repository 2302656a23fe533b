/*
 * Calls: their memory and the possible responses. What a call waits for is in rest_call_wait.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/digits.h"
#include "engine/engine_leader.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "rest/rest_int.h"

/* Maximum size of a response: a thousand of the largest documents. A response that reports finished
 * work ("owed") has a higher limit, since its size cannot be refused any more. Other responses may
 * use at most a share of the memory budget each. */
#define ANSWER_BYTES_MAX ((size_t)256 << 20)
#define OWED_BYTES_MAX   ((size_t)1 << 30)
enum { ANSWER_BUDGET_SHARE = 4 };
enum { MEMORY_RETRY_MS = 1000 }; /* retry time after memory ran out */

void *rest_call__alloc(struct rest_call *c, size_t size)
{
    void *p = arena_need(c->arena, size, _Alignof(max_align_t));
    memset(p, 0, size);
    return p;
}

void *rest_call__grow(struct rest_call *c, void *list, size_t count, size_t *cap, size_t size)
{
    enum { FIRST = 64 };
    if (count < *cap) {
        return list;
    }
    size_t larger_cap = *cap == 0 ? FIRST : *cap * 2;
    void *larger = arena_alloc(c->arena, larger_cap * size, _Alignof(max_align_t));
    if (larger == NULL) {
        return NULL;
    }
    if (count > 0) {
        memcpy(larger, list, count * size);
    }
    *cap = larger_cap;
    return larger;
}

static size_t answer_bytes_max(const struct rest_call *c)
{
    const struct budget *budget = c->rest->config.budget;
    if (c->arena->owed) {
        return OWED_BYTES_MAX;
    }
    size_t share = budget == NULL ? SIZE_MAX : budget->limit_bytes / ANSWER_BUDGET_SHARE;
    return share < ANSWER_BYTES_MAX ? share : ANSWER_BYTES_MAX;
}

/* An owed response may exceed the budget: the engine's result determines its size. */
static void set_budget(const struct rest_call *c, struct buf *b)
{
    buf_set_budget(b, c->rest->config.budget);
    b->owed = c->arena->owed;
}

void rest_call__buf(const struct rest_call *c, struct buf *b)
{
    buf_init(b, answer_bytes_max(c));
    set_budget(c, b);
}

/* Out of memory */

void rest_call__fail_memory(struct rest_call *c, enum err_code code)
{
    c->memory_told = true;
    if (code == ERR_OVERLOADED) {
        rest_call__fail_with(
            c, code, STR("the server has reached its memory limit for requests; retry later"),
            MEMORY_RETRY_MS, NULL);
    } else {
        rest_call__fail(
            c, ERR_TOO_LARGE,
            "the request needs more memory than one request may use; send fewer items at once");
    }
}

/* The error if the call's memory ran out. ERR_OK otherwise, or if its response is owed. */
static enum err_code memory_error(const struct rest_call *c)
{
    return c->arena->owed ? ERR_OK : arena_error(c->arena);
}

bool rest_call__has_memory(struct rest_call *c)
{
    enum err_code code = memory_error(c);
    if (code == ERR_OK) {
        return true;
    }
    rest_call__fail_memory(c, code);
    return false;
}

void rest_call__room(struct rest_call *c, struct buf *b, size_t limit_bytes)
{
    enum { ROOM_BYTES = 256 }; /* enough for most texts; larger ones are moved */
    char *room = arena_alloc(c->arena, ROOM_BYTES, 1);
    buf_init_room(b, limit_bytes, room, room == NULL ? 0 : ROOM_BYTES);
}

struct str rest_call__keep(struct rest_call *c, struct buf *b)
{
    enum err_code code = buf_error(b);
    if (code != ERR_OK) {
        arena_spoil(c->arena, code);
    }
    struct str kept = b->borrowed ? buf_str(b) : arena_str(c->arena, buf_str(b));
    buf_deinit(b);
    return kept;
}

struct json_write rest_call__json(struct rest_call *c)
{
    enum { ROOM_BYTES = 512 }; /* enough for most responses; larger ones are moved */
    char *room = arena_alloc(c->arena, ROOM_BYTES, 1);
    buf_deinit(&c->answer);
    buf_init_room(&c->answer, answer_bytes_max(c), room, room == NULL ? 0 : ROOM_BYTES);
    set_budget(c, &c->answer);
    return json_write_to(&c->answer);
}

/* Responses */

enum {
    HEADERS_MAX = REST_HEADERS_MAX + 7 + FRONT_CLIENT_HEADERS
}; /* the handler's headers, and those of this file */

struct answer_headers {
    struct http_header rows[HEADERS_MAX];
    size_t count;
    char timing[FRONT_TIMING_ROOM];
    char lag[24];
    char index[FRONT_CLIENT_ROOM];
    enum err_code code; /* for an error response */
    bool body_static;
};

/* Does not zero the rows. */
static void no_headers(struct answer_headers *h)
{
    h->count = 0;
    h->code = ERR_OK;
    h->body_static = false;
}

static void add_header(struct answer_headers *h, struct str name, struct str value)
{
    CHECK(h->count < HEADERS_MAX);
    h->rows[h->count++] = (struct http_header){.name = name, .value = value};
}

/* Add the headers of every response. */
static void common_headers(struct rest_call *c, struct answer_headers *h, int64_t took_ns)
{
    struct http_header timing = front_timing(took_ns, h->timing);
    add_header(h, timing.name, timing.value);
    add_header(h, STR("X-Request-Id"), str_from(c->request_id, c->request_id_len));
    h->count += front_client_headers(&c->client, h->code, h->rows + h->count, h->index);
    if (h->code == ERR_OK && c->local_read) {
        int64_t lag_ms = engine_leader_lag_ms(c->rest->config.engine);
        char *end = digits_put(h->lag, lag_ms < 0 ? 0 : (uint64_t)lag_ms);
        add_header(h, STR("X-Corvo-Lag-Ms"),
                   lag_ms < 0 ? STR("unknown") : str_from(h->lag, (size_t)(end - h->lag)));
    }
}

/* SDKs send their name and version. */
static void log_client(const struct rest_call *c)
{
    struct str name = STR_EMPTY;
    struct str version = STR_EMPTY;
    bool named = http_request_known(c->req, HTTP_KNOWN_X_CORVO_CLIENT_NAME, &name);
    bool versioned = http_request_known(c->req, HTTP_KNOWN_X_CORVO_CLIENT_VERSION, &version);
    if (named || versioned) {
        log_debug("sdk client request", LOG_STR("client_name", name),
                  LOG_STR("client_version", version), LOG_STR("procedure", c->req->path),
                  LOG_STR("request_id", str_from(c->request_id, c->request_id_len)));
    }
}

struct rest_metrics_what rest_call__what(const struct rest_call *c)
{
    return (struct rest_metrics_what){.route = c->route_number,
                                      .rpc = c->rpc.number,
                                      .method = c->req->method,
                                      .head = c->req->head};
}

/* Every request of the Scheduled-DB API is logged with its whole URI, which contains no secrets
 * (scheduler.md 2.1). A forwarded request was logged by the node that received it. */
static bool is_logged(const struct rest_call *c)
{
    return c->route != NULL && (c->route->flags & ROUTE_SCHEDULER) != 0 && !c->client.forwarded;
}

static void count_end(struct rest_call *c, int status, int64_t took_ns)
{
    bool scheduler = is_logged(c);
    enum log_level level = scheduler ? LOG_INFO : LOG_DEBUG;
    rest_metrics__end(c->rest->metrics, rest_call__what(c), status, took_ns);
    c->rest->steps->ended(c, status, took_ns);
    if (c->client.span != NULL) {
        trace_end_request(c->client.span, c->req->method_name, c->req->path, status);
    }
    if (log_wants(level)) {
        LOG_AT(level, "http request", LOG_STR("method", c->req->method_name),
               LOG_STR(scheduler ? "uri" : "path", scheduler ? c->req->target : c->req->path),
               LOG_I64("status", status), LOG_I64("duration_ms", took_ns / NS_PER_MS),
               LOG_STR("request_id", str_from(c->request_id, c->request_id_len)));
    }
    if (log_wants(LOG_DEBUG)) {
        log_client(c);
    }
}

static int64_t took_ns(const struct rest_call *c)
{
    return os_clock_mono().ns - c->started.ns;
}

static void answer(struct rest_call *c, int status, struct str type, struct str body,
                   struct answer_headers *h)
{
    struct http_request *req = c->req;
    struct http_response response = {.status = status, .content_type = type, .body = body};
    response.body_static = h->body_static;
    CHECK(!c->op.busy);
    CHECK(!c->look_busy);
    CHECK(!c->ask_busy);
    CHECK(!c->rebuild_busy);
    CHECK(!c->later_busy);
    int64_t took = took_ns(c);
    common_headers(c, h, took);
    response.headers = h->rows;
    response.header_count = h->count;
    count_end(c, status, took);
    front_op_deinit(&c->op);
    struct buf written = c->answer; /* the body may be in it */
    if (body.ptr == written.ptr && body.len == written.len) {
        response.body_buf = &written;
    }
    http_request_answer(req, &response); /* the call is gone after this */
    buf_deinit(&written);
}

void rest_call__reply_type(struct rest_call *c, int status, struct str type, struct str body)
{
    ATTR_UNINITIALIZED struct answer_headers h;
    no_headers(&h);
    if (rest_call__has_memory(c)) {
        answer(c, status, type, body, &h);
    }
}

static void own_headers(struct answer_headers *h, const struct http_header *headers, size_t count)
{
    no_headers(h);
    CHECK(count <= REST_HEADERS_MAX);
    for (size_t i = 0; i < count; i++) {
        add_header(h, headers[i].name, headers[i].value);
    }
}

void rest_call__reply_headers(struct rest_call *c, int status, struct str type, struct str body,
                              const struct http_header *headers, size_t count)
{
    ATTR_UNINITIALIZED struct answer_headers h;
    own_headers(&h, headers, count);
    if (rest_call__has_memory(c)) {
        answer(c, status, type, body, &h);
    }
}

void rest_call__reply_static(struct rest_call *c, int status, struct str type, struct str body,
                             const struct http_header *headers, size_t count)
{
    ATTR_UNINITIALIZED struct answer_headers h;
    own_headers(&h, headers, count);
    h.body_static = true;
    if (rest_call__has_memory(c)) {
        answer(c, status, type, body, &h);
    }
}

static void reply_written(struct rest_call *c, int status, struct str type,
                          struct answer_headers *h)
{
    enum err_code code = buf_error(&c->answer);
    if (code == ERR_TOO_LARGE) {
        rest_call__fail(c, ERR_TOO_LARGE, "the response is too large; request less at once");
    } else if (code != ERR_OK) {
        rest_call__fail_memory(c, code);
    } else if (rest_call__has_memory(c)) {
        answer(c, status, type, buf_str(&c->answer), h);
    }
}

void rest_call__reply_written(struct rest_call *c, struct str type)
{
    ATTR_UNINITIALIZED struct answer_headers h;
    no_headers(&h);
    reply_written(c, 200, type, &h);
}

static void reply_json(struct rest_call *c, int status, struct answer_headers *h)
{
    buf_add_char(&c->answer, '\n');
    reply_written(c, status, STR("application/json"), h);
}

void rest_call__reply(struct rest_call *c, int status, const struct json_write *w)
{
    ATTR_UNINITIALIZED struct answer_headers h;
    no_headers(&h);
    json_write_finish(w);
    reply_json(c, status, &h);
}

void rest_call__reply_status(struct rest_call *c, const char *word)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    json_write_key(&w, STR("status"));
    json_write_str(&w, str_from_z(word));
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

void rest_call__reply_empty(struct rest_call *c, int status)
{
    ATTR_UNINITIALIZED struct answer_headers h;
    no_headers(&h);
    if (rest_call__has_memory(c)) {
        answer(c, status, STR_EMPTY, STR_EMPTY, &h);
    }
}

void rest_call__relayed(struct rest_call *c, int status)
{
    c->relayed = true;
    count_end(c, status, took_ns(c));
    front_op_deinit(&c->op);
    buf_deinit(&c->answer);
}

static void rpc_ended(void *data, int status)
{
    struct rest_call *c = data;
    count_end(c, status, took_ns(c));
}

struct rpc_peer rest_call__peer(struct rest_call *c)
{
    return (struct rpc_peer){.ns = c->ns,
                             .scope = c->caller.scope,
                             .may_enqueue = c->may_enqueue,
                             .request_id = str_from(c->request_id, c->request_id_len),
                             .started = c->started,
                             .client = c->client,
                             .hub = c->rest->hubs[http_loop_index(c->req->loop)],
                             .ended = rpc_ended,
                             .elsewhere = c->rest->steps->from_rpc,
                             .data = c};
}

static void fail_rpc(struct rest_call *c, enum err_code code, struct str message, uint32_t retry_ms)
{
    struct err err;
    struct rpc_peer peer = rest_call__peer(c);
    (void)err_set(&err, code, STR_FMT, STR_ARG(message));
    rpc_refuse(c->rest->config.rpc, c->req, &peer, &err, retry_ms);
}

/* All errors end here. */
void rest_call__fail_with(struct rest_call *c, enum err_code code, struct str message,
                          uint32_t retry_ms, const char *allow)
{
    if (c->is_rpc) {
        fail_rpc(c, code, message, retry_ms);
        return;
    }
    /* Without memory the error found may be wrong, so report the lack of memory instead. */
    if (memory_error(c) != ERR_OK && !c->memory_told) {
        rest_call__fail_memory(c, memory_error(c));
        return;
    }
    struct buf json;
    ATTR_UNINITIALIZED struct answer_headers h;
    no_headers(&h);
    h.code = code;
    char retry[32];
    buf_init(&json, 4096);
    struct json_write w = json_write_to(&json);
    json_write_object(&w);
    json_write_key(&w, STR("error"));
    json_write_str(&w, message);
    json_write_key(&w, STR("code"));
    json_write_str(&w, str_from_z(err_wire(code)));
    if (code == ERR_OVERLOADED) {
        json_write_key(&w, STR("retry_after_ms"));
        json_write_i64(&w, retry_ms);
    }
    json_write_end(&w);
    json_write_finish(&w);
    buf_add_char(&json, '\n');
    if (code == ERR_OVERLOADED) {
        int n = snprintf(retry, sizeof retry, "%u.%03u", retry_ms / 1000, retry_ms % 1000);
        add_header(&h, STR("Retry-After"), str_from(retry, (size_t)n));
    } else if (code == ERR_RATE_LIMITED) {
        add_header(&h, STR("Retry-After"), STR("1"));
    }
    if (allow != NULL) {
        add_header(&h, STR("Allow"), str_from_z(allow));
    }
    answer(c, err_http_status(code), STR("application/json"), buf_str(&json), &h);
    buf_deinit(&json);
}

void rest_call__fail(struct rest_call *c, enum err_code code, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    CHECK(n >= 0);
    rest_call__fail_with(
        c, code, str_from(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1), 1, NULL);
}

/* Parse errors of any origin begin with the text that clients know. */
void rest_call__fail_err(struct rest_call *c, const struct err *err)
{
    const struct str known = str_from_z(err_text(ERR_PARSE));
    struct err told = *err;
    if (told.code == ERR_PARSE && !str_starts_with(str_from_z(told.msg), known)) {
        (void)err_wrap(&told, STR_FMT, STR_ARG(known));
    }
    rest_call__fail_with(c, told.code, str_from_z(told.msg), 1, NULL);
}

bool rest_call__refused(struct rest_call *c, const struct result *r)
{
    if (r->code == ERR_OK) {
        return false;
    }
    rest_call__fail_with(c, r->code, r->message, 1, NULL);
    return true;
}

/* Streamed responses */

void rest_call__stream_begin(struct rest_call *c, struct str type,
                             const struct http_header *headers, size_t count,
                             const struct http_handlers *handlers)
{
    ATTR_UNINITIALIZED struct answer_headers h;
    CHECK(!c->op.busy);
    CHECK(!c->look_busy);
    own_headers(&h, headers, count);
    common_headers(c, &h, took_ns(c));
    struct http_response response = {
        .status = 200, .content_type = type, .headers = h.rows, .header_count = h.count};
    c->req->on = handlers;
    http_request_begin(c->req, &response);
}

void rest_call__stream_events(struct rest_call *c, const struct http_handlers *handlers)
{
    const struct http_header headers[] = {
        {STR("Cache-Control"), STR("no-cache")},
        {STR("X-Accel-Buffering"), STR("no")}, /* proxies must not buffer */
    };
    rest_call__stream_begin(c, STR("text/event-stream"), headers, COUNT_OF(headers), handlers);
}

static void stream_over(struct rest_call *c)
{
    count_end(c, 200, took_ns(c));
    front_op_deinit(&c->op);
}

void rest_call__stream_end(struct rest_call *c)
{
    stream_over(c);
    http_request_end(c->req, NULL, 0);
}

void rest_call__stream_drop(struct rest_call *c)
{
    stream_over(c);
    http_request_drop(c->req);
}

size_t rest_call__body_max(const struct rest_call *c)
{
    return c->is_rpc ? rpc_body_bytes_max(c->rest->config.rpc, &c->rpc)
                     : c->rest->config.max_body_bytes;
}

bool rest_call__may_ignore(const struct rest_call *c, enum http_body_result result)
{
    return result == HTTP_BODY_TOO_LARGE && c->route != NULL &&
           (c->route->flags & ROUTE_ANY_BODY) != 0;
}

void rest_call__body_failed(struct rest_call *c, enum http_body_result result)
{
    if (result == HTTP_BODY_TOO_LARGE && c->is_rpc) {
        struct err err;
        (void)rpc_too_large(c->rest->config.rpc, &err);
        rest_call__fail_err(c, &err);
    } else if (result == HTTP_BODY_TOO_LARGE) {
        rest_call__fail(c, ERR_TOO_LARGE, "request body is larger than %zu bytes",
                        rest_call__body_max(c));
    } else {
        rest_call__fail_memory(c, ERR_OVERLOADED);
    }
}

void rest_call__reply_next(struct rest_call *c, const struct json_write *w, struct str next)
{
    ATTR_UNINITIALIZED struct answer_headers h;
    no_headers(&h);
    json_write_finish(w);
    if (next.len > 0) {
        add_header(&h, STR("X-Corvo-Next-Cursor"), next);
    }
    reply_json(c, 200, &h);
}

void rest_call__reply_asked(struct rest_call *c)
{
    char lag[24];
    ATTR_UNINITIALIZED struct answer_headers h;
    no_headers(&h);
    int n = snprintf(lag, sizeof lag, "%llu", (unsigned long long)c->ask.lag);
    add_header(&h, STR("X-Corvo-View-Lag"), str_from(lag, (size_t)n));
    reply_json(c, 200, &h);
}

void rest_call__dropped(struct rest_call *c)
{
    count_end(c, 499, took_ns(c));
}
