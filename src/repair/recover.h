/*
 * Recover: makes a surviving node a cluster of one, after the majority is permanently lost.
 *
 * Entries that only the other nodes had are lost, even if they were acknowledged. The node gets a
 * new cluster id, so that another member that is started again cannot join the new cluster
 * unnoticed. The data directory must not be in use by a server. Blocks.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

/* Write a human-readable report to out; change files only if apply is set. ERR_CONFLICT if a server
 * uses the directory, or if there is nothing to recover. */
ATTR_NODISCARD enum err_code recover_run(const char *data_dir, bool apply, struct buf *out,
                                         struct err *err);
