/*
 * Front_op: one command of a client, to the engine and back; the same for every dialect.
 *
 * A dialect turns a request into a command, and a result into a response. Everything in between is
 * here: the memory for the command and its result, the outbox, how long a claim waits for a client
 * that may have disconnected, and returning jobs that were claimed for a client that did. Belongs
 * to the thread of the client's request.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "engine/engine.h"
#include "fsm/command/result.h"
#include "http/http_request.h"
#include "trace/trace.h"

/* The client: one request, until it is finished. */
struct front_client {
    struct engine *engine;
    const struct trace_span *span; /* of the request; NULL: it is not traced */
    struct budget *budget;         /* the memory limit that all requests share; NULL: none */
    struct http_request *req;
    struct engine_outbox *outbox; /* of the request's thread */
    /* Check that the credential is still valid; otherwise ERR_UNAUTHORIZED or ERR_FORBIDDEN. Cheap.
     * NULL: the client has no credential. */
    enum err_code (*recheck)(void *data, struct err *err);
    void *recheck_data;
    bool gone; /* set by the owner: the client disconnected */
    bool shut; /* set by the owner: the client sends no more, and may have disconnected */

    /* The operation, which takes effect once, whichever nodes it arrives through (front_forward.h)
     */
    bool forwarded;      /* a node of the cluster has forwarded it */
    struct id operation; /* its name, shared by all commands of the request */
    uint64_t since;      /* no log entry up to this index contains it; 0: it is new */
    uint32_t command_count;
    /* and its outcome so far */
    bool touched;   /* it has taken effect, or may have */
    uint64_t index; /* the last log entry with one of its commands */
};

/* Check again whether a request that stays open is still permitted. */
ATTR_NODISCARD enum err_code front_client_recheck(const struct front_client *c, struct err *err);

/* Name the operation if it has no name and there are other nodes that it can be sent to. */
void front_client_name(struct front_client *c);

/* The Server-Timing header of every response. */
enum { FRONT_TIMING_ROOM = 48 };
struct http_header front_timing(int64_t took_ns, char room[FRONT_TIMING_ROOM]);

/* The additional response headers for a node that forwarded the request. Returns how many were set,
 * at most FRONT_CLIENT_HEADERS; 0 for a client. */
enum { FRONT_CLIENT_HEADERS = 2, FRONT_CLIENT_ROOM = 24 };
size_t front_client_headers(const struct front_client *c, enum err_code code,
                            struct http_header rows[FRONT_CLIENT_HEADERS],
                            char room[FRONT_CLIENT_ROOM]);

/* Did the command fail because leadership moved, so that it can be sent to the next leader? */
bool front_client_may_ask_again(const struct front_client *c, enum err_code code);

struct front_op;

/* Called once for each command that was sent, on the loop's thread. If r is NULL, o->op.err has the
 * reason. Otherwise the state machine has answered, possibly with an error: see r->code. */
typedef void (*front_op_fn)(struct front_op *o, const struct result *r);

/* All zero before its first use, except for op. */
struct front_op {
    struct front_client *client; /* set by the owner */
    front_op_fn done;
    void *data; /* for the owner */
    bool used, busy;
    struct trace_span span; /* if the client has one */
    struct engine_op op;    /* large, and uninitialized before the first use */
};

/* Check, encode and send the command. A claim that finds no job waits park_ms for one. The arena
 * must live until done is called; the result points into the arena and into o. An error is the
 * client's mistake; done is not called then. */
ATTR_NODISCARD enum err_code front_op_send(struct front_op *o, struct arena *arena,
                                           const struct command *command, int64_t park_ms,
                                           front_op_fn done, struct err *err);

/* The response is no longer wanted; done is still called. False if no command is being executed. */
bool front_op_cancel(struct front_op *o);

/* A waiting claim ends now, without a job; other commands continue. */
void front_op_hurry(struct front_op *o);

/* Free the memory that results point into. No command may be in progress. */
void front_op_deinit(struct front_op *o);
