/*
 * Sim: a Raft group in one process, on simulated time.
 *
 * libraft's fixture carries messages and keeps the time; the guard under test is the production
 * one. Between the two stands sim_io.c, because the fixture's disk cannot be used for more than a
 * single life without snapshots: it forgets where its log begins, copies half of a snapshot's
 * description, and keeps what was never flushed. The disk here loses in a crash what was still on
 * its way, a node is started again from what is left, and writes end in the order they began.
 *
 *   raft --> guard --> sim_io --> fixture
 *
 * Every node runs a state machine that remembers which value stands at which index. sim_check.c
 * compares all of them after each step and keeps the first violation it finds. A host may run
 * something larger on the nodes; the value of an entry is then the hash of its bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <raft.h>
#include <raft/fixture.h>

#include "cluster/guard.h"
#include "cluster/transfer.h"
#include "lib/rng.h"
#include "lib/sim_disk.h"

enum {
    SIM_NODES_MAX = RAFT_FIXTURE_MAX_SERVERS,
    SIM_TERM_MAX = 2048,
};

struct sim;
struct sim_node;

/* What else runs on the nodes. Called from inside raft, but for start and stop. */
struct sim_host {
    /* A life begins: before raft starts, and after it was closed, by a crash. */
    void (*start)(struct sim_node *n);
    void (*stop)(struct sim_node *n);
    void (*apply)(struct sim_node *n, raft_index index, const struct raft_buffer *entry);
    /* Keep the state under a number of the host's choice, not 0, and go on from such a one, which
     * has at least the effects of the entries up to index. */
    uint64_t (*checkpoint)(struct sim_node *n);
    void (*restore)(struct sim_node *n, raft_index index, uint64_t checkpoint);
};

struct sim_node {
    struct sim *sim;
    unsigned index; /* in the fixture; the id is one more */
    struct raft *raft;
    struct raft_io *io;
    struct raft_io below; /* the fixture's own functions */
    struct guard guard;
    struct transfer transfer;
    struct raft_fsm fsm;
    void *host; /* the host's own */
    struct raft_change change;
    bool change_busy;
    bool down;
    bool restart;   /* the guard asks for it */
    int told_state; /* what the guard's hook was last called for */
    raft_term told_term;
    bool told_ready;
    enum guard_rule fatal_rule;
    unsigned fatal_count;

    /* sim_io.c */
    struct sim_disk disk;
    unsigned life;         /* counts the restarts */
    struct sim_job *jobs;  /* what raft waits for, oldest first */
    unsigned writes;       /* of them, entries being written */
    unsigned sends;        /* of them, messages not yet in the network */
    raft_index next_index; /* where the next entry that raft writes will stand */
    unsigned disk_ms;      /* what a write takes */
    unsigned work_ms;      /* what a snapshot takes */
    unsigned send_ms;      /* what a message takes to be written out */
    unsigned election_ms;  /* 0: between one and two election timeouts, at random */
    bool write_fails;      /* the next write ends with an error */
    bool write_failed;     /* and it did */
    bool full;             /* nothing can be written: entries wait, snapshots fail */
    raft_io_recv_cb recv;

    /* the state machine: the value at each index, 0 where there is none */
    uint64_t value[SIM_INDEX_MAX];

    /* sim_check.c */
    raft_index seen_commit;
    raft_index checked_index; /* its terms have been compared up to here */
    raft_term checked_term;   /* as the leader of this term it has been looked at */
    bool checked_ready;       /* and as one that may be written to */
};

/* A value on its way. */
struct sim_write {
    struct raft_apply apply;
    struct sim *sim;
    uint64_t value;
    /* With a host: the end of it, at this index; false: not known, or not known yet. May be NULL.
     */
    void (*done)(void *data, bool committed, raft_index index);
    void *data;
};

/* What the network does to messages, beside what the fixture does. */
struct sim_net {
    unsigned lost;    /* so many of a thousand */
    unsigned twice;   /* arrive once more, late */
    unsigned late;    /* and so many arrive late: behind others that were sent after them */
    unsigned late_ms; /* up to that much */
};

struct sim_options {
    unsigned voters;      /* members from the start */
    unsigned nodes;       /* nodes in all; those beyond voters wait to be added */
    unsigned off;         /* guard rules that are off, in every node */
    unsigned election_ms; /* 0: a second; the heartbeat is a quarter, at most 100 ms */
    bool pre_vote;
    bool compacted; /* the first membership is in a snapshot, not in the log */
    bool async_snapshots;
    unsigned snapshot_threshold; /* 0: never */
    unsigned snapshot_trailing;
    bool matches_unchecked; /* look for the damage itself, not for its cause */
    uint64_t chunk_bytes;   /* 0: as in production */
    uint64_t queue_bytes;
    uint64_t seed;
    const struct sim_host *host; /* NULL: values only */
    void *host_data;
    /* Disks that break their promises: for tests, which show that they are needed. */
    bool disk_forgets;   /* entries that it said it had stored */
    bool ballot_forgets; /* a vote */
    bool torn_counts;    /* what a torn write left of an entry is taken for one */
};

enum sim_fate {
    SIM_SENT,
    SIM_LOST,    /* written out, and never seen again */
    SIM_STALLED, /* not even written out: the peer does not read */
};

/* What happened in a run: a story in which nothing happens proves nothing. */
struct sim_counts {
    unsigned steps, acked, leaders, crashes, cuts, installs, member_cuts, transfers, changes;
    unsigned lost, twice, late, torn;
};

struct sim {
    struct raft_fixture fixture;
    struct sim_options options;
    struct sim_node node[SIM_NODES_MAX];
    struct rng rng;

    /* Decides about every message before it is sent; NULL: all are. */
    enum sim_fate (*fate)(struct sim *sim, unsigned from, unsigned to,
                          const struct raft_message *m);
    struct sim_net net;
    void *data; /* the test's */

    /* what the group has decided and promised, by index; 0 where nothing is known */
    uint64_t truth[SIM_INDEX_MAX];
    raft_term truth_term[SIM_INDEX_MAX];
    uint64_t acked[SIM_INDEX_MAX];
    raft_id leader_of[SIM_TERM_MAX];
    raft_term highest_term; /* that somebody led */
    raft_index highest_acked;
    struct sim_counts count;
    uint64_t last_value;
    char violation[256]; /* empty while all is well */
};

/* Start a group: nodes with a first membership, all running. The caller frees it. */
struct sim *sim_new(const struct sim_options *options);
void sim_free(struct sim *sim); /* NULL is fine */

/* One event; false when an invariant does not hold (any more). */
bool sim_step(struct sim *sim);

/* Step until the condition holds; false when that takes longer than ms of simulated time, or on a
 * violation. */
bool sim_until(struct sim *sim, bool (*is_so)(struct sim *sim, void *arg), void *arg, unsigned ms);
bool sim_run(struct sim *sim, unsigned ms); /* false on a violation */

/* The node that leads in the highest term and may be written to; NULL when there is none. */
struct sim_node *sim_leader(struct sim *sim);
bool sim_until_leader(struct sim *sim, unsigned ms);

/* Let this node win the next election: the others wait for theirs. They must be able to hear it.
 * One that leads already gives up first, which needs that too few of the others answer it. */
bool sim_elect(struct sim *sim, unsigned node, unsigned ms);
void sim_election_timeout(struct sim *sim, unsigned node, unsigned ms);

/* Submit a new value of the given size, at least 8 and a multiple of it; 0 when raft refuses. */
uint64_t sim_submit(struct sim *sim, struct sim_node *n, size_t bytes);
bool sim_is_acked(const struct sim *sim, uint64_t value);
/* With a host: submit an entry, whose bytes raft takes over if it takes them. */
bool sim_propose(struct sim_node *n, struct raft_buffer entry,
                 void (*done)(void *data, bool committed, raft_index index), void *data);

/* As if the message had come from that node. Entries and snapshots in it are raft's afterwards. */
void sim_deliver(struct sim_node *to, const struct sim_node *from, struct raft_message *m);

/* Lose messages between two nodes, both ways, or stop losing them. */
void sim_link(struct sim *sim, unsigned a, unsigned b, bool up);
/* Only the nodes in the mask hear each other. */
void sim_partition(struct sim *sim, unsigned mask);
void sim_heal(struct sim *sim);

/* Stop at once. Of what is being written the first kept entries are on the disk. */
void sim_crash(struct sim *sim, struct sim_node *n, unsigned kept);
/* The same, with the write torn somewhere: what is left of it is found by the log's own code. */
void sim_crash_torn(struct sim *sim, struct sim_node *n);
void sim_restart(struct sim *sim, struct sim_node *n);

/* sim_io.c */
void sim_io_install(struct sim_node *n);
void sim_io_keep(struct sim_node *n, unsigned kept); /* in a crash: this much was written */
void sim_io_tear(struct sim_node *n);                /* or this much can be read */

/* sim_check.c */
raft_index sim_last_index(const struct sim_node *n);
raft_term sim_term_at(const struct sim_node *n, raft_index index); /* in raft's memory */
void sim_violation(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sim_check_applied(struct sim_node *n, raft_index index, uint64_t value);
void sim_check_acked(struct sim *sim, raft_index index, uint64_t value);
void sim_check_vote(struct sim_node *n, raft_id vote);
void sim_check(struct sim *sim);
