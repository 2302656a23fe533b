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
    struct http_exchange *streams;                      /* started, or with an incomplete head */
    struct http_exchange *waiting_first, *waiting_last; /* to be started, oldest first */
    size_t stream_count;                                /* in both lists */
    size_t queued_bytes;                                /* of answers, not framed yet */
    uint64_t progress_ms;  /* last time the client accepted a piece, or the queue was empty */
    uint64_t input_ms;     /* last input from the client */
    int32_t head_stream;   /* stream whose head or trailer is arriving; 0: none */
    uint64_t head_ms;      /* start of that head or trailer */
    uint64_t reset_tokens; /* streams that may still end early, as of reset_ms */
    uint64_t reset_ms;
    uint32_t head_count; /* number of answers, for http2_answer.c */
};

/* The headers of every answer in nghttp2's form: checked, with lower-case names, never copied. */
struct http2_common {
    nghttp2_nv row[HTTP_COMMON_HEADERS_MAX];
    size_t count;
    char *memory; /* memory that the rows point to */
};

/* State shared by the connections of a loop: nghttp2's callbacks and options, and header rows. One
 * per loop. */
struct http2_shared {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    struct http2_common common[HTTP_COMMON_SETS];
};
struct http2_shared *http2__shared_new(const struct http_server_config *config);
void http2__shared_free(struct http2_shared *shared);

/* Start HTTP/2 on the connection; the client's preface is the first input. */
void http2__open(struct http_conn *c);

/* The same after an upgrade: x, which has no body, becomes stream 1 and is started. settings is the
 * HTTP2-Settings header. False, with nothing changed, if the settings are invalid. */
bool http2__open_upgraded(struct http_conn *c, struct http_exchange *x, struct str settings);

/* The functions by which streams send their answers. */
extern const struct http_exchange_ops http2_answer__ops;

/* Convert headers to rows. They do not refer to headers; free them through their memory member. */
struct http2_common http2_common__make(const struct http_header *headers, size_t count);

/* Process one field of the head of x. */
void http2_head__field(struct http_exchange *x, struct str name, struct str value);

/* Finish the head of x; ended if no body follows. Returns the problem of the request; status 0:
 * none. */
struct http_problem http2_head__complete(struct http_exchange *x, bool ended);
