/*
 * Outgoing: HTTP requests that the server itself makes, on a libuv loop.
 *
 * The only module that uses libcurl. Nothing here blocks: a request is started, and its end is
 * reported from the loop. Connections are reused; names are resolved outside the loop. A request
 * ends with a response or an error within its time limit, and its memory is bounded whatever the
 * other side sends. A redirect counts as a response, unless the caller asks to follow it. Proxies
 * from the environment are not used. The server never connects to an address that the guard
 * refuses, not even after a redirect.
 *
 * Belongs to the thread of its loop.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "outgoing/outgoing_guard.h"

struct outgoing;

struct outgoing_config {
    const struct outgoing_guard *guard; /* NULL: every address passes. Outlives the requests */
    uint32_t connections_max;           /* open at once; requests beyond wait within their time */
    uint32_t kept_max;                  /* open and not used; 0: a few */
    uint32_t body_ms;                   /* for the body of an answer, from the end of its head on;
                                           then the time is over. 0: no bound of its own */
    bool http2;                         /* to targets with TLS that have it */
    const char *user_agent;
};

struct outgoing *outgoing_open(uv_loop_t *loop, const struct outgoing_config *config);

/* Without requests under way. The memory goes when the loop has run closed handles. */
void outgoing_close(struct outgoing *o);

struct outgoing_header {
    const char *name;
    struct str value; /* control characters become blanks */
};

enum { OUTGOING_HEADERS_MAX = 8 };

/* One request. The caller embeds it and keeps it, and what it points to, until done. */
struct outgoing_request {
    /* set by the caller */
    const char *method;
    const char *url; /* http or https */
    struct outgoing_header headers[OUTGOING_HEADERS_MAX];
    size_t header_count;
    const struct outgoing_header *more_headers; /* of the caller; NULL: none */
    size_t more_count;
    unsigned redirects_max; /* followed: 307 and 308 with method and body, others as GET; an
                               Authorization does not go to another host */
    bool guest; /* for a namespace other than the default one: the guard lets less through */
    bool once;  /* sent at most once: what broke off without an answer is not sent again */
    struct str body;
    uint32_t timeout_ms; /* for everything, from the lookup of the name to the last byte */
    size_t answer_limit; /* bytes of the answer's body; more is ERR_TOO_LARGE */
    void (*done)(struct outgoing_request *r); /* from the loop, once; r may be gone after it */
    void *data;
    /* result */
    struct err err; /* ERR_OK: there is an answer, whatever its status. ERR_FORBIDDEN: the guard
                       refused the address. ERR_TOO_LARGE: status and the bytes so far are there.
                       ERR_IO: everything else, time included */
    int status;     /* 0 when none came */
    bool timed_out; /* with ERR_IO: its time was over */
    bool no_name;   /* with ERR_IO: the name could not be looked up */
    bool no_peer;   /* with ERR_IO: nobody answered there, or broke off, or was not to be trusted */
    uint32_t answer_ms;     /* until the head of the last answer */
    uint32_t retry_after_s; /* the answer asks to come back so late; 0: it does not */
    struct buf answer;
    /* private */
    struct outgoing *client;
    void *easy;
    void *header_list;
    struct outgoing_request *next_broken;
    struct outgoing_request *body_before, *body_after; /* others whose body is on its way */
    uint64_t body_until_ms;                            /* 0: not there yet */
    bool refused;                                      /* the guard has… */
    bool own;                                          /* …because it is the server itself */
    long sent;                                         /* how often libcurl was about to send it */
    bool again;                                        /* it was about to do so once too often */
    char refused_address[64];
    char error_text[256];
};

/* Never calls done from inside. */
void outgoing_start(struct outgoing *o, struct outgoing_request *r);

/* The answer is not wanted any more: done does not come. Not from inside done of the same r. */
void outgoing_cancel(struct outgoing_request *r);

/* After done, or after a cancellation: release the answer. */
void outgoing_request_deinit(struct outgoing_request *r);
