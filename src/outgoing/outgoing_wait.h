/*
 * Outgoing_wait: HTTP requests for a thread that blocks until they are done.
 *
 * A set of requests, and one function, outgoing_wait_turn, that sleeps until one of them makes
 * progress or one of the caller's own descriptors is ready: a signal, a child, standard input. The
 * caller then checks which requests are done. There are no callbacks, except for the pieces of a
 * streamed response. For a single request there is outgoing_wait_run.
 *
 * A call with `streams` is bidirectional over HTTP/2: outgoing_wait_say appends to its body while
 * the call is in progress, and the response arrives in pieces meanwhile.
 *
 * One set belongs to one thread. Connections are reused. A response of any status is a success
 * here; only a missing response is a failure (ERR_IO). Loopback addresses never use a proxy,
 * whatever the environment says.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

struct outgoing_wait;

/* One request. Memory of the caller, zeroed before the first use, valid until it is done. */
struct outgoing_wait_call {
    /* set by the caller */
    const char *method;
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated; may itself be NULL */
    struct str body;            /* if empty, POST and PUT send an empty body */
    const char *ca_file;        /* CA bundle (PEM) to verify the server; NULL: the system's */
    int64_t timeout_ms;         /* for the whole request; 0: none */
    int64_t silence_ms;         /* fail after this time without a byte from the server; 0: never */
    size_t limit_bytes;         /* maximum size of the response; a longer one is a failure */

    /* If set, called with the pieces of a 2xx response instead of filling `answer`, inside
     * outgoing_wait_turn. False ends the request, which then counts as successful. */
    bool (*on_piece)(struct outgoing_wait_call *call, struct str piece);
    void *data;

    bool streams; /* the body stays open, and begins with `body`; uses HTTP/2, even without TLS */

    const char *header; /* name of a response header to keep; NULL: none */

    /* result */
    char header_value[1024]; /* of that header; empty if absent or too long */
    int status;              /* 0 until the head of the response has arrived */
    bool done;
    bool unreached;    /* when done: no connection to the server was made */
    struct err err;    /* when done: ERR_OK, or why the response is missing or incomplete */
    struct buf answer; /* freed by outgoing_wait_clear */

    /* internal */
    void *easy;
    void *lines;
    bool enough;
    char error_text[256]; /* CURL_ERROR_SIZE */
    struct mono heard;    /* time of the last byte, or of the start */
    struct buf unsent;    /* unsent part of an open body, from `sent` on */
    size_t sent;
    bool said_all;
    struct outgoing_wait *set;
    struct outgoing_wait_call *next;
};

struct outgoing_wait *outgoing_wait_new(void);
void outgoing_wait_free(struct outgoing_wait *w); /* NULL is allowed; ends pending requests */

/* Start a request. All results, including a failure to start, are visible after a later turn. */
void outgoing_wait_start(struct outgoing_wait *w, struct outgoing_wait_call *call);

/* Append to the body of a call with `streams`. Ignored if the call has ended. */
void outgoing_wait_say(struct outgoing_wait_call *call, struct str bytes);
void outgoing_wait_say_end(struct outgoing_wait_call *call); /* the body is complete */

/* End a request that is in progress; it then counts as ended, but not as done. */
void outgoing_wait_cancel(struct outgoing_wait *w, struct outgoing_wait_call *call);

/* Free the memory of the response. The call may be started again. */
void outgoing_wait_clear(struct outgoing_wait_call *call);

/* Sleep until a request makes progress, a descriptor is readable, or writable if its events are
 * POLLOUT (see its revents), or timeout_ms have passed; -1 waits for ever. May return early without
 * an event. */
void outgoing_wait_turn(struct outgoing_wait *w, struct pollfd *fds, size_t count, int timeout_ms);

/* Start the call and wait until it is done, or until wake_fd is readable: then it is cancelled
 * and false is returned. -1: no such descriptor. */
ATTR_NODISCARD bool outgoing_wait_run(struct outgoing_wait *w, struct outgoing_wait_call *call,
                                      int wake_fd);
