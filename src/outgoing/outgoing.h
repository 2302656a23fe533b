/*
 * Outgoing: HTTP requests that the server itself makes, on a libuv loop.
 *
 * The only module that uses libcurl. Nothing here blocks: requests are started, and their end is
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
    const struct outgoing_guard *guard; /* NULL: every address is allowed. Outlives the requests */
    uint32_t connections_max; /* open at once; further requests wait within their time limit */
    uint32_t kept_max;        /* idle connections kept open; 0: a few */
    uint32_t kept_ms;         /* for this time; 0: 90 s */
    uint32_t body_ms;         /* limit for a response body after its headers; 0: none of its own */
    bool http2;               /* use HTTP/2 with TLS targets that support it */
    const char *user_agent;
};

struct outgoing *outgoing_open(uv_loop_t *loop, const struct outgoing_config *config);

/* Call without requests in progress. The memory is freed when the loop has processed the closed
 * handles. */
void outgoing_close(struct outgoing *o);

struct outgoing_header {
    const char *name;
    struct str value; /* control characters are replaced by spaces */
};

enum { OUTGOING_HEADERS_MAX = 8 };

/* One request. The caller embeds it and keeps it, and everything that it points to, until done. */
struct outgoing_request {
    /* set by the caller */
    const char *method;
    const char *url; /* http or https */
    struct outgoing_header headers[OUTGOING_HEADERS_MAX];
    size_t header_count;
    const struct outgoing_header *more_headers; /* added by the caller; NULL: none */
    size_t more_count;
    unsigned redirects_max; /* redirects to follow: 307 and 308 with method and body, others as GET;
                               an Authorization header is not sent to another host */
    bool guest;             /* for a namespace other than the default one: the guard is stricter */
    bool once;              /* never repeated, even if it broke off without a response */
    struct str body;
    uint32_t timeout_ms; /* for everything, including the lookup of the name */
    size_t answer_limit; /* bytes of the response's body; more is ERR_TOO_LARGE */
    void (*done)(struct outgoing_request *r); /* called once, from the loop; may free r */
    void *data;
    /* result */
    struct err err;     /* ERR_OK: there is a response, with any status. ERR_FORBIDDEN: the guard
                           refused the address. ERR_TOO_LARGE: status and the bytes so far are
                           available. ERR_IO: everything else, including timeouts */
    bool answered;      /* the head of a response arrived in full, whatever err says about its body.
                           The head of a redirect that was to be followed does not count */
    int status;         /* 0: not answered */
    bool timed_out;     /* with ERR_IO: the time limit was exceeded */
    bool no_name;       /* with ERR_IO: the name could not be resolved */
    bool no_peer;       /* with ERR_IO: no connection, a broken one, or failed verification */
    uint32_t answer_ms; /* time until the head of the last response */
    uint32_t retry_after_s; /* value of Retry-After of the last response; 0: none */
    struct buf answer;
    /* internal */
    struct outgoing *client;
    void *easy;
    void *header_list;
    struct outgoing_request *next_broken;
    struct outgoing_request *body_before, *body_after; /* others whose body is being received */
    uint64_t body_until_ms;                            /* 0: no body yet */
    bool refused;                                      /* by the guard… */
    bool own;        /* …because the address is the server itself */
    bool guest_only; /* …because of the namespace */
    bool leads_on;   /* the last head has a Location… */
    bool says_when;  /* …and a Retry-After */
    long sent;       /* times that libcurl was about to send it */
    bool again;      /* libcurl was about to send it too often */
    char refused_address[64];
    char error_text[256];
};

/* Never calls done inside this call. */
void outgoing_start(struct outgoing *o, struct outgoing_request *r);

/* Cancel: done will not be called. Not from inside done of the same r. */
void outgoing_cancel(struct outgoing_request *r);

/* After done, or after a cancellation: free the response. */
void outgoing_request_deinit(struct outgoing_request *r);
