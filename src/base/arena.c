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

struct arena_block {
    struct arena_block *next;
    size_t cap;
    char data[];
};

struct arena *arena_new(size_t limit_bytes)
{
    struct arena *a = calloc(1, sizeof *a);
    CHECK(a != NULL);
    a->limit_bytes = a->left_bytes = limit_bytes;
    return a;
}

static void blocks_free(struct arena_block *b)
{
    while (b != NULL) {
        struct arena_block *next = b->next;
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

/* Go on at the beginning of the block, which is the newest; NULL when there is none. */
static void use_block(struct arena *a, struct arena_block *b)
{
    a->blocks = b;
    a->at = b == NULL ? NULL : b->data;
    a->end = b == NULL ? NULL : b->data + b->cap;
}

void arena_reset(struct arena *a)
{
    struct arena_block *b = a->blocks;
    if (b != NULL) {
        blocks_free(b->next);
        b->next = NULL;
    }
    /* A block made for one large piece is not worth keeping. */
    if (b != NULL && b->cap > ARENA_BLOCK_BYTES) {
        blocks_free(b);
        b = NULL;
    }
    use_block(a, b);
    a->left_bytes = a->limit_bytes;
}

void *arena_alloc_slow(struct arena *a, size_t size, size_t align)
{
    CHECK(align > 0);
    CHECK((align & (align - 1)) == 0);
    if (size > a->left_bytes) {
        return NULL;
    }
    size_t need = size + align;
    size_t cap = need > ARENA_BLOCK_BYTES ? need : ARENA_BLOCK_BYTES;
    struct arena_block *b = malloc(sizeof *b + cap);
    CHECK(b != NULL);
    *b = (struct arena_block){.next = a->blocks, .cap = cap};
    use_block(a, b);
    return arena_alloc(a, size, align);
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
    return a->limit_bytes - a->left_bytes;
}
