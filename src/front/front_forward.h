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

/* What the owner of a request hears; each gives the request back to it, which sets what it listens
 * to anew, or finishes it. */
struct front_forward_ops {
    void (*here)(void *data); /* this node leads: do it. The body was collected, if there is one */
    void (*failed)(void *data, const struct err *err);
    void (*gone)(void *data);                /* nobody hears the answer */
    void (*answers)(void *data, int status); /* the request is finished by the forward after this */
    void (*too_large)(void *data, enum http_body_result result);
};

enum front_forward_state {
    FORWARD_COLLECTING,
    FORWARD_WAITING,
    FORWARD_SENT,
    FORWARD_APPLYING, /* what the leader has done is not done here yet */
    FORWARD_RELAYING,
};

/* Zero but for what its owner sets; lives in the request's arena. */
struct front_forward {
    /* set by the owner */
    struct http_request *req;
    const struct front_forward_ops *ops;
    void *data;
    struct str request_id;
    struct str client_address;
    struct id operation; /* its name; none: a read, which may be asked again anyhow */
    uint64_t since;      /* the operation is in no entry up to this one */
    size_t body_max;
    uint64_t deadline_ms; /* by the loop's clock: the client waits no longer; 0: it does not say */
    bool streams;         /* the body is handed on as it comes, so that it can be sent only once */
    bool settles;         /* the answer waits until this node has applied what it tells of */
    bool collected;       /* the body is there */
    bool touched;         /* it was under way here: what became of it is not known */

    /* private */
    struct front_gate *gate;
    struct front_forward *next, **prev;
    enum front_forward_state state;
    bool reading; /* the body is handed on */
    bool opened;  /* the answer has begun */
    unsigned sent_count;
    uint64_t sent_to;
    struct str sent_url;                 /* empty: it was sent to nobody */
    uint64_t lost_ms, retry_ms, stop_ms; /* by the loop's clock; 0: not */
    uint64_t index, apply_ms; /* applies up to this entry, or until then by the loop's clock */
    struct relay_stream stream;
};

void front_forward_start(struct front_gate *g, struct front_forward *f);

/* Is this node behind what it has told a client of? */
bool front_forward_is_behind(const struct front_shared *shared);

/* The owner gets the request back (here) when this node has applied that, or after a moment: a node
 * that cannot is asked about itself, too. */
void front_forward_catch_up(struct front_gate *g, struct front_forward *f);
