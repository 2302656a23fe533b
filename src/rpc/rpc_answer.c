/*
 * Responses in each of the protocols (rpc.md 3 to 6).
 *
 *   Connect, bare       the message, or an error as JSON with an HTTP status
 *   Connect, enveloped  messages in envelopes, then one with the end of the stream as JSON
 *   gRPC                messages in envelopes, then HTTP trailers
 *   gRPC-Web            messages in envelopes, then one with the trailers
 */
#include <stdio.h>

#include "base/check.h"
#include "base/digits.h"
#include "json/json_write.h"
#include "os/os_clock.h"
#include "proto/proto_encode.h"
#include "proto/proto_json_encode.h"
#include "rpc/rpc_envelope.h"
#include "rpc/rpc_gzip.h"
#include "rpc/rpc_int.h"

enum {
    PIECE_BYTES = 256 * 1024,   /* passed to the connection at once */
    WORDS_BYTES = 1024,         /* text of an error */
    ERROR_BYTES = 16384,        /* encoded error: up to nine bytes for one of the text */
    ANSWER_BYTES_MAX = 1 << 30, /* larger than any client accepts */
    ROOM_BYTES = 4096,          /* responses up to this size need no allocation */
    HEADERS_MAX = 8 + FRONT_CLIENT_HEADERS,
};

/* Headers */

struct headers {
    struct http_header rows[HEADERS_MAX];
    size_t count;
    char timing[FRONT_TIMING_ROOM], retry[32], number[DIGITS_MAX], index[FRONT_CLIENT_ROOM];
};

static void add(struct headers *h, struct str name, struct str value)
{
    CHECK(h->count < HEADERS_MAX);
    h->rows[h->count++] = (struct http_header){.name = name, .value = value};
}

static void common_headers(const struct rpc_call *c, struct headers *h, uint32_t retry_ms)
{
    struct http_header timing = front_timing(os_clock_mono().ns - c->peer.started.ns, h->timing);
    h->count = 0;
    add(h, timing.name, timing.value);
    add(h, STR("X-Request-Id"), c->peer.request_id);
    h->count += front_client_headers(&c->client, c->why, h->rows + h->count, h->index);
    if (retry_ms > 0) {
        int n = c->why == ERR_RATE_LIMITED ? snprintf(h->retry, sizeof h->retry, "1")
                                           : snprintf(h->retry, sizeof h->retry, "%u.%03u",
                                                      retry_ms / 1000, retry_ms % 1000);
        add(h, STR("Retry-After"), str_from(h->retry, (size_t)n));
    }
}

static void protocol_headers(const struct rpc_call *c, struct headers *h)
{
    bool grpc = c->format->protocol != RPC_CONNECT;
    bool bare = c->format->bare;
    add(h,
        grpc   ? STR("grpc-accept-encoding")
        : bare ? STR("Accept-Encoding")
               : STR("Connect-Accept-Encoding"),
        c->rpc->config.compression ? STR("gzip,identity") : STR("identity"));
    if (c->gzip_out && !bare) { /* a bare response sets Content-Encoding when it is compressed */
        add(h, grpc ? STR("grpc-encoding") : STR("Connect-Content-Encoding"), STR("gzip"));
    }
}

/* grpc-status, and grpc-message with the encoded words, which must outlive the headers. */
static void status_headers(struct headers *h, enum rpc_status status, struct str words)
{
    char *end = digits_put(h->number, status);
    add(h, STR("grpc-status"), str_from(h->number, (size_t)(end - h->number)));
    if (words.len > 0) {
        add(h, STR("grpc-message"), words);
    }
}

/* Words and errors */

void rpc_answer__words(const struct err *err, uint32_t hint_ms, struct buf *out)
{
    if (err->code == ERR_OVERLOADED) {
        buf_printf(out, "overloaded: %s (retry_after_ms=%u)", err->msg,
                   rpc_status_retry_ms(err->code, hint_ms));
    } else {
        buf_add_str(out, str_from_z(err->msg));
    }
}

static void write_error(struct json_write *w, enum rpc_status status, struct str message)
{
    json_write_object(w);
    json_write_key(w, STR("code"));
    json_write_str(w, str_from_z(rpc_status_word(status)));
    if (message.len > 0) {
        json_write_key(w, STR("message"));
        json_write_str(w, message);
    }
    json_write_end(w);
}

/* The last envelope of a Connect stream. */
static void put_end_of_stream(struct buf *out, enum rpc_status status, struct str message)
{
    size_t begin = rpc_envelope_begin(out, RPC_ENVELOPE_END);
    struct json_write w = json_write_to(out);
    json_write_object(&w);
    if (status != RPC_OK) {
        json_write_key(&w, STR("error"));
        write_error(&w, status, message);
    }
    json_write_end(&w);
    json_write_finish(&w);
    rpc_envelope_finish(out, begin);
}

/* The last envelope of a gRPC-Web response: the trailers, one per line. */
static void put_trailers(struct buf *out, enum rpc_status status, struct str message)
{
    size_t begin = rpc_envelope_begin(out, RPC_ENVELOPE_TRAILER);
    buf_printf(out, "grpc-status: %d\r\n", (int)status);
    if (message.len > 0) {
        buf_add_str(out, STR("grpc-message: "));
        rpc_protocol_grpc_message(message, out);
        buf_add_str(out, STR("\r\n"));
    }
    rpc_envelope_finish(out, begin);
}

static void put_message(const struct rpc_call *c, const void *message, struct buf *out)
{
    if (c->format->codec == RPC_PROTO) {
        proto_encode(c->method->response, message, out);
    } else {
        struct json_write w = json_write_to(out);
        proto_json_encode(c->method->response, message, &w);
        json_write_finish(&w);
    }
}

/* False if the message is empty: it is not compressed. */
static bool put_compressed(const struct rpc_call *c, const void *message, struct buf *out)
{
    struct buf plain;
    buf_init(&plain, ANSWER_BYTES_MAX);
    put_message(c, message, &plain);
    if (plain.len > 0) {
        rpc_gzip_deflate(rpc_call__gzip(c), buf_str(&plain), out);
    }
    bool any = plain.len > 0;
    out->overflow = out->overflow || plain.overflow;
    buf_deinit(&plain);
    return any;
}

static void put_envelope(const struct rpc_call *c, const void *message, struct buf *out)
{
    size_t begin = rpc_envelope_begin(out, 0);
    if (!c->gzip_out) {
        put_message(c, message, out);
    } else if (put_compressed(c, message, out) && !out->overflow) {
        out->ptr[begin] = RPC_ENVELOPE_COMPRESSED;
    }
    rpc_envelope_finish(out, begin);
}

/* The work is done, so the budget must not refuse the response. Most fit into room. */
static void init_out(struct rpc_call *c, char room[ROOM_BYTES])
{
    buf_init_room(&c->out, ANSWER_BYTES_MAX, room, ROOM_BYTES);
    buf_set_budget(&c->out, c->rpc->config.budget);
    c->out.owed = true;
}

/* Complete responses */

static void close_call(struct rpc_call *c, int status)
{
    rpc_deadline__forget(c);
    if (c->peer.ended != NULL) {
        c->peer.ended(c->peer.data, status);
    }
    buf_deinit(&c->inflated);
    front_op_deinit(&c->op);
}

/* The trailers of a successful call. */
static const struct http_header done_trailers[] = {{{"grpc-status", 11}, {"0", 1}}};

/* The call must not be used after this. */
static void answer_with(struct rpc_call *c, int status, struct str type, struct str body,
                        const struct headers *h, bool trailers)
{
    struct http_response response = {.status = status,
                                     .content_type = type,
                                     .body = body,
                                     .headers = h->rows,
                                     .header_count = h->count,
                                     .close = c->closes,
                                     .trailers = done_trailers,
                                     .trailer_count = trailers ? COUNT_OF(done_trailers) : 0};
    struct buf out = c->out; /* the body may be in it */
    close_call(c, status);
    http_request_answer(c->req, &response);
    buf_deinit(&out);
}

static void answer(struct rpc_call *c, int status, struct str type, struct str body,
                   const struct headers *h)
{
    answer_with(c, status, type, body, h, false);
}

void rpc_answer__plain(struct rpc_call *c, int status, struct str name, struct str value,
                       struct str body)
{
    struct headers h;
    common_headers(c, &h, 0);
    if (name.len > 0) {
        add(&h, name, value);
    }
    answer(c, status, body.len > 0 ? STR("text/plain; charset=utf-8") : STR_EMPTY, body, &h);
}

static void fail_bare(struct rpc_call *c, enum rpc_status status, struct str message,
                      struct headers *h)
{
    struct json_write w = json_write_to(&c->out);
    write_error(&w, status, message);
    json_write_finish(&w);
    answer(c, rpc_status_http(status), STR("application/json"), buf_str(&c->out), h);
}

/* If the Content-Type names no protocol, errors look like those of the HTTP API (8.6). */
static void fail_without_protocol(struct rpc_call *c, enum err_code code, struct str message,
                                  struct headers *h)
{
    struct json_write w = json_write_to(&c->out);
    json_write_object(&w);
    json_write_key(&w, STR("error"));
    json_write_str(&w, message);
    json_write_key(&w, STR("code"));
    json_write_str(&w, str_from_z(err_wire(code)));
    json_write_end(&w);
    json_write_finish(&w);
    buf_add_char(&c->out, '\n');
    answer(c, err_http_status(code), STR("application/json"), buf_str(&c->out), h);
}

void rpc_answer__fail(struct rpc_call *c, enum rpc_status status, struct str message,
                      uint32_t retry_ms)
{
    struct headers h;
    struct buf words;
    CHECK(!c->begun);
    common_headers(c, &h, retry_ms);
    buf_deinit(&c->out);
    buf_init(&c->out, ERROR_BYTES);
    buf_init(&words, ERROR_BYTES);
    message = str_at_most(message, WORDS_BYTES);
    if (c->format == NULL) {
        fail_without_protocol(c, c->why != ERR_OK ? c->why : ERR_INTERNAL, message, &h);
    } else if (c->format->protocol == RPC_GRPC) {
        rpc_protocol_grpc_message(message, &words);
        protocol_headers(c, &h);
        status_headers(&h, status, buf_str(&words));
        answer(c, 200, c->format->type, STR_EMPTY, &h);
    } else if (c->format->protocol == RPC_GRPC_WEB) {
        protocol_headers(c, &h);
        put_trailers(&c->out, status, message);
        answer(c, 200, c->format->type, buf_str(&c->out), &h);
    } else if (c->format->bare) {
        fail_bare(c, status, message, &h);
    } else {
        protocol_headers(c, &h);
        put_end_of_stream(&c->out, status, message);
        answer(c, 200, c->format->type, buf_str(&c->out), &h);
    }
    buf_deinit(&words);
}

void rpc_answer__fail_err(struct rpc_call *c, const struct err *err, uint32_t hint_ms)
{
    enum { ID_MAX = 128 }; /* bytes of a job id that are quoted */
    struct buf words;
    buf_init(&words, WORDS_BYTES);
    c->why = err->code;
    if (err->code == ERR_NOT_FOUND && c->job_id.len > 0) {
        buf_printf(&words, "job " STR_FMT " not found", STR_ARG(str_at_most(c->job_id, ID_MAX)));
    } else {
        rpc_answer__words(err, hint_ms, &words);
    }
    rpc_answer__fail(c, rpc_status_of(err->code), buf_str(&words),
                     rpc_status_retry_ms(err->code, hint_ms));
    buf_deinit(&words);
}

static void end_ok(struct rpc_call *c)
{
    rpc_answer__end(c, RPC_OK, STR_EMPTY);
}

void rpc_answer__reply(struct rpc_call *c, const void *message)
{
    ATTR_UNINITIALIZED struct headers h;
    ATTR_UNINITIALIZED char room[ROOM_BYTES];
    bool grpc = c->format->protocol == RPC_GRPC;
    if (grpc && c->req->protocol != HTTP_2) { /* HTTP/1.1 sends trailers only after chunks */
        rpc_answer__begin(c);
        rpc_answer__send(c, message, end_ok);
        return;
    }
    common_headers(c, &h, 0);
    protocol_headers(c, &h);
    init_out(c, room);
    if (c->format->bare && c->gzip_out) {
        if (put_compressed(c, message, &c->out)) {
            add(&h, STR("Content-Encoding"), STR("gzip"));
        }
    } else if (c->format->bare) {
        put_message(c, message, &c->out);
    } else {
        put_envelope(c, message, &c->out);
    }
    if (c->format->protocol == RPC_GRPC_WEB) {
        put_trailers(&c->out, RPC_OK, STR_EMPTY);
    }
    if (c->out.overflow) {
        rpc_answer__fail(c, RPC_RESOURCE_EXHAUSTED, STR("the answer is too large"), 0);
        return;
    }
    answer_with(c, 200, c->format->type, buf_str(&c->out), &h, grpc);
}

/* Streamed responses */

void rpc_answer__begin(struct rpc_call *c)
{
    struct headers h;
    common_headers(c, &h, 0);
    protocol_headers(c, &h);
    struct http_response response = {
        .status = 200, .content_type = c->format->type, .headers = h.rows, .header_count = h.count};
    c->begun = true;
    http_request_begin(c->req, &response);
}

/* Move the unsent bytes out of the caller's stack. */
static void keep_rest(struct rpc_call *c)
{
    struct buf kept;
    buf_init(&kept, ANSWER_BYTES_MAX);
    buf_set_budget(&kept, c->rpc->config.budget);
    kept.owed = true;
    buf_add(&kept, c->out.ptr + c->sent, c->out.len - c->sent);
    kept.overflow = c->out.overflow;
    buf_deinit(&c->out);
    c->out = kept;
    c->sent = 0;
}

/* Pass bytes to the connection until it is full. Calls on_sent after the last one. */
static void pump(struct rpc_call *c)
{
    while (c->sent < c->out.len) {
        size_t left = c->out.len - c->sent;
        size_t n = left < PIECE_BYTES ? left : PIECE_BYTES;
        enum http_write result = http_request_write(c->req, str_from(c->out.ptr + c->sent, n));
        if (result == HTTP_WRITE_FULL) {
            if (c->out.borrowed) {
                keep_rest(c);
            }
            return; /* rpc_answer__writable continues */
        }
        c->sent += n; /* discarded if the client has disconnected */
    }
    void (*sent)(struct rpc_call * c) = c->on_sent;
    buf_deinit(&c->out); /* an idle stream holds no memory */
    c->sent = 0;
    c->on_sent = NULL;
    if (sent != NULL) {
        sent(c);
    }
}

void rpc_answer__send(struct rpc_call *c, const void *message, void (*sent)(struct rpc_call *c))
{
    ATTR_UNINITIALIZED char room[ROOM_BYTES];
    CHECK(c->begun);
    CHECK(c->on_sent == NULL);
    init_out(c, room);
    put_envelope(c, message, &c->out);
    c->on_sent = sent;
    pump(c);
}

void rpc_answer__writable(struct http_request *req)
{
    struct rpc_call *c = req->data;
    if (c->on_sent != NULL) {
        pump(c);
    }
}

/* The connection has accepted the body. Send the trailers, if the protocol has any outside it. */
static void finish(struct rpc_call *c)
{
    struct headers h = {.count = 0};
    struct buf words;
    buf_init(&words, ERROR_BYTES);
    if (c->format->protocol == RPC_GRPC) {
        rpc_protocol_grpc_message(c->end_message, &words);
        status_headers(&h, c->end_status, buf_str(&words));
    }
    close_call(c, 200);
    http_request_end(c->req, h.rows, h.count);
    buf_deinit(&words);
}

void rpc_answer__end(struct rpc_call *c, enum rpc_status status, struct str message)
{
    ATTR_UNINITIALIZED char room[ROOM_BYTES];
    CHECK(c->begun);
    CHECK(c->on_sent == NULL);
    arena_owe(c->req->arena);
    c->end_status = status;
    c->end_message = arena_str(c->req->arena, str_at_most(message, WORDS_BYTES));
    init_out(c, room);
    if (c->format->protocol == RPC_CONNECT) {
        put_end_of_stream(&c->out, status, c->end_message);
    } else if (c->format->protocol == RPC_GRPC_WEB) {
        put_trailers(&c->out, status, c->end_message);
    }
    c->on_sent = finish;
    pump(c);
}

void rpc_answer__drop(struct rpc_call *c)
{
    buf_deinit(&c->out);
    close_call(c, 499);
    http_request_drop(c->req);
}

static void ending_gone(struct http_request *req)
{
    rpc_answer__drop(req->data);
}

static void ending_body(struct http_request *req, struct str bytes)
{
    (void)req, (void)bytes;
}

static void ending_body_end(struct http_request *req)
{
    (void)req;
}

const struct http_handlers rpc_answer__ending = {.gone = ending_gone,
                                                 .body = ending_body,
                                                 .body_end = ending_body_end,
                                                 .writable = rpc_answer__writable};
