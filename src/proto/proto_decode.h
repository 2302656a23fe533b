/*
 * Proto_decode: decodes a message.
 *
 * Rules of proto3: fields may be in any order. If a singular field is repeated, the last value
 * wins; repeated messages of a singular field are merged. Unknown fields are skipped; a field with
 * another wire type than its row counts as unknown. Text must be UTF-8.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "proto/proto.h"

/* Decode all of bytes into *out, whose old content is ignored. Texts are views of bytes; lists and
 * inner messages are in the arena. ERR_PARSE if the bytes are not a valid message of this type,
 * ERR_TOO_LARGE if the arena is full. */
ATTR_NODISCARD enum err_code proto_decode(const struct proto_message *type, struct str bytes,
                                          struct arena *arena, void *out, struct err *err);
