/*
 * Run: execute one seed from the first entry to the last.
 *
 * Entries of random commands are applied to the model and to a machine on disk, and both are
 * compared after each. Sometimes the machine is closed and opened again, which rebuilds its memory
 * from the disk. At the end the same entries are applied to a second machine that is never closed,
 * and the entries after a checkpoint to a third machine that starts from it. All three must have
 * the same state, bit for bit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run_totals {
    uint64_t seeds, operations, restarts;
    uint64_t cuts; /* commands that did not fit into one entry */
};

struct run_options {
    uint64_t operations; /* per seed, on average */
    bool trace;          /* print every command and its answer */
};

/* False if anything differed. The difference has been printed. */
bool run_seed(uint64_t seed, const struct run_options *options, struct run_totals *totals);
