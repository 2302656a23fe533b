/*
 * Sim_disk: what a simulated node has on its disk, and what a crash leaves of a write.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <raft.h>

#include "lib/rng.h"

enum { SIM_INDEX_MAX = 8192 }; /* entries in a run */

/* An entry as the disk has it. */
struct sim_entry {
    raft_term term;
    unsigned short type;
    struct raft_buffer bytes;
};

/* What survives a crash. The log has the entries from first to first + count - 1. */
struct sim_disk {
    raft_term term;
    raft_id vote;
    raft_index first;
    size_t count;
    struct sim_entry entry[SIM_INDEX_MAX];
    bool has_snapshot;
    struct raft_snapshot snapshot;
};

/* False when the entry would not stand behind the last one. */
bool sim_disk_append(struct sim_disk *d, raft_index index, const struct raft_entry *e);
void sim_disk_cut(struct sim_disk *d, raft_index from);
/* 0 when the entry is not there. */
raft_term sim_disk_term_at(const struct sim_disk *d, raft_index index);
/* The whole log, in one batch, in memory that raft takes over; the number of entries. */
size_t sim_disk_read(const struct sim_disk *d, struct raft_entry **out_entries);
/* A copy that raft takes over; NULL when there is none. */
struct raft_snapshot *sim_disk_snapshot(const struct sim_disk *d);
/* Keep the snapshot and this many entries before its end; or the snapshot and nothing else. */
void sim_disk_put(struct sim_disk *d, const struct raft_snapshot *snapshot, unsigned trailing);
void sim_disk_replace(struct sim_disk *d, const struct raft_snapshot *snapshot);
void sim_disk_free(struct sim_disk *d);

/* sim_torn.c */

/* A write of these entries was cut off by a crash: how many of them the log finds. With damaged,
 * one more counts, whose bytes are put there as they are on the disk. */
unsigned sim_torn(struct rng *rng, raft_index first, const struct raft_entry *entries, unsigned n,
                  struct raft_entry *damaged);
