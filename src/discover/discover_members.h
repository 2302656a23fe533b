/*
 * Discover_members: tracks which nodes are alive, from their reports about themselves and others.
 *
 * Each node counts its own beats. A report about a node is news if it has a later start, or more
 * beats since the same start; news is forwarded from node to node until it reaches all. A node
 * without news for DISCOVER_MEMBERS_SILENT_MS counts as gone. It is remembered for a while, so that
 * an old report still in transit does not bring it back.
 *
 * Pure: the time is a parameter. The struct is public so that it can be embedded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/discover.h"

enum {
    DISCOVER_MEMBERS_MAX = 2 * DISCOVER_PEERS_MAX, /* including nodes that are gone */
    DISCOVER_MEMBERS_SILENT_MS = 5000,
    DISCOVER_MEMBERS_FORGET_MS = 60000,
};

struct discover_member {
    char node_id[DISCOVER_NAME_BYTES];
    char url[DISCOVER_URL_BYTES];
    char gossip[DISCOVER_NAME_BYTES]; /* its address for gossip, "host:port" */
    uint64_t started_ms;              /* by that node's clock */
    uint64_t beats;
    bool left; /* it reported that it leaves */
    /* kept by this node */
    int64_t heard_ms; /* time of the last news */
};

struct discover_members {
    struct discover_member rows[DISCOVER_MEMBERS_MAX];
    size_t count;
};

/* True if the report is news. A report about an unknown node that has left is not. */
bool discover_members_merge(struct discover_members *m, const struct discover_member *report,
                            int64_t now_ms);

bool discover_members_is_alive(const struct discover_member *row, int64_t now_ms);

/* Drop nodes without news for DISCOVER_MEMBERS_FORGET_MS. By then, no other node reports them any
 * more. */
void discover_members_forget(struct discover_members *m, int64_t now_ms);
