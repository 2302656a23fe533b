/*
 * Json_compact: a value without the white space that means nothing.
 *
 * Numbers, escapes, the order of keys and repeated keys stay exactly as they came.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"

/* Value, which json_scan has accepted: itself, when it has no such space, or a copy in the arena.
 * Empty when that has no room for one. */
ATTR_NODISCARD struct str json_compact_in(struct arena *arena, struct str value);

/* Put value, which json_scan has accepted, behind what is in out, which may overflow. */
void json_compact_add(struct buf *out, struct str value);
