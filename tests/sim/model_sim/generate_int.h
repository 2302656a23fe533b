/*
 * Generate_int: shared by the files of the generator.
 */
#pragma once

#include "sim/model_sim/generate.h"

/* Kinds of commands, each of which has a weight in a profile. */
enum generate_kind {
    GENERATE_ENQUEUE,
    GENERATE_CLAIM,
    GENERATE_ACK,
    GENERATE_FAIL,
    GENERATE_HEARTBEAT,
    GENERATE_ACTION,
    GENERATE_REPLAY,
    GENERATE_QUEUE,
    GENERATE_EMPTY, /* clear or delete a queue */
    GENERATE_TICK,
    GENERATE_PURGE,
    GENERATE_BATCH,
    GENERATE_SCHEDULE,
    GENERATE_WEBHOOK,
    GENERATE_POLICY,
    GENERATE_KIND_COUNT
};

struct generate_profile {
    const char *name;
    unsigned queues;    /* number of queues */
    size_t jobs_max;    /* above this, jobs are removed */
    size_t entry_max;   /* commands per entry */
    size_t members_max; /* jobs that one command enqueues or claims */
    size_t items_max;   /* jobs that one command names */
    size_t payload_max; /* bytes; 0: a few */
    size_t fan_out;     /* jobs that one command makes dependent on the same job; 0: only a few */
    unsigned share;     /* of the average number of operations, in tenths of a percent */
    unsigned weights[GENERATE_KIND_COUNT];
};

/* generate_pick.c: small choices */
bool generate_pick_chance(struct generate *g, unsigned percent);
size_t generate_pick_below(struct generate *g, size_t n);
int64_t generate_pick_number(struct generate *g, const int64_t *from, size_t count);
struct str generate_pick_text(struct generate *g, const struct str *from, size_t count);
#define GENERATE_NUMBER(g, ...)                                                                    \
    generate_pick_number((g), (const int64_t[]){__VA_ARGS__},                                      \
                         COUNT_OF(((const int64_t[]){__VA_ARGS__})))
#define GENERATE_TEXT(g, ...)                                                                      \
    generate_pick_text((g), (const struct str[]){__VA_ARGS__},                                     \
                       COUNT_OF(((const struct str[]){__VA_ARGS__})))
void *generate_pick_alloc(struct generate *g, size_t size); /* zeroed */
struct str generate_pick_queue(struct generate *g);
struct store_owner generate_pick_owner(struct generate *g);
/* A job in one of these states (bits), or NULL. */
const struct model_job *generate_pick_job(struct generate *g, unsigned states);
/* An id: usually of a job in one of these states, sometimes of any job, sometimes of none. */
struct id generate_pick_id(struct generate *g, unsigned states);
/* A token that a worker of this job might send. */
uint64_t generate_pick_token(struct generate *g, struct id id);
struct store_tokens generate_pick_usage(struct generate *g);
enum { GENERATE_ANY = (1 << JOB_STATE_COUNT) - 1 };

/* generate_jobs.c */
void generate_jobs_enqueue(struct generate *g, struct command *out);

/* generate_work.c */
void generate_work_claim(struct generate *g, struct command *out);
void generate_work_ack(struct generate *g, struct command *out);
void generate_work_fail(struct generate *g, struct command *out);
void generate_work_heartbeat(struct generate *g, struct command *out);

/* generate_webhook.c */
void generate_webhook_any(struct generate *g, struct command *out);

/* generate_policy.c */
void generate_policy_any(struct generate *g, struct command *out);

/* generate_manage.c */
void generate_manage_action(struct generate *g, struct command *out);
void generate_manage_replay(struct generate *g, struct command *out);
void generate_manage_queue(struct generate *g, struct command *out);
void generate_manage_empty(struct generate *g, struct command *out);
void generate_manage_tick(struct generate *g, struct command *out);
void generate_manage_purge(struct generate *g, struct command *out);
void generate_manage_batch(struct generate *g, struct command *out);
void generate_manage_schedule(struct generate *g, struct command *out);
/* A bulk operation: a new one, a step, or its end. */
void generate_manage_bulk(struct generate *g, struct command *out);
/* A command that removes jobs. */
void generate_manage_fewer(struct generate *g, struct command *out);
