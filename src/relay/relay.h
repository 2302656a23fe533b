/*
 * Relay: requests to other nodes over persistent HTTP/2 connections of one network thread.
 *
 * One connection to a node carries many requests; a second one is opened only when the first has
 * enough. The relay does not interpret requests: a stream is the request and the part of the
 * response that has arrived. Bodies are transferred in pieces in both directions, with
 * back-pressure.
 *
 *   relay_send --> head, body --> [moved: status and headers] --> [moved: body …] --> ended
 *                                        any time before the end: failed
 *
 * After ended or failed, the relay no longer uses the stream.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "http/http_request.h"

struct relay;
struct relay_link;

enum {
    RELAY_HEADERS_MAX = HTTP_RESPONSE_HEADERS_MAX,
    RELAY_TRAILERS_MAX = 8,
    RELAY_WINDOW_BYTES = 256 << 10, /* flow-control window of a response */
};

struct relay_request {
    struct str url; /* "http://host:port", or https */
    struct str method, target;
    const struct http_header *headers; /* lower-case names */
    size_t header_count;
    struct str body; /* must live as long as the stream */
    bool body_open;  /* more follows by relay_write */
};

struct relay_stream {
    /* set by the caller */
    void (*moved)(struct relay_stream *s); /* from the loop, never inside a call to the relay */
    void (*taken)(struct relay_stream *s, size_t n); /* n bytes of relay_write are sent; or NULL */
    void *data;
    struct arena *arena; /* for the head of the response; must live as long as the stream */

    /* the response so far */
    int status; /* 0: no head yet */
    struct http_header headers[RELAY_HEADERS_MAX];
    size_t header_count;
    struct http_header trailers[RELAY_TRAILERS_MAX];
    size_t trailer_count;
    struct buf in;  /* body bytes that relay_take has not taken */
    bool ended;     /* the response is complete, including `in` */
    bool failed;    /* no more will arrive */
    bool untouched; /* with failed: the other node certainly did not process the request */

    /* internal */
    struct relay *relay;     /* NULL: not sent */
    struct relay_link *link; /* NULL: finished */
    struct relay_stream *next, **prev;
    struct relay_stream *stirred_next;
    bool stirred, head_done, closed;
    bool head_sent; /* the request was sent, at least in part */
    int32_t id;
    struct str body;
    size_t body_sent;
    bool body_open, body_waits;
    struct buf out; /* bytes from relay_write */
    size_t out_sent;
};

/* On the loop's thread, which owns the relay. Nodes reached by TLS must present a certificate
 * that this machine trusts, or one signed by the CA in ca_file, which may be NULL. */
struct relay *relay_open(uv_loop_t *loop, const char *ca_file);
/* Call when no stream is in progress. The handles are closing when this returns; the memory is
 * freed with the last of them. */
void relay_close(struct relay *r);

/* Send a request. The stream must be zero except for the members set by the caller. */
void relay_send(struct relay *r, struct relay_stream *s, const struct relay_request *request);

/* Send more of the body; end the body. Does nothing for a stream that has finished. */
void relay_write(struct relay_stream *s, struct str bytes);
void relay_write_end(struct relay_stream *s);

/* Release the first n bytes of `in`. */
void relay_take(struct relay_stream *s, size_t n);

/* Cancel a stream whose response is no longer wanted. Does nothing if it has finished. */
void relay_cancel(struct relay_stream *s);

/* Free the rest of the response. */
void relay_stream_deinit(struct relay_stream *s);

/* At the end of each turn of the loop: write the collected output. */
void relay_flush(struct relay *r);
