/*
 * Proto_encode: encodes a message, with the fields in the order of their numbers, without defaults.
 *
 * Equal messages have equal bytes. The limit of the buf limits the message; the caller checks
 * buf.overflow.
 */
#pragma once

#include "base/buf.h"
#include "proto/proto.h"

/* Append message, a struct of the given type, to out. */
void proto_encode(const struct proto_message *type, const void *message, struct buf *out);
