#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* AddressSanitizer sees one allocation per call instead of one per block, so that running over the
 * end of a piece is found. */
#if defined(__SANITIZE_ADDRESS__)
enum { ARENA_BLOCK_BYTES = 1 };
#else
enum { ARENA_BLOCK_BYTES = 16 * 1024 };
#endif

struct block {
    struct block *next;
    size_t used;
    size_t cap;
    char data[];
};

struct arena {
    struct block *blocks; /* newest first */
    size_t used_bytes;
    size_t limit_bytes;
};

struct arena *arena_new(size_t limit_bytes)
{
    struct arena *a = calloc(1, sizeof *a);
    CHECK(a != NULL);
    a->limit_bytes = limit_bytes;
    return a;
}

static void blocks_free(struct block *b)
{
    while (b != NULL) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
}

void arena_free(struct arena *a)
{
    if (a != NULL) {
        blocks_free(a->blocks);
        free(a);
    }
}

void arena_freep(struct arena **a)
{
    arena_free(*a);
    *a = NULL;
}

void arena_reset(struct arena *a)
{
    if (a->blocks != NULL) {
        /* A block made for one large piece is not worth keeping. */
        if (a->blocks->cap > ARENA_BLOCK_BYTES) {
            blocks_free(a->blocks);
            a->blocks = NULL;
        } else {
            blocks_free(a->blocks->next);
            a->blocks->next = NULL;
            a->blocks->used = 0;
        }
    }
    a->used_bytes = 0;
}

/* Where in b an allocation would begin: data is aligned as malloc aligns, plus the header. */
static size_t place(const struct block *b, size_t align)
{
    uintptr_t at = (uintptr_t)(b->data + b->used);
    return b->used + (size_t)(-at & (align - 1));
}

/* Apart, so that the common case below has no registers to save. */
ATTR_NOINLINE static void *alloc_in_new_block(struct arena *a, size_t size, size_t align)
{
    size_t need = size + align;
    size_t cap = need > ARENA_BLOCK_BYTES ? need : ARENA_BLOCK_BYTES;
    struct block *b = malloc(sizeof *b + cap);
    CHECK(b != NULL);
    *b = (struct block){.next = a->blocks, .cap = cap};
    size_t at = place(b, align);
    b->used = at + size;
    a->blocks = b;
    a->used_bytes += size;
    return b->data + at;
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
    CHECK(align > 0);
    CHECK((align & (align - 1)) == 0);
    if (size > a->limit_bytes - a->used_bytes) {
        return NULL;
    }
    struct block *b = a->blocks;
    size_t at = b == NULL ? 0 : place(b, align);
    if (b == NULL || at > b->cap || size > b->cap - at) {
        return alloc_in_new_block(a, size, align);
    }
    b->used = at + size;
    a->used_bytes += size;
    return b->data + at;
}

struct str arena_str(struct arena *a, struct str s)
{
    char *copy = s.len == 0 ? NULL : arena_alloc(a, s.len, 1);
    if (copy == NULL) {
        return STR_EMPTY;
    }
    memcpy(copy, s.ptr, s.len);
    return str_from(copy, s.len);
}

char *arena_strz(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.len + 1, 1);
    if (copy != NULL) {
        if (s.len > 0) {
            memcpy(copy, s.ptr, s.len);
        }
        copy[s.len] = '\0';
    }
    return copy;
}

size_t arena_used_bytes(const struct arena *a)
{
    return a->used_bytes;
}
