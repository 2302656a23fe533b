/*
 * Id_uuid: converts between a job's id and the name of a job that was sent without one.
 *
 * A UUID of version 4 has 122 free bits. The number inside an entry never uses its top six bits, so
 * the rest of an id fits. The bits are mixed, because clients expect UUIDs to be spread evenly;
 * this is not encryption, and the id can be computed from the name. Names are stored, also by
 * clients, so the function must never change.
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

/* Write the name of an id. False, without writing anything, if the id's number is too large, which
 * does not occur in entries. */
ATTR_NODISCARD bool id_uuid_put(struct id id, char out[static ID_UUID_LEN]);

/* Parse a name. False if s was not written by id_uuid_put. */
ATTR_NODISCARD bool id_uuid_parse(struct str s, struct id *out);

/* Was the name computed from the id? */
bool id_uuid_is(struct str name, struct id id);

/* Format 128 bits as text, with the bits of version 4 set. */
void id_uuid_format(uint64_t high, uint64_t low, char out[static ID_UUID_LEN]);
