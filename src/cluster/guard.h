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
    GUARD_BARRIER,    /* G1  a new leader first commits an entry of its own term: raft counts copies of older ones */
    GUARD_HOLD_ACKS,  /* G2  ... and hears no success before it has stored that entry itself */
    GUARD_HONEST,     /* G3  a success answers for the request's entries, not for whatever the log has behind them */
    GUARD_LATE,       /* G4  what was stored for an older term's leader is not acknowledged to a newer one */
    GUARD_CALM,       /* G5  no election and no rewriting of the log while entries or a snapshot are being stored */
    GUARD_ADDRESS,    /* G6  nothing is sent to nobody: raft answers a leader that it has just forgotten */
    GUARD_STORED,     /* G7  a failed write stops the node: raft would go on with a log that the disk does not have */
    GUARD_SNAPSHOT,   /* G8  no snapshot while a membership is undecided: it would be frozen into it */
    GUARD_MEMBERS,    /* G9  a membership that is cut off the log is forgotten by starting again; raft rolls back wrongly */
    GUARD_QUEUE,      /* G11 a peer that does not read costs a bounded amount of memory */
    GUARD_CHUNK,      /* G12 long appends are cut: a probe carries the whole log otherwise */
    GUARD_VOTE,       /* G14 one vote per term, also while leadership is being transferred */
    GUARD_INSTALL,    /* G15 a snapshot replaces a log that contradicts it, and decides the membership */
    GUARD_PRE_VOTE,   /* G16 a refused pre-vote names the term: a candidate with the best log and an old term never wins */
    GUARD_TERM,       /* G17 a group of one leads in a new term each time: raft elects it in the old one */
    GUARD_STANDBY,    /* G18 a stand-by votes when it is asked: it may have been promoted without knowing */
    GUARD_BATCH,      /* G19 entries read at the start have memory of their own: raft frees shared memory too early */
    GUARD_COMPACTED,  /* G20 what is in our snapshot we have: raft refuses it, or appends it once more behind its log */
    GUARD_RULE_COUNT
};
/* clang-format on */

/* How the guard talks to the node that embeds it. All are called from raft's thread and never from
 * inside a call into raft; raft_close is allowed in them, freeing the guard is not. */
struct guard_hooks {
    void *data;

    /* Role, term or guard_ready is not what it was. */
    void (*state_changed)(void *data);

    /* An event has been delivered, whether or not it changed anything; may be NULL. */
    void (*delivered)(void *data);

    /* Once: raft must not go on with what it has in memory. Nothing more is delivered to it. For
     * GUARD_MEMBERS close it, so that the cut reaches the disk, and start again from there; who
     * ends the process instead has given the disk a heartbeat's time, because that long the guard
     * waits before it says so. For GUARD_STORED the disk itself is the reason. */
    void (*fatal)(void *data, enum guard_rule rule, const char *reason);
};

/* What the guard knows of one peer. */
struct guard_peer {
    struct guard_peer *next;
    raft_id id;
    uint64_t queued_bytes;      /* of sends that are not over */
    struct guard_send *sending; /* the append being sent piece by piece, and what waits behind it */
    raft_index held_index;      /* GUARD_HOLD_ACKS: the success that waits, 0 for none */
};

/* What an answer that raft is about to send may say. */
struct guard_answer {
    bool late;      /* the request came from an older term's leader */
    raft_index cap; /* the last index that the request spoke of */
};

struct guard {
    /* May be changed between guard_install and raft_start. */
    uint64_t queue_bytes; /* GUARD_QUEUE: per peer, beyond one message */
    uint64_t chunk_bytes; /* GUARD_CHUNK: entries per message, beyond one entry */
    unsigned off;         /* bits 1 << rule; for tests only, which show that each rule is needed */

    /* private */
    struct raft *raft;
    struct raft_io *io;
    struct raft_io below; /* the functions that were there before */
    struct raft_fsm fsm;  /* the owner's, with the snapshot function replaced */
    struct raft_fsm *fsm_below;
    struct guard_hooks hooks;
    raft_io_tick_cb tick_cb;
    raft_io_recv_cb recv_cb;
    raft_io_close_cb close_cb;
    bool closing;
    bool stopped; /* fatal: nothing is delivered any more */
    bool told;    /* and the hook has been called */
    enum guard_rule stopped_by;
    raft_time stopped_at;
    const char *reason;

    /* what state_changed was last called for */
    unsigned short seen_state;
    raft_term seen_term;
    bool seen_ready;

    /* the entry that opens a leader's term */
    struct raft_barrier barrier;
    bool barrier_busy;      /* raft has the request */
    raft_term barrier_term; /* 0 when there is none for the present term */
    raft_index barrier_index;

    /* what is being stored */
    struct guard_append *appends; /* oldest first */
    struct guard_append *parked;  /* ended after the guard stopped; given back to raft at close */
    struct guard_answer *answer;  /* while raft handles something that it answers */
    struct guard_put *put;        /* the snapshot being stored, NULL when none is */
    struct raft_message install;  /* type 0, or an InstallSnapshot that waits for the appends */
    char *install_address;
    raft_term install_term; /* the true term of the one being delivered, 0 if it is in it */

    /* what is being sent */
    struct guard_peer *peers;
    struct guard_send *over; /* ended, raft has not been told */
};

/* Put the guard between raft and io: after raft_init, before raft_start. Takes raft->data, by which
 * it finds itself; whoever needs the owner has it in hooks->data. The guard must live until the
 * callback of raft_close; by then it has released its memory and put io, raft->fsm and raft->data
 * back, so that raft can be started again on the same raft_io. */
void guard_install(struct guard *g, struct raft_io *io, struct raft *raft,
                   const struct guard_hooks *hooks);

/* Do at once what is otherwise done after the next event. To be called after raft_start, in which a
 * group of one begins to lead. */
void guard_look(struct guard *g);

/* Raft leads, and everything that was ever acknowledged is applied here: entries, membership
 * changes and reads that must be fresh are allowed from now until the role or the term changes. */
bool guard_ready(const struct guard *g);
