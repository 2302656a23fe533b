/*
 * Whole: a cluster of simulated nodes (lib/sim.h) that run the real state machine, with clients.
 *
 *   whole_client.c   clients: what they ask for, and asking again; what they were promised
 *   whole_node.c     a node: its machine, its state on disk, commands becoming entries, due times
 *   whole_truth.c    what every node must agree on, entry by entry
 *   whole_ledger.c   what must be true of the state in the end, by what clients were told
 *   whole_story.c    a seed: what goes wrong, and when
 *   kv_disk.c        the store below the machine
 *
 * Of the engine, which is threads and loops, the rules are here once more, in few lines each: one
 * entry for what has gathered, a stamp by engine_now, names, leases renewed by a new leader, ticks.
 */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "engine/engine_now.h"
#include "fsm/command/command.h"
#include "fsm/machine.h"
#include "lib/sim_upset.h"

/* What can be off beside the rules of the guard, in the same mask. */
enum whole_rule {
    WHOLE_NAMES = GUARD_RULE_COUNT, /* what is asked again has the same name */
    WHOLE_STAMP,                    /* a stamp comes from engine_now, not from the bare clock */
    WHOLE_RENEW,                    /* who comes to lead renews leases */
    WHOLE_FLUSHED,                  /* an entry that counts is on disk */
    WHOLE_BALLOT,                   /* so is a vote */
    WHOLE_TORN,                     /* the end of a torn write is no entry */
    WHOLE_ATOMIC,                   /* a flush of the state is of all families */
    WHOLE_CHECKPOINT,               /* a checkpoint has all that it stands for */
    WHOLE_APPLIED,                  /* the state knows which entries it has */
    WHOLE_RULE_COUNT
};

enum {
    WHOLE_CLIENTS = 6,
    WHOLE_ITEMS = 4,       /* jobs in one command */
    WHOLE_HELD = 6,        /* jobs that a client works on */
    WHOLE_HEARD_MS = 3000, /* as HEARD_WITHIN_MS of engine_renew.c */
};

struct whole;

/* What a command came to, as far as clients are told. */
struct whole_answer {
    struct id name;
    enum command_type type;
    enum err_code code;
    uint64_t print; /* of all below */
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
    bool seen; /* it is one of the state machine's */
    uint64_t hash;
    uint64_t digest; /* of every sixteenth; else 0 */
    int64_t stamp_ns;
    raft_term term;
    uint32_t count;
    struct whole_answer *answer;
};

/* One request of a client, from the first time it is sent to its end. */
struct whole_op {
    struct whole_op *next; /* of all */
    unsigned client;
    enum command_type type;
    struct buf command;
    struct id name;
    uint64_t since;
    bool over;
    raft_time again_at, until;
    struct id job;   /* that it is about */
    uint64_t marker; /* of its first new job */
    unsigned job_count;
};

/* A command that waits on a node; one of the node's own has no op. */
struct whole_request {
    struct whole_request *next;
    struct whole_op *op;
    unsigned front; /* the node that has the client */
    struct id name;
    struct buf command;
    bool is_tick, is_renewal;
};

struct whole_node {
    struct sim_node *sim;
    struct machine *machine;
    char path[32];      /* of its state: part of what survives */
    unsigned exchanges; /* of the state */
    uint64_t restored;  /* index of the snapshot that it was made from, in this life */
    struct engine_now now;
    int64_t clock_off_ns; /* its clock less the true time… */
    int64_t clock_ppm;    /* …and how fast that grows */
    struct whole_request *waiting, **waiting_end;
    unsigned under_way; /* entries */
    raft_term began;    /* the term that it has begun to lead in */
    bool renew_more;    /* leases, before its first tick */
    unsigned renew_steps;
    bool renewing, tick_busy;
    raft_time looked_at; /* at due times */
};

struct whole_held {
    struct id job;
    uint64_t token;
};

struct whole_client {
    struct whole_op *op; /* NULL: none */
    raft_time next_at;
    struct whole_held held[WHOLE_HELD];
    unsigned held_count;
    struct id batch;
};

/* A job that a client was told of. */
struct whole_note {
    struct map_node node; /* by its id */
    struct whole_note *next;
    struct id id;
    uint64_t marker;
    bool completed, cancelled;
    unsigned fails, fails_maybe;
};

/* A name, a lease token or a marker, and where it was seen first. */
struct whole_mark {
    struct map_node node;
    char key[24];
    uint64_t index;
    uint64_t print;
    struct id id;
};

struct whole_counts {
    unsigned ops, answered, asked_again, unknown, refused, ticks, renewals, checkpoints, restores;
    unsigned answered_again; /* by the memory of names */
};

struct whole {
    struct sim *sim; /* the story's */
    struct sim_story story;
    unsigned off;
    bool calm; /* nothing is lost on the way to clients any more, and they ask for nothing new */
    struct whole_node node[SIM_NODES_MAX];
    struct whole_client client[WHOLE_CLIENTS];
    struct whole_op *ops;
    struct whole_truth truth[SIM_INDEX_MAX];
    raft_index last_seen; /* of the truth */
    struct wall began_at[SIM_TERM_MAX];
    struct map names, tokens, markers, leases, notes;
    struct whole_note *note_list;
    unsigned note_count;
    uint64_t last_name, last_marker, last_checkpoint;
    struct arena *arena; /* commands that are being looked at */
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
/* Take a command of a client; false when it is refused for certain. */
bool whole_node_submit(struct whole *w, struct whole_node *n, struct whole_op *op, unsigned front);
/* After each step: what has gathered becomes entries, what is due happens. */
void whole_node_look(struct whole *w, struct whole_node *n);

/* whole_truth.c */
void whole_truth_before(struct whole *w, struct whole_node *n, raft_index index, struct str entry);
void whole_truth_after(struct whole *w, struct whole_node *n, raft_index index, struct str entry);
/* The state has come from a disk or a snapshot: is it that of an entry? */
void whole_truth_opened(struct whole *w, const struct whole_node *n);
/* The state has the effects of all entries up to this one. */
void whole_truth_complete(struct whole *w, const struct whole_node *n, raft_index index);
void whole_truth_free(struct whole *w);
/* The mark of a key in one of the maps; made when it is new, which *out_new says. */
struct whole_mark *whole_truth_mark(struct map *map, const void *key, size_t len, bool *out_new);
void whole_truth_forget(struct map *map);

/* whole_client.c */
void whole_client_step(struct whole *w, struct whole_client *c);
void whole_client_answer(struct whole *w, struct whole_op *op, const struct whole_node *leader,
                         unsigned front, const struct whole_answer *a);
/* The end of an attempt: it did not happen, or nobody knows. */
void whole_client_failed(struct whole *w, struct whole_op *op, bool certain);
bool whole_client_any_open(const struct whole *w);
void whole_client_free(struct whole *w);

/* whole_ledger.c */
struct whole_note *whole_ledger_note(struct whole *w, struct id job);
void whole_ledger_add(struct whole *w, struct id job, uint64_t marker);
void whole_ledger_check(struct whole *w, struct whole_node *n);
void whole_ledger_free(struct whole *w);

/* whole_story.c: false on a violation, which is printed. */
bool whole_story(uint64_t seed, unsigned off, bool trace, struct whole_counts *sum,
                 struct sim_counts *sim_sum);
