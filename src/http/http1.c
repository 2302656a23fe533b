#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "http/http1_head.h"
#include "http/http1_int.h"
#include "http/http1_parser.h"
#include "http/http2_int.h"
#include "http/http_conn_int.h"
#include "http/http_exchange_int.h"
#include "http/http_loop_int.h"

/* ---- requests ---- */

/* The connection can no longer be parsed: answer the pending requests in order, then close. */
static void fail(struct http1 *h, struct http_problem problem)
{
    struct http_exchange *x = h->receiving;
    h->no_more = h->broken = true;
    if (h->in_body && (x == NULL || x->h1.complete)) {
        /* The answer was given before the body failed, and a request has only one answer. */
        if (h->first == NULL) {
            http_conn__finish(h->conn, true);
        }
        return;
    }
    if (x == NULL) {
        x = http_exchange__new(h->conn, &http1_answer__ops);
        x->req.protocol = HTTP_1_1;
        http1_answer__add(h, x);
    }
    x->ops->refuse(x, problem);
}

/* Copy the head into the arena of x and parse it there. */
static bool parse_head(struct http1 *h, struct http_exchange *x, struct http1_head *head,
                       struct http_problem *problem)
{
    struct http_request *req = &x->req;
    struct str text = arena_str(req->arena, h->parser.span);
    struct http_header *headers =
        ARENA_ARRAY(req->arena, struct http_header, h->parser.header_count + 1);
    if (text.len == 0 || headers == NULL) {
        *problem = http_exchange__no_memory(x);
        return false;
    }
    if (!http1_head_parse(text, headers, h->parser.header_count, &req->known, head, problem)) {
        return false;
    }
    req->protocol = head->protocol;
    req->headers = head->headers;
    req->header_count = head->header_count;
    req->content_length = head->content_length;
    x->h1.keep_alive = head->keep_alive;
    x->h1.expect = head->expect_continue;
    return http_exchange__set_target(x, head->method_name, head->target, problem);
}

/* The server may ignore an upgrade, and does unless it is simple: the only request on the
 * connection, without a body, in clear text. */
static bool may_upgrade(const struct http1 *h, const struct http1_head *head)
{
    return head->upgrade_h2c && head->content_length == 0 && h->count == 1 &&
           h->conn->tls.ssl == NULL && !h->conn->loop->stopping;
}

/* Is x a GET behind an unanswered write? The client may expect to read what it has written. */
static bool overtakes(const struct http1 *h, const struct http_exchange *x)
{
    if (x->req.method != HTTP_GET) {
        return false;
    }
    for (const struct http_exchange *e = h->first; e != x; e = e->h1.next) {
        bool write = e->req.method != HTTP_GET && e->req.method != HTTP_OPTIONS;
        if (write && !e->h1.complete) {
            return true;
        }
    }
    return false;
}

static void on_head(struct http1 *h)
{
    struct http_exchange *x = http_exchange__new(h->conn, &http1_answer__ops);
    ATTR_UNINITIALIZED struct http1_head head;
    struct http_problem problem;
    h->used = true;
    http1_answer__add(h, x);
    if (!parse_head(h, x, &head, &problem)) {
        x->req.protocol = HTTP_1_1;
        h->no_more = h->broken = true;
        x->ops->refuse(x, problem);
        return;
    }
    h->receiving = x;
    h->in_body = true;
    h->drained = 0;
    x->body_complete = head.content_length == 0;
    http1_parser_body(&h->parser, head.content_length);
    if (may_upgrade(h, &head)) {
        h->upgrading = x;
        h->upgrade_settings = head.h2_settings;
        return;
    }
    if (!head.keep_alive) {
        h->no_more = true;
    }
    if (overtakes(h, x)) {
        h->waiting = x; /* continues in http1_turn */
        return;
    }
    http_exchange__start(x);
}

static void on_body(struct http1 *h)
{
    struct http_exchange *x = h->receiving;
    if (x != NULL && !x->finished) {
        x->h1.expect = false; /* the client did not wait */
        http_exchange__body(x, h->parser.span);
        return;
    }
    h->drained += h->parser.span.len;
    if (h->drained > h->conn->loop->limits->drain_bytes) {
        /* The length of a chunked body is not known in advance. The answer has been sent, so nobody
         * sees this error. */
        fail(h, (struct http_problem){413, "the rest of the body is too long"});
    }
}

static void on_end(struct http1 *h)
{
    struct http_exchange *x = h->receiving;
    h->receiving = NULL;
    h->in_body = false;
    h->since_ms = http_loop__now_ms(h->conn->loop);
    if (x != NULL) {
        http_exchange__body_end(x);
    }
}

/* Bytes of answers that are not written yet; later requests wait for them. */
static size_t unwritten(const struct http1 *h)
{
    size_t bytes = http_conn__unwritten(h->conn);
    for (const struct http_exchange *x = h->first; x != NULL; x = x->h1.next) {
        bytes += x->h1.held.bytes;
    }
    return bytes;
}

/* May the next part of a request be parsed now? */
static bool can_parse(const struct http1 *h)
{
    const struct http_limits *limits = h->conn->loop->limits;
    if (h->conn->state != HTTP_CONN_OPEN || h->conn->doomed || h->broken || h->upgrading != NULL ||
        h->waiting != NULL) {
        return false;
    }
    if (http1_parser_at_head(&h->parser)) {
        return !h->no_more && h->count < limits->pipeline && unwritten(h) < limits->output_bytes;
    }
    const struct http_exchange *x = h->receiving;
    if (x == NULL || x->finished) {
        return true;
    }
    return x->body_complete ||
           (x->body_mode != HTTP_MODE_UNDECIDED && x->unconsumed < limits->body_window_bytes);
}

/* Is all further input discarded? */
static bool is_over(const struct http1 *h)
{
    return h->broken || (h->no_more && http1_parser_at_head(&h->parser));
}

/* Parse as much as possible of in; returns the number of bytes consumed. */
static size_t parse(struct http1 *h, struct str in)
{
    size_t done = 0;
    h->partial = false;
    /* At the start of a request, empty input yields no event. */
    while ((done < in.len || !http1_parser_at_head(&h->parser)) && can_parse(h)) {
        size_t used;
        enum http1_event event = http1_parser_next(&h->parser, str_from_offset(in, done), &used);
        done += used;
        switch (event) {
        case HTTP1_MORE:
            h->partial = http1_parser_at_head(&h->parser) && done < in.len;
            return done;
        case HTTP1_HEAD:
            on_head(h);
            break;
        case HTTP1_BODY:
            on_body(h);
            break;
        case HTTP1_END:
            on_end(h);
            break;
        case HTTP1_ERROR:
            fail(h, h->parser.problem);
            break;
        default:
            UNREACHABLE("a parser has five events");
        }
    }
    return is_over(h) ? in.len : done;
}

/* ---- the protocol ---- */

static void session_free(struct http1 *h)
{
    buf_deinit(&h->in);
    free(h);
}

/* Switch to HTTP/2. False if the settings are invalid: then the request continues as HTTP/1. */
static bool upgrade(struct http1 *h)
{
    struct http_exchange *x = TAKE(h->upgrading);
    if (http2__open_upgraded(h->conn, x, h->upgrade_settings)) {
        return true;
    }
    http_exchange__start(x);
    return false;
}

static struct str pending(const struct http1 *h)
{
    return str_from_offset(buf_str(&h->in), h->in_start);
}

/* Keep the unparsed bytes: what is left of h->in, or of new bytes. */
static void keep(struct http1 *h, struct str left)
{
    if (left.len == 0) {
        buf_deinit(&h->in); /* an idle connection holds no memory for input */
        h->in_start = 0;
    } else if (h->in.len == 0) {
        buf_add_str(&h->in, left);
    } else {
        h->in_start = h->in.len - left.len;
    }
}

/* Append new bytes to the pending ones, which move to the front first. */
static void add_pending(struct http1 *h, struct str bytes)
{
    if (h->in_start > 0) {
        h->in.len -= h->in_start;
        memmove(h->in.ptr, h->in.ptr + h->in_start, h->in.len);
        h->in_start = 0;
    }
    buf_add_str(&h->in, bytes);
}

static void http1_input(struct http_conn *c, struct str bytes)
{
    struct http1 *h = c->session;
    bool was_partial = h->partial;
    if (h->in.len > 0) {
        add_pending(h, bytes);
        bytes = pending(h);
    }
    for (;;) {
        h->parsing = true;
        bytes = str_from_offset(bytes, parse(h, bytes));
        h->parsing = false;
        if (h->upgrading == NULL) {
            break;
        }
        if (upgrade(h)) {
            c->proto->input(c, bytes);
            session_free(h);
            return;
        }
    }
    keep(h, bytes);
    if (h->partial && !was_partial) {
        h->since_ms = http_loop__now_ms(c->loop);
    }
}

static void http1_eof(struct http_conn *c);

static bool http1_turn(struct http_conn *c)
{
    struct http1 *h = c->session;
    if (h->waiting != NULL && !overtakes(h, h->waiting)) {
        http_exchange__start(TAKE(h->waiting));
    }
    /* The end of a body needs no further byte. */
    if ((h->in.len > 0 || h->in_body) && can_parse(h)) {
        http1_input(c, STR_EMPTY);
        if (c->session != h) {
            return false; /* upgraded; the new protocol continues in its own turn */
        }
    }
    if (h->eof_due) {
        http1_eof(c);
    }
    return h->in.len > 0 && http_conn__unwritten(c) >= c->loop->limits->output_bytes;
}

static void http1_eof(struct http_conn *c)
{
    struct http1 *h = c->session;
    h->eof_due = h->waiting != NULL; /* further requests may be behind it */
    bool torn = !h->eof_due && h->receiving != NULL && !h->receiving->body_complete;
    h->no_more = h->no_more || !h->eof_due;
    struct http_exchange *next = NULL;
    for (struct http_exchange *x = h->first; x != NULL; x = next) {
        next = x->h1.next;
        http_exchange__shut(x);
    }
    /* The client may have shut down only its own side: answers are still sent. */
    if (torn) {
        http_conn__doom(c);
    } else if (h->first == NULL) {
        http_conn__finish(c, false);
    }
}

static void http1_drained(struct http_conn *c)
{
    struct http1 *h = c->session;
    struct http_exchange *x = h->first;
    if (x != NULL && x->full) {
        x->full = false;
        x->writable_due = true;
        http_exchange__later(x);
    }
}

static bool http1_wants_input(const struct http_conn *c)
{
    const struct http1 *h = c->session;
    return is_over(h) || h->partial || h->in.len - h->in_start < c->loop->limits->input_bytes;
}

static void http1_stop(struct http_conn *c)
{
    struct http1 *h = c->session;
    h->no_more = true;
    if (h->first == NULL) {
        http_conn__finish(c, false);
    }
}

static void http1_expire(struct http_conn *c, uint64_t now_ms)
{
    struct http1 *h = c->session;
    const struct http_limits *limits = c->loop->limits;
    uint64_t waited_ms = now_ms - h->since_ms;
    if (h->partial) {
        if (waited_ms > limits->header_timeout_ms) {
            h->partial = false;
            fail(h, (struct http_problem){408, "the request head arrived too slowly"});
        }
    } else if (h->first == NULL) {
        /* Idle between requests. Otherwise the client still has to send its first request, or
         * the rest of a body that no handler wants. */
        bool idle = h->used && !h->in_body;
        if (waited_ms > (idle ? limits->idle_timeout_ms : limits->header_timeout_ms)) {
            http_conn__finish(c, false);
        }
    }
}

static void http1_lost(struct http_conn *c)
{
    struct http1 *h = c->session;
    while (h->first != NULL) {
        struct http_exchange *x = h->first;
        http1_answer__pop(h);
        http_exchange__gone(x);
    }
    session_free(h);
}

static const struct http_proto http1_proto = {
    .input = http1_input,
    .eof = http1_eof,
    .turn = http1_turn,
    .drained = http1_drained,
    .wants_input = http1_wants_input,
    .stop = http1_stop,
    .expire = http1_expire,
    .lost = http1_lost,
};

void http1__open(struct http_conn *c)
{
    struct http1 *h = calloc(1, sizeof *h);
    CHECK(h != NULL);
    h->conn = c;
    h->last = &h->first;
    h->since_ms = http_loop__now_ms(c->loop);
    buf_init(&h->in, SIZE_MAX);
    http1_parser_init(&h->parser, c->loop->limits);
    c->proto = &http1_proto;
    c->session = h;
}
