/*
 * Heap: a priority queue of objects that are due at some time, the earliest first.
 *
 * Intrusive: an object embeds struct heap_node; the heap owns only its array. Objects with the same
 * key are ordered by `before`, so that the order of removal does not depend on the order of
 * insertion: replicas that were restarted at different times agree.
 *
 * The keys are in the array itself, so that searching a large heap does not access the objects. If
 * many have the same key, `rank` avoids most calls of `before`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_OUT UINT32_MAX

struct heap_node {
    uint32_t pos; /* index in the heap's array, HEAP_OUT: not in a heap */
};

struct heap_item {
    int64_t key;
    uint64_t rank;
    struct heap_node *node;
};

struct heap {
    struct heap_item *items;
    uint32_t count;
    uint32_t cap;
    bool (*before)(const struct heap_node *a, const struct heap_node *b); /* for equal keys */
    /* Of two objects with the same key, the one with the lower rank is first; with equal ranks,
     * `before` decides. NULL: all ranks are equal. */
    uint64_t (*rank)(const struct heap_node *n);
};

static inline struct heap_node heap_node_out(void)
{
    return (struct heap_node){.pos = HEAP_OUT};
}

static inline bool heap_node_is_in(const struct heap_node *n)
{
    return n->pos != HEAP_OUT;
}

void heap_init(struct heap *h,
               bool (*before)(const struct heap_node *a, const struct heap_node *b));
void heap_init_ranked(struct heap *h,
                      bool (*before)(const struct heap_node *a, const struct heap_node *b),
                      uint64_t (*rank)(const struct heap_node *n));
void heap_deinit(struct heap *h);

/* Return the key of a node in the heap. */
static inline int64_t heap_key(const struct heap *h, const struct heap_node *n)
{
    return h->items[n->pos].key;
}

/* Insert a node, or change its key. */
void heap_set(struct heap *h, struct heap_node *n, int64_t key);

/* Remove a node. Does nothing if it is not in a heap. */
void heap_remove(struct heap *h, struct heap_node *n);

/* Return the first node, or NULL. */
static inline struct heap_node *heap_first(const struct heap *h)
{
    return h->count == 0 ? NULL : h->items[0].node;
}

/* Return the first node if its key is at most this one, otherwise NULL. */
static inline struct heap_node *heap_first_until(const struct heap *h, int64_t key)
{
    return h->count == 0 || h->items[0].key > key ? NULL : h->items[0].node;
}

/* Return the key of the first node, or INT64_MAX. */
static inline int64_t heap_first_key(const struct heap *h)
{
    return h->count == 0 ? INT64_MAX : h->items[0].key;
}

/* Collect nodes with keys up to this one, at most max, in no order. The first node is always
 * included. Returns their number. */
uint32_t heap_until(const struct heap *h, int64_t key, struct heap_node **out, uint32_t max);

/* Call fn for each node whose key is at most this one, in no order, until fn returns false. */
void heap_each_until(const struct heap *h, int64_t key,
                     bool (*fn)(void *data, struct heap_node *node), void *data);
