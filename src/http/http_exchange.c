#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "http/http_conn_int.h"
#include "http/http_exchange_int.h"
#include "http/http_loop_int.h"
#include "http/http_target.h"

/* AddressSanitizer should see every exchange being freed. */
#if defined(__SANITIZE_ADDRESS__)
enum { SPARE_MAX = 0 };
#else
enum { SPARE_MAX = 512 };
#endif

/* clang-format off */
static const struct method_row {
    struct str name;
    enum http_method method;
    bool head;
} method_rows[] = {
    {{"POST", 4},    HTTP_POST,    false},
    {{"GET", 3},     HTTP_GET,     false},
    {{"PUT", 3},     HTTP_PUT,     false},
    {{"DELETE", 6},  HTTP_DELETE,  false},
    {{"HEAD", 4},    HTTP_GET,     true},
    {{"OPTIONS", 7}, HTTP_OPTIONS, false},
    {{"PATCH", 5},   HTTP_PATCH,   false},
};
/* clang-format on */

static void list_add(struct http_loop *loop, struct http_exchange *x)
{
    x->prev = NULL;
    x->next = loop->exchanges;
    if (x->next != NULL) {
        x->next->prev = x;
    }
    loop->exchanges = x;
    loop->exchange_count++;
}

static void list_remove(struct http_loop *loop, struct http_exchange *x)
{
    if (x->prev != NULL) {
        x->prev->next = x->next;
    } else {
        loop->exchanges = x->next;
    }
    if (x->next != NULL) {
        x->next->prev = x->prev;
    }
    loop->exchange_count--;
}

/* Return a cleared exchange with an empty arena. */
static struct http_exchange *take_spare(struct http_loop *loop)
{
    struct http_exchange *x = loop->spare;
    if (x != NULL) {
        loop->spare = x->next;
        loop->spare_count--;
        return x;
    }
    x = calloc(1, sizeof *x);
    CHECK(x != NULL);
    x->req.arena = arena_new_budget(loop->limits->arena_bytes, loop->config->budget);
    return x;
}

struct http_exchange *http_exchange__new(struct http_conn *conn,
                                         const struct http_exchange_ops *ops)
{
    struct http_loop *loop = conn->loop;
    struct http_exchange *x = take_spare(loop);
    x->loop = loop;
    x->conn = conn;
    x->ops = ops;
    x->finished = true; /* until a handler gets it */
    buf_init_room(&x->body, SIZE_MAX, x->body_room, sizeof x->body_room);
    buf_set_budget(&x->body, loop->config->budget);
    x->req.loop = loop;
    memcpy(x->peer_room, conn->peer_text, sizeof x->peer_room);
    x->req.peer = str_from(x->peer_room, conn->peer.len);
    x->req.tls = conn->tls.ssl != NULL;
    list_add(loop, x);
    HTTP_LOOP_COUNT(loop, requests, 1);
    return x;
}

static void set_method(struct http_request *req, struct str name)
{
    req->method_name = name;
    req->method = HTTP_METHOD_OTHER;
    req->head = false;
    for (size_t i = 0; i < COUNT_OF(method_rows); i++) {
        if (str_eq(name, method_rows[i].name)) {
            req->method = method_rows[i].method;
            req->head = method_rows[i].head;
            return;
        }
    }
}

bool http_exchange__set_target(struct http_exchange *x, struct str method_name, struct str target,
                               struct http_problem *problem)
{
    struct http_request *req = &x->req;
    set_method(req, method_name);
    req->target = target;
    struct http_target parts;
    if (!http_target_split(target, &parts)) {
        *problem = (struct http_problem){400, "the request target is not well-formed"};
        return false;
    }
    req->path_raw = parts.path_raw;
    req->query = parts.query;
    req->path_bad = !http_target_decode(req->arena, req->path_raw, &req->path);
    if (arena_error(req->arena) != ERR_OK) {
        *problem = http_exchange__no_memory(x);
        return false;
    }
    if (req->path_bad) {
        req->path = req->path_raw;
    }
    return true;
}

struct http_problem http_exchange__no_memory(const struct http_exchange *x)
{
    return arena_error(x->req.arena) == ERR_OVERLOADED
               ? (struct http_problem){503, "the server has reached its memory limit for requests; "
                                            "retry later"}
               : (struct http_problem){431, "the request head is too long"};
}

void http_exchange__start(struct http_exchange *x)
{
    struct http_loop *loop = x->loop;
    if (loop->exchange_count > loop->limits->loop_requests) {
        x->ops->refuse(x, (struct http_problem){503, "too many requests in progress"});
        return;
    }
    CHECK(!x->started);
    x->started = true;
    x->finished = false;
    HTTP_LOOP_COUNT(loop, requests_in_flight, 1);
    loop->config->on_request(loop->config->data, &x->req);
    if (!x->finished) {
        CHECK(x->req.on != NULL);
        CHECK(x->req.on->gone != NULL);
        if (loop->stopping) {
            http_exchange__later(x);
        }
    }
}

/* Move the exchange to the list for recycling if the handler and the transport have released it. */
static void release_if_free(struct http_exchange *x)
{
    if (!x->finished || x->conn != NULL) {
        return;
    }
    list_remove(x->loop, x);
    x->next = x->loop->ended_exchanges;
    x->loop->ended_exchanges = x;
}

void http_exchange__detach(struct http_exchange *x)
{
    CHECK(x->conn != NULL);
    x->conn = NULL;
    release_if_free(x);
}

void http_exchange__finish(struct http_exchange *x)
{
    CHECK(!x->finished);
    x->finished = true;
    HTTP_LOOP_COUNT(x->loop, requests_in_flight, -1);
    release_if_free(x);
}

static void body_clear(struct http_exchange *x)
{
    x->loop->body_bytes -= x->body.len;
    buf_deinit(&x->body);
}

void http_exchange__recycle(struct http_exchange *x)
{
    struct http_loop *loop = x->loop;
    body_clear(x);
    if (loop->spare_count + 1 > SPARE_MAX) {
        http_exchange__free(x);
        return;
    }
    struct arena *arena = x->req.arena;
    arena_reset(arena);
    memset(x, 0, offsetof(struct http_exchange, peer_room));
    x->req.arena = arena;
    x->next = loop->spare;
    loop->spare = x;
    loop->spare_count++;
}

void http_exchange__free(struct http_exchange *x)
{
    arena_free(x->req.arena);
    free(x);
}

void http_exchange__gone(struct http_exchange *x)
{
    if (!x->finished && !x->gone) {
        HTTP_LOOP_COUNT(x->loop, requests_gone, 1);
        x->gone = true;
        http_exchange__step(x);
    }
}

void http_exchange__shut(struct http_exchange *x)
{
    if (x->finished) {
        return;
    }
    if (x->req.on->shut == NULL) {
        http_exchange__gone(x);
    } else {
        x->shut = true;
        http_exchange__step(x);
    }
}

void http_exchange__take_over(struct http_exchange *x)
{
    x->refused = true;
    http_exchange__gone(x);
}

/* ---- the body ---- */

/* Keep a copy of the bytes, if this thread and the budget have room for them. */
static bool body_keep(struct http_exchange *x, struct str bytes)
{
    struct http_loop *loop = x->loop;
    if (bytes.len > loop->limits->loop_body_bytes - loop->body_bytes) {
        return false;
    }
    buf_add_str(&x->body, bytes);
    if (x->body.overflow) {
        return false;
    }
    loop->body_bytes += bytes.len;
    return true;
}

static void body_collect(struct http_exchange *x, struct str bytes)
{
    if (x->body_result != HTTP_BODY_COMPLETE) {
        return; /* failed; the rest is discarded */
    }
    if (bytes.len > x->body_limit - x->body.len) {
        x->body_result = HTTP_BODY_TOO_LARGE;
    } else if (!body_keep(x, bytes)) {
        x->body_result = HTTP_BODY_NO_ROOM;
    }
    if (x->body_result != HTTP_BODY_COMPLETE) {
        http_exchange__step(x);
    }
}

/* Pass on the bytes that arrived before the handler chose to stream. */
static void body_hand_over(struct http_exchange *x)
{
    if (x->body.len > 0) {
        x->unconsumed += x->body.len;
        x->req.on->body(&x->req, buf_str(&x->body));
        body_clear(x);
    }
}

void http_exchange__body(struct http_exchange *x, struct str bytes)
{
    x->received += bytes.len;
    switch (x->body_mode) {
    case HTTP_MODE_UNDECIDED:
        if (!body_keep(x, bytes)) {
            x->ops->refuse(x, (struct http_problem){503, "too many request bodies in memory"});
        }
        return;
    case HTTP_MODE_COLLECT:
        body_collect(x, bytes);
        if (http_exchange__is_attached(x)) {
            x->ops->consumed(x, bytes.len);
        }
        return;
    case HTTP_MODE_STREAM:
        body_hand_over(x);
        if (!x->finished) {
            x->unconsumed += bytes.len;
            x->req.on->body(&x->req, bytes);
        }
        return;
    default:
        UNREACHABLE("a body has a mode");
    }
}

void http_exchange__body_end(struct http_exchange *x)
{
    x->body_complete = true;
    if (x->started) {
        http_exchange__step(x);
    }
}

/* ---- calling the handler ---- */

static void step_collect(struct http_exchange *x)
{
    bool over = x->body_complete || x->body_result != HTTP_BODY_COMPLETE;
    if (over && !x->body_told) {
        x->body_told = true;
        if (x->body_result != HTTP_BODY_COMPLETE) {
            body_clear(x);
        }
        x->req.body = buf_str(&x->body);
        x->body_done(&x->req, x->body_result);
    }
}

static void step_stream(struct http_exchange *x)
{
    body_hand_over(x);
    if (!x->finished && x->body_complete && !x->body_told) {
        x->body_told = true;
        x->req.on->body_end(&x->req);
    }
}

static void step_stopping(struct http_exchange *x)
{
    x->stopping_told = true;
    if (x->req.on->stopping != NULL) {
        x->req.on->stopping(&x->req);
    }
}

void http_exchange__step(struct http_exchange *x)
{
    if (x->finished) {
        return;
    }
    if (x->gone) {
        if (!x->gone_told) {
            x->gone_told = true;
            x->req.on->gone(&x->req);
        }
        return;
    }
    if (x->too_slow && !x->body_told && http_exchange__is_attached(x)) {
        x->ops->refuse(x, (struct http_problem){408, "the request body arrived too slowly"});
        return;
    }
    if (x->body_mode == HTTP_MODE_COLLECT) {
        step_collect(x);
    } else if (x->body_mode == HTTP_MODE_STREAM) {
        step_stream(x);
    }
    if (!x->finished && x->writable_due) {
        x->writable_due = false;
        if (x->req.on->writable != NULL) {
            x->req.on->writable(&x->req);
        }
    }
    if (!x->finished && x->shut && !x->shut_told) {
        x->shut_told = true;
        x->req.on->shut(&x->req);
    }
    if (!x->finished && x->loop->stopping && !x->stopping_told) {
        step_stopping(x);
    }
}

void http_exchange__later(struct http_exchange *x)
{
    struct http_loop *loop = x->loop;
    if (!x->later) {
        x->later = true;
        x->later_next = NULL;
        *loop->later_last = x;
        loop->later_last = &x->later_next;
    }
}

void http_exchange__expire(struct http_exchange *x, uint64_t now_ms)
{
    if (x->finished || x->body_mode != HTTP_MODE_COLLECT || x->body_told ||
        !http_exchange__is_attached(x)) {
        return;
    }
    const struct http_limits *limits = x->loop->limits;
    uint64_t earned_ms = x->received * 1000 / limits->body_rate_min;
    if (now_ms - x->collect_ms > limits->body_timeout_ms + earned_ms) {
        x->too_slow = true;
        http_exchange__later(x);
    }
}
