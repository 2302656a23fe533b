/*
 * Sim_upset: faults for simulated stories: partitions, slow links and disks, crashes, transfers of
 * leadership, membership changes.
 */
#pragma once

#include <stddef.h>

#include "lib/sim.h"

struct sim_story {
    struct sim *sim;
    struct rng rng;
    unsigned nodes;
    bool trace;
};

struct sim_upset {
    unsigned weight;
    void (*happens)(struct sim_story *s);
};

/* Cause one of these faults, chosen by weight. */
void sim_upset_any(struct sim_story *s, const struct sim_upset *upsets, size_t count);

void sim_upset_trace(const struct sim_story *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static inline unsigned sim_upset_below(struct sim_story *s, unsigned n)
{
    return (unsigned)rng_below(&s->rng, n);
}

struct sim_node *sim_upset_node(struct sim_story *s);
/* Any node that believes it accepts writes, even one that has been replaced, or NULL. */
struct sim_node *sim_upset_leader(struct sim_story *s);

void sim_upset_partition(struct sim_story *s);
void sim_upset_cut_leader(struct sim_story *s);
void sim_upset_heal(struct sim_story *s);
void sim_upset_direction(struct sim_story *s);
void sim_upset_latency(struct sim_story *s);
void sim_upset_disk(struct sim_story *s);
void sim_upset_crash(struct sim_story *s);
void sim_upset_restart(struct sim_story *s);
void sim_upset_transfer(struct sim_story *s);
void sim_upset_members(struct sim_story *s);

/* Repair everything and start every node. */
void sim_upset_calm(struct sim_story *s);
