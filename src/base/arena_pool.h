/*
 * Arenas of finished requests, kept by a thread for reuse.
 *
 * An arena in the pool keeps its first block, and that block's share of the budget. So an idle
 * thread holds at most ARENA_POOL_MAX blocks.
 */
#pragma once

#include "base/arena.h"

enum { ARENA_POOL_MAX = 64 };

struct arena_pool {
    struct arena *list[ARENA_POOL_MAX];
    size_t count;
};

/* All arenas of a pool have the same limit and the same budget. */
static inline struct arena *arena_pool_take(struct arena_pool *p, size_t limit_bytes,
                                            struct budget *budget)
{
    return p->count > 0 ? p->list[--p->count] : arena_new_budget(limit_bytes, budget);
}

static inline void arena_pool_give(struct arena_pool *p, struct arena *a)
{
    if (p->count < ARENA_POOL_MAX) {
        arena_reset(a);
        p->list[p->count++] = a;
    } else {
        arena_free(a);
    }
}

static inline void arena_pool_deinit(struct arena_pool *p)
{
    while (p->count > 0) {
        arena_free(p->list[--p->count]);
    }
}
