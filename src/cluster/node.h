/*
 * Node: one member of a Raft group, with its log on disk.
 *
 * Passes entries through Raft and hands committed ones to a state machine, which it knows only as a
 * table of functions. Everything runs on one libuv loop, including writes to the log (wal.h); only
 * checkpoints are made in libuv's thread pool.
 *
 *   node_propose --> raft_apply --> next turn: write + flush --> commit --> fsm.apply --> done
 *
 * Guarantees: done with ERR_OK means that the entry is on the disks of a majority and applied here.
 * Entries are applied in log order, each exactly once, even if the process crashes: the state
 * machine stores the applied index with its state, and entries up to that index are not handed over
 * again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <raft.h>
#include <uv.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct node;
struct peers_config;

/* The state machine. All functions are called on the loop's thread, unless noted otherwise. */
struct node_fsm {
    void *data;

    /* Apply a committed entry, the bytes that were proposed. Cannot fail: a state machine that
     * cannot apply an entry stops the process. */
    void (*apply)(void *data, uint64_t index, struct str entry);

    /* The index of the last applied entry. */
    uint64_t (*applied_index)(void *data);

    /* Write a copy of the state into the directory dir, which does not exist yet (its parent does).
     * It includes at least everything applied when the call started, and is durable on return. On a
     * pool thread, while entries are applied. After a failure the node removes dir. */
    enum err_code (*checkpoint)(void *data, const char *dir, struct err *err);

    /* Replace the whole state by the checkpoint in dir, which the node keeps. Its files have been
     * verified. Called at start, and after the leader has sent a checkpoint. */
    enum err_code (*restore)(void *data, const char *dir, struct err *err);

    /* Can this version read an entry, or the checkpoint in a directory? ERR_CORRUPT gives the
     * reason. Entries are checked before they are written to the log, and at start; checkpoints
     * before they replace the log, on another thread. NULL: everything can be read. */
    enum err_code (*knows_entry)(void *data, struct str entry, struct err *err);
    enum err_code (*knows_state)(void *data, const char *dir, struct err *err);

    /* The index of the last entry in the checkpoint in a directory. Can be NULL. */
    enum err_code (*checkpoint_index)(void *data, const char *dir, uint64_t *out_index,
                                      struct err *err);

    /* This node became leader, or is no longer leader. A leader accepts proposals: the first entry
     * of its term is applied, so the state contains everything that was ever acknowledged. */
    void (*leads_changed)(void *data, bool leads);

    /* The leader changed; 0: no leader is known. Can be NULL. */
    void (*leader_changed)(void *data, uint64_t leader_id);

    /* This node became a candidate, or is no longer one. Can be NULL. */
    void (*stands_changed)(void *data, bool stands);
};

struct node_config {
    const char *dir;        /* for log, ballot and snapshots; created if missing */
    uint64_t id;            /* of this member, not 0 */
    bool id_assumed;        /* assumed by the caller: it must be in the log */
    const char *address;    /* for peers */
    bool bootstrap;         /* create a group of one in an empty dir; if false, wait to be added */
    bool joined;            /* it already joined a group: never create one */
    bool durable;           /* false: entries are written but not flushed before they count */
    uint64_t segment_bytes; /* size of a log segment; larger for a larger entry */
    uint64_t snapshot_log_bytes; /* take a snapshot when the log has grown by this much */
    uint64_t free_bytes_min;     /* proposals are refused below this much free space… */
    uint64_t log_memory_max; /* …and above this much log in memory, if snapshots fail. A follower
                                then accepts no entries. 0: eight times snapshot_log_bytes, at
                                least 64 MiB */
    unsigned heartbeat_ms;
    unsigned election_ms;
    const struct peers_config *peers; /* NULL: a group of one, without a peer port */
};

/* Defaults for everything except dir, id and address. */
struct node_config node_config_default(void);

/* Open the log and start. Entries that the state lacks are applied before this returns; a group of
 * one becomes leader soon after. ERR_CORRUPT names the damaged file and offset; ERR_CONFLICT:
 * another process uses the directory; ERR_VALIDATION: invalid settings. The data of fsm must
 * outlive the node. */
ATTR_NODISCARD enum err_code node_open(uv_loop_t *loop, const struct node_config *config,
                                       const struct node_fsm *fsm, struct node **out_node,
                                       struct err *err);

/* Stop, without transferring leadership. Pending proposals end with ERR_UNKNOWN_OUTCOME or
 * ERR_STOPPING; then the node is freed and closed(data) is called once, from the loop. */
void node_close(struct node *n, void (*closed)(void *data), void *data);

/* One proposed entry. The caller embeds it and keeps it alive until done. */
struct node_propose {
    /* set by the caller */
    char *bytes;                          /* from malloc; the node takes ownership in any case */
    size_t len;                           /* a multiple of 8 */
    void (*done)(struct node_propose *p); /* once, from the loop, never inside node_propose */
    void *data;
    bool frees; /* it removes data: accepted when space is low, while the log can be written */
    /* result */
    uint64_t index; /* in the log */
    struct err err; /* ERR_OK: committed and applied here; ERR_LEADER_UNAVAILABLE: certainly not
                       applied; ERR_NO_SPACE; ERR_UNKNOWN_OUTCOME */
    /* private */
    struct raft_apply apply;
    struct node *node;
    struct node_propose *next;
};

void node_propose(struct node *n, struct node_propose *p);

/* Transfer leadership to the voter with this id, or with 0 to the most up-to-date one. Proposals
 * are refused until it ends; then done(data, moved) is called once, from the loop and never inside
 * this call, unless the node is closed first. ERR_LEADER_UNAVAILABLE: this node is not leader;
 * ERR_CONFLICT: a transfer is in progress; ERR_NOT_FOUND: there is no such other voter. */
ATTR_NODISCARD enum err_code node_transfer(struct node *n, uint64_t target,
                                           void (*done)(void *data, bool moved), void *data,
                                           struct err *err);

/* How many proposals should be in progress: one in a group of one, a few in a cluster. */
unsigned node_depth(const struct node *n);

bool node_leads(const struct node *n);

/* The last applied entry of the log, including Raft's own entries. */
uint64_t node_applied(const struct node *n);

/* Numbers for status and metrics. */
struct node_status {
    const char *role; /* "Leader", "Follower", "Candidate", "Shutdown" */
    bool leads;
    bool durable;
    bool low_space; /* proposals are refused, except those that free space */
    bool full;      /* a write failed for lack of space: all are refused */
    uint64_t term;
    uint64_t leader_id;
    uint64_t last_index, commit_index, applied_index;
    uint64_t snapshot_index, snapshot_term, snapshot_count;
    uint64_t flush_count;        /* log flushes since start */
    uint64_t log_bytes;          /* in segments in use */
    uint64_t log_entries_memory; /* entries Raft holds in memory */
    uint64_t log_bytes_memory;   /* their size */
    uint64_t log_memory_max;
    uint64_t snapshot_bytes;    /* size of the largest snapshot kept */
    uint64_t snapshot_failures; /* since the last successful one */
    char snapshot_error[240];   /* of the last failure; empty: none since */
};

void node_status(struct node *n, struct node_status *out);

/* Flushes of the log since the start, and the longest since the last call. */
struct node_flushes {
    uint64_t count, ns;
    uint64_t longest_ns;
};
struct node_flushes node_take_flushes(struct node *n);

/* Take a snapshot at the next applied entry, regardless of the log's size. For tests and operators.
 */
void node_snapshot_soon(struct node *n);

/* The same, but without waiting for an entry: the leader adds one without effect, and a follower
 * takes it at the next heartbeat. */
void node_snapshot_now(struct node *n);

/* Change the free space that proposals require. Takes effect immediately. */
void node_need_space(struct node *n, uint64_t free_bytes_min);
