/*
 * Peers: the other members, for Raft and for other messages between nodes.
 *
 * A transport for libraft (disk_io.h) over raftnet. Messages are validated when they arrive
 * (wire.h). A snapshot is passed to Raft only after its files have been fetched from the sender,
 * over a separate connection and on a separate thread (ship.h); Raft waits meanwhile.
 *
 * Raft does not receive anything that the state machine cannot read, because everything that Raft
 * stores must be applied. Entries are cut off before the first unreadable one, and an unreadable
 * snapshot is ignored. A member with an older version then falls behind and reports the reason.
 *
 * Everything belongs to the thread of the loop.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <raft.h>
#include <uv.h>

#include "base/attr.h"
#include "base/err.h"
#include "cluster/disk_io.h"
#include "cluster/ship.h"
#include "loop/mailbox.h"
#include "raftnet/raftnet.h"

struct peers;

struct peers_hooks {
    void *data;
    /* The address of a member; NULL: use the one in Raft's configuration. */
    const char *(*address)(void *data, uint64_t id);
    /* Was the member removed from the cluster? */
    bool (*is_removed)(void *data, uint64_t id);
    /* A member connected and reported this about itself. */
    void (*met)(void *data, const struct raftnet_shake_node *node);
    /* The connection to a member broke: its process may have ended. */
    void (*lost)(void *data, uint64_t id);
    /* A cluster invites this node, which belongs to it or to none. Returns true if it accepts. */
    bool (*adopt)(void *data, uint64_t cluster, struct err *err);
    /* Another member reports that this node was removed. */
    void (*removed)(void *data, const char *by);
    /* A member reported the hash of its state at an index. */
    void (*hashed)(void *data, uint64_t id, uint64_t index, uint64_t hash);
    /* The leader reported that everything up to this entry is committed; Raft has received it. */
    void (*committed)(void *data, uint64_t index);
    /* A member reported the newest entry version that it can read. */
    void (*reads)(void *data, uint64_t id, uint8_t version);
    /* A member reported what its disk space allows, as peers_send_space was given it. */
    void (*space)(void *data, uint64_t id, uint8_t level);
};

/* Functions that check what the state machine can read. NULL: everything. */
struct peers_reader {
    void *data;
    /* An entry. ERR_CORRUPT gives the reason. */
    enum err_code (*entry)(void *data, struct str entry, struct err *err);
    /* A checkpoint in a directory, on the thread that has fetched it. */
    enum err_code (*state)(void *data, const char *dir, struct err *err);
};

/* Messages and checkpoints refused because this version cannot read them. */
struct peers_refusals {
    uint64_t total;  /* number of messages and checkpoints */
    char error[200]; /* the last reason; empty after such an entry could be read */
};

struct peers_config {
    const char *bind; /* NULL: do not listen */
    struct str secret;
    struct raftnet_link_tls tls;
    uint64_t rate_bytes; /* limit of a checkpoint transfer, per second */
    struct raftnet_shake_node self;
    struct peers_hooks hooks;
};

/* dir is the member's directory. */
ATTR_NODISCARD enum err_code peers_open(uv_loop_t *loop, const struct peers_config *config,
                                        const char *dir, struct peers **out_peers, struct err *err);

/* Set the mailbox for results of threads. Call before the transport is started. */
void peers_attach(struct peers *p, struct mailbox *box);

/* Call before the transport is started. */
void peers_set_reader(struct peers *p, const struct peers_reader *reader);
void peers_refusals(const struct peers *p, struct peers_refusals *out);

/* Close if the transport was not started; works like the transport's close. */
void peers_close(struct peers *p, void (*closed)(void *data), void *data);

struct disk_io_transport peers_transport(struct peers *p);

uint16_t peers_port(const struct peers *p);

/* Change what this node reports about itself. */
void peers_set_self(struct peers *p, const struct raftnet_shake_node *self);
const struct raftnet_shake_node *peers_self(const struct peers *p);

/* silent: send and receive nothing. */
void peers_set_silent(struct peers *p, bool silent);

enum { PEERS_INVITES_MAX = 4, PEERS_INVITE_MS = 2000 };

/* An invitation to a waiting node (raftnet_shake.h), sent on a separate thread. */
struct peers_invite {
    /* set by the caller; must stay valid until done */
    const char *address;
    struct str name;                      /* the node must have this name */
    void (*done)(struct peers_invite *i); /* on the loop, once */
    /* result */
    struct err err;
    uint64_t id; /* of the node, which now belongs to this cluster */
    bool voter;  /* the node wants to vote */
    /* private */
    struct msg msg;
    struct peers *peers;
    struct raftnet_stream_target target;
    char *texts; /* read by the thread */
    pthread_t thread;
};

/* ERR_OVERLOADED if too many are in progress; done is not called then. */
ATTR_NODISCARD enum err_code peers_invite(struct peers *p, struct peers_invite *i, struct err *err);

/* Send a member the hash of this node's state at an index. */
void peers_send_hash(struct peers *p, uint64_t id, const char *address, uint64_t index,
                     uint64_t hash);

/* Send a member the newest entry version that this node can read. */
void peers_send_reads(struct peers *p, uint64_t id, const char *address, uint8_t version);

/* Send a member what this node's disk space allows: 0 everything; the more, the less. */
void peers_send_space(struct peers *p, uint64_t id, const char *address, uint8_t level);

ATTR_NODISCARD enum err_code peers_reload_tls(struct peers *p, struct err *err);

void peers_stats(const struct peers *p, uint64_t id, struct raftnet_peer_stats *out);

/* The current or last transfer of a checkpoint to this node. */
void peers_fetch_status(const struct peers *p, struct ship_progress *out);
