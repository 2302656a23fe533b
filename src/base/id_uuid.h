/*
 * Id_uuid: the name of a job that was sent without one, made from the job's id and turned back into
 * it.
 *
 * A UUID of version 4 has 122 bits of its own. The number inside an entry never needs its top six,
 * so that everything else of an id fits. The bits are mixed, because clients expect UUIDs to be
 * spread evenly; this is no secret, and whoever knows a name knows the id. Names are stored and in
 * the hands of clients: the function is fixed for ever.
 *
 * Text: 36 characters, lower case.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/id.h"
#include "base/str.h"

enum { ID_UUID_LEN = 36, ID_UUID_NUMBER_BITS = 26 };

/* False when the id's number is too large, which it is in no entry: nothing was written. */
ATTR_NODISCARD bool id_uuid_put(struct id id, char out[static ID_UUID_LEN]);

/* False when s is not what id_uuid_put could have written. */
ATTR_NODISCARD bool id_uuid_parse(struct str s, struct id *out);

/* Is the name the one that is made from the id? */
bool id_uuid_is(struct str name, struct id id);

/* 128 bits as text, with the bits that say version 4 set in them. */
void id_uuid_format(uint64_t high, uint64_t low, char out[static ID_UUID_LEN]);
