/*
 * Members: encodes and decodes the members of the Raft group.
 *
 * The bytes are libraft's own encoding, because membership entries in the log are written by it. It
 * has no public decoder, and its internal one trusts its input; this one does not. The encoder of
 * libraft leaves the padding uninitialized; this one writes zeros.
 *
 *   u8 1 · u64 count · count times: u64 id, address with NUL, u8 role · zeros to a multiple of 8
 */
#pragma once

#include <raft.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { MEMBERS_MAX = 255, MEMBERS_ADDRESS_BYTES_MAX = 512, MEMBERS_BYTES_MAX = 256 * 1024 };

/* Append the members, at least one, to out. */
void members_encode(const struct raft_configuration *members, struct buf *out);

/* On success the caller closes *out with raft_configuration_close. ERR_CORRUPT otherwise. */
ATTR_NODISCARD enum err_code members_decode(struct str bytes, struct raft_configuration *out,
                                            struct err *err);

unsigned members_voter_count(const struct raft_configuration *members);
