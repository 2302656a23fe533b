/*
 * Arena: memory that all dies at once.
 *
 * One arena per request, one per applied entry, one per test. A single allocation is never freed.
 * Each arena has a limit, set by whoever made it, because what is put into it is sized by a client:
 * arena_alloc returns NULL past that limit, and the caller answers ERR_TOO_LARGE. Running out of
 * real memory aborts the process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

/* Open so that allocating is inline; the members are private. */
struct arena {
    char *at, *end; /* what is free of the newest block; NULL when there is none */
    size_t left_bytes;
    size_t limit_bytes;
    struct arena_block *blocks; /* newest first */
};

struct arena *arena_new(size_t limit_bytes);
void arena_free(struct arena *a); /* NULL is fine */
void arena_freep(struct arena **a);

/* Forget every allocation, keep the first block: for an arena that is used again and again. */
void arena_reset(struct arena *a);

/* When the block has no room, or the limit none. */
ATTR_NODISCARD void *arena_alloc_slow(struct arena *a, size_t size, size_t align);

/* align is a power of two. */
ATTR_NODISCARD static inline void *arena_alloc(struct arena *a, size_t size, size_t align)
{
    size_t gap = -(uintptr_t)a->at & (align - 1);
    size_t room = (size_t)(a->end - a->at);
    if (size > a->left_bytes || gap > room || size > room - gap || a->at == NULL) {
        return arena_alloc_slow(a, size, align);
    }
    char *piece = a->at + gap;
    a->at = piece + size;
    a->left_bytes -= size;
    return piece;
}

/* A copy of s; empty with a NULL pointer when it does not fit. */
struct str arena_str(struct arena *a, struct str s);

/* A copy with a NUL behind it, for system calls and foreign interfaces. */
ATTR_NODISCARD char *arena_strz(struct arena *a, struct str s);

size_t arena_used_bytes(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(a, type, count)                                                                \
    ((type *)arena_alloc((a), sizeof(type) * (count), _Alignof(type)))
