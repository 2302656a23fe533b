/*
 * Proto_decode: decodes a message.
 *
 * Rules of proto3: fields come in any order; of a repeated singular field the last one wins, and
 * repeated messages of a singular field merge; unknown fields are skipped; a field of a wire type
 * that its row does not have counts as unknown. Text must be UTF-8.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "proto/proto.h"

/* Decode all of bytes into *out, whose old content is ignored. Texts are views of bytes; lists
 * and inner messages are in the arena. ERR_PARSE if the bytes are not such a message,
 * ERR_TOO_LARGE if the arena is full. */
ATTR_NODISCARD enum err_code proto_decode(const struct proto_message *type, struct str bytes,
                                          struct arena *arena, void *out, struct err *err);
