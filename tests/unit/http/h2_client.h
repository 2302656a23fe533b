/*
 * H2_client: an HTTP/2 client for tests: nghttp2 on a net_client.
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
    int interim;        /* status of an interim answer */
    struct buf headers; /* "name: value\n" */
    struct buf trailers;
    struct buf body;
    size_t data_frames; /* without empty ones */
    bool reset;         /* by the server */
    bool closed;
    uint32_t error_code;

    struct str to_send; /* the request's body */
    bool open_ended;    /* more will be sent later */
    bool waiting;       /* nghttp2 waits for more */
};

struct h2_client {
    struct net_client net;
    nghttp2_session *session;
    struct h2_stream *streams; /* in the order of requests */
    size_t count;
    size_t closed_count;
    unsigned goaways;
    uint32_t goaway_code;
    uint32_t settings[10]; /* of the server, by identifier */
};

/* Connect. The first flush sends the preface and empty SETTINGS. */
void h2_client_open(struct h2_client *c, uint16_t port);

/* Connect and request an upgrade with GET path. The answer arrives in streams[0]. */
void h2_client_open_upgrade(struct h2_client *c, uint16_t port, const char *path);

void h2_client_close(struct h2_client *c);

/* Send a request. Returns the index of its stream. open_ended: body is only the beginning. */
size_t h2_client_request(struct h2_client *c, const char *method, const char *path, struct str body,
                         bool open_ended);

/* Send a GET with two cookies and one more header. */
size_t h2_client_request_with(struct h2_client *c, const char *path, const char *name,
                              const char *value);

/* Send a POST with an expect header, and nothing of its body yet. */
size_t h2_client_request_expecting(struct h2_client *c, const char *path, const char *what);

/* Wait until the last piece of an open-ended body is sent, then send the next one. end: it ends the
 * body. */
void h2_client_more(struct h2_client *c, size_t stream, struct str body, bool end);

/* Send all that nghttp2 has to send. */
void h2_client_flush(struct h2_client *c);

/* Send and receive once. False if the connection is closed. */
bool h2_client_step(struct h2_client *c);

/* Step until the stream is closed, or has received this many bytes of body. */
void h2_client_finish(struct h2_client *c, size_t stream);
void h2_client_wait_body(struct h2_client *c, size_t stream, size_t bytes);

/* Step until the connection is closed. */
void h2_client_read_all(struct h2_client *c);
