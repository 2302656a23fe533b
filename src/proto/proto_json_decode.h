/*
 * Proto_json_decode: decodes a message from JSON, by the mapping of proto3.
 *
 * Names may be lowerCamelCase or as in the .proto file; unknown members are ignored; null means the
 * same as leaving the member out; integers may be strings, and 1.0 or 1e3 are integers too.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "proto/proto.h"

/* Decode text, which is one JSON object, into *out, whose old content is ignored. Texts are views
 * of text where possible; everything else is in the arena. ERR_PARSE if text is not JSON or not a
 * valid message of this type, ERR_TOO_LARGE if the arena is full. */
ATTR_NODISCARD enum err_code proto_json_decode(const struct proto_message *type, struct str text,
                                               struct arena *arena, void *out, struct err *err);
