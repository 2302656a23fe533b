/*
 * Marks: an approximate set of hashes.
 *
 * It keeps four bytes of each hash: "no" is certain, "yes" is almost always right. It saves lookups
 * in a slow table. The same hash may be added several times, for several things, and is then
 * removed as many times.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MARKS_TABLE_BITS = 8, MARKS_TABLES = 1 << MARKS_TABLE_BITS };

struct marks {
    /* selected by the top bits of the hash, so that each table grows separately */
    uint32_t *slots[MARKS_TABLES]; /* low half of a hash; 0: empty */
    uint32_t slot_count[MARKS_TABLES];
    uint32_t used[MARKS_TABLES];
};

void marks_init(struct marks *m);
void marks_deinit(struct marks *m);

bool marks_has(const struct marks *m, uint64_t hash);
void marks_add(struct marks *m, uint64_t hash);
/* The hash must be in the set. */
void marks_remove(struct marks *m, uint64_t hash);

/* Memory in use. */
uint64_t marks_bytes(const struct marks *m);
