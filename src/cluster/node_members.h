/*
 * Node_members: the members of the group, and changing them. A part of node.h.
 *
 * Raft makes one change at a time. To make several, wait until node_members_may_change returns true
 * after each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cluster/ship.h"
#include "raftnet/raftnet.h"

struct node;

enum node_member_role { NODE_SPARE, NODE_STANDBY, NODE_VOTER };

struct node_member {
    uint64_t id;
    const char *address;
    enum node_member_role role;
    bool self;
    /* on the leader, for the other members: */
    uint64_t match_index; /* last entry that it is known to have */
    bool installing;      /* it is receiving a snapshot */
    struct raftnet_peer_stats net;
};

/* The members that this node knows, at most max. Valid until the next event. */
size_t node_members(struct node *n, struct node_member *out, size_t max);

/* Is this node leader, and can it start a membership change now? */
bool node_members_may_change(const struct node *n);

/* Start a change; check node_members later for its outcome. ERR_LEADER_UNAVAILABLE or ERR_CONFLICT
 * if no change is possible now, ERR_VALIDATION if Raft refuses it. */
ATTR_NODISCARD enum err_code node_members_add(struct node *n, uint64_t id, const char *address,
                                              struct err *err);
ATTR_NODISCARD enum err_code node_members_assign(struct node *n, uint64_t id,
                                                 enum node_member_role role, struct err *err);
ATTR_NODISCARD enum err_code node_members_remove(struct node *n, uint64_t id, struct err *err);

/* The connection to a member broke. If it was the leader and sends nothing within two heartbeats,
 * this node does not wait for the election timeout, only for a random delay. */
void node_members_lost(struct node *n, uint64_t id);

/* The other members; NULL if the node was opened without peers. */
struct peers *node_members_peers(struct node *n);
