/*
 * Engine_cluster_int: the engine's information about the other nodes, shared by its files. A part
 * of engine_int.h.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <uv.h>

#include "base/limits.h"
#include "cluster/peers.h"
#include "engine/engine.h"
#include "engine/engine_cluster.h"
#include "engine/engine_leader.h"
#include "engine/engine_reads.h"
#include "engine/engine_room.h"

/* What a member reported about itself when it connected. */
struct engine_met {
    struct raftnet_shake_node node; /* id 0: none; its texts point to the arrays below */
    char name[STORE_NODE_NAME_BYTES_MAX + 1];
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
    char http_url[STORE_NODE_URL_BYTES_MAX + 1];
    char version[STORE_NODE_VERSION_BYTES_MAX + 1];
};

enum { ENGINE_MET = 16, ENGINE_HASH_LEVELS = 3, ENGINE_HASH_POINTS = 64 };

struct engine_hash_point {
    uint64_t index, hash;
};

struct engine_hash_peer {
    uint64_t id;
    struct engine_hash_point ahead; /* its hash of an entry that this node has not applied yet */
    struct engine_hash_point differs;
    uint64_t compared_index;
};

/* Data of engine_hash.c. */
struct engine_hash {
    struct engine_hash_point points[ENGINE_HASH_LEVELS][ENGINE_HASH_POINTS];
    struct engine_hash_point last[ENGINE_HASH_LEVELS];
    uint64_t told[ENGINE_HASH_LEVELS];
    struct engine_hash_peer peers[LIMIT_NODES];
    size_t peer_count;
    int64_t tell_ms;
    uint64_t compared_total, differed_total;
    atomic_bool quarantined; /* read by any thread */
};

/* Measures how old the state of a follower may be (engine_leader_lag_ms). */
struct engine_lag {
    uint64_t commit; /* commit index reported by the leader */
    int64_t at_ns;   /* time of the report; 0: this node has applied all entries up to it */
    atomic_int_fast64_t had_ns; /* last time at which all reported entries were applied; 0: never */
};

/* Data of engine_cluster.c. */
struct engine_cluster {
    uv_timer_t timer;
    struct engine_op op; /* writes member records */
    bool busy;
    bool version_marked;
    struct peers_config peers;
    struct raftnet_shake_node self; /* as of the start */
    struct engine_met met[ENGINE_MET];
    size_t met_next;
    uint64_t met_put;                        /* node whose report is being recorded; 0: none */
    struct node_member members[LIMIT_NODES]; /* scratch */
    size_t member_count;
    uint64_t last_index;
    uint64_t changes; /* machine_nodes_changes at the last check */
    uint64_t leader_id, elections;
    uint64_t led_last; /* the last leader; 0: none yet */
    struct engine_cluster_change
        leaders[ENGINE_CLUSTER_CHANGES]; /* pairs seen; further pairs are not reported */
    size_t leader_pairs;
    bool removed;
    struct engine_hash hash;
    struct engine_lag lag;
    struct engine_told told;
    uint8_t entry_version;           /* newest version that all members read; 0: unknown */
    atomic_uint_fast8_t read_by_all; /* version to write, for any thread */
    int64_t room_ms; /* when leadership may be handed over for lack of space again */
    int64_t tell_ms; /* when to send the members what they must know of this node */
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
    atomic_uint_fast64_t node_id, cluster_id; /* read by any thread */
    pthread_mutex_t lock;                     /* protects leader */
    pthread_cond_t leader_known;
    struct engine_leader leader;
};

/* engine_cluster.c: the other nodes */
enum err_code engine_cluster__identify(struct engine *e, struct err *err); /* read the identity */
enum err_code engine_cluster__keep_identity(struct engine *e, struct err *err); /* store it */
void engine_cluster__init(struct engine *e);
void engine_cluster__open(struct engine *e);
void engine_cluster__start(struct engine *e);
void engine_cluster__close(struct engine *e);
void engine_cluster__closed(struct engine *e); /* the loop has ended */
void engine_cluster__free(struct engine *e);
void engine_cluster__leader(struct engine *e, uint64_t leader_id); /* the leader changed */
void engine_cluster__leads(struct engine *e); /* this node became leader, or is no longer leader */
void engine_cluster__applied(struct engine *e, uint64_t index);
void engine_cluster__moved(void *data, bool moved);
uint8_t engine_cluster__entry_version(const struct engine *e); /* the version to write */
void engine_cluster__look(struct engine *e); /* read Raft's configuration into members */
/* A member by its id, as it was when the configuration was read; NULL: not in it. */
const struct node_member *engine_cluster__member(const struct engine_cluster *c, uint64_t id);
void engine_cluster__copy(char *out, size_t size, struct str s); /* truncates */

/* engine_invite.c: this node becomes part of a cluster, by a join or an invitation (peers_hooks) */
enum err_code engine_invite__adopt(struct engine *e, uint64_t cluster_id, struct err *err);
bool engine_invite__adopt_hook(void *data, uint64_t cluster_id, struct err *err);

/* engine_hash.c: compares the state with that of the other nodes */
void engine_hash__start(struct engine *e); /* the node is open; nothing was received yet */
void engine_hash__applied(struct engine *e, uint64_t index);
void engine_hash__heard(struct engine *e, uint64_t id, uint64_t index, uint64_t hash);
void engine_hash__tell(struct engine *e);
void engine_hash__describe(struct engine *e, struct engine_cluster_node *out);
void engine_hash__status(struct engine *e, struct engine_cluster_status *out);
