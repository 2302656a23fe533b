/*
 * Map: a hash map from a name (any bytes) to an object that contains the name.
 *
 * Intrusive: an object embeds struct map_node and keeps the bytes of its key alive; the map owns
 * only its table. Whole keys are compared, so chosen collisions only cost time. The order of
 * map_each depends on the table's size: sort if the order matters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

struct map_node {
    struct map_node *next;
    uint64_t hash;
    struct str key;
};

struct map {
    struct map_node **slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
};

void map_init(struct map *m);
void map_deinit(struct map *m); /* does not free the objects */

struct map_node *map_find(const struct map *m, struct str key);
/* The same for a key whose hash is known. */
struct map_node *map_find_hashed(const struct map *m, uint64_t hash, struct str key);

/* The hash of a key, and a node whose key has that hash: almost certainly, but not always, the same
 * key. */
uint64_t map_hash(struct str key);
struct map_node *map_find_hash(const struct map *m, uint64_t hash);

/* Add a node whose key is set and not in the map yet. */
void map_add(struct map *m, struct map_node *node);
void map_add_hashed(struct map *m, struct map_node *node); /* the node's hash must be set too */

/* Remove a node that is in the map. */
void map_remove(struct map *m, struct map_node *node);

/* Call fn for every node; fn may remove the given node, but no other. */
void map_each(struct map *m, void (*fn)(struct map_node *node, void *data), void *data);
