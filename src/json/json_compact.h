/*
 * Json_compact: a value without the white space that means nothing.
 *
 * Numbers, escapes, the order of keys and repeated keys stay exactly as they came.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"

/* Is value, which json_scan has accepted, without such space already? */
ATTR_NODISCARD bool json_compact_is(struct str value);

/* Put value, which json_scan has accepted, behind what is in out, which may overflow. */
void json_compact_add(struct buf *out, struct str value);
