#include "base/map.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"

enum { MAP_FIRST_SLOTS = 16 };

void map_init(struct map *m)
{
    *m = (struct map){0};
}

void map_deinit(struct map *m)
{
    free(m->slots);
    map_init(m);
}

uint64_t map_hash(struct str key)
{
    return hash_bytes(0, key.ptr, key.len);
}

static struct map_node **slot_of(const struct map *m, uint64_t hash)
{
    return &m->slots[hash & (m->slot_count - 1)];
}

struct map_node *map_find(const struct map *m, struct str key)
{
    return m->count == 0 ? NULL : map_find_hashed(m, map_hash(key), key);
}

struct map_node *map_find_hashed(const struct map *m, uint64_t hash, struct str key)
{
    struct map_node *n = m->count == 0 ? NULL : *slot_of(m, hash);
    while (n != NULL && (n->hash != hash || !str_eq(n->key, key))) {
        n = n->next;
    }
    return n;
}

struct map_node *map_find_hash(const struct map *m, uint64_t hash)
{
    struct map_node *n = m->count == 0 ? NULL : *slot_of(m, hash);
    while (n != NULL && n->hash != hash) {
        n = n->next;
    }
    return n;
}

static void grow(struct map *m)
{
    struct map bigger = {.slot_count = m->slot_count == 0 ? MAP_FIRST_SLOTS : m->slot_count * 2,
                         .count = m->count};
    bigger.slots = calloc(bigger.slot_count, sizeof(struct map_node *));
    CHECK(bigger.slots != NULL);
    for (size_t i = 0; i < m->slot_count; i++) {
        struct map_node *n = m->slots[i];
        while (n != NULL) {
            struct map_node *next = n->next;
            struct map_node **slot = slot_of(&bigger, n->hash);
            n->next = *slot;
            *slot = n;
            n = next;
        }
    }
    free(m->slots);
    *m = bigger;
}

void map_add(struct map *m, struct map_node *node)
{
    node->hash = map_hash(node->key);
    map_add_hashed(m, node);
}

void map_add_hashed(struct map *m, struct map_node *node)
{
    DCHECK(map_find_hashed(m, node->hash, node->key) == NULL);
    if (m->count == m->slot_count) {
        grow(m);
    }
    struct map_node **slot = slot_of(m, node->hash);
    node->next = *slot;
    *slot = node;
    m->count++;
}

void map_remove(struct map *m, struct map_node *node)
{
    CHECK(m->count > 0);
    struct map_node **at = slot_of(m, node->hash);
    while (*at != node) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = node->next;
    node->next = NULL;
    m->count--;
}

void map_each(struct map *m, void (*fn)(struct map_node *node, void *data), void *data)
{
    for (size_t i = 0; i < m->slot_count; i++) {
        struct map_node *n = m->slots[i];
        while (n != NULL) {
            struct map_node *next = n->next;
            fn(n, data);
            n = next;
        }
    }
}
