/*
 * Node_int: shared by the files of the node. node.c has start, stop and proposals; node_state.c is
 * the state machine as Raft sees it: applying, snapshots, restoring.
 */
#pragma once

#include "base/clock.h"
#include "cluster/disk_io.h"
#include "cluster/guard.h"
#include "cluster/node.h"
#include "cluster/peers.h"
#include "cluster/tell.h"
#include "cluster/transfer.h"
#include "loop/mailbox.h"
#include "raftlog/snapshots.h"

/* A snapshot being taken. Owned by the loop's thread, except while the pool works on it. */
struct node_snapshot {
    uint64_t index, term, members_index;
    struct buf members;
    struct snapshots_id id;
    const struct manifest *earlier; /* NULL: none */
    struct mono began;
    struct err err; /* why the checkpoint failed */
};

struct node {
    uv_loop_t *loop;
    struct mailbox box;
    struct node_fsm fsm;
    uint64_t snapshot_log_bytes;
    uint64_t free_bytes_min;
    uint64_t log_memory_max;
    bool durable;

    struct disk_io *disk;
    struct peers *peers; /* NULL: none */
    struct disk_io_transport transport;
    struct raft raft;
    struct raft_io io;
    struct raft_fsm raft_fsm;
    struct guard guard;
    bool leads;          /* as last reported to the state machine */
    uint64_t leader_id;  /* the same */
    bool stands;         /* the same: it is a candidate */
    raft_time looked_at; /* last check for a majority */

    /* A membership change in progress. */
    struct raft_change change;
    bool changing;

    /* Leadership transfer. */
    struct transfer transfer;
    void (*transferred)(void *data, bool moved);
    void *transferred_data;

    struct tell tell;

    /* Proposals that have ended and whose done was not called yet. */
    struct node_propose *finished, **finished_end;
    struct msg finished_msg;
    bool finished_posted;

    /* Snapshots. */
    struct node_snapshot *snapshot;      /* NULL: none in progress */
    uint64_t bytes_since, entries_since; /* applied since the last one started */
    bool snapshot_soon;
    uint64_t restored_index; /* of the snapshot that was restored since the start */
    uint64_t snapshot_count;
    uint64_t snapshot_failures; /* since the last successful one */
    struct err snapshot_err;
    struct raft_barrier nudge; /* an entry without effect, for a snapshot */
    bool nudging;

    /* Closing. */
    bool closing, raft_closed, ending;
    const char *cut;   /* why the process must stop after Raft is closed; NULL: it continues */
    uv_timer_t end[2]; /* never started: their close callbacks show that the loop is done with the
                          mailbox */
    void (*closed)(void *data);
    void *closed_data;
};

static inline bool node__leads(const struct node *n)
{
    return !n->closing && guard_ready(&n->guard);
}

/* node_members.c: a leader without contact to a majority steps down. Call after each event. */
void node_members__look(struct node *n);

/* Let Raft take a snapshot if one is due. */
void node_state__consider_snapshot(struct node *n);

/* The functions for Raft. */
struct raft_fsm node_state__fsm(struct node *n);

/* Replace the state by the newest snapshot if it contains more entries. */
ATTR_NODISCARD enum err_code node_state__restore(struct node *n, const struct manifest *m,
                                                 struct err *err);
