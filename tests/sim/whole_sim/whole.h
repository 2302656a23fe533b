/*
 * Whole: a cluster of simulated nodes (lib/sim.h) that run the real state machine, with clients.
 *
 *   whole_client.c   clients: requests, repeating them, and what the answers promise
 *   whole_node.c     a node: its machine, its state on disk, forming entries, due times
 *   whole_truth.c    what every node must agree on, entry by entry
 *   whole_ledger.c   what must be true of the state at the end, according to the clients
 *   whole_story.c    the story of a seed: faults and their times
 *   kv_disk.c        the store below the machine
 *
 * The engine consists of threads and loops and is not used. Its rules are repeated here in few
 * lines each: one entry for the commands that have gathered, a stamp by engine_now, names, leases
 * renewed by a new leader, ticks.
 */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "engine/engine_now.h"
#include "fsm/command/command.h"
#include "fsm/machine.h"
#include "lib/sim_upset.h"

/* Rules that can be off, in the same mask as the rules of the guard. */
enum whole_rule {
    WHOLE_NAMES = GUARD_RULE_COUNT, /* repeated requests keep their name */
    WHOLE_STAMP,                    /* stamps are made by engine_now, not read from the clock */
    WHOLE_RENEW,                    /* a new leader renews leases */
    WHOLE_FLUSHED,                  /* entries are on disk before they count */
    WHOLE_BALLOT,                   /* votes are on disk before they count */
    WHOLE_TORN,                     /* the end of a torn write is not read as an entry */
    WHOLE_ATOMIC,                   /* a flush of the state covers all families */
    WHOLE_CHECKPOINT, /* a checkpoint has the effects of all entries up to its index */
    WHOLE_APPLIED,    /* the state stores the index of its last entry */
    WHOLE_FIT,        /* a start resets a log that its snapshot was to replace */
    WHOLE_RULE_COUNT
};

enum {
    WHOLE_CLIENTS = 6,
    WHOLE_ITEMS = 4,       /* jobs per command */
    WHOLE_HELD = 6,        /* maximum number of jobs that a client holds */
    WHOLE_HEARD_MS = 3000, /* same as HEARD_WITHIN_MS of engine_renew.c */
};

struct whole;

/* The part of a command's result that clients receive. */
struct whole_answer {
    struct id name;
    enum command_type type;
    enum err_code code;
    uint64_t print; /* hash of all members below */
    struct id id;
    uint32_t affected;
    uint32_t count;
    struct {
        struct id id;
        enum result_status status;
        uint64_t token;
    } item[WHOLE_ITEMS];
};

/* What is known of an entry, from the first node that applied it. */
struct whole_truth {
    bool seen; /* an entry of the state machine */
    uint64_t hash;
    uint64_t digest; /* of every sixteenth entry; otherwise 0 */
    int64_t stamp_ns;
    raft_term term;
    uint32_t count;
    struct whole_answer *answer;
};

/* A request of a client, from the first attempt to its end. */
struct whole_op {
    struct whole_op *next; /* list of all */
    unsigned client;
    enum command_type type;
    struct buf command;
    struct id name;
    uint64_t since;
    bool over;
    raft_time again_at, until;
    struct id job;   /* the job that it is about */
    uint64_t marker; /* marker of its first new job */
    unsigned job_count;
};

/* A command that waits on a node. Commands of the node itself have no op. */
struct whole_request {
    struct whole_request *next;
    struct whole_op *op;
    unsigned front; /* node that the client is connected to */
    struct id name;
    struct buf command;
    bool is_tick, is_renewal;
};

struct whole_node {
    struct sim_node *sim;
    struct machine *machine;
    char path[32];      /* of its state; survives a crash */
    unsigned exchanges; /* number of times that the state was replaced */
    uint64_t restored;  /* index of the snapshot that the state was made from, in this life */
    struct engine_now now;
    raft_time started_at;
    int64_t clock_off_ns; /* its clock minus the true time */
    int64_t clock_ppm;    /* and the drift of the clock */
    struct whole_request *waiting, **waiting_end;
    unsigned under_way; /* entries in progress */
    raft_term began;    /* the last term in which it became leader */
    bool renew_more;    /* leases must be renewed before the first tick */
    unsigned renew_steps;
    bool renewing, tick_busy;
    raft_time looked_at; /* last check for due times */
};

struct whole_held {
    struct id job;
    uint64_t token;
};

struct whole_client {
    struct whole_op *op; /* NULL: no request */
    raft_time next_at;
    struct whole_held held[WHOLE_HELD];
    unsigned held_count;
    struct id batch;
};

/* A job that a client knows. */
struct whole_note {
    struct map_node node; /* by its id */
    struct whole_note *next;
    struct id id;
    uint64_t marker;
    bool completed, cancelled;
    unsigned fails, fails_maybe;
};

/* A name, a lease token or a marker, and the entry in which it first appeared. */
struct whole_mark {
    struct map_node node;
    char key[24];
    uint64_t index;
    uint64_t print;
    struct id id;
};

struct whole_counts {
    unsigned ops, answered, asked_again, unknown, refused, ticks, renewals, checkpoints, restores;
    unsigned answered_again; /* with a remembered result */
};

struct whole {
    struct sim *sim; /* of the story */
    struct sim_story story;
    unsigned off;
    bool calm; /* answers to clients are no longer lost, and clients send no new requests */
    struct whole_node node[SIM_NODES_MAX];
    struct whole_client client[WHOLE_CLIENTS];
    struct whole_op *ops;
    struct whole_truth truth[SIM_INDEX_MAX];
    raft_index last_seen; /* last index in truth */
    struct wall began_at[SIM_TERM_MAX];
    struct map names, tokens, markers, leases, notes;
    struct whole_note *note_list;
    unsigned note_count;
    uint64_t last_name, last_marker, last_checkpoint;
    struct arena *arena; /* for commands that are being checked */
    struct whole_counts count;
};

static inline bool whole_on(const struct whole *w, unsigned rule)
{
    return (w->off & 1U << rule) == 0;
}

static inline unsigned whole_below(struct whole *w, unsigned n)
{
    return sim_upset_below(&w->story, n);
}

static inline bool whole_chance(struct whole *w, unsigned per_cent)
{
    return whole_below(w, 100) < per_cent;
}

static inline struct whole_node *whole_node_of(const struct sim_node *n)
{
    return n->host;
}

/* whole_node.c */
extern const struct sim_host whole_node_host;
/* Accept a command of a client. False if it is certainly not executed. */
bool whole_node_submit(struct whole *w, struct whole_node *n, struct whole_op *op, unsigned front);
/* Called after each step: form entries from waiting commands, and do what is due. */
void whole_node_look(struct whole *w, struct whole_node *n);

/* whole_truth.c */
void whole_truth_before(struct whole *w, struct whole_node *n, raft_index index, struct str entry);
void whole_truth_after(struct whole *w, struct whole_node *n, raft_index index, struct str entry);
/* Check that a state that was read from a disk or a snapshot is the state of an entry. */
void whole_truth_opened(struct whole *w, const struct whole_node *n);
/* Check that the state has the effects of all entries up to this one. */
void whole_truth_complete(struct whole *w, const struct whole_node *n, raft_index index);
void whole_truth_free(struct whole *w);
/* Return the mark of a key. A new mark is created if there is none, and *out_new is set. */
struct whole_mark *whole_truth_mark(struct map *map, const void *key, size_t len, bool *out_new);
void whole_truth_forget(struct map *map);

/* whole_client.c */
void whole_client_step(struct whole *w, struct whole_client *c);
void whole_client_answer(struct whole *w, struct whole_op *op, const struct whole_node *leader,
                         unsigned front, const struct whole_answer *a);
/* An attempt has failed: certainly, or with an unknown outcome. */
void whole_client_failed(struct whole *w, struct whole_op *op, bool certain);
bool whole_client_any_open(const struct whole *w);
void whole_client_free(struct whole *w);

/* whole_ledger.c */
struct whole_note *whole_ledger_note(struct whole *w, struct id job);
void whole_ledger_add(struct whole *w, struct id job, uint64_t marker);
void whole_ledger_check(struct whole *w, struct whole_node *n);
void whole_ledger_free(struct whole *w);

/* whole_story.c: false on a violation, which is printed */
bool whole_story(uint64_t seed, unsigned off, bool trace, struct whole_counts *sum,
                 struct sim_counts *sim_sum);
