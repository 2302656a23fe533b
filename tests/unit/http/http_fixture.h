/*
 * Http_fixture: a real server on a free port, with a handler for every way to treat a request, and
 * events that a test can wait for.
 *
 *   /hello            "hello", at once
 *   /info             what came: method, path, query parameter q, protocol, header x-test, peer
 *   /echo?limit=N     the collected body; 413 past N bytes (default 1 MiB), 503 without room
 *   /park/NAME        nothing, until http_fixture_do
 *   /late/NAME        says nothing about its body until http_fixture_do(…, FIXTURE_COLLECT)
 *   /keep/NAME        as /park, but kept when the client has gone
 *   /stay/NAME        as /park, but kept when the client has shut its side
 *   /push/NAME        begins a streamed answer; http_fixture_do writes to it
 *   /hold/NAME        streams its body and consumes nothing until http_fixture_do
 *   /bidi             gives back its body, piece by piece
 *   /stream?n=N       N chunks in one turn, and a trailer
 *   /flood            writes until it cannot, then drops the request
 *   /flow?n=N         N bytes, going on whenever it is writable
 *   /static           MEGABYTE bytes that are not copied
 *   /status?code=N    that status, with the body "x"
 *   /close            asks for the end of the connection
 *   /drop             no answer
 *   /splice           a header value that tries to break out
 */
#pragma once

#include <stdint.h>

#include <uv.h>

#include "http/http_server.h"

enum { FIXTURE_STATIC_BYTES = 1 << 20 };

enum fixture_event {
    FIXTURE_STARTED,  /* on_request was called */
    FIXTURE_PARKED,   /* somebody waits for http_fixture_do */
    FIXTURE_GONE,     /* on->gone was called */
    FIXTURE_SHUT,     /* on->shut was called */
    FIXTURE_STOPPING, /* on->stopping was called */
    FIXTURE_FULL,     /* a write said FULL */
    FIXTURE_WRITABLE, /* on->writable was called */
    FIXTURE_BODY,     /* bytes that on->body got */
    FIXTURE_ENDED,    /* on->body_end was called */
    FIXTURE_CLOSED,   /* the server is closed */
    FIXTURE_EVENT_COUNT
};

enum fixture_action {
    FIXTURE_ANSWER,  /* 200 with the text */
    FIXTURE_CLOSE,   /* the same, and ask for the end of the connection */
    FIXTURE_COLLECT, /* collect the body and give it back */
    FIXTURE_WRITE,   /* one chunk */
    FIXTURE_END,
    FIXTURE_DROP,
    FIXTURE_CONSUME, /* what is not consumed, and from now on everything at once */
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

/* One plain listener on 127.0.0.1, the given limits (NULL: the defaults), that many threads. */
void http_fixture_open(struct http_fixture *f, const struct http_limits *limits, unsigned threads);

/* Any configuration; its handlers and data are set here. */
void http_fixture_open_config(struct http_fixture *f, const struct http_server_config *config);

/* Stop, wait until it is closed, free. */
void http_fixture_close(struct http_fixture *f, uint32_t timeout_ms);

/* The same in two steps. */
void http_fixture_stop(struct http_fixture *f, uint32_t timeout_ms);
void http_fixture_free(struct http_fixture *f);

/* Wait until the event has happened that often. */
void http_fixture_wait(struct http_fixture *f, enum fixture_event event, uint64_t count);
uint64_t http_fixture_count(struct http_fixture *f, enum fixture_event event);

/* Post an action to the loop of the parked request of this name. */
void http_fixture_do(struct http_fixture *f, const char *name, enum fixture_action action,
                     const char *text);

/* The same, if there is such a request. */
void http_fixture_try(struct http_fixture *f, const char *name, enum fixture_action action,
                      const char *text);

/* The counters of all threads together. */
struct http_stats http_fixture_stats(struct http_fixture *f);
