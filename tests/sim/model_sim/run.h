/*
 * Run: one seed from the first entry to the last.
 *
 * Entries of random commands go into the model and into a machine on disk, and both are compared
 * after each. Now and then the machine is closed and opened again, so that its memory is made anew
 * from the disk. In the end the same entries go into a second machine that is never closed, and
 * those behind a checkpoint into a third that begins with it: all three must be equal to the last
 * bit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run_totals {
    uint64_t seeds, operations, restarts;
    uint64_t cuts; /* commands that did not fit into their entry */
};

struct run_options {
    uint64_t operations; /* per seed, on average */
    bool trace;          /* print every command and its answer */
};

/* False when anything differed; it has been printed. */
bool run_seed(uint64_t seed, const struct run_options *options, struct run_totals *totals);
