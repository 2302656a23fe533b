/*
 * Sim: a Raft group in one process, on simulated time.
 *
 * libraft's fixture transports messages and simulates time. The guard under test is the production
 * code. sim_io.c is between the two, because the fixture's disk supports only a single life without
 * snapshots: it forgets where its log begins, copies only a part of a snapshot's description, and
 * keeps data that was never flushed. The disk of sim_io.c loses unfinished writes and cuts in a
 * crash, and can store a snapshot from the leader without replacing the log. A node restarts from
 * what is left, and writes end in the order in which they began.
 *
 *   raft --> guard --> sim_io --> fixture
 *
 * Every node runs a state machine that stores the value at each index. sim_check.c compares all
 * nodes after each step and keeps the first violation it finds. A host may run a larger program on
 * the nodes. The value of an entry is then the hash of its bytes.
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

/* A program that also runs on the nodes. Called from inside raft, except start and stop. */
struct sim_host {
    /* A life begins before raft starts. It ends after a crash has closed raft. */
    void (*start)(struct sim_node *n);
    void (*stop)(struct sim_node *n);
    void (*apply)(struct sim_node *n, raft_index index, const struct raft_buffer *entry);
    /* Save the state under a number of the host's choice, not 0. restore continues from such a
     * state, which includes at least the entries up to index. */
    uint64_t (*checkpoint)(struct sim_node *n);
    void (*restore)(struct sim_node *n, raft_index index, uint64_t checkpoint);
};

struct sim_node {
    struct sim *sim;
    unsigned index; /* in the fixture; the raft id is index + 1 */
    struct raft *raft;
    struct raft_io *io;
    struct raft_io below; /* the fixture's own functions */
    struct guard guard;
    struct transfer transfer;
    struct raft_fsm fsm;
    void *host; /* for the host */
    struct raft_change change;
    bool change_busy;
    bool down;
    bool restart;   /* the guard requests a restart */
    int told_state; /* at the last call of the guard's hook */
    raft_term told_term;
    bool told_ready;
    enum guard_rule fatal_rule;
    unsigned fatal_count;

    /* sim_io.c */
    struct sim_disk disk;
    unsigned life;         /* number of restarts */
    struct sim_job *jobs;  /* requests that raft waits for, oldest first */
    unsigned writes;       /* of the jobs, writes of entries */
    unsigned sends;        /* of the jobs, messages that are not yet in the network */
    raft_index next_index; /* index of the next entry that raft writes */
    raft_index cut_from;   /* entries from here on are cut, but not on the disk yet; 0: none */
    unsigned disk_ms;      /* duration of a write */
    unsigned work_ms;      /* duration of a snapshot */
    unsigned send_ms;      /* time to send a message */
    unsigned election_ms;  /* 0: between one and two election timeouts, at random */
    bool write_fails;      /* the next write ends with an error */
    bool write_failed;     /* a write has failed */
    bool full;             /* nothing can be written: entries wait, and snapshots fail */
    raft_io_recv_cb recv;

    /* the state machine: the value at each index, or 0 */
    uint64_t value[SIM_INDEX_MAX];

    /* sim_check.c */
    raft_index seen_commit;
    raft_index checked_index; /* terms have been compared up to this index */
    raft_term checked_term;   /* last term in which this node was checked as leader */
    bool checked_ready;       /* and checked as a leader that accepts writes */
};

/* A value that was submitted. */
struct sim_write {
    struct raft_apply apply;
    struct sim *sim;
    uint64_t value;
    /* With a host: called at the end of the write. If committed is false, the outcome is unknown.
     * May be NULL. */
    void (*done)(void *data, bool committed, raft_index index);
    void *data;
};

/* Faults of the network, in addition to those of the fixture. */
struct sim_net {
    unsigned lost;    /* messages lost, per thousand */
    unsigned twice;   /* messages that arrive once more, late */
    unsigned late;    /* messages that arrive late, after others that were sent after them */
    unsigned late_ms; /* maximum delay */
};

struct sim_options {
    unsigned voters;      /* members from the start */
    unsigned nodes;       /* all nodes; those beyond voters can be added later */
    unsigned off;         /* guard rules that are disabled in every node */
    unsigned election_ms; /* 0: a second; the heartbeat interval is a quarter, at most 100 ms */
    bool pre_vote;
    bool compacted; /* the first membership is in a snapshot, not in the log */
    bool async_snapshots;
    unsigned snapshot_threshold; /* 0: never */
    unsigned snapshot_trailing;
    bool matches_unchecked; /* skip check_matches, to find the damage and not its cause */
    uint64_t chunk_bytes;   /* 0: as in production */
    uint64_t queue_bytes;
    uint64_t log_bytes; /* limit of a follower's log in memory; 0: none */
    uint64_t seed;
    const struct sim_host *host; /* NULL: values only */
    void *host_data;
    /* Disks that break their promises, for tests that prove that the promises are needed. */
    bool disk_forgets;   /* entries that were reported as stored */
    bool ballot_forgets; /* a vote */
    bool torn_counts;    /* a torn entry is read as a valid one */
    bool log_unfit;      /* a start accepts a log that its snapshot was to replace */
};

enum sim_fate {
    SIM_SENT,
    SIM_LOST,    /* sent, but never delivered */
    SIM_STALLED, /* not even sent: the peer does not read */
};

/* What happened in a run. A run in which nothing happens proves nothing. */
struct sim_counts {
    unsigned steps, acked, leaders, crashes, cuts, installs, member_cuts, transfers, changes;
    unsigned lost, twice, late, torn, half_installs;
};

struct sim {
    struct raft_fixture fixture;
    struct sim_options options;
    struct sim_node node[SIM_NODES_MAX];
    struct rng rng;

    /* Decides about every message before it is sent. NULL: all are sent. */
    enum sim_fate (*fate)(struct sim *sim, unsigned from, unsigned to,
                          const struct raft_message *m);
    struct sim_net net;
    void *data; /* for the test */

    /* what the group has decided and acknowledged, by index; 0 if nothing is known */
    uint64_t truth[SIM_INDEX_MAX];
    raft_term truth_term[SIM_INDEX_MAX];
    uint64_t acked[SIM_INDEX_MAX];
    raft_id leader_of[SIM_TERM_MAX];
    raft_term highest_term; /* the highest term with a leader */
    raft_index highest_acked;
    struct sim_counts count;
    uint64_t last_value;
    char violation[256]; /* empty if there is none */
};

/* Start a group in which all nodes run and the first ones are members. The caller frees it. */
struct sim *sim_new(const struct sim_options *options);
void sim_free(struct sim *sim); /* may be NULL */

/* Process one event. False if an invariant is violated, now or earlier. */
bool sim_step(struct sim *sim);

/* Step until the condition holds. False after ms of simulated time, or on a violation. */
bool sim_until(struct sim *sim, bool (*is_so)(struct sim *sim, void *arg), void *arg, unsigned ms);
bool sim_run(struct sim *sim, unsigned ms); /* false on a violation */

/* The leader with the highest term that accepts writes, or NULL. */
struct sim_node *sim_leader(struct sim *sim);
bool sim_until_leader(struct sim *sim, unsigned ms);

/* Make this node win the next election by delaying the timeouts of the others. They must be able to
 * receive its messages. If the node leads already, it must step down first, which requires that
 * less than a majority answers it. */
bool sim_elect(struct sim *sim, unsigned node, unsigned ms);
void sim_election_timeout(struct sim *sim, unsigned node, unsigned ms);

/* Submit a new value of the given size, which must be a multiple of 8 and not 0. Returns 0 if raft
 * refuses it. */
uint64_t sim_submit(struct sim *sim, struct sim_node *n, size_t bytes);
bool sim_is_acked(const struct sim *sim, uint64_t value);
/* With a host: submit an entry. If raft accepts it, raft owns its bytes. */
bool sim_propose(struct sim_node *n, struct raft_buffer entry,
                 void (*done)(void *data, bool committed, raft_index index), void *data);

/* Deliver a message as if it had arrived from that node. Raft then owns its entries and snapshots.
 */
void sim_deliver(struct sim_node *to, const struct sim_node *from, struct raft_message *m);

/* Lose messages between two nodes in both directions, or stop losing them. */
void sim_link(struct sim *sim, unsigned a, unsigned b, bool up);
/* Only the nodes in the mask can communicate with each other. */
void sim_partition(struct sim *sim, unsigned mask);
void sim_heal(struct sim *sim);

/* Stop a node at once. Of the writes in progress, the first kept entries are on the disk. */
void sim_crash(struct sim *sim, struct sim_node *n, unsigned kept);
/* The same with a torn write. The log's scan decides how much of it is left. */
void sim_crash_torn(struct sim *sim, struct sim_node *n);
void sim_restart(struct sim *sim, struct sim_node *n);

/* sim_io.c */
void sim_io_install(struct sim_node *n);
void sim_io_flush_cut(struct sim_node *n);           /* before a restart that the guard requests */
void sim_io_keep(struct sim_node *n, unsigned kept); /* in a crash: entries written */
void sim_io_tear(struct sim_node *n);                /* or all that can be read */

/* sim_check.c */
raft_index sim_last_index(const struct sim_node *n);
raft_term sim_term_at(const struct sim_node *n, raft_index index); /* in raft's memory */
void sim_violation(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sim_check_applied(struct sim_node *n, raft_index index, uint64_t value);
void sim_check_acked(struct sim *sim, raft_index index, uint64_t value);
void sim_check_vote(struct sim_node *n, raft_id vote);
void sim_check(struct sim *sim);
