/*
 * Http2: the HTTP/2 protocol on a connection, with nghttp2.
 *
 * nghttp2 implements framing, header compression, flow control and the rules of the protocol. This
 * module turns its streams into exchanges. Bytes are returned to the window of the connection when
 * they arrive, and to the window of a stream when the handler has consumed them: a slow handler
 * stops only its own stream. Output is requested only while the connection has room for it, which
 * keeps nghttp2's queues small. While the client has much unread output, no further requests are
 * started.
 *
 * http2.c implements the session, http2_head.c receives the head of a request, http2_answer.c sends
 * responses, http2_common.c prepares the headers that all responses have.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nghttp2/nghttp2.h>

#include "base/str.h"
#include "http/http_exchange_int.h"
#include "http/http_server.h"

struct http_conn;

struct http2 {
    struct http_conn *conn;
    nghttp2_session *session;
    struct http_exchange *streams;                      /* started, or with half a head */
    struct http_exchange *waiting_first, *waiting_last; /* to be started; the oldest first */
    size_t stream_count;                                /* in both lists */
    size_t queued_bytes;                                /* of answers, not framed yet */
    uint64_t progress_ms;  /* when the client last took a piece of an answer, or none was queued */
    uint64_t input_ms;     /* when it last sent anything */
    int32_t head_stream;   /* whose head or trailer is coming; 0: none is */
    uint64_t head_ms;      /* when that began */
    uint64_t reset_tokens; /* how many more streams may end early, as of reset_ms */
    uint64_t reset_ms;
    uint32_t head_count; /* of answers, for http2_answer.c */
};

/* The headers that every answer has, as nghttp2 takes them: checked, with names in small letters,
 * and never copied. */
struct http2_common {
    nghttp2_nv row[HTTP_COMMON_HEADERS_MAX];
    size_t count;
    char *memory; /* what the rows point to */
};

/* What the connections of a loop share: nghttp2's tables of functions and options, and rows of
 * headers. Made once per loop. */
struct http2_shared {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    struct http2_common common[HTTP_COMMON_SETS];
};
struct http2_shared *http2__shared_new(const struct http_server_config *config);
void http2__shared_free(struct http2_shared *shared);

/* Let the connection speak HTTP/2; the client's preface is the first input. */
void http2__open(struct http_conn *c);

/* The same after an upgrade: x, which has no body, becomes stream 1 and is started. settings is the
 * HTTP2-Settings header. False when it makes no sense; then nothing has changed. */
bool http2__open_upgraded(struct http_conn *c, struct http_exchange *x, struct str settings);

/* How streams answer. */
extern const struct http_exchange_ops http2_answer__ops;

/* The rows of these headers, which live as long. Freed with their memory. */
struct http2_common http2_common__make(const struct http_header *headers, size_t count);

/* One field of the head of x. */
void http2_head__field(struct http_exchange *x, struct str name, struct str value);

/* The head is whole; ended when no body follows. Says what is wrong with it, status 0 if nothing.
 */
struct http_problem http2_head__complete(struct http_exchange *x, bool ended);
