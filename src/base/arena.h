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

struct arena;

struct arena *arena_new(size_t limit_bytes);
void arena_free(struct arena *a); /* NULL is fine */
void arena_freep(struct arena **a);

/* Forget every allocation, keep the first block: for an arena that is used again and again. */
void arena_reset(struct arena *a);

ATTR_NODISCARD void *arena_alloc(struct arena *a, size_t size, size_t align);

/* A copy of s; empty with a NULL pointer when it does not fit. */
struct str arena_str(struct arena *a, struct str s);

/* A copy with a NUL behind it, for system calls and foreign interfaces. */
ATTR_NODISCARD char *arena_strz(struct arena *a, struct str s);

size_t arena_used_bytes(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(a, type, count)                                                                \
    ((type *)arena_alloc((a), sizeof(type) * (count), _Alignof(type)))
