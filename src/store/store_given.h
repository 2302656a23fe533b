/*
 * Store_given: the record of jobs to which the server gave names.
 *
 * Such a name is made from the job's id (base/id_uuid.h), so that it is found without a record of
 * its own. To list the jobs of a queue there is one record for all that one log entry made: the
 * first and the last of their numbers, and how many are left. Other things may have numbers in
 * between.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/str.h"

/* What ids of one entry begin with; behind the queue and a NUL, the end of the record's key. */
enum { STORE_GIVEN_ENTRY_BYTES = ID_BYTES - 4 };

struct store_given {
    uint32_t first, last; /* numbers */
    uint32_t left;        /* jobs that are still stored, at least one */
};

void store_given_encode(const struct store_given *g, struct buf *out);
ATTR_NODISCARD bool store_given_decode(struct str value, struct store_given *out);

/* The number of an id inside its entry; and the id of another number in the entry that the bytes
 * name. */
uint32_t store_given_number(struct id id);
struct id store_given_id(const void *entry, uint32_t number);
