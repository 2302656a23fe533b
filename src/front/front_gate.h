/*
 * Front_gate: connects one network thread to the other nodes, over persistent connections (relay/).
 *
 * front_forward sends clients' requests through it; front_gate_tell sends this node's own messages.
 * Belongs to its thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/attr.h"
#include "base/str.h"
#include "engine/engine.h"
#include "front/front_peer.h"

/* The name of the forwarding node. Trusted only if the request is signed by a peer. */
#define FRONT_NODE_HEADER STR("x-corvo-node")

/* Shared by all network threads. */
struct front_shared {
    struct engine *engine;
    struct front_peer_key key;
    const char *node_id; /* the name of this node, sent to the leader */
    const char *ca_file; /* CA bundle for the APIs of other nodes; NULL: the system's */
    /* The newest entry whose response this node has forwarded to a client. Reads here must not be
     * older. */
    atomic_uint_fast64_t told_index;
    atomic_uint_fast64_t forwarded_total, retried_total, failed_total;
};

struct front_gate;

/* Opened and closed on the thread. front_gate_turn is called at the end of each turn of its loop.
 */
struct front_gate *front_gate_open(struct front_shared *shared, uv_loop_t *loop);
void front_gate_close(struct front_gate *g);
void front_gate_turn(struct front_gate *g);

/* Send a POST to the leader without waiting for the response; it may get lost. False if it cannot
 * be sent now: there is no leader, too many are unanswered, or the cluster has no secret with which
 * to sign it. */
ATTR_NODISCARD bool front_gate_tell(struct front_gate *g, struct str target, struct str json);
