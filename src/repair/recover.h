/*
 * Recover: makes one survivor a cluster of its own, after the majority is lost for good.
 *
 * Entries that only the others had are lost, even if they were acknowledged. The survivor gets a
 * new cluster number, so that another member that comes back cannot join the new cluster unnoticed.
 * For a data folder that no server uses; blocks.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

/* Write a report for people to out; change files only if apply is set. ERR_CONFLICT if a server
 * uses the folder, or there is nothing to recover. */
ATTR_NODISCARD enum err_code recover_run(const char *data_dir, bool apply, struct buf *out,
                                         struct err *err);
