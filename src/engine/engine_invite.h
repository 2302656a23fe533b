/*
 * Engine_invite: the leader invites a node that waits for it. A part of engine.h.
 *
 * The leader connects to the node and receives its id. The node stores the id of the cluster on
 * disk before it accepts. It becomes a member only when the caller writes its record into the
 * state (engine_cluster.h).
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

/* Invite a waiting node into this cluster. */
struct engine_invite {
    /* set by the caller */
    char name[STORE_NODE_NAME_BYTES_MAX + 1]; /* the node must have this name */
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
    void (*done)(struct engine_invite *i); /* on the loop of reply_to; once */
    struct mailbox *reply_to;
    void *data;
    /* result; id and voter only if err has no code */
    struct err err;
    uint64_t id; /* for its record */
    bool voter;  /* false: it was started with --non-voter */
    /* private */
    struct msg msg;
    struct engine *engine;
    struct peers_invite net;
};

/* False if the engine is stopping; done is not called then. Any thread. */
ATTR_NODISCARD bool engine_invite_send(struct engine *e, struct engine_invite *i);
