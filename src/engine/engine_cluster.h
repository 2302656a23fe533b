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
    const char *http_url; /* of our API, for others; empty while it is not known */
    const char *bind;     /* for peers; NULL: nobody listens */
    struct str secret;
    struct raftnet_link_tls tls;
    uint64_t rate_bytes; /* of a checkpoint, per second */
    bool non_voter;      /* only reads along */
    bool invitable;      /* while it belongs to no cluster, it adopts one that invites it */
};

/* A member, with what is known of it here. */
struct engine_cluster_node {
    uint64_t id;
    char name[STORE_NODE_NAME_BYTES_MAX + 1];
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
    char http_url[STORE_NODE_URL_BYTES_MAX + 1];
    char version[STORE_NODE_VERSION_BYTES_MAX + 1];
    enum store_node_state state;
    bool wants_vote;
    bool in_group; /* Raft's list has it, with: */
    enum node_member_role role;
    bool self, leads;
    bool connected;
    bool installing;
    uint64_t match_index;    /* on the leader */
    int64_t last_contact_ms; /* -1: never heard */
    uint64_t queued_bytes, sent_bytes, received_bytes, connects;
    uint64_t hash_index; /* where its state was compared with ours last; 0: nowhere */
    bool hash_differs;
    char error[160]; /* why it is not reached; empty when it is */
};

/* How often the second was the leader after the first, which is 0 for nobody. */
struct engine_cluster_change {
    uint64_t from, to; /* ids */
    uint64_t count;
};
enum { ENGINE_CLUSTER_CHANGES = 64 };

struct engine_cluster_status {
    uint64_t cluster_id;
    uint64_t node_id;
    bool removed;       /* this node was taken out */
    bool quarantined;   /* its state is not that of the others */
    uint64_t elections; /* leaders seen since the start */
    struct engine_cluster_change changes[ENGINE_CLUSTER_CHANGES]; /* those that were others */
    size_t change_count;
    uint64_t hash_compared_total, hash_differed_total;
    uint64_t hash_index, hash; /* the last point that others can compare */
    struct ship_progress fetch;
    struct peers_refusals refused; /* what this version cannot read */
    size_t count;
    struct engine_cluster_node nodes[LIMIT_NODES];
};

/* Inside engine_call.run. */
void engine_cluster_status(struct engine *e, struct engine_cluster_status *out);

/* The number of this node and of its cluster, which is 0 before it has joined one. Any thread. */
uint64_t engine_cluster_node_id(const struct engine *e);
uint64_t engine_cluster_id(const struct engine *e);

/* Does the data folder belong to a member of a cluster? Before the engine is opened on it. */
bool engine_cluster_has_begun(const char *data_dir);

/* Its state is not that of the majority: nothing that it has may be told. Any thread. */
bool engine_cluster_is_quarantined(const struct engine *e);

/* The newest version of an entry that all members read (command_entry.h). Any thread. */
uint8_t engine_cluster_reads(const struct engine *e);

/* A cluster has taken this node in. From any thread but the core's. ERR_CONFLICT when it belongs to
 * another one. */
ATTR_NODISCARD enum err_code engine_cluster_adopt(struct engine *e, uint64_t cluster_id,
                                                  struct err *err);

/* Where our API is, from now on. From any thread but the core's. */
void engine_cluster_announce(struct engine *e, const char *http_url);

/* Hand leadership over: to the member with this name, or with NULL to the one that is furthest.
 * Inside engine_call.run; who leads then is seen by looking. */
ATTR_NODISCARD enum err_code engine_cluster_transfer(struct engine *e, const char *name,
                                                     struct err *err);

/* The id of the member with this name, that was not removed; 0: none. Inside engine_call.run. */
uint64_t engine_cluster_find(struct engine *e, struct str name);

/* How many members vote, and whether this one does. Inside engine_call.run. */
void engine_cluster_voters(struct engine *e, uint64_t id, unsigned *out_voters, bool *out_votes);

/* Read the certificates of the peer port again. From any thread but the core's. */
ATTR_NODISCARD enum err_code engine_cluster_reload_tls(struct engine *e, struct err *err);
