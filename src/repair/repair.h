/*
 * Repair: finds damage in a data directory that no server uses, and repairs it if possible.
 *
 * The state can be rebuilt from a snapshot and the log after it. The log reaches back to the older
 * of the two snapshots that are kept, so either snapshot is sufficient. Tables that a snapshot
 * shares with the state by hard links are damaged in both. Then the other snapshot may be good, or
 * only a backup helps.
 *
 * The identity and the ballot can be made again if this is the only node (repair_member.h).
 *
 * Reads everything, changes files only if `apply` is set, and removes nothing: damaged files are
 * moved aside. An unfinished write at the end of the log, left by a crash, is not touched: the next
 * start handles it. Blocks; meant for a separate process.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum repair_outcome {
    REPAIR_SOUND,    /* nothing is damaged */
    REPAIR_MENDED,   /* damaged files were moved aside, and are rebuilt now or by the next start */
    REPAIR_POSSIBLE, /* possible, but `apply` is not set */
    REPAIR_LOST,     /* only a backup or the other nodes help */
};

struct repair_ask {
    const char *data_dir;
    bool apply;
    bool empty; /* a backup will be restored: move all data aside in any case */
};

/* Write a human-readable report to out. An error means that the directory could not be examined;
 * ERR_CONFLICT: a server uses it. */
ATTR_NODISCARD enum err_code repair_run(const struct repair_ask *ask, struct buf *out,
                                        enum repair_outcome *out_outcome, struct err *err);
