/*
 * Repair: what is damaged in a data folder that no server uses, and what can be done about it.
 *
 * The state can be made again from a snapshot and the log behind it. The log reaches back to the
 * older of the two snapshots that are kept, so either will do. Tables that a snapshot shares with
 * the state by hard links are damaged in both; then the other snapshot may be good, or only a
 * backup is left.
 *
 * Reads everything, changes nothing unless told to, and removes nothing: what is damaged is moved
 * aside. What a crash left unfinished at the end of the log stays for the next start. Blocks; for a
 * process of its own.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum repair_outcome {
    REPAIR_SOUND,    /* nothing is damaged */
    REPAIR_MENDED,   /* what was damaged is out of the way: the next start makes it again */
    REPAIR_POSSIBLE, /* it would be, but for `apply` */
    REPAIR_LOST,     /* only a backup helps */
};

struct repair_ask {
    const char *data_dir;
    bool apply;
    bool empty; /* a backup will be restored: move all data aside, whatever its state */
};

/* Report to out, line by line, for people. An error means that the folder could not be examined:
 * ERR_CONFLICT when a server uses it. */
ATTR_NODISCARD enum err_code repair_run(const struct repair_ask *ask, struct buf *out,
                                        enum repair_outcome *out_outcome, struct err *err);
