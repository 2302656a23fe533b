#include "base/heap.h"

#include <stdlib.h>

#include "base/check.h"

enum { HEAP_WIDTH = 4, HEAP_FIRST_CAP = 64 };

void heap_init(struct heap *h, bool (*before)(const struct heap_node *a, const struct heap_node *b))
{
    heap_init_ranked(h, before, NULL);
}

void heap_init_ranked(struct heap *h,
                      bool (*before)(const struct heap_node *a, const struct heap_node *b),
                      uint64_t (*rank)(const struct heap_node *n))
{
    *h = (struct heap){.before = before, .rank = rank};
}

void heap_deinit(struct heap *h)
{
    free(h->items);
    heap_init_ranked(h, h->before, h->rank);
}

static bool comes_first(const struct heap *h, const struct heap_item *a, const struct heap_item *b)
{
    if (a->key != b->key) {
        return a->key < b->key;
    }
    return a->rank != b->rank ? a->rank < b->rank : h->before(a->node, b->node);
}

static void place(struct heap *h, struct heap_item item, uint32_t pos)
{
    h->items[pos] = item;
    item.node->pos = pos;
}

static uint32_t move_up(struct heap *h, struct heap_item item, uint32_t pos)
{
    while (pos > 0) {
        uint32_t parent = (pos - 1) / HEAP_WIDTH;
        if (!comes_first(h, &item, &h->items[parent])) {
            break;
        }
        place(h, h->items[parent], pos);
        pos = parent;
    }
    return pos;
}

static uint32_t move_down(struct heap *h, struct heap_item item, uint32_t pos)
{
    for (;;) {
        uint32_t child = pos * HEAP_WIDTH + 1;
        uint32_t end = child + HEAP_WIDTH < h->count ? child + HEAP_WIDTH : h->count;
        uint32_t best = child;
        if (child >= h->count) {
            return pos;
        }
        for (uint32_t i = child + 1; i < end; i++) {
            if (comes_first(h, &h->items[i], &h->items[best])) {
                best = i;
            }
        }
        if (!comes_first(h, &h->items[best], &item)) {
            return pos;
        }
        place(h, h->items[best], pos);
        pos = best;
    }
}

/* Fill the gap at pos: put the item there, or move it further up or down. */
static void settle(struct heap *h, struct heap_item item, uint32_t pos)
{
    place(h, item, move_down(h, item, move_up(h, item, pos)));
}

void heap_set(struct heap *h, struct heap_node *n, int64_t key)
{
    if (!heap_node_is_in(n)) {
        if (h->count == h->cap) {
            CHECK(h->cap < UINT32_MAX / (2 * HEAP_WIDTH));
            h->cap = h->cap == 0 ? HEAP_FIRST_CAP : h->cap * 2;
            h->items = realloc(h->items, h->cap * sizeof *h->items);
            CHECK(h->items != NULL);
        }
        n->pos = h->count++;
    } else {
        CHECK(h->items[n->pos].node == n);
    }
    uint64_t rank = h->rank == NULL ? 0 : h->rank(n);
    settle(h, (struct heap_item){.key = key, .rank = rank, .node = n}, n->pos);
}

void heap_remove(struct heap *h, struct heap_node *n)
{
    if (!heap_node_is_in(n)) {
        return;
    }
    CHECK(h->items[n->pos].node == n);
    struct heap_item last = h->items[--h->count];
    if (last.node != n) {
        settle(h, last, n->pos);
    }
    n->pos = HEAP_OUT;
}

/* No item precedes its parent, so the list of items found is also the list of those whose
 * children must be checked. */
uint32_t heap_until(const struct heap *h, int64_t key, struct heap_node **out, uint32_t max)
{
    uint32_t count = 0;
    if (max > 0 && h->count > 0 && h->items[0].key <= key) {
        out[count++] = h->items[0].node;
    }
    for (uint32_t at = 0; at < count; at++) {
        uint32_t child = out[at]->pos * HEAP_WIDTH + 1;
        for (uint32_t i = 0; i < HEAP_WIDTH && child + i < h->count && count < max; i++) {
            if (h->items[child + i].key <= key) {
                out[count++] = h->items[child + i].node;
            }
        }
    }
    return count;
}

/* Walk from a parent to its first child, from a child to the next sibling, and up where there is
 * none: needs no stack. */
void heap_each_until(const struct heap *h, int64_t key,
                     bool (*fn)(void *data, struct heap_node *node), void *data)
{
    uint32_t at = 0;
    for (;;) {
        if (at < h->count && h->items[at].key <= key) {
            if (!fn(data, h->items[at].node)) {
                return;
            }
            if (at <= (UINT32_MAX - 1) / HEAP_WIDTH) {
                at = at * HEAP_WIDTH + 1;
                continue;
            }
        }
        while (at != 0 && at % HEAP_WIDTH == 0) { /* the last child of its parent */
            at = (at - 1) / HEAP_WIDTH;
        }
        if (at == 0) {
            return;
        }
        at++;
    }
}
