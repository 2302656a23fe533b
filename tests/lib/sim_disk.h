/*
 * Sim_disk: the disk of a simulated node, and what a crash leaves of a write.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <raft.h>

#include "lib/rng.h"

enum { SIM_INDEX_MAX = 8192 }; /* entries in a run */

/* An entry on the disk. */
struct sim_entry {
    raft_term term;
    unsigned short type;
    struct raft_buffer bytes;
};

/* The part of a node that survives a crash. The log has the entries from first to first + count -
 * 1. */
struct sim_disk {
    raft_term term;
    raft_id vote;
    raft_index first;
    size_t count;
    struct sim_entry entry[SIM_INDEX_MAX];
    bool has_snapshot;
    struct raft_snapshot snapshot;
};

/* False if the index does not follow the last entry. */
bool sim_disk_append(struct sim_disk *d, raft_index index, const struct raft_entry *e);
void sim_disk_cut(struct sim_disk *d, raft_index from);
/* Returns 0 if the disk does not have the entry. */
raft_term sim_disk_term_at(const struct sim_disk *d, raft_index index);
/* Read the whole log in one batch, in memory that raft will own. Returns the number of entries. */
size_t sim_disk_read(const struct sim_disk *d, struct raft_entry **out_entries);
/* A copy that raft will own, or NULL if there is no snapshot. */
struct raft_snapshot *sim_disk_snapshot(const struct sim_disk *d);
/* Store a snapshot. put keeps this many entries before its end, replace keeps no entries. */
void sim_disk_put(struct sim_disk *d, const struct raft_snapshot *snapshot, unsigned trailing);
void sim_disk_replace(struct sim_disk *d, const struct raft_snapshot *snapshot);
void sim_disk_free(struct sim_disk *d);

/* sim_torn.c */

/* Return how many entries are readable after a crash cut off their write. If damaged is set, it
 * receives the next entry, with its bytes as they are on the disk. */
unsigned sim_torn(struct rng *rng, raft_index first, const struct raft_entry *entries, unsigned n,
                  struct raft_entry *damaged);
