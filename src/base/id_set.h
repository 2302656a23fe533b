/*
 * Id_set: unique ids in the order of insertion, each with a number.
 *
 * A ring, and a hash table of places in the ring. Ids are removed in the order of insertion, so
 * accesses to both ends of the ring are local, and so are accesses to the table for ids that were
 * created together (id_hash).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct id_set_slot {
    uint32_t place; /* in the ring, plus one; 0: empty */
    uint32_t hash;  /* low half of the id's hash */
};

/* All zeros: empty. */
struct id_set {
    struct id *ids;
    uint64_t *numbers; /* at the same places */
    struct id_set_slot *slots;
    uint32_t cap;   /* of the ring, a power of two; the table is twice as large */
    uint64_t first; /* number of the oldest id; its place in the ring is this modulo cap */
    uint64_t next;
};

void id_set_clear(struct id_set *s); /* also frees the memory */

static inline uint64_t id_set_count(const struct id_set *s)
{
    return s->next - s->first;
}

/* Would the next id make the set grow? */
static inline bool id_set_is_full(const struct id_set *s)
{
    return id_set_count(s) == s->cap;
}

/* Add an id. False if it is already in the set; it then keeps its place and number. */
bool id_set_add(struct id_set *s, struct id id, uint64_t number);

bool id_set_find(const struct id_set *s, struct id id, uint64_t *out_number);

/* Return the number of the oldest id. The set must not be empty. */
uint64_t id_set_oldest(const struct id_set *s);

/* Remove the oldest id; false if the set is empty. */
bool id_set_take(struct id_set *s, struct id *out);
