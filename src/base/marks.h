/*
 * Marks: has something with this hash been put in?
 *
 * Four bytes of each hash, nothing of the things themselves: a no is certain, a yes nearly always
 * right. Whoever would have to ask a slow table for every thing asks here first. The same hash may
 * be in several times, for several things; each is taken out by itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MARKS_TABLE_BITS = 8, MARKS_TABLES = 1 << MARKS_TABLE_BITS };

struct marks {
    /* by the top bits of the hash: each grows by itself, in steps */
    uint32_t *slots[MARKS_TABLES]; /* low half of a hash; 0: empty */
    uint32_t slot_count[MARKS_TABLES];
    uint32_t used[MARKS_TABLES];
};

void marks_init(struct marks *m);
void marks_deinit(struct marks *m);

bool marks_has(const struct marks *m, uint64_t hash);
void marks_add(struct marks *m, uint64_t hash);
/* One that is in. */
void marks_remove(struct marks *m, uint64_t hash);

/* Memory that they take. */
uint64_t marks_bytes(const struct marks *m);
