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

/* What the node drives. All on the loop's thread unless said. */
struct node_fsm {
    void *data;

    /* One committed entry: the bytes that were proposed. Cannot fail: a state machine that cannot
     * apply stops the process. */
    void (*apply)(void *data, uint64_t index, struct str entry);

    /* The index of the last entry whose effects the state has. */
    uint64_t (*applied_index)(void *data);

    /* On a pool thread, while apply goes on: put a copy of the state into the folder dir, which
     * does not exist yet (its parent does), with at least everything applied when the call began,
     * durable on return. After a failure the node removes what is there. */
    enum err_code (*checkpoint)(void *data, const char *dir, struct err *err);

    /* Replace the whole state with the checkpoint in dir, which stays the node's. Its files have
     * been verified. At start, and when the leader sent it. */
    enum err_code (*restore)(void *data, const char *dir, struct err *err);

    /* Can an entry, or the checkpoint in a folder, be read? ERR_CORRUPT says why not. Entries are
     * asked for before they get into the log, and at start; checkpoints on another thread, before
     * they take the place of the log. Both may be NULL: everything can. */
    enum err_code (*knows_entry)(void *data, struct str entry, struct err *err);
    enum err_code (*knows_state)(void *data, const char *dir, struct err *err);

    /* The index of the last entry whose effects the checkpoint in a folder has. May be NULL. */
    enum err_code (*checkpoint_index)(void *data, const char *dir, uint64_t *out_index,
                                      struct err *err);

    /* This node began or ceased to lead. "Leads" means that it may take proposals: the first entry
     * of its term is applied, so the state has everything that was ever acknowledged. */
    void (*leads_changed)(void *data, bool leads);

    /* Somebody else leads, or nobody does (0), as far as this node knows. May be NULL. */
    void (*leader_changed)(void *data, uint64_t leader_id);
};

struct node_config {
    const char *dir;     /* created when missing; log segments, ballot and snapshots live in it */
    uint64_t id;         /* of this member, not 0 */
    bool id_assumed;     /* by the caller: the log must know it */
    const char *address; /* where peers reach it */
    bool bootstrap;      /* an empty dir becomes a group of one; otherwise it waits to be added */
    bool joined;         /* it belongs to a group already, and waits in any case */
    bool durable;        /* false: entries are written but not flushed before they count */
    uint64_t segment_bytes;      /* size of a log segment; one larger entry gets a larger one */
    uint64_t snapshot_log_bytes; /* take a snapshot when the log has grown by this much */
    uint64_t free_bytes_min;     /* below this much free space proposals are refused */
    uint64_t log_memory_max;     /* and past this much of the log in memory, because no snapshot
                                    could be taken; 0: eight times snapshot_log_bytes,
                                    64 MiB at least */
    unsigned heartbeat_ms;
    unsigned election_ms;
    const struct peers_config *peers; /* NULL: alone, and out of everybody's reach */
};

/* Defaults for everything but dir, id and address. */
struct node_config node_config_default(void);

/* Open the log and start. Replays what the state lacks before it returns; a group of one leads
 * soon after. ERR_CORRUPT names the file and offset that are damaged, ERR_CONFLICT means that
 * another process has the folder, ERR_VALIDATION that the settings cannot work. The fsm's data must
 * outlive the node. */
ATTR_NODISCARD enum err_code node_open(uv_loop_t *loop, const struct node_config *config,
                                       const struct node_fsm *fsm, struct node **out_node,
                                       struct err *err);

/* Stop. Does not hand leadership over. Proposals under way end with ERR_UNKNOWN_OUTCOME or
 * ERR_STOPPING, then closed(data) is called once, from the loop, and the node's memory is gone. */
void node_close(struct node *n, void (*closed)(void *data), void *data);

/* One entry on its way. The caller embeds it and keeps it alive until done. */
struct node_propose {
    /* set by the caller */
    char *bytes; /* from malloc; the node takes it over, whatever happens */
    size_t len;  /* a multiple of 8 */
    void (*done)(struct node_propose *p); /* once, from the loop, never inside node_propose */
    void *data;
    bool frees; /* it removes data: not refused for a lack of space while the log takes entries */
    /* result */
    uint64_t index; /* where it stands in the log */
    struct err err; /* code ERR_OK when committed and applied here; ERR_LEADER_UNAVAILABLE when it
                       certainly did not happen; ERR_NO_SPACE; ERR_UNKNOWN_OUTCOME */
    /* private */
    struct raft_apply apply;
    struct node *node;
    struct node_propose *next;
};

void node_propose(struct node *n, struct node_propose *p);

/* Hand leadership over: to the voter with this id, or with 0 to the one whose log is furthest.
 * Until it is over proposals are refused; then done(data, moved) is called once, from the loop and
 * never inside this call, unless the node is closed before. ERR_LEADER_UNAVAILABLE when this node
 * does not lead, ERR_CONFLICT when it is handing over already, ERR_NOT_FOUND when there is no such
 * voter beside this one. */
ATTR_NODISCARD enum err_code node_transfer(struct node *n, uint64_t target,
                                           void (*done)(void *data, bool moved), void *data,
                                           struct err *err);

/* How many proposals to keep under way: one for a group of one, a few in a cluster. */
unsigned node_depth(const struct node *n);

bool node_leads(const struct node *n);

/* The last entry of the log that is applied, of Raft's own entries too. */
uint64_t node_applied(const struct node *n);

/* Numbers for status and metrics. */
struct node_status {
    const char *role; /* "Leader", "Follower", "Candidate", "Shutdown" */
    bool leads;
    bool durable;
    bool low_space; /* proposals are refused, but for those that free space */
    bool full;      /* the disk has refused a write: all are */
    uint64_t term;
    uint64_t leader_id;
    uint64_t last_index, commit_index, applied_index;
    uint64_t snapshot_index, snapshot_term, snapshot_count;
    uint64_t flush_count;        /* log flushes since start */
    uint64_t log_bytes;          /* in segments in use */
    uint64_t log_entries_memory; /* entries Raft holds in memory */
    uint64_t log_bytes_memory;   /* and their bytes */
    uint64_t log_memory_max;
    uint64_t snapshot_bytes;    /* of the files of the largest snapshot kept */
    uint64_t snapshot_failures; /* since the last one that was stored */
    char snapshot_error[240];   /* of the last failure; empty when there was none since */
};

void node_status(struct node *n, struct node_status *out);

/* Flushes of the log since start, and the longest since the last call. */
struct node_flushes {
    uint64_t count, ns;
    uint64_t longest_ns;
};
struct node_flushes node_take_flushes(struct node *n);

/* Take a snapshot at the next applied entry, whatever the log's size: for tests and operators. */
void node_snapshot_soon(struct node *n);

/* The same without waiting for an entry: the leader adds one without effect. */
void node_snapshot_now(struct node *n);

/* So many bytes must be free from now on for proposals to be taken; looks at once. */
void node_need_space(struct node *n, uint64_t free_bytes_min);
