/*
 * Engine_invite: the leader invites a node that waits for it. A part of engine.h.
 *
 * The node adopts the cluster of the leader that dials it, which so learns the node's number. The
 * number of the cluster is on the node's disk before it accepts. Being a member is more: that is a
 * record in the state (engine_cluster.h), which the caller puts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cluster/peers.h"
#include "loop/mailbox.h"
#include "store/store_node.h"

struct engine;

/* Ask a node that waits for an invitation to belong to our cluster. */
struct engine_invite {
    /* set by the caller */
    char name[STORE_NODE_NAME_BYTES_MAX + 1]; /* that the node must have */
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
    void (*done)(struct engine_invite *i); /* on reply_to's loop; once */
    struct mailbox *reply_to;
    void *data;
    /* result; when err has no code: */
    struct err err;
    uint64_t id; /* what its record is to have */
    bool voter;  /* false: it was told only to read along */
    /* private */
    struct msg msg;
    struct engine *engine;
    struct peers_invite net;
};

/* False when the engine is stopping; done does not come then. Any thread. */
ATTR_NODISCARD bool engine_invite_send(struct engine *e, struct engine_invite *i);
