/*
 * Store_given: the record of jobs that the server named.
 *
 * Such a name is computed from the job's id (base/id_uuid.h), so it needs no separate record. For
 * all such jobs that one log entry created in one queue there is one record: their first and last
 * numbers, and how many are left. Other objects of the entry can have numbers in between.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/str.h"

/* The first bytes of all ids of an entry. The key of a record is the queue, NUL and these bytes. */
enum { STORE_GIVEN_ENTRY_BYTES = ID_BYTES - 4 };

struct store_given {
    uint32_t first, last; /* numbers of the first and the last job */
    uint32_t left;        /* jobs that are still stored; at least 1 */
};

void store_given_encode(const struct store_given *g, struct buf *out);
ATTR_NODISCARD bool store_given_decode(struct str value, struct store_given *out);

/* The number of an id within its entry; the id with a number in the entry whose first bytes are
 * `entry`. */
uint32_t store_given_number(struct id id);
struct id store_given_id(const void *entry, uint32_t number);
