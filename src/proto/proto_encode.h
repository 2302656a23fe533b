/*
 * Proto_encode: a message as bytes, its fields in the order of their numbers, defaults left out.
 *
 * Equal messages have equal bytes. The buf's limit is the message's; the caller looks at
 * buf.overflow.
 */
#pragma once

#include "base/buf.h"
#include "proto/proto.h"

/* Put the bytes of message, which has the type's struct, behind what is in out. */
void proto_encode(const struct proto_message *type, const void *message, struct buf *out);
