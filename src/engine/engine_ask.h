/*
 * Engine_ask: operations that must survive a change of leader. A part of engine.h.
 *
 * An operation has a name, so that the next leader can look up its result. A node that has reported
 * an entry to a client serves no older reads. A leader can prove that it still leads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "loop/mailbox.h"

struct engine;

/* Are there other nodes that can become leader? Any thread. */
bool engine_ask_has_peers(const struct engine *e);

/* The last entry whose effects a read sees. Any thread. */
uint64_t engine_ask_applied(const struct engine *e);

/* Proof that this node was the leader at some time after the request. All writes that were
 * acknowledged before the request are then applied here. */
struct engine_proof {
    /* set by the caller */
    void (*done)(struct engine_proof *p, bool leads); /* on the loop of reply_to; once */
    struct mailbox *reply_to;
    void *data;
    /* private */
    struct msg msg;
    struct engine *engine;
    struct engine_proof *next;
    bool leads;
};

/* False if the engine is stopping; done is not called then. Any thread. */
ATTR_NODISCARD bool engine_ask_prove(struct engine *e, struct engine_proof *p);
