/*
 * Rest_backup_sums: the sums of usage (store/store_tally.h) in a backup, and how they are restored
 * (http-api.md 20.4).
 *
 * They contain what was reported for jobs that are gone. A usage report of a job in the same backup
 * says whether the sums contain it, too, so that a restore counts it once.
 */
#pragma once

#include "rest/backup/rest_backup_int.h"
#include "store/store_tally.h"

/* The number of the first row that the sums contain; UINT64_MAX: there are no sums. */
uint64_t rest_backup_sums__first_row(struct store_snapshot *sn);

struct rest_backup_sums {
    struct buf from;  /* key of the cell where to go on; empty: the first one */
    uint64_t written; /* elements */
    bool damaged;     /* a cell cannot be read */
};

/* Write the next elements of the list, until out has max bytes or many were looked at. True when
 * there are no more. */
bool rest_backup_sums__write(struct rest_backup_sums *s, const struct rest_call *c,
                             struct store_snapshot *sn, struct buf *out, size_t max);

/* Can all members of the cluster restore sums? If not, they are left out. */
bool rest_backup_sums__are_known(const struct rest_call *c);

ATTR_NODISCARD bool rest_backup_sums__read(struct rest_call *c, struct str json,
                                           struct command_restore_item *out, struct err *err);
