/*
 * Answers on HTTP/2 streams: headers, pieces as DATA frames, trailers, resets. See http2_int.h.
 */
#include <string.h>

#include <nghttp2/nghttp2.h>

#include "base/check.h"
#include "base/digits.h"
#include "http/http2_int.h"
#include "http/http_conn_int.h"
#include "http/http_exchange_int.h"
#include "http/http_field.h"
#include "http/http_loop_int.h"

/* These nghttp2 calls fail only if memory runs out or arguments are invalid. */
static void must(int rc)
{
    CHECK(rc == 0);
}

enum { NV_MAX = HTTP_RESPONSE_HEADERS_MAX + HTTP_COMMON_HEADERS_MAX + 4 };

/* One answer in this many adds the headers with changing values to the compression table, so that
 * the others can refer to their names. */
enum { NAMES_EVERY = 256 };

struct nv_list {
    nghttp2_nv row[NV_MAX];
    size_t count;
    struct arena *arena;   /* for modified values */
    bool indexes_changing; /* see NAMES_EVERY */
};

static void nv_begin(struct nv_list *list, struct arena *arena)
{
    list->count = 0;
    list->arena = arena;
    list->indexes_changing = false;
}

/* Does the value differ in every answer? In the compression table it would be useless and would
 * evict constant values. */
static bool is_never_the_same(struct str name)
{
    return str_eq(name, STR("X-Request-Id")) || str_eq(name, STR("Server-Timing"));
}

/* nghttp2 only reads these bytes, but its type has no const. */
static uint8_t *bytes_of(struct str s)
{
    static const char nothing[1] = "";
    return (uint8_t *)(uintptr_t)(s.len == 0 ? nothing : s.ptr);
}

static void nv_put_row(struct nv_list *list, struct str name, struct str value, uint8_t flags)
{
    CHECK(list->count < NV_MAX);
    list->row[list->count++] = (nghttp2_nv){.name = bytes_of(name),
                                            .namelen = name.len,
                                            .value = bytes_of(value),
                                            .valuelen = value.len,
                                            .flags = flags};
}

/* Add a header whose name is a lower-case constant, and whose value is valid. */
static void nv_put(struct nv_list *list, struct str name, struct str value)
{
    nv_put_row(list, name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME);
}

static void nv_add(struct nv_list *list, struct str name, struct str value)
{
    if (http_field_value_len(value) != value.len) {
        char *clean = arena_alloc(list->arena, value.len, 1);
        if (clean == NULL) {
            return; /* omit a header that would break the framing */
        }
        http_field_copy_value(clean, value);
        value.ptr = clean;
    }
    bool apart = !list->indexes_changing && is_never_the_same(name);
    /* nghttp2 copies both and writes names in lower case. */
    nv_put_row(list, name, value, apart ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE);
}

static void nv_add_all(struct nv_list *list, const struct http_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(headers[i].name.len > 0);
        CHECK(http_field_token_len(headers[i].name) == headers[i].name.len);
        if (!http_field_is_connections(headers[i].name)) {
            nv_add(list, headers[i].name, headers[i].value);
        }
    }
}

/* Add constant headers with lower-case names. */
static void nv_put_constants(struct nv_list *list, const struct http_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        nv_put_row(list, headers[i].name, headers[i].value,
                   NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
    }
}

static void nv_add_common(struct nv_list *list, const struct http2_common *c)
{
    CHECK(list->count + c->count <= NV_MAX);
    memcpy(list->row + list->count, c->row, c->count * sizeof c->row[0]);
    list->count += c->count;
}

static struct str number_text(uint64_t n, char room[DIGITS_MAX])
{
    return str_from(room, (size_t)(digits_put(room, n) - room));
}

/* All pieces of the answer are sent: end the stream, or send the trailers. */
static void end_of_pieces(nghttp2_session *session, struct http_exchange *x, uint32_t *flags)
{
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (x->h2.trailer_count > 0) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        ATTR_UNINITIALIZED struct nv_list list;
        nv_begin(&list, x->req.arena);
        if (x->h2.trailers_constant) {
            nv_put_constants(&list, x->h2.trailers, x->h2.trailer_count);
        } else {
            nv_add_all(&list, x->h2.trailers, x->h2.trailer_count);
        }
        must(nghttp2_submit_trailer(session, x->h2.stream_id, list.row, list.count));
    }
}

/* nghttp2 can send a DATA frame of x, which gets at most one piece. */
/* NOLINTNEXTLINE(readability-function-size): the parameters are nghttp2's */
static ssize_t read_piece_cb(nghttp2_session *session, int32_t stream_id, uint8_t *buf,
                             size_t length, uint32_t *flags, nghttp2_data_source *source,
                             void *data)
{
    struct http2 *h = data;
    struct http_exchange *x = source->ptr;
    struct http_out *pieces = &x->h2.pieces;
    struct str piece = http_out_first(pieces);
    (void)stream_id;
    if (piece.len == 0 && !x->h2.ended) {
        x->h2.idle = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    size_t n = piece.len < length ? piece.len : length;
    if (n > 0) {
        memcpy(buf, piece.ptr, n);
        http_out_sent(pieces, n);
        h->queued_bytes -= n;
        h->progress_ms = http_loop__now_ms(h->conn->loop);
    }
    if (pieces->bytes == 0 && x->h2.ended) {
        end_of_pieces(session, x, flags);
    }
    if (x->full && pieces->bytes < x->loop->limits->stream_output_bytes / 2) {
        x->full = false;
        x->writable_due = true;
        http_exchange__later(x);
    }
    return (ssize_t)n;
}

enum answer_shape { ANSWER_BARE, ANSWER_WHOLE, ANSWER_STREAMED };

/* Send the headers; DATA frames follow unless the answer is bare. */
static void submit_head(struct http_exchange *x, const struct http_response *r,
                        enum answer_shape shape)
{
    struct http2 *h = x->conn->session;
    char status[DIGITS_MAX];
    char length[DIGITS_MAX];
    ATTR_UNINITIALIZED struct nv_list list;
    nv_begin(&list, x->req.arena);
    list.indexes_changing = h->head_count++ % NAMES_EVERY == 0;
    CHECK(r->status >= 200);
    CHECK(r->status <= 599);
    nv_put(&list, STR(":status"), number_text((uint64_t)r->status, status));
    if (r->content_type.len > 0) {
        nv_add(&list, STR("content-type"), r->content_type);
    }
    if (shape != ANSWER_STREAMED && r->status != 204 && r->status != 304) {
        nv_put(&list, STR("content-length"), number_text(r->body.len, length));
    }
    nv_put(&list, STR("date"), http_loop__date(x->loop));
    nv_add_all(&list, r->headers, r->header_count);
    nv_add_common(&list, &x->loop->h2->common[x->req.common]);
    nghttp2_data_provider provider = {.source = {.ptr = x}, .read_callback = read_piece_cb};
    must(nghttp2_submit_response(h->session, x->h2.stream_id, list.row, list.count,
                                 shape == ANSWER_BARE ? NULL : &provider));
    http_conn__queue(h->conn);
}

/* Count len bytes that are about to be added to the pieces of x. */
static void count_piece(struct http_exchange *x, size_t len)
{
    struct http2 *h = x->conn->session;
    if (h->queued_bytes == 0) {
        h->progress_ms = http_loop__now_ms(h->conn->loop);
    }
    h->queued_bytes += len;
}

/* Add the whole body. */
static void add_body(struct http_exchange *x, const struct http_response *r)
{
    count_piece(x, r->body.len);
    if (r->body_static) {
        http_out_add_static(&x->h2.pieces, r->body);
    } else if (r->body_buf != NULL) {
        http_out_add_buf(&x->h2.pieces, r->body_buf);
    } else {
        http_out_add_piece(&x->h2.pieces, r->body);
    }
}

/* There is new data, or the end, to send. */
static void wake(struct http_exchange *x)
{
    struct http2 *h = x->conn->session;
    if (x->h2.idle) {
        x->h2.idle = false;
        must(nghttp2_session_resume_data(h->session, x->h2.stream_id));
    }
    http_conn__queue(h->conn);
}

static void http2_answer(struct http_exchange *x, const struct http_response *r)
{
    bool bare = r->body.len == 0 || x->req.head || r->status == 204 || r->status == 304;
    x->h2.ended = true;
    if (!bare) {
        add_body(x, r);
    }
    x->h2.trailers = r->trailers;
    x->h2.trailers_constant = true;
    x->h2.trailer_count = r->trailer_count;
    submit_head(x, r, r->trailer_count > 0 ? ANSWER_STREAMED : bare ? ANSWER_BARE : ANSWER_WHOLE);
}

static void http2_begin(struct http_exchange *x, const struct http_response *r)
{
    submit_head(x, r, ANSWER_STREAMED);
}

static void http2_write(struct http_exchange *x, struct str bytes)
{
    count_piece(x, bytes.len);
    http_out_add_piece(&x->h2.pieces, bytes);
    wake(x);
}

static size_t http2_queued(const struct http_exchange *x)
{
    return x->h2.pieces.bytes;
}

/* Copy trailers, which are sent after the pieces. NULL if the arena is full. */
static struct http_header *copy_headers(struct arena *arena, const struct http_header *headers,
                                        size_t count)
{
    struct http_header *copy = ARENA_ARRAY(arena, struct http_header, count + 1);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i].name = arena_str(arena, headers[i].name);
        copy[i].value = arena_str(arena, headers[i].value);
        if (copy[i].name.len != headers[i].name.len || copy[i].value.len != headers[i].value.len) {
            return NULL;
        }
    }
    return copy;
}

static void reset(struct http_exchange *x, uint32_t code)
{
    struct http2 *h = x->conn->session;
    must(nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, x->h2.stream_id, code));
    http_conn__queue(h->conn);
}

static void http2_end(struct http_exchange *x, const struct http_header *trailers, size_t count)
{
    if (count > 0) {
        x->h2.trailers = copy_headers(x->req.arena, trailers, count);
        if (x->h2.trailers == NULL) {
            reset(x, NGHTTP2_INTERNAL_ERROR);
            return;
        }
        x->h2.trailer_count = count;
    }
    x->h2.ended = true;
    wake(x);
}

static void http2_drop(struct http_exchange *x)
{
    reset(x, x->answer == HTTP_ANSWER_NONE ? NGHTTP2_CANCEL : NGHTTP2_INTERNAL_ERROR);
}

/* Send "100 Continue" to a client that waits for it before it sends the body. */
static void invite(struct http_exchange *x)
{
    struct http2 *h = x->conn->session;
    ATTR_UNINITIALIZED struct nv_list list;
    nv_begin(&list, x->req.arena);
    nv_put(&list, STR(":status"), STR("100"));
    x->h2.expect = false;
    int rc = nghttp2_submit_headers(h->session, NGHTTP2_FLAG_NONE, x->h2.stream_id, NULL, list.row,
                                    list.count, NULL);
    must(rc);
    http_conn__queue(h->conn);
}

static void http2_want_body(struct http_exchange *x)
{
    if (x->h2.expect && !x->body_complete && x->received == 0) {
        invite(x);
    }
    if (x->body_mode == HTTP_MODE_COLLECT && x->body.len > 0) {
        x->ops->consumed(x, x->body.len); /* arrived before the handler decided */
    }
}

static void http2_consumed(struct http_exchange *x, size_t n)
{
    struct http2 *h = x->conn->session;
    if (n > 0 && !x->body_complete) {
        must(nghttp2_session_consume_stream(h->session, x->h2.stream_id, n));
        http_conn__queue(h->conn);
    }
}

static void http2_refuse(struct http_exchange *x, struct http_problem problem)
{
    HTTP_LOOP_COUNT(x->loop, protocol_errors, 1);
    if (x->answer != HTTP_ANSWER_NONE) {
        reset(x, NGHTTP2_INTERNAL_ERROR);
        http_exchange__take_over(x);
        return;
    }
    char room[HTTP_STATUS_BODY_MAX];
    struct http_response r = http_status_refusal(problem, room);
    http2_answer(x, &r);
    http_exchange__take_over(x);
}

const struct http_exchange_ops http2_answer__ops = {
    .answer = http2_answer,
    .begin = http2_begin,
    .write = http2_write,
    .queued = http2_queued,
    .end = http2_end,
    .drop = http2_drop,
    .want_body = http2_want_body,
    .consumed = http2_consumed,
    .refuse = http2_refuse,
};
