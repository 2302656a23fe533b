/*
 * Ballot: the term this member is in and whom it voted for in it.
 *
 * A member that forgot either could vote twice in one term, so both are on disk before they are
 * announced. The file has two copies. A change writes and flushes the first, then the second: a
 * crash in between leaves one of them whole, and a copy that is damaged later is restored from the
 * other. The file never grows and stays open, so that a member can vote when the disk is full or
 * the process has no file descriptors left.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct ballot {
    uint64_t version; /* incremented by every change */
    uint64_t term;
    uint64_t vote; /* a member's id; 0: none */
};

/* Open the file, or create it with all zeros; the caller closes *out_fd. ERR_CORRUPT if neither
 * copy is valid. Makes the copies equal if they differ. */
ATTR_NODISCARD enum err_code ballot_open(const char *path, int *out_fd, struct ballot *out,
                                         struct err *err);

/* Read the ballot as ballot_open does, without changing the file. A missing file is all zero. */
ATTR_NODISCARD enum err_code ballot_inspect(const char *path, struct ballot *out, struct err *err);

/* Durable on return; increments the version. After a failure the file may hold the old or the
 * new state. */
ATTR_NODISCARD enum err_code ballot_store(int fd, struct ballot *b, struct err *err);
