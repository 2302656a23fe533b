/*
 * Guard: makes libraft 0.15.0 safe from outside.
 *
 * This version, the one in Debian 12, can lose acknowledged entries and let replicas diverge;
 * docs/decisions/0001 explains why we use it anyway. All its input and output passes through its
 * struct raft_io, and its state is public, so the defects can be fixed there. The guard sits
 * between raft and the real raft_io. It corrects what raft receives, delays or corrects what raft
 * sends, and submits the one entry per term that the algorithm needs.
 *
 *   loop --> tick, message, completion --> guard --> raft --> send, append, … --> guard --> raft_io
 *
 * Each rule below names the defect that it fixes. tests/sim/guard_sim.c shows each defect with its
 * rule off, and that it is gone with the rule on; tests/sim/cluster_sim.c looks for new defects.
 *
 * Requirements on the raft_io below the guard: appends complete in the order in which they were
 * submitted; truncate takes effect between the appends before and after it; no callback runs inside
 * the call that it answers; close calls back when all operations in progress have ended.
 *
 * Everything here runs on raft's thread. The guard never logs and never blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <raft.h>

/* clang-format off */
enum guard_rule {
    GUARD_BARRIER,    /* G1  a new leader first commits an entry of its own term: raft commits older ones by count */
    GUARD_HOLD_ACKS,  /* G2  ... and receives no success before it has stored that entry itself */
    GUARD_HONEST,     /* G3  a success confirms only the entries of the request, not whatever follows them in the log */
    GUARD_LATE,       /* G4  entries stored for the leader of an older term are not acknowledged to a newer one */
    GUARD_CALM,       /* G5  no election and no rewriting of the log while entries or a snapshot are being stored */
    GUARD_ADDRESS,    /* G6  no message without a receiver: raft responds to a leader that it has just forgotten */
    GUARD_STORED,     /* G7  a failed write stops the node: raft would continue with a log that is not on disk */
    GUARD_SNAPSHOT,   /* G8  no snapshot while a membership change is uncommitted: the snapshot would contain it */
    GUARD_MEMBERS,    /* G9  if a membership change is truncated from the log, raft is restarted, because it rolls back wrongly */
    GUARD_QUEUE,      /* G11 a peer that does not read uses a limited amount of memory */
    GUARD_CHUNK,      /* G12 long appends are split: a probe would carry the whole log otherwise */
    GUARD_VOTE,       /* G14 one vote per term, also while leadership is being transferred */
    GUARD_INSTALL,    /* G15 a snapshot replaces a log that contradicts it, and determines the membership */
    GUARD_PRE_VOTE,   /* G16 a refused pre-vote contains the term: a candidate with the best log but an old term would never win */
    GUARD_TERM,       /* G17 a group of one becomes leader in a new term each time: raft elects it in the old one */
    GUARD_STANDBY,    /* G18 a stand-by votes on request: it may have been promoted without knowing it */
    GUARD_BATCH,      /* G19 each entry read at start has its own memory: raft frees shared memory too early */
    GUARD_COMPACTED,  /* G20 entries covered by the own snapshot count as present: raft refuses them, or appends them again */
    GUARD_LOG,        /* G21 the log in a follower's memory is limited, also while no snapshot shortens it */
    GUARD_RULE_COUNT
};
/* clang-format on */

/* Functions that the guard calls, from raft's thread and never inside a call to raft. They may call
 * raft_close, but must not free the guard. */
struct guard_hooks {
    void *data;

    /* The role, the term or guard_ready changed. */
    void (*state_changed)(void *data);

    /* An event was delivered, whether it changed anything or not. Can be NULL. */
    void (*delivered)(void *data);

    /* Raft must not continue with its memory, and gets no more events. Called once. For
     * GUARD_MEMBERS, close raft, so that the truncation reaches the disk, and start it again; if
     * the process ends instead, the disk has had time for it, because the guard waits one heartbeat
     * before this call. For GUARD_STORED, a write has failed. */
    void (*fatal)(void *data, enum guard_rule rule, const char *reason);
};

/* The guard's data about one peer. */
struct guard_peer {
    struct guard_peer *next;
    raft_id id;
    uint64_t queued_bytes;      /* of sends in progress */
    struct guard_send *sending; /* the append being sent in pieces, and the messages after it */
    raft_index held_index;      /* GUARD_HOLD_ACKS: the success held back; 0: none */
};

/* Limits of the response that raft is about to send. */
struct guard_answer {
    bool late;      /* the request came from an older term's leader */
    raft_index cap; /* the last index in the request */
};

struct guard {
    /* May be changed between guard_install and raft_start. */
    uint64_t queue_bytes;   /* GUARD_QUEUE: per peer; one message may exceed it */
    uint64_t chunk_bytes;   /* GUARD_CHUNK: entries per message; a single entry may exceed it */
    uint64_t log_bytes_max; /* GUARD_LOG: a follower whose log in memory exceeds this accepts no
                               further entries until a snapshot shortens it; 0: no limit */
    unsigned off;           /* bits 1 << rule; only for tests that show that each rule is needed */

    uint64_t log_bytes; /* of the entries in raft's memory, stored or not; to read */

    /* private */
    struct raft *raft;
    struct raft_io *io;
    struct raft_io below; /* the original functions */
    struct raft_fsm fsm;  /* the owner's, with the snapshot function replaced */
    struct raft_fsm *fsm_below;
    struct guard_hooks hooks;
    raft_io_tick_cb tick_cb;
    raft_io_recv_cb recv_cb;
    raft_io_close_cb close_cb;
    bool closing;
    bool stopped; /* fatal: no more events are delivered */
    bool told;    /* the hook was called */
    enum guard_rule stopped_by;
    raft_time stopped_at;
    const char *reason;

    /* the state at the last call of state_changed */
    unsigned short seen_state;
    raft_term seen_term;
    bool seen_ready;

    /* the first entry of a leader's term */
    struct raft_barrier barrier;
    bool barrier_busy;      /* the request is in use by raft */
    raft_term barrier_term; /* 0: none for the current term */
    raft_index barrier_index;

    /* writes in progress */
    struct guard_append *appends; /* oldest first */
    struct guard_append *parked;  /* ended after the guard stopped; returned to raft at close */
    struct guard_answer *answer;  /* while raft handles a request that it responds to */
    struct guard_put *put;        /* the snapshot being stored; NULL: none */
    struct raft_message install;  /* type 0, or an InstallSnapshot that waits for the appends */
    char *install_address;
    raft_term install_term; /* the true term of the one being delivered; 0: as in the message */
    bool snapshot_wanted;   /* let raft consider one at the next heartbeat */

    /* sends in progress */
    struct guard_peer *peers;
    struct guard_send *over; /* ended, not reported to raft yet */
};

/* Install the guard between raft and io, after raft_init and before raft_start. Uses raft->data to
 * find itself; the owner's pointer is hooks->data. The guard must live until the callback of
 * raft_close. By then it has freed its memory and restored io, raft->fsm and raft->data, so that
 * raft can be started again on the same raft_io. */
void guard_install(struct guard *g, struct raft_io *io, struct raft *raft,
                   const struct guard_hooks *hooks);

/* Do immediately what otherwise happens after the next event. Call it after raft_start, in which a
 * group of one becomes leader. */
void guard_look(struct guard *g);

/* Let a follower take a snapshot, if the threshold allows one, at the next heartbeat. By itself
 * raft takes one only when it applies a new entry, and there may be none: nobody writes, or the log
 * in memory is too long to accept more. */
void guard_snapshot_soon(struct guard *g);

/* Is this node leader, with everything that was ever acknowledged applied? Entries, membership
 * changes and consistent reads are allowed from then until the role or the term changes. */
bool guard_ready(const struct guard *g);
