/*
 * Id_set: ids in the order in which they came, each once and with a number beside it.
 *
 * A ring, and a table of places in it. What came first is taken out first, so both ends of the ring
 * and, for ids that were made together (id_hash), the table are read and written side by side.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct id_set_slot {
    uint32_t place; /* in the ring, plus one; 0: empty */
    uint32_t hash;  /* low half, of the id there */
};

/* All zeros: empty. */
struct id_set {
    struct id *ids;
    uint64_t *numbers; /* at the same places */
    struct id_set_slot *slots;
    uint32_t cap;   /* of the ring, a power of two; the table has twice as many */
    uint64_t first; /* of the oldest; places are these modulo cap */
    uint64_t next;
};

void id_set_clear(struct id_set *s); /* and give the memory back */

static inline uint64_t id_set_count(const struct id_set *s)
{
    return s->next - s->first;
}

/* Whether the next one makes it grow. */
static inline bool id_set_is_full(const struct id_set *s)
{
    return id_set_count(s) == s->cap;
}

/* False when the id is there already; it keeps its place and its number. */
bool id_set_add(struct id_set *s, struct id id, uint64_t number);

bool id_set_find(const struct id_set *s, struct id id, uint64_t *out_number);

/* The number of the oldest of a set that is not empty. */
uint64_t id_set_oldest(const struct id_set *s);

/* Take the oldest out; false when there is none. */
bool id_set_take(struct id_set *s, struct id *out);
