/*
 * Front_forward: a request that only the leader can handle, received by another node.
 *
 * It is sent to the leader unchanged, over persistent connections (relay/), and the response
 * returns the same way. While leadership moves, the request waits here. It is then sent to the new
 * leader under the same name, so that it takes effect once (docs/failover.md). If this node becomes
 * the leader, the owner gets the request back.
 *
 *   start --> [COLLECTING] --> [WAITING] --leader--> [SENT] --answer--> [RELAYING] --> over
 *                                  ^                   |  |                ^
 *                                  +----- lost --------+  +--> [APPLYING] -+   settles
 *
 * A read of this node's own state, which nobody else can do, may wait here for what the node has
 * told its client of (front_forward_catch_up).
 *
 * Belongs to the thread of its request.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "front/front_gate.h"
#include "http/http_request.h"
#include "relay/relay.h"
#include "trace/trace.h"

/* Callbacks to the owner of a request. Each returns the request to the owner, which sets its own
 * callbacks on it again, or finishes it. */
struct front_forward_ops {
    void (*here)(
        void *data); /* this node leads: handle the request here. Its body, if any, is collected */
    void (*failed)(void *data, const struct err *err);
    void (*gone)(void *data);                     /* the client disconnected */
    void (*passed)(void *data, struct str bytes); /* part of the response's body */
    void (*cut)(void *data); /* the rest of the response will not arrive; the part was passed on */
    void (*answers)(void *data,
                    int status); /* after this, the forward finishes the request itself */
    void (*too_large)(void *data, enum http_body_result result);
};

enum front_forward_state {
    FORWARD_COLLECTING,
    FORWARD_WAITING,
    FORWARD_SENT,
    FORWARD_APPLYING, /* this node has not applied the leader's entry yet */
    FORWARD_RELAYING,
};

/* All zero except for the owner's members. Lives in the request's arena. */
struct front_forward {
    /* set by the owner */
    struct http_request *req;
    const struct front_forward_ops *ops;
    void *data;
    struct str request_id;
    struct str client_address;
    const struct trace_span
        *span;           /* parent of the leader's span; NULL: the request is not traced */
    struct id operation; /* its name; none: a read, which may always be repeated */
    uint64_t since;      /* no log entry up to this index contains the operation */
    size_t body_max;
    uint64_t deadline_ms; /* by the loop's clock: when the client stops waiting; 0: unknown */
    bool streams;   /* the body is forwarded as it arrives, so that it can be sent only once */
    bool settles;   /* the response waits until this node has applied the write */
    bool collected; /* the body is in memory */
    bool touched;   /* this node has sent it before; its outcome is unknown */

    /* private */
    struct front_gate *gate;
    struct front_forward *next, **prev;
    enum front_forward_state state;
    bool reading; /* the body is being forwarded */
    bool opened;  /* the response has begun */
    unsigned sent_count;
    uint64_t sent_to;
    struct str sent_url;                 /* empty: not sent yet */
    uint64_t lost_ms, retry_ms, stop_ms; /* by the loop's clock; 0: unset */
    uint64_t index, apply_ms; /* FORWARD_APPLYING: wait for this entry, at most until then */
    struct relay_stream stream;
};

void front_forward_start(struct front_gate *g, struct front_forward *f);

/* Has this node forwarded the response of a write that it has not applied yet? */
bool front_forward_is_behind(const struct front_shared *shared);

/* Wait until this node has applied all such writes, then return the request to the owner (here).
 * The wait is short: a node that cannot catch up must still answer. */
void front_forward_catch_up(struct front_gate *g, struct front_forward *f);
