/*
 * Server_dir: one server uses a data directory at a time.
 *
 * A start finishes what the last run left: it moves folders and clears unfinished ends of files.
 * Under a running server that would destroy data, so the lock is taken before anything is read.
 */
#pragma once

#include "base/attr.h"
#include "base/err.h"

/* Create the directory if it is missing, and lock it until *out_lock is closed. ERR_CONFLICT if
 * another process uses it. */
ATTR_NODISCARD enum err_code server_dir_take(const char *data_dir, int *out_lock, struct err *err);
