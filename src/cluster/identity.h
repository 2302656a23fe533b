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

enum { IDENTITY_OLD_NODE = 1 }; /* of data directories from versions without clusters */

struct identity {
    uint64_t node;    /* 63 bits, not 0 */
    uint64_t cluster; /* 0: none yet */
    bool joined;      /* it joined the cluster, it did not create it */
    bool assumed;     /* there was no identity file */
};

/* Read the file in dir, or create it with a new node number. founds: the node creates a cluster,
 * with a new cluster number. If there is no file but has_log (the directory was used before), the
 * old number is assumed; the caller checks it with the log and then stores it. */
ATTR_NODISCARD enum err_code identity_open(const char *dir, bool has_log, bool founds,
                                           struct identity *out, struct err *err);

/* Read the file and change nothing. ERR_NOT_FOUND, or ERR_CORRUPT if it is damaged. */
ATTR_NODISCARD enum err_code identity_inspect(const char *dir, struct identity *out,
                                              struct err *err);

/* Write the file; durable on return. */
ATTR_NODISCARD enum err_code identity_store(const char *dir, const struct identity *identity,
                                            struct err *err);

/* Does the directory belong to a member of a cluster? Changes nothing; false if the file cannot be
 * read. */
bool identity_has_cluster(const char *dir);
