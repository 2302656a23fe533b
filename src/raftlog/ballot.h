/*
 * Ballot: the term this member is in and whom it voted for in it.
 *
 * A member that forgot either could vote twice in one term, so both are on disk before anybody
 * hears of them. The file has two copies. A change writes and flushes the first, then the second:
 * a crash in between leaves one of them whole, and a copy that goes bad later is made good from
 * the other. The file never grows and stays open, so that a member can vote when the disk is full
 * or the process has no file descriptors left.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct ballot {
    uint64_t version; /* counts the changes */
    uint64_t term;
    uint64_t vote; /* a member's id, 0 for none */
};

/* Open the file, or create one that is all zero; the caller closes *out_fd. ERR_CORRUPT when
 * neither copy is valid. Makes the copies equal when they are not. */
ATTR_NODISCARD enum err_code ballot_open(const char *path, int *out_fd, struct ballot *out,
                                         struct err *err);

/* Read it as ballot_open does, and change nothing: a file that is missing is all zero. */
ATTR_NODISCARD enum err_code ballot_inspect(const char *path, struct ballot *out, struct err *err);

/* Durable on return; counts the version up. After a failure it is not known which of the two
 * states the file has. */
ATTR_NODISCARD enum err_code ballot_store(int fd, struct ballot *b, struct err *err);
