/*
 * Arena: memory that is freed all at once.
 *
 * One arena per request, one per applied entry, one per test. A single allocation is never freed.
 * Each arena has a limit, set by its creator, because clients determine the sizes of what is put
 * into it. The blocks of a request's arena are also taken from the budget shared by all requests.
 *
 * Running out is an ordinary outcome, and an arena remembers it, like the overflow of a buf: from
 * then on arena_error says why (ERR_TOO_LARGE: its own limit; ERR_OVERLOADED: the budget). So a
 * request is read and prepared without a check at each step; the error is checked once, before the
 * outcome is used:
 *
 *   arena_alloc   NULL past the limit. For sizes that the sender chooses.
 *   arena_need    never NULL: past the limit it is given all the same, and remembered. For what is
 *                 small, or no larger than what the arena holds already.
 *   arena_owe     from here on nothing is refused: what was asked for has been done, and its
 *                 answer, whose size the doing bounds, is owed.
 *
 * Running out of real memory aborts the process; the limit and the budget prevent that.
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
    char *at, *end; /* free part of the newest block; NULL: no block */
    size_t left_bytes;
    size_t limit_bytes;
    struct arena_block *blocks; /* newest first */
    struct budget *budget;      /* for a request's arena; NULL: none */
    enum err_code error;        /* first refusal or excess over the limit */
    bool owed;
};

struct arena *arena_new(size_t limit_bytes);
/* For requests: its blocks are taken from the budget, which must outlive it. */
struct arena *arena_new_budget(size_t limit_bytes, struct budget *budget);
void arena_free(struct arena *a); /* NULL is allowed */
void arena_freep(struct arena **a);

/* Drop all allocations and errors, but keep the first block: for an arena that is reused. */
void arena_reset(struct arena *a);

/* Slow path: no room in the block, over the limit, or an armed fault point. */
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

/* Never NULL; see the top of this file. */
void *arena_need(struct arena *a, size_t size, size_t align);

/* Refuse nothing until the next reset; see the top of this file. */
void arena_owe(struct arena *a);

/* Why something was refused or exceeded the limit; ERR_OK if nothing was. */
static inline enum err_code arena_error(const struct arena *a)
{
    return a->error;
}

/* Set the error: something that belongs into the arena was refused elsewhere. */
void arena_spoil(struct arena *a, enum err_code why);

/* A copy of s; empty with a NULL pointer if it does not fit. */
struct str arena_str(struct arena *a, struct str s);

/* A NUL-terminated copy, for system calls and foreign interfaces. */
ATTR_NODISCARD char *arena_strz(struct arena *a, struct str s);

/* Bytes requested and allocated, up to the limit. */
size_t arena_used_bytes(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(a, type, count)                                                                \
    ((type *)arena_alloc((a), sizeof(type) * (count), _Alignof(type)))
