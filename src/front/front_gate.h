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

/* The name of the node that forwards; only of a request that a peer has signed is it believed. */
#define FRONT_NODE_HEADER STR("x-corvo-node")

/* What all network threads share. */
struct front_shared {
    struct engine *engine;
    struct front_peer_key key;
    const char *node_id; /* the name of this node; the leader is told who forwards */
    const char
        *ca_file; /* who signs the certificates of other nodes' APIs; NULL: the system says */
    /* No read of this node may be older: the newest entry that it has told a client of. */
    atomic_uint_fast64_t told_index;
    atomic_uint_fast64_t forwarded_total, retried_total, failed_total;
};

struct front_gate;

/* Opened and closed on the thread; turn is called at the end of each turn. */
struct front_gate *front_gate_open(struct front_shared *shared, uv_loop_t *loop);
void front_gate_close(struct front_gate *g);
void front_gate_turn(struct front_gate *g);

/* Send the leader a POST for whose answer nobody waits. False when nobody can be told now: nobody
 * leads, enough is under way, or the cluster has no secret to prove who says it. What was sent may
 * get lost. */
ATTR_NODISCARD bool front_gate_tell(struct front_gate *g, struct str target, struct str json);
