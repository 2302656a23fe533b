/*
 * Repair: finds damage in a data folder that no server uses, and repairs it if possible.
 *
 * The state can be rebuilt from a snapshot and the log behind it. The log reaches back to the older
 * of the two snapshots that are kept, so either snapshot is sufficient. Tables that a snapshot
 * shares with the state by hard links are damaged in both; then the other snapshot may be good, or
 * only a backup helps.
 *
 * Reads everything, changes files only if `apply` is set, and removes nothing: damaged files are
 * moved aside. An unfinished write at the end of the log, left by a crash, is not touched: the next
 * start handles it. Blocks; for a process of its own.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum repair_outcome {
    REPAIR_SOUND,    /* nothing is damaged */
    REPAIR_MENDED,   /* damaged files were moved aside: the next start rebuilds them */
    REPAIR_POSSIBLE, /* possible, but `apply` is not set */
    REPAIR_LOST,     /* only a backup helps */
};

struct repair_ask {
    const char *data_dir;
    bool apply;
    bool empty; /* a backup will be restored: move all data aside in any case */
};

/* Write a report for people to out, line by line. An error means that the folder could not be
 * examined: ERR_CONFLICT if a server uses it. */
ATTR_NODISCARD enum err_code repair_run(const struct repair_ask *ask, struct buf *out,
                                        enum repair_outcome *out_outcome, struct err *err);
