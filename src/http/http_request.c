#include "http/http_request.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/check.h"
#include "http/http_conn_int.h"
#include "http/http_exchange_int.h"
#include "http/http_loop_int.h"
#include "http/http_target.h"

enum { STREAM_LEAST_BYTES = 32 * 1024 };

/* The exchange of a request that the handler has not finished. */
static struct http_exchange *unfinished(struct http_request *req)
{
    struct http_exchange *x = http_exchange__of(req);
    DCHECK(http_loop__is_mine(x->loop));
    CHECK(!x->finished);
    return x;
}

bool http_request_has_ended(const struct http_request *req)
{
    const struct http_exchange *x = CONTAINER_OF(req, const struct http_exchange, req);
    uv_os_fd_t fd;
    char byte;
    if (x->conn == NULL || uv_fileno((const uv_handle_t *)&x->conn->tcp, &fd) != 0) {
        return true;
    }
    ssize_t n = recv(fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool http_request_header(const struct http_request *req, struct str name, struct str *out)
{
    for (size_t i = 0; i < req->header_count; i++) {
        if (str_eq_nocase(req->headers[i].name, name)) {
            *out = req->headers[i].value;
            return true;
        }
    }
    return false;
}

const struct http_param *http_request_params(struct http_request *req, size_t *out_count)
{
    struct http_exchange *x = http_exchange__of(req);
    if (!x->params_known) {
        x->params = http_target_params(req->arena, req->query, &x->param_count);
        x->params_known = true;
    }
    *out_count = x->param_count;
    return x->params;
}

bool http_request_param(struct http_request *req, struct str name, struct str *out)
{
    size_t count;
    const struct http_param *params = http_request_params(req, &count);
    for (size_t i = 0; i < count; i++) {
        if (str_eq(params[i].name, name)) {
            *out = params[i].value;
            return true;
        }
    }
    return false;
}

/* Reserve space for the whole body if its length is known and not large. */
static void reserve_body(struct http_exchange *x)
{
    enum { AT_ONCE_MAX = 64 * 1024 };
    int64_t length = x->req.content_length;
    if (length > 0 && length <= AT_ONCE_MAX && x->body.len == 0) {
        (void)!buf_reserve(&x->body, (size_t)length); /* a failure is recorded in the buffer */
    }
}

void http_request_collect(struct http_request *req, size_t limit_bytes, http_body_fn done)
{
    struct http_exchange *x = unfinished(req);
    CHECK(done != NULL);
    if (x->body_mode == HTTP_MODE_COLLECT && x->body_told) { /* already complete, or too large */
        x->body_done = done;
        x->body_told = false;
        if (x->body.len > limit_bytes) {
            x->body_result = HTTP_BODY_TOO_LARGE;
        }
        http_exchange__later(x);
        return;
    }
    CHECK(x->body_mode == HTTP_MODE_UNDECIDED);
    x->body_mode = HTTP_MODE_COLLECT;
    x->body_limit = limit_bytes;
    x->collect_ms = http_loop__now_ms(x->loop);
    x->body_done = done;
    bool too_large = req->content_length > 0 && (uint64_t)req->content_length > limit_bytes;
    if (too_large || x->body.len > limit_bytes) {
        x->body_result = HTTP_BODY_TOO_LARGE;
    } else if (http_exchange__is_attached(x)) {
        reserve_body(x);
        x->ops->want_body(x);
    }
    /* Otherwise the end of the body triggers the step. */
    if (x->body_complete || x->body_result != HTTP_BODY_COMPLETE) {
        http_exchange__later(x);
    }
}

void http_request_stream(struct http_request *req)
{
    struct http_exchange *x = unfinished(req);
    CHECK(x->body_mode == HTTP_MODE_UNDECIDED);
    CHECK(req->on != NULL);
    CHECK(req->on->body != NULL);
    CHECK(req->on->body_end != NULL);
    x->body_mode = HTTP_MODE_STREAM;
    if (http_exchange__is_attached(x)) {
        x->ops->want_body(x);
    }
    http_exchange__later(x);
}

void http_request_consume(struct http_request *req, size_t n)
{
    struct http_exchange *x = unfinished(req);
    CHECK(n <= x->unconsumed);
    x->unconsumed -= n;
    if (http_exchange__is_attached(x)) {
        x->ops->consumed(x, n);
    }
}

void http_request_answer(struct http_request *req, const struct http_response *response)
{
    struct http_exchange *x = unfinished(req);
    CHECK(x->answer == HTTP_ANSWER_NONE);
    CHECK(response->header_count <= HTTP_RESPONSE_HEADERS_MAX);
    CHECK(response->trailer_count == 0 || req->protocol == HTTP_2);
    x->answer = HTTP_ANSWER_DONE;
    if (http_exchange__is_attached(x)) {
        x->ops->answer(x, response);
    }
    http_exchange__finish(x);
}

void http_request_begin(struct http_request *req, const struct http_response *response)
{
    struct http_exchange *x = unfinished(req);
    CHECK(x->answer == HTTP_ANSWER_NONE);
    CHECK(response->header_count <= HTTP_RESPONSE_HEADERS_MAX);
    x->answer = HTTP_ANSWER_STREAMING;
    if (http_exchange__is_attached(x)) {
        x->ops->begin(x, response);
    }
}

/* While the budget is exhausted, a stream may queue only a little: enough that reading by the
 * client keeps it going. */
static bool is_full(const struct http_exchange *x)
{
    size_t queued = x->ops->queued(x);
    return queued >= x->loop->limits->stream_output_bytes ||
           (queued >= STREAM_LEAST_BYTES && budget_is_spent(x->loop->config->budget));
}

enum http_write http_request_write(struct http_request *req, struct str bytes)
{
    struct http_exchange *x = unfinished(req);
    CHECK(x->answer == HTTP_ANSWER_STREAMING);
    if (x->gone || !http_exchange__is_attached(x)) {
        return HTTP_WRITE_GONE;
    }
    if (is_full(x)) {
        x->full = true;
        return HTTP_WRITE_FULL;
    }
    if (bytes.len > 0 && !req->head) {
        x->ops->write(x, bytes);
    }
    return HTTP_WRITE_OK;
}

void http_request_end(struct http_request *req, const struct http_header *trailers,
                      size_t trailer_count)
{
    struct http_exchange *x = unfinished(req);
    CHECK(x->answer == HTTP_ANSWER_STREAMING);
    CHECK(trailer_count <= HTTP_RESPONSE_HEADERS_MAX);
    x->answer = HTTP_ANSWER_DONE;
    if (http_exchange__is_attached(x)) {
        x->ops->end(x, trailers, trailer_count);
    }
    http_exchange__finish(x);
}

void http_request_drop(struct http_request *req)
{
    struct http_exchange *x = unfinished(req);
    if (http_exchange__is_attached(x)) {
        x->ops->drop(x);
    }
    http_exchange__finish(x);
}
