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
    /* Where the member with this id is reached; NULL: where Raft says. */
    const char *(*address)(void *data, uint64_t id);
    /* Was it taken out of the cluster? */
    bool (*is_removed)(void *data, uint64_t id);
    /* What a member says of itself when it connects. */
    void (*met)(void *data, const struct raftnet_shake_node *node);
    /* The connection to a member broke: its process may be gone. */
    void (*lost)(void *data, uint64_t id);
    /* A cluster invites this node, which belongs to it or to none: true when it does now. */
    bool (*adopt)(void *data, uint64_t cluster, struct err *err);
    /* Others say that we were taken out. */
    void (*removed)(void *data, const char *by);
    /* The hash of a member's state at an index. */
    void (*hashed)(void *data, uint64_t id, uint64_t index, uint64_t hash);
    /* The leader has said that everything up to this entry is committed; Raft has heard it. */
    void (*committed)(void *data, uint64_t index);
    /* The newest version of an entry that a member reads. */
    void (*reads)(void *data, uint64_t id, uint8_t version);
};

/* What the state machine can read; both may be NULL, which means all. */
struct peers_reader {
    void *data;
    /* An entry; ERR_CORRUPT says why not. */
    enum err_code (*entry)(void *data, struct str entry, struct err *err);
    /* A checkpoint in this folder, on the thread that has fetched it. */
    enum err_code (*state)(void *data, const char *dir, struct err *err);
};

/* What was refused because it could not be read. */
struct peers_refusals {
    uint64_t total;  /* messages with such entries, and checkpoints */
    char error[200]; /* what the last was; empty once entries that it stopped at are read */
};

struct peers_config {
    const char *bind; /* NULL: nobody listens, for a node that stays alone */
    struct str secret;
    struct raftnet_link_tls tls;
    uint64_t rate_bytes; /* of a checkpoint per second, at most */
    struct raftnet_shake_node self;
    struct peers_hooks hooks;
};

/* dir is the member's folder. */
ATTR_NODISCARD enum err_code peers_open(uv_loop_t *loop, const struct peers_config *config,
                                        const char *dir, struct peers **out_peers, struct err *err);

/* The mailbox for what comes back from threads; before the transport is started. */
void peers_attach(struct peers *p, struct mailbox *box);

/* Before the transport is started. */
void peers_set_reader(struct peers *p, const struct peers_reader *reader);
void peers_refusals(const struct peers *p, struct peers_refusals *out);

/* Without a start. Closes like the transport's close. */
void peers_close(struct peers *p, void (*closed)(void *data), void *data);

struct disk_io_transport peers_transport(struct peers *p);

uint16_t peers_port(const struct peers *p);

/* Who we are, from now on. */
void peers_set_self(struct peers *p, const struct raftnet_shake_node *self);
const struct raftnet_shake_node *peers_self(const struct peers *p);

/* Take part, or be silent: say nothing and hear nothing. */
void peers_set_silent(struct peers *p, bool silent);

enum { PEERS_INVITES_MAX = 4, PEERS_INVITE_MS = 2000 };

/* An invitation of a node that waits for one (raftnet_shake.h), sent on a thread of its own. */
struct peers_invite {
    /* set by the caller, for as long as it is under way */
    const char *address;
    struct str name;                      /* of the node that is meant */
    void (*done)(struct peers_invite *i); /* on the loop, once */
    /* result */
    struct err err;
    uint64_t id; /* of the node, which belongs to our cluster now */
    bool voter;  /* it wants to be one */
    /* private */
    struct msg msg;
    struct peers *peers;
    struct raftnet_stream_target target;
    char *texts; /* that the thread reads */
    pthread_t thread;
};

/* ERR_OVERLOADED when too many are under way; done does not come then. */
ATTR_NODISCARD enum err_code peers_invite(struct peers *p, struct peers_invite *i, struct err *err);

/* Tell a member the hash of our state at an index. */
void peers_send_hash(struct peers *p, uint64_t id, const char *address, uint64_t index,
                     uint64_t hash);

/* Tell a member which versions of an entry we read. */
void peers_send_reads(struct peers *p, uint64_t id, const char *address, uint8_t version);

ATTR_NODISCARD enum err_code peers_reload_tls(struct peers *p, struct err *err);

void peers_stats(const struct peers *p, uint64_t id, struct raftnet_peer_stats *out);

/* A checkpoint that is being fetched, or the last one that was. */
void peers_fetch_status(const struct peers *p, struct ship_progress *out);
