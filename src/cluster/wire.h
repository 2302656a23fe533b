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
    WIRE_ENTRIES_MAX = 65536, /* in one message, which has at most about a megabyte */
};

/* The maximum of an index or a term. */
#define WIRE_NUMBER_MAX ((uint64_t)1 << 62)

/* Append the encoded message to out; everything is copied. */
void wire_encode(const struct raft_message *m, struct buf *out);

/* Decode a message. The caller sets the sender's id and address. Memory in the message comes from
 * raft_malloc and belongs to Raft once the message is delivered; otherwise wire_clear frees it.
 * ERR_CORRUPT gives the reason. */
ATTR_NODISCARD enum err_code wire_decode(struct str bytes, struct raft_message *out,
                                         struct err *err);
void wire_clear(struct raft_message *m);

/* Keep only the first `count` entries of an append. */
void wire_cut(struct raft_message *m, unsigned count);
