/*
 * Store_node: the record of a member of the cluster.
 *
 * Raft's own configuration has a number and an address for each member. This replicated record adds
 * the name, the URL of the API, the version, and the desired state. The leader makes Raft's
 * configuration match these records.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"

enum {
    STORE_NODE_NAME_BYTES_MAX = 64,
    STORE_NODE_ADDRESS_BYTES_MAX = 255,
    STORE_NODE_URL_BYTES_MAX = 1024,
    STORE_NODE_VERSION_BYTES_MAX = 64,
};

/* The numbers are on disk. */
enum store_node_state {
    STORE_NODE_MEMBER,  /* a member, or about to become one */
    STORE_NODE_LEAVING, /* about to be removed */
    STORE_NODE_REMOVED, /* removed: its number is never used again */
    STORE_NODE_STATE_COUNT
};

struct store_node {
    uint64_t id; /* Raft's id, random: a node that lost its disk gets a new one */
    enum store_node_state state;
    bool voter;          /* false: it receives all data but does not vote */
    struct str name;     /* --node-id */
    struct str address;  /* for peers */
    struct str http_url; /* empty while unknown */
    struct str version;
};

/* Encodes all members except the id, which is the key. */
void store_node_encode(const struct store_node *n, struct buf *out);
/* Texts are views into the value. */
ATTR_NODISCARD bool store_node_decode(uint64_t id, struct str value, struct store_node *out);
