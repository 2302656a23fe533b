/*
 * Outgoing_wait: HTTP requests for a thread that has nothing else to do than to wait for them.
 *
 * A set of requests and one function, outgoing_wait_turn, that sleeps until one of them moves or
 * one of the caller's own descriptors is ready: a signal, a child, standard input. The caller looks
 * at what is done and goes on. Nothing is called back except for the pieces of a streamed answer.
 * For a single request there is outgoing_wait_run.
 *
 * A call with `streams` is a conversation over HTTP/2: its body is what outgoing_wait_say adds to
 * it, for as long as the call is under way, and its answer comes in pieces meanwhile.
 *
 * One set belongs to one thread. Connections are kept and used again. An answer of any status is a
 * success here; a failure (ERR_IO) is that no answer came. Loopback addresses never go through a
 * proxy, whatever the environment says.
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

/* One request. The caller's memory, zeroed before the first use, alive until it is done. */
struct outgoing_wait_call {
    /* set by the caller */
    const char *method;
    const char *url;
    const char *const *headers; /* "Name: value", NULL ends them; may itself be NULL */
    struct str body;            /* an empty one is sent as such by POST and PUT */
    const char *ca_file;        /* PEM file of who may vouch for the server; NULL: the system's */
    int64_t timeout_ms;         /* for all of it; 0: none */
    int64_t silence_ms;         /* without a byte from the server, after which it failed; 0: none */
    size_t limit_bytes;         /* of an answer that is kept; a longer one is a failure */

    /* When set, it gets the body of a 2xx answer piece by piece instead of `answer`, from within
     * outgoing_wait_turn. False ends the request, which then counts as well ended. */
    bool (*on_piece)(struct outgoing_wait_call *call, struct str piece);
    void *data;

    bool streams; /* the body is open, and `body` its first piece; over HTTP/2, without TLS too */

    const char *header; /* the name of one header of the answer that is wanted; NULL: none */

    /* result */
    char header_value[1024]; /* of that; empty when there is none, or it is longer */
    int status;              /* 0 until the head of the answer is there */
    bool done;
    bool unreached;    /* when done: there was no connection to the server */
    struct err err;    /* when done: ERR_OK, or why there is no whole answer */
    struct buf answer; /* given back by outgoing_wait_clear */

    /* private */
    void *easy;
    void *lines;
    bool enough;
    struct mono heard; /* when the last byte came, or it began */
    struct buf unsent; /* of an open body, from `sent` on */
    size_t sent;
    bool said_all;
    struct outgoing_wait *set;
    struct outgoing_wait_call *next;
};

struct outgoing_wait *outgoing_wait_new(void);
void outgoing_wait_free(struct outgoing_wait *w); /* NULL is fine; ends what is under way */

/* Begin. Whatever happens, "could not even start" included, is seen after a later turn. */
void outgoing_wait_start(struct outgoing_wait *w, struct outgoing_wait_call *call);

/* Add to the body of a call that streams. One that is over does not hear it. */
void outgoing_wait_say(struct outgoing_wait_call *call, struct str bytes);
void outgoing_wait_say_end(struct outgoing_wait_call *call); /* the body is whole */

/* End a request that is under way, if it is; it is not done then, only over. */
void outgoing_wait_cancel(struct outgoing_wait *w, struct outgoing_wait_call *call);

/* Give back the answer's memory. The call may be started again. */
void outgoing_wait_clear(struct outgoing_wait_call *call);

/* Sleep until a request moves, a descriptor is readable (its revents say so) or timeout_ms have
 * passed; -1 waits for ever. May return early with nothing to see. */
void outgoing_wait_turn(struct outgoing_wait *w, struct pollfd *fds, size_t count, int timeout_ms);

/* Start and turn until the call is done, or wake_fd is readable: then it is cancelled and false is
 * returned. -1: no such descriptor. */
ATTR_NODISCARD bool outgoing_wait_run(struct outgoing_wait *w, struct outgoing_wait_call *call,
                                      int wake_fd);
