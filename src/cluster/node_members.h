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
    /* on the leader, of the others */
    uint64_t match_index; /* what it has for certain */
    bool installing;      /* it is being given a snapshot */
    struct raftnet_peer_stats net;
};

/* The members, as this node knows them; at most max of them. Good until the next event. */
size_t node_members(struct node *n, struct node_member *out, size_t max);

/* This node leads and nothing stands in the way of a change. */
bool node_members_may_change(const struct node *n);

/* Begin a change; how it ended is seen by looking. ERR_LEADER_UNAVAILABLE or ERR_CONFLICT when it
 * may not be changed now, ERR_VALIDATION when Raft refuses it. */
ATTR_NODISCARD enum err_code node_members_add(struct node *n, uint64_t id, const char *address,
                                              struct err *err);
ATTR_NODISCARD enum err_code node_members_assign(struct node *n, uint64_t id,
                                                 enum node_member_role role, struct err *err);
ATTR_NODISCARD enum err_code node_members_remove(struct node *n, uint64_t id, struct err *err);

/* The connection to a member broke. If it led, and is not heard again within two heartbeats, this
 * node waits for it no longer than chance wants. */
void node_members_lost(struct node *n, uint64_t id);

/* The other members; NULL when the node was opened without. */
struct peers *node_members_peers(struct node *n);
