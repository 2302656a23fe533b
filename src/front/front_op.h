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

/* For whom: a request, as long as it is unfinished. */
struct front_client {
    struct engine *engine;
    struct budget *budget; /* of all memory that requests can claim; NULL: none */
    struct http_request *req;
    struct engine_outbox *outbox; /* of the request's thread */
    /* Whether its credential still counts; else ERR_UNAUTHORIZED or ERR_FORBIDDEN. Cheap. NULL: it
     * has none. */
    enum err_code (*recheck)(void *data, struct err *err);
    void *recheck_data;
    bool gone; /* set by the owner: nobody hears the answer */
    bool shut; /* and: it sends no more, so it may have gone */

    /* What it asks for happens once, whichever nodes it comes by (front_forward.h). */
    bool forwarded;      /* by a node of the cluster */
    struct id operation; /* its name, which the commands of the request share; none: it has none */
    uint64_t since;      /* it is in no entry of the log up to this one; 0: it is new */
    uint32_t command_count;
    /* and what became of it so far */
    bool touched;   /* something has happened, or may have */
    uint64_t index; /* the last entry that carried a command of it */
};

/* For a request that stays open: may it go on? */
ATTR_NODISCARD enum err_code front_client_recheck(const struct front_client *c, struct err *err);

/* Give the operation a name, when it has none and there are other nodes to be asked by it. */
void front_client_name(struct front_client *c);

/* The Server-Timing of every answer. */
enum { FRONT_TIMING_ROOM = 48 };
struct http_header front_timing(int64_t took_ns, char room[FRONT_TIMING_ROOM]);

/* What a node tells the one that has forwarded the request, beside the answer: rows for headers, at
 * most FRONT_CLIENT_HEADERS; none for a client. */
enum { FRONT_CLIENT_HEADERS = 2, FRONT_CLIENT_ROOM = 24 };
size_t front_client_headers(const struct front_client *c, enum err_code code,
                            struct http_header rows[FRONT_CLIENT_HEADERS],
                            char room[FRONT_CLIENT_ROOM]);

/* Leadership went away under the command: the next leader can be asked. */
bool front_client_may_ask_again(const struct front_client *c, enum err_code code);

struct front_op;

/* Once for each command that was sent, from the loop. Without a result o->op.err says why; with
 * one, the machine may have refused: see its code. */
typedef void (*front_op_fn)(struct front_op *o, const struct result *r);

/* Zero up to the last member before it is used. */
struct front_op {
    struct front_client *client; /* set by the owner */
    front_op_fn done;
    void *data; /* the owner's */
    bool used, busy;
    struct engine_op op; /* large, and not even zero before it is used */
};

/* Check, encode and send. A claim that finds nothing waits park_ms for a job. The arena lives until
 * done; what the result points into is there and in o. An error is what the client did wrong: done
 * does not come then. */
ATTR_NODISCARD enum err_code front_op_send(struct front_op *o, struct arena *arena,
                                           const struct command *command, int64_t park_ms,
                                           front_op_fn done, struct err *err);

/* Nobody wants the answer any more; done still comes. False when nothing is under way. */
bool front_op_cancel(struct front_op *o);

/* A claim waits no longer; what is under way goes on. */
void front_op_hurry(struct front_op *o);

/* Release what a result points into; nothing is under way. */
void front_op_deinit(struct front_op *o);
