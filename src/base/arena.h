/*
 * Arena: memory that all dies at once.
 *
 * One arena per request, one per applied entry, one per test. A single allocation is never freed.
 * Each arena has a limit, set by whoever made it, because what is put into it is sized by a client;
 * the blocks of a request's arena come from the budget of all requests besides.
 *
 * Running out is an ordinary outcome, and an arena remembers it, like the overflow of a buf: from
 * then on arena_error says why (ERR_TOO_LARGE: its own limit; ERR_OVERLOADED: the budget). So a
 * request is read and prepared without a look at each step, and whoever is about to do something
 * with the outcome looks once:
 *
 *   arena_alloc   NULL past the limit. For whatever is as large as its sender likes.
 *   arena_need    never NULL: past the limit it is given all the same, and remembered. For what is
 *                 small, or no larger than what the arena holds already.
 *   arena_owe     from here on nothing is refused: what was asked for has been done, and its
 *                 answer, whose size the doing bounds, is owed.
 *
 * Running out of real memory aborts the process; the limit and the budget are there so that it does
 * not come to that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/budget.h"
#include "base/err.h"
#include "base/str.h"

/* Open so that allocating is inline; the members are private. */
struct arena {
    char *at, *end; /* what is free of the newest block; NULL when there is none */
    size_t left_bytes;
    size_t limit_bytes;
    struct arena_block *blocks; /* newest first */
    struct budget *budget;      /* of a request's arena; NULL: none */
    enum err_code error;        /* why something was not given, or not within the limit */
    bool owed;
};

struct arena *arena_new(size_t limit_bytes);
/* For requests: its blocks are taken from the budget, which outlives it. */
struct arena *arena_new_budget(size_t limit_bytes, struct budget *budget);
void arena_free(struct arena *a); /* NULL is fine */
void arena_freep(struct arena **a);

/* Forget every allocation and error, keep the first block: for an arena that is used again and
 * again. */
void arena_reset(struct arena *a);

/* When the block has no room, or the limit none, or a test wants it to fail. */
ATTR_NODISCARD void *arena_alloc_slow(struct arena *a, size_t size, size_t align);

/* In a build with fault points every allocation of a request can fail. */
#ifdef CORVO_FAULTS
#define ARENA_IS_QUICK(a) ((a)->budget == NULL)
#else
#define ARENA_IS_QUICK(a) true
#endif

/* align is a power of two. */
ATTR_NODISCARD static inline void *arena_alloc(struct arena *a, size_t size, size_t align)
{
    size_t gap = -(uintptr_t)a->at & (align - 1);
    size_t room = (size_t)(a->end - a->at);
    if (size > a->left_bytes || gap > room || size > room - gap || a->at == NULL ||
        !ARENA_IS_QUICK(a)) {
        return arena_alloc_slow(a, size, align);
    }
    char *piece = a->at + gap;
    a->at = piece + size;
    a->left_bytes -= size;
    return piece;
}

/* Never NULL; see above. */
void *arena_need(struct arena *a, size_t size, size_t align);

/* Refuse nothing any more; see above. Until the next reset. */
void arena_owe(struct arena *a);

/* Why something was refused, or given beyond the limit; ERR_OK when nothing was. */
static inline enum err_code arena_error(const struct arena *a)
{
    return a->error;
}

/* Something that belongs into the arena was refused elsewhere, for this reason. */
void arena_spoil(struct arena *a, enum err_code why);

/* A copy of s; empty with a NULL pointer when it does not fit. */
struct str arena_str(struct arena *a, struct str s);

/* A copy with a NUL behind it, for system calls and foreign interfaces. */
ATTR_NODISCARD char *arena_strz(struct arena *a, struct str s);

/* What was asked for and given, up to the limit. */
size_t arena_used_bytes(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(a, type, count)                                                                \
    ((type *)arena_alloc((a), sizeof(type) * (count), _Alignof(type)))
