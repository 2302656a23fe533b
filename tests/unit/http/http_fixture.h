/*
 * Http_fixture: a real server on a free port, with a handler for each way to treat a request, and
 * events that a test can wait for.
 *
 *   /hello            "hello", at once
 *   /info             the request: method, paths, parameter q, protocol, headers, peer, length
 *   /echo?limit=N     the collected body; 413 past N bytes (default 1 MiB), 503 without room
 *   /park/NAME        nothing, until http_fixture_do
 *   /late/NAME        as /park, until http_fixture_do(…, FIXTURE_COLLECT) collects its body
 *   /keep/NAME        as /park, but kept when the client has disconnected
 *   /stay/NAME        as /park, but kept when the client has shut down its side
 *   /push/NAME        begins a streamed answer; http_fixture_do writes to it
 *   /hold/NAME        streams its body and consumes nothing until http_fixture_do
 *   /bidi             sends back its body, piece by piece
 *   /stream?n=N       N chunks in one turn, and a trailer
 *   /flood            writes until a write fails, then drops the request
 *   /flow?n=N         N bytes, continued whenever the request is writable
 *   /static           FIXTURE_STATIC_BYTES bytes that are not copied
 *   /whole/NAME       NAME, not streamed, with NAME in a header, and a trailer
 *   /status?code=N    this status, with the body "x"
 *   /close            505, and closes the connection
 *   /drop             no answer
 *   /splice           a header value that tries to inject a header
 */
#pragma once

#include <stdint.h>

#include <uv.h>

#include "http/http_server.h"

enum { FIXTURE_STATIC_BYTES = 1 << 20 };

enum fixture_event {
    FIXTURE_STARTED,  /* on_request was called */
    FIXTURE_PARKED,   /* a request waits for http_fixture_do */
    FIXTURE_GONE,     /* on->gone was called */
    FIXTURE_SHUT,     /* on->shut was called */
    FIXTURE_STOPPING, /* on->stopping was called */
    FIXTURE_FULL,     /* a write returned FULL */
    FIXTURE_WRITABLE, /* on->writable was called */
    FIXTURE_BODY,     /* bytes passed to on->body */
    FIXTURE_ENDED,    /* on->body_end was called */
    FIXTURE_CLOSED,   /* the server is closed */
    FIXTURE_EVENT_COUNT
};

enum fixture_action {
    FIXTURE_ANSWER,  /* 200 with the text */
    FIXTURE_CLOSE,   /* the same, and close the connection */
    FIXTURE_COLLECT, /* collect the body and return it */
    FIXTURE_WRITE,   /* one chunk */
    FIXTURE_END,
    FIXTURE_DROP,
    FIXTURE_CONSUME, /* what is unconsumed, and then every piece at once */
};

struct http_fixture {
    struct http_server *server;
    uint16_t port;
    bool answer_when_stopping; /* parked requests are answered early */

    uv_mutex_t lock; /* guards what follows */
    uv_cond_t changed;
    uint64_t count[FIXTURE_EVENT_COUNT];
    struct parked *parked;
};

/* Open a server with one plain listener on 127.0.0.1. If limits is NULL, the defaults apply. */
void http_fixture_open(struct http_fixture *f, const struct http_limits *limits, unsigned threads);

/* Open a server with any configuration. This function sets its callbacks and data. */
void http_fixture_open_config(struct http_fixture *f, const struct http_server_config *config);

/* Stop the server, wait until it is closed, and free it. */
void http_fixture_close(struct http_fixture *f, uint32_t timeout_ms);

/* The same in two steps. */
void http_fixture_stop(struct http_fixture *f, uint32_t timeout_ms);
void http_fixture_free(struct http_fixture *f);

/* Wait until the counter of the event has reached count. */
void http_fixture_wait(struct http_fixture *f, enum fixture_event event, uint64_t count);
uint64_t http_fixture_count(struct http_fixture *f, enum fixture_event event);

/* Post an action to the loop of the parked request of this name. */
void http_fixture_do(struct http_fixture *f, const char *name, enum fixture_action action,
                     const char *text);

/* The same, but without effect if there is no such request. */
void http_fixture_try(struct http_fixture *f, const char *name, enum fixture_action action,
                      const char *text);

/* Return the counters, summed up over all threads. */
struct http_stats http_fixture_stats(struct http_fixture *f);
