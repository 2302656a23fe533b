/*
 * Engine_cluster: the other nodes. A part of engine.h.
 *
 * The state has a record of every member (store_node.h). The leader makes Raft's configuration
 * match these records, one change at a time. A new member is added, receives a checkpoint and the
 * log, and votes once it has caught up. A leaving member is removed. A join or a leave is therefore
 * a command like any other, and continues under the next leader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/limits.h"
#include "cluster/node_members.h"
#include "cluster/peers.h"
#include "cluster/ship.h"
#include "store/store_node.h"

struct engine;

struct engine_cluster_config {
    const char *name;     /* --node-id */
    const char *version;  /* of the program */
    const char *http_url; /* of this node's API; empty while unknown */
    const char *bind;     /* peer address to listen on; NULL: do not listen */
    struct str secret;
    struct raftnet_link_tls tls;
    uint64_t rate_bytes; /* limit of a checkpoint transfer, per second */
    bool non_voter;      /* receives all data, but does not vote */
    bool invitable;      /* accept an invitation while it belongs to no cluster */
};

/* A member, as this node sees it. */
struct engine_cluster_node {
    uint64_t id;
    char name[STORE_NODE_NAME_BYTES_MAX + 1];
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
    char http_url[STORE_NODE_URL_BYTES_MAX + 1];
    char version[STORE_NODE_VERSION_BYTES_MAX + 1];
    enum store_node_state state;
    bool wants_vote;
    bool in_group; /* in Raft's configuration, with this role: */
    enum node_member_role role;
    bool self, leads;
    bool connected;
    bool installing;
    uint64_t match_index;    /* on the leader */
    int64_t last_contact_ms; /* -1: never */
    uint64_t queued_bytes, sent_bytes, received_bytes, connects;
    uint64_t hash_index; /* entry of the last comparison of states; 0: none */
    bool hash_differs;
    char error[160]; /* why it cannot be reached; empty if it can */
};

/* How often leadership changed from one node to another. from is 0 for the first leader seen. */
struct engine_cluster_change {
    uint64_t from, to; /* ids */
    uint64_t count;
};
enum { ENGINE_CLUSTER_CHANGES = 64 };

struct engine_cluster_status {
    uint64_t cluster_id;
    uint64_t node_id;
    bool removed;       /* this node was removed from the cluster */
    bool quarantined;   /* its state differs from the majority */
    uint64_t elections; /* leader changes seen since the start */
    struct engine_cluster_change changes[ENGINE_CLUSTER_CHANGES]; /* changes to another node */
    size_t change_count;
    uint64_t hash_compared_total, hash_differed_total;
    uint64_t hash_index, hash; /* the last entry that can be compared, and its hash */
    struct ship_progress fetch;
    struct peers_refusals refused; /* messages that this version cannot read */
    size_t count;
    struct engine_cluster_node nodes[LIMIT_NODES];
};

/* Inside engine_call.run. */
void engine_cluster_status(struct engine *e, struct engine_cluster_status *out);

/* The ids of this node and of its cluster; the latter is 0 before it has joined one. Any thread. */
uint64_t engine_cluster_node_id(const struct engine *e);
uint64_t engine_cluster_id(const struct engine *e);

/* Does the data directory belong to a member of a cluster? Call before the engine is opened. */
bool engine_cluster_has_begun(const char *data_dir);

/* Does this node's state differ from the majority? Then none of its data may be served. Any
 * thread. */
bool engine_cluster_is_quarantined(const struct engine *e);

/* The newest entry version that all members can read (command_entry.h). Any thread. */
uint8_t engine_cluster_reads(const struct engine *e);

/* This node was accepted by a cluster. ERR_CONFLICT if it belongs to another one. Any thread except
 * the core thread. */
ATTR_NODISCARD enum err_code engine_cluster_adopt(struct engine *e, uint64_t cluster_id,
                                                  struct err *err);

/* Set the URL of this node's API. Any thread except the core thread. */
void engine_cluster_announce(struct engine *e, const char *http_url);

/* Transfer leadership to the member with this name, or with NULL to the most up-to-date one. The
 * call returns before the transfer is complete. Inside engine_call.run. */
ATTR_NODISCARD enum err_code engine_cluster_transfer(struct engine *e, const char *name,
                                                     struct err *err);

/* The id of the member with this name, unless it was removed; 0: none. Inside engine_call.run. */
uint64_t engine_cluster_find(struct engine *e, struct str name);

/* The number of voters, and whether the member `id` votes. Inside engine_call.run. */
void engine_cluster_voters(struct engine *e, uint64_t id, unsigned *out_voters, bool *out_votes);

/* Reload the certificates of the peer port. Any thread except the core thread. */
ATTR_NODISCARD enum err_code engine_cluster_reload_tls(struct engine *e, struct err *err);
