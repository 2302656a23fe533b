/*
 * Discover_members: who is alive, by what nodes report of themselves and of each other.
 *
 * Each node counts its own beats. A report of a node is news when it has a later start, or more
 * beats of the same one; news travel from node to node, so that any of them reaches all. A node of
 * which there was no news for MEMBERS_SILENT_MS counts as gone. It is remembered for a while, so
 * that an old report that is still on its way does not bring it back.
 *
 * Pure: time is brought along. Open so that it can be a member.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/discover.h"

enum {
    DISCOVER_MEMBERS_MAX = 2 * DISCOVER_PEERS_MAX, /* those that have gone included */
    DISCOVER_MEMBERS_SILENT_MS = 5000,
    DISCOVER_MEMBERS_FORGET_MS = 60000,
};

struct discover_member {
    char node_id[DISCOVER_NAME_BYTES];
    char url[DISCOVER_URL_BYTES];
    char gossip[DISCOVER_NAME_BYTES]; /* its address for these reports, "host:port" */
    uint64_t started_ms;              /* by its own clock */
    uint64_t beats;
    bool left; /* it said so */
    /* of this node */
    int64_t heard_ms; /* when there was news */
};

struct discover_members {
    struct discover_member rows[DISCOVER_MEMBERS_MAX];
    size_t count;
};

/* True when the report is news. A node that is not known and has left is none. */
bool discover_members_merge(struct discover_members *m, const struct discover_member *report,
                            int64_t now_ms);

bool discover_members_is_alive(const struct discover_member *row, int64_t now_ms);

/* Drop those of whom there was no news for so long that nobody reports them any more. */
void discover_members_forget(struct discover_members *m, int64_t now_ms);
