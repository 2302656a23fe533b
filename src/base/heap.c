#include "base/heap.h"

#include <stdlib.h>

#include "base/check.h"

enum { HEAP_WIDTH = 4, HEAP_FIRST_CAP = 64 };

void heap_init(struct heap *h, bool (*before)(const struct heap_node *a, const struct heap_node *b))
{
    *h = (struct heap){.before = before};
}

void heap_deinit(struct heap *h)
{
    free(h->nodes);
    heap_init(h, h->before);
}

static bool comes_first(const struct heap *h, const struct heap_node *a, const struct heap_node *b)
{
    return a->key != b->key ? a->key < b->key : h->before(a, b);
}

static void place(struct heap *h, struct heap_node *n, uint32_t pos)
{
    h->nodes[pos] = n;
    n->pos = pos;
}

static void move_up(struct heap *h, struct heap_node *n)
{
    uint32_t pos = n->pos;
    while (pos > 0) {
        uint32_t parent = (pos - 1) / HEAP_WIDTH;
        if (!comes_first(h, n, h->nodes[parent])) {
            break;
        }
        place(h, h->nodes[parent], pos);
        pos = parent;
    }
    place(h, n, pos);
}

static void move_down(struct heap *h, struct heap_node *n)
{
    uint32_t pos = n->pos;
    for (;;) {
        uint32_t child = pos * HEAP_WIDTH + 1;
        uint32_t end = child + HEAP_WIDTH < h->count ? child + HEAP_WIDTH : h->count;
        uint32_t best = child;
        if (child >= h->count) {
            break;
        }
        for (uint32_t i = child + 1; i < end; i++) {
            if (comes_first(h, h->nodes[i], h->nodes[best])) {
                best = i;
            }
        }
        if (!comes_first(h, h->nodes[best], n)) {
            break;
        }
        place(h, h->nodes[best], pos);
        pos = best;
    }
    place(h, n, pos);
}

void heap_set(struct heap *h, struct heap_node *n, int64_t key)
{
    if (!heap_node_is_in(n)) {
        if (h->count == h->cap) {
            CHECK(h->cap < UINT32_MAX / (2 * HEAP_WIDTH));
            h->cap = h->cap == 0 ? HEAP_FIRST_CAP : h->cap * 2;
            h->nodes = realloc(h->nodes, h->cap * sizeof(struct heap_node *));
            CHECK(h->nodes != NULL);
        }
        place(h, n, h->count++);
    }
    CHECK(h->nodes[n->pos] == n);
    n->key = key;
    move_up(h, n);
    move_down(h, n);
}

void heap_remove(struct heap *h, struct heap_node *n)
{
    if (!heap_node_is_in(n)) {
        return;
    }
    CHECK(h->nodes[n->pos] == n);
    struct heap_node *last = h->nodes[--h->count];
    if (last != n) {
        place(h, last, n->pos);
        move_up(h, last);
        move_down(h, last);
    }
    n->pos = HEAP_OUT;
}
