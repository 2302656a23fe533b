/*
 * Arena: memory that is freed all at once.
 *
 * There is one arena per request, per applied entry, per test. A single allocation is never freed.
 * Each arena has a limit, set by its creator, because clients determine the sizes of its content.
 * The blocks of a request's arena are also counted in the budget shared by all requests.
 *
 * Exceeding the limit is an ordinary outcome. The arena records it, like the overflow of a buf:
 * from then on arena_error returns the reason (ERR_TOO_LARGE: the arena's limit; ERR_OVERLOADED:
 * the budget). So a request is read and prepared without a check at each step; the error is checked
 * once, before the outcome is used:
 *
 *   arena_alloc   Returns NULL beyond the limit. For sizes that the client chooses.
 *   arena_need    Never returns NULL. Beyond the limit it allocates and records the error. For
 *                 memory that is small, or no larger than what is already in the arena.
 *   arena_owe     From here on nothing is refused: the request has been executed and must be
 *                 answered. The work done limits the size of the response.
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
/* For requests: the blocks are counted in the budget, which must outlive the arena. */
struct arena *arena_new_budget(size_t limit_bytes, struct budget *budget);
void arena_free(struct arena *a); /* NULL is allowed */
void arena_freep(struct arena **a);

/* Free all allocations and clear the error, but keep the first block: for an arena that is
 * reused. */
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

/* Return the reason of the first refusal or excess over the limit; ERR_OK if there was none. */
static inline enum err_code arena_error(const struct arena *a)
{
    return a->error;
}

/* Set the error, because memory that belongs to the arena's request was refused elsewhere. */
void arena_spoil(struct arena *a, enum err_code why);

/* Return a copy of s; empty with a NULL pointer if it does not fit. */
struct str arena_str(struct arena *a, struct str s);

/* Return a NUL-terminated copy, for system calls and foreign interfaces. */
ATTR_NODISCARD char *arena_strz(struct arena *a, struct str s);

/* Bytes requested and allocated, up to the limit. */
size_t arena_used_bytes(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(a, type, count)                                                                \
    ((type *)arena_alloc((a), sizeof(type) * (count), _Alignof(type)))
