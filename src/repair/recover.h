/*
 * Recover: one survivor becomes a cluster again, after the majority of the others is gone for good.
 *
 * What only the others had is lost, whoever was told that it is safe. The survivor gets a new
 * cluster number, so that none of the others, should one come back, takes part in what it does not
 * know about. For a data folder that no server uses; blocks.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

/* Report to out, for people; change something only when apply says so. ERR_CONFLICT when a server
 * uses the folder, or there is nothing to recover. */
ATTR_NODISCARD enum err_code recover_run(const char *data_dir, bool apply, struct buf *out,
                                         struct err *err);
