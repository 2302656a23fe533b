/*
 * H2_client: the other end of an HTTP/2 connection, for tests: nghttp2 on a net_client.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <nghttp2/nghttp2.h>

#include "base/buf.h"
#include "lib/net_client.h"

enum { H2_STREAMS_MAX = 4096 };

struct h2_stream {
    int32_t id;
    int status;
    int interim;        /* a status before that */
    struct buf headers; /* "name: value\n" */
    struct buf trailers;
    struct buf body;
    size_t data_frames; /* not empty ones */
    bool reset;         /* by the server */
    bool closed;
    uint32_t error_code;

    struct str to_send; /* the request's body */
    bool open_ended;    /* more will be sent later */
    bool waiting;       /* nghttp2 was told to wait for it */
};

struct h2_client {
    struct net_client net;
    nghttp2_session *session;
    struct h2_stream *streams; /* in the order of requests */
    size_t count;
    size_t closed_count;
    unsigned goaways;
    uint32_t goaway_code;
    uint32_t settings[10]; /* the server's, by number */
};

/* Connect and begin with the preface. */
void h2_client_open(struct h2_client *c, uint16_t port);

/* Connect and ask for an upgrade with GET path; the answer is that of stream 0. */
void h2_client_open_upgrade(struct h2_client *c, uint16_t port, const char *path);

void h2_client_close(struct h2_client *c);

/* A request; returns its stream's place. open_ended: body is only the beginning. */
size_t h2_client_request(struct h2_client *c, const char *method, const char *path, struct str body,
                         bool open_ended);

/* The same with one header more. */
size_t h2_client_request_with(struct h2_client *c, const char *path, const char *name,
                              const char *value);

/* A POST that says "expect: " and has sent nothing of its body. */
size_t h2_client_request_expecting(struct h2_client *c, const char *path, const char *what);

/* More of an open-ended body; end is its end. The last piece must have been sent. */
void h2_client_more(struct h2_client *c, size_t stream, struct str body, bool end);

/* Send all that nghttp2 has to send. */
void h2_client_flush(struct h2_client *c);

/* Send and receive once. False when the connection is over. */
bool h2_client_step(struct h2_client *c);

/* Step until the stream is closed, or has that many bytes of body. */
void h2_client_finish(struct h2_client *c, size_t stream);
void h2_client_wait_body(struct h2_client *c, size_t stream, size_t bytes);

/* Step until the connection is over. */
void h2_client_read_all(struct h2_client *c);
