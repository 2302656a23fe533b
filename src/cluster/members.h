/*
 * Members: who belongs to the group, as bytes.
 *
 * The bytes are libraft's own encoding, because membership entries in the log are written by it;
 * it has no public decoder, and the one inside trusts its input. This one does not.
 *
 *   u8 1 · u64 count · count times: u64 id, address with a NUL behind it, u8 role · zeros to 8
 */
#pragma once

#include <raft.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum { MEMBERS_MAX = 255, MEMBERS_ADDRESS_BYTES_MAX = 512, MEMBERS_BYTES_MAX = 256 * 1024 };

/* The bytes are the caller's, to be freed with raft_free. */
struct str members_encode(const struct raft_configuration *members);

/* On success the caller closes *out with raft_configuration_close. ERR_CORRUPT otherwise. */
ATTR_NODISCARD enum err_code members_decode(struct str bytes, struct raft_configuration *out,
                                            struct err *err);

unsigned members_voter_count(const struct raft_configuration *members);
