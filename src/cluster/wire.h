/*
 * Wire: encodes and decodes Raft messages for the other members. Pure.
 *
 * libraft trusts the messages it receives, and writes their entries to the log. Decoding therefore
 * validates everything: sizes, numbers that would overflow, impossible terms, entry kinds, member
 * lists, manifests. A message that passes is one that a correct member could have sent. The sender
 * is not part of the bytes: the connection knows it.
 *
 * docs/formats/peers.md describes the bytes.
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
