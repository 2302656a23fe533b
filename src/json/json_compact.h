/*
 * Json_compact: removes the insignificant white space from a value.
 *
 * Numbers, escapes, the order of keys and repeated keys are kept unchanged.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"

/* Value must have been accepted by json_scan. Returns value itself if there is nothing to
 * remove, else a copy in the arena. Empty if the arena is full. */
ATTR_NODISCARD struct str json_compact_in(struct arena *arena, struct str value);

/* Append value, which json_scan has accepted, to out, which may overflow. */
void json_compact_add(struct buf *out, struct str value);
