/*
 * The pipeline of an HTTP/1 connection, and its answers in order. See http1_int.h.
 */
#include "base/check.h"
#include "http/http1_encode.h"
#include "http/http1_int.h"
#include "http/http_conn_int.h"
#include "http/http_loop_int.h"

/* Bodies up to this size are copied behind their heads, even if their buf could be taken over. */
enum { BODY_APART_BYTES = 16 * 1024 };

/* Is x first in the pipeline, and does the connection still accept answers? */
static bool is_first(const struct http1 *h, const struct http_exchange *x)
{
    return x == h->first && h->conn->state == HTTP_CONN_OPEN;
}

/* The output of x: the connection if x is first, otherwise its own list. */
static struct http_out *sink(struct http1 *h, struct http_exchange *x)
{
    return is_first(h, x) ? &h->conn->out : &x->h1.held;
}

void http1_answer__add(struct http1 *h, struct http_exchange *x)
{
    http_out_init(&x->h1.held, &h->conn->loop->blocks);
    *h->last = x;
    h->last = &x->h1.next;
    h->count++;
}

void http1_answer__pop(struct http1 *h)
{
    struct http_exchange *x = h->first;
    h->first = x->h1.next;
    if (h->first == NULL) {
        h->last = &h->first;
    }
    h->count--;
    if (h->receiving == x) {
        h->receiving = NULL;
    }
    http_out_clear(&x->h1.held);
    http_exchange__detach(x);
}

/* The next part of a request may be parseable now. */
static void parse_on(struct http1 *h)
{
    if (!h->parsing) {
        http_conn__queue(h->conn);
    }
}

/* Send "100 Continue" if the handler wants the body and no earlier answer is pending. */
static void maybe_continue(struct http1 *h, struct http_exchange *x)
{
    if (x->h1.expect && is_first(h, x) && x->body_mode != HTTP_MODE_UNDECIDED &&
        x->body_result == HTTP_BODY_COMPLETE && x->answer == HTTP_ANSWER_NONE) {
        x->h1.expect = false;
        http_out_add(&h->conn->out, STR("HTTP/1.1 100 Continue\r\n\r\n"));
        http_conn__queue(h->conn);
    }
}

/* Remove complete answers from the pipeline, and write out the next one. */
static void advance(struct http1 *h)
{
    while (h->first != NULL && h->first->h1.complete) {
        bool close = h->first->h1.close;
        http1_answer__pop(h);
        if (close) {
            http_conn__finish(h->conn, true);
        }
        if (h->first != NULL && is_first(h, h->first)) {
            http_out_move(&h->conn->out, &h->first->h1.held);
            maybe_continue(h, h->first);
        }
    }
    if (h->first == NULL) {
        h->since_ms = http_loop__now_ms(h->conn->loop);
        if (h->no_more) {
            http_conn__finish(h->conn, true);
        }
    }
    http_conn__queue(h->conn); /* to write, and to continue parsing */
}

/* Must the connection be closed after x? Yes, if reading the rest of the body would cost too much,
 * or if it is unknown whether the client will send it. The length of a chunked body is known only
 * as it arrives. */
static bool leaves_body_unread(const struct http1 *h, const struct http_exchange *x)
{
    return h->receiving == x &&
           (x->h1.expect || http1_parser_left(&h->parser) > h->conn->loop->limits->drain_bytes);
}

/* Before the head of an answer is written: decide whether the connection stays open. */
static void decide_close(struct http1 *h, struct http_exchange *x, bool wanted)
{
    bool last = x->h1.next == NULL;
    x->h1.close |= wanted || !x->h1.keep_alive || (last && h->no_more);
    if (x->h1.close) {
        h->no_more = true;
    }
}

static struct str connection_value(const struct http_exchange *x, bool streamed)
{
    if (x->h1.close) {
        return STR("close");
    }
    return streamed || x->req.protocol == HTTP_1_0 ? STR("keep-alive") : STR_EMPTY;
}

static bool status_has_no_body(int status)
{
    return status == 204 || status == 304;
}

static void http1_answer(struct http_exchange *x, const struct http_response *r)
{
    struct http1 *h = x->conn->session;
    bool silent = status_has_no_body(r->status);
    bool has_body = !silent && !x->req.head;
    bool apart = r->body_static || (r->body_buf != NULL && r->body.len > BODY_APART_BYTES);
    decide_close(h, x, r->close || leaves_body_unread(h, x));
    struct http1_answer answer = {
        .response = r,
        .framing = silent ? HTTP1_NO_BODY : HTTP1_LENGTH,
        .length = r->body.len,
        .connection = connection_value(x, false),
        .common = h->conn->loop->common[x->req.common],
        .date = http_loop__date(h->conn->loop),
        .body = has_body && !apart ? r->body : STR_EMPTY,
    };
    struct http_out *out = sink(h, x);
    http1_encode_head(out, &answer);
    if (has_body && r->body_static) {
        http_out_add_static(out, r->body);
    } else if (has_body && apart) {
        http_out_add_buf(out, r->body_buf);
    }
    x->h1.complete = true;
    advance(h);
}

static void http1_begin(struct http_exchange *x, const struct http_response *r)
{
    struct http1 *h = x->conn->session;
    bool silent = status_has_no_body(r->status);
    x->h1.chunked = x->req.protocol == HTTP_1_1;
    x->h1.bodyless = silent || x->req.head;
    decide_close(h, x, r->close || (!x->h1.chunked && !x->h1.bodyless));
    struct http1_answer answer = {
        .response = r,
        .framing = silent          ? HTTP1_NO_BODY
                   : x->h1.chunked ? HTTP1_CHUNKED
                                   : HTTP1_CLOSE,
        .connection = connection_value(x, true),
        .common = h->conn->loop->common[x->req.common],
        .date = http_loop__date(h->conn->loop),
    };
    http1_encode_head(sink(h, x), &answer);
    http_conn__queue(h->conn);
}

static void http1_write(struct http_exchange *x, struct str bytes)
{
    struct http1 *h = x->conn->session;
    if (x->h1.bodyless) {
        return;
    }
    if (x->h1.chunked) {
        http1_encode_chunk(sink(h, x), bytes);
    } else {
        http_out_add(sink(h, x), bytes);
    }
    http_conn__queue(h->conn);
}

static size_t http1_queued(const struct http_exchange *x)
{
    const struct http1 *h = x->conn->session;
    return x == h->first ? http_conn__unwritten(h->conn) : x->h1.held.bytes;
}

static void http1_end(struct http_exchange *x, const struct http_header *trailers, size_t count)
{
    struct http1 *h = x->conn->session;
    if (x->h1.chunked && !x->h1.bodyless) {
        http1_encode_last(sink(h, x), trailers, count);
    }
    decide_close(h, x, leaves_body_unread(h, x));
    x->h1.complete = true;
    advance(h);
}

/* Close the connection in place of the answer of x; if the answer has begun, close at once. */
static void http1_drop(struct http_exchange *x)
{
    struct http1 *h = x->conn->session;
    if (x->answer != HTTP_ANSWER_NONE) {
        http_conn__doom(h->conn);
        return;
    }
    h->no_more = true;
    x->h1.close = true;
    x->h1.complete = true;
    advance(h);
}

static void http1_want_body(struct http_exchange *x)
{
    struct http1 *h = x->conn->session;
    maybe_continue(h, x);
    parse_on(h);
}

static void http1_consumed(struct http_exchange *x, size_t n)
{
    (void)n;
    parse_on(x->conn->session);
}

static void http1_refuse(struct http_exchange *x, struct http_problem problem)
{
    struct http1 *h = x->conn->session;
    HTTP_LOOP_COUNT(h->conn->loop, protocol_errors, 1);
    if (x->answer != HTTP_ANSWER_NONE) {
        /* Part of the answer is written: close without marking it as complete. */
        http_conn__doom(h->conn);
        return;
    }
    x->h1.expect = false;
    http_exchange__take_over(x);
    if (x->conn == NULL || h->conn->doomed) {
        return;
    }
    char room[HTTP_STATUS_BODY_MAX];
    struct http_response r = http_status_refusal(problem, room);
    r.close = true;
    http1_answer(x, &r);
}

const struct http_exchange_ops http1_answer__ops = {
    .answer = http1_answer,
    .begin = http1_begin,
    .write = http1_write,
    .queued = http1_queued,
    .end = http1_end,
    .drop = http1_drop,
    .want_body = http1_want_body,
    .consumed = http1_consumed,
    .refuse = http1_refuse,
};
