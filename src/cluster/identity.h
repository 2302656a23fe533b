/*
 * Identity: the identity of this node, stored in its data directory.
 *
 * It consists of a random number, created once, and the number of the node's cluster. The name of a
 * node is a setting and can change. The number cannot, because Raft counts votes and copies by it.
 * A node that lost its directory gets another number, so it is never mistaken for its former self.
 *
 *   corvo identity 1
 *   node 5f3a… (16 hex digits)
 *   cluster 91c0… (16 hex digits; zeros while it belongs to none)
 *   joined         (only if it did not found the cluster: until it has data, it waits for others)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum { IDENTITY_OLD_NODE = 1 }; /* of folders from the time when every node was alone */

struct identity {
    uint64_t node;    /* 63 bits, not 0 */
    uint64_t cluster; /* 0: none yet */
    bool joined;      /* it found the cluster, and did not found it */
    bool assumed;     /* there was no file */
};

/* Read the file in dir. When there is none, make it, with a new number. founds: it begins a
 * cluster, with a new number. Where has_log says that a node has lived there already, and there is
 * no file, the old number is assumed: whether that is right, the log knows, and the caller stores
 * it then. */
ATTR_NODISCARD enum err_code identity_open(const char *dir, bool has_log, bool founds,
                                           struct identity *out, struct err *err);

/* Write it, durable on return. */
ATTR_NODISCARD enum err_code identity_store(const char *dir, const struct identity *identity,
                                            struct err *err);

/* Does the folder belong to a node of a cluster already? Changes nothing; false when it cannot be
 * read. */
bool identity_has_cluster(const char *dir);
