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
    RELAY_WINDOW_BYTES = 256 << 10, /* of an answer that nobody has taken */
};

struct relay_request {
    struct str url; /* "http://host:port", or https */
    struct str method, target;
    const struct http_header *headers; /* lower-case names */
    size_t header_count;
    struct str body; /* lives as long as the stream */
    bool body_open;  /* more of it comes by relay_write */
};

struct relay_stream {
    /* set by the caller */
    void (*moved)(struct relay_stream *s); /* from the loop, never inside a call of the caller's */
    void (*taken)(struct relay_stream *s, size_t n); /* of what relay_write was given; may be NULL
                                                      */
    void *data;
    struct arena *arena; /* for the head of the answer; lives as long as the stream */

    /* the answer so far */
    int status; /* 0: no head yet */
    struct http_header headers[RELAY_HEADERS_MAX];
    size_t header_count;
    struct http_header trailers[RELAY_TRAILERS_MAX];
    size_t trailer_count;
    struct buf in;  /* of the body, what relay_take has not taken */
    bool ended;     /* the answer is whole, but for what is in `in` */
    bool failed;    /* there will be no more of it */
    bool untouched; /* with failed: the other node certainly did nothing */

    /* private */
    struct relay *relay;     /* NULL: never sent */
    struct relay_link *link; /* NULL: over */
    struct relay_stream *next, **prev;
    struct relay_stream *stirred_next;
    bool stirred, head_done, closed;
    bool head_sent; /* the request has left us, or a part of it */
    int32_t id;
    struct str body;
    size_t body_sent;
    bool body_open, body_waits;
    struct buf out; /* of relay_write */
    size_t out_sent;
};

/* On the loop's thread, which owns it. Who is reached by TLS must show a certificate that this
 * machine trusts, or that the authority in ca_file has signed, which may be NULL. */
struct relay *relay_open(uv_loop_t *loop, const char *ca_file);
/* No stream is under way. Its handles are closing when it returns; its memory goes with the last of
 * them. */
void relay_close(struct relay *r);

/* Send a request. The stream is zero but for what its caller sets. */
void relay_send(struct relay *r, struct relay_stream *s, const struct relay_request *request);

/* More of the body, and its end. Fine on a stream that is over. */
void relay_write(struct relay_stream *s, struct str bytes);
void relay_write_end(struct relay_stream *s);

/* The first n bytes of `in` are done with. */
void relay_take(struct relay_stream *s, size_t n);

/* Nobody wants the answer any more: the relay forgets the stream. Fine on one that is over. */
void relay_cancel(struct relay_stream *s);

/* Release what is left of the answer. */
void relay_stream_deinit(struct relay_stream *s);

/* At the end of each turn of the loop: write what was collected. */
void relay_flush(struct relay *r);
