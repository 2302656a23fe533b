/*
 * Wire: Raft's messages as bytes, for the other members. Pure.
 *
 * What a peer sends goes into libraft, which trusts it, and from there into the log, which must
 * not be given what it cannot hold. So decoding is where everything is looked at: sizes, numbers
 * that would overflow, terms that cannot be, kinds of entries, lists of members, manifests. What
 * passes is a message that a member in its right mind could have sent. Who sent it is not in the
 * bytes: the connection knows.
 *
 * The bytes are described in docs/formats/peers.md.
 */
#pragma once

#include <raft.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    WIRE_VERSION = 1,
    WIRE_ENTRIES_MAX = 65536, /* of one message: pieces are of a megabyte */
};

/* Numbers beyond are no index and no term. */
#define WIRE_NUMBER_MAX ((uint64_t)1 << 62)

/* Add the message's bytes to out; everything is copied. */
void wire_encode(const struct raft_message *m, struct buf *out);

/* The sender's id and address are the caller's to set. What the message points to is from
 * raft_malloc, and Raft's when it is delivered; wire_clear frees it otherwise. ERR_CORRUPT says
 * what is wrong. */
ATTR_NODISCARD enum err_code wire_decode(struct str bytes, struct raft_message *out,
                                         struct err *err);
void wire_clear(struct raft_message *m);

/* Keep the first entries of an append, as if no more had been sent. */
void wire_cut(struct raft_message *m, unsigned count);
