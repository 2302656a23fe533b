#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/fault.h"

/* With AddressSanitizer, each piece is a separate allocation, so that overruns are found. */
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
    return arena_new_budget(limit_bytes, NULL);
}

struct arena *arena_new_budget(size_t limit_bytes, struct budget *budget)
{
    struct arena *a = calloc(1, sizeof *a);
    CHECK(a != NULL);
    a->limit_bytes = a->left_bytes = limit_bytes;
    a->budget = budget;
    return a;
}

static void blocks_free(struct arena *a, struct arena_block *b)
{
    while (b != NULL) {
        struct arena_block *next = b->next;
        budget_give(a->budget, b->cap);
        free(b);
        b = next;
    }
}

void arena_free(struct arena *a)
{
    if (a != NULL) {
        blocks_free(a, a->blocks);
        free(a);
    }
}

void arena_freep(struct arena **a)
{
    arena_free(*a);
    *a = NULL;
}

/* Use the newest block from its beginning; with none, the arena is empty. */
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
        blocks_free(a, b->next);
        b->next = NULL;
    }
    /* A block for one large piece is not worth keeping. */
    if (b != NULL && b->cap > ARENA_BLOCK_BYTES) {
        blocks_free(a, b);
        b = NULL;
    }
    use_block(a, b);
    a->left_bytes = a->limit_bytes;
    a->error = ERR_OK;
    a->owed = false;
}

/* The first error is kept. */
void arena_spoil(struct arena *a, enum err_code why)
{
    if (a->error == ERR_OK) {
        a->error = why;
    }
}

/* Do the limit and the fault point allow this many bytes? */
static bool is_within(struct arena *a, size_t size)
{
    if (a->owed) {
        return true;
    }
    if (size > a->left_bytes || (a->budget != NULL && FAULT(ARENA))) {
        arena_spoil(a, ERR_TOO_LARGE);
        return false;
    }
    return true;
}

static size_t block_cap(size_t size, size_t align)
{
    CHECK(size <= SIZE_MAX / 2);
    size_t need = size + align;
    return need > ARENA_BLOCK_BYTES ? need : ARENA_BLOCK_BYTES;
}

/* Add a block of this size, which the budget has already counted. */
static void add_block(struct arena *a, size_t cap)
{
    struct arena_block *b = malloc(sizeof *b + cap);
    CHECK(b != NULL);
    *b = (struct arena_block){.next = a->blocks, .cap = cap};
    use_block(a, b);
}

static bool has_room(const struct arena *a, size_t size, size_t align)
{
    size_t gap = -(uintptr_t)a->at & (align - 1);
    size_t room = (size_t)(a->end - a->at);
    return a->at != NULL && gap <= room && size <= room - gap;
}

/* Cut a piece from the newest block, which has room. */
static void *cut_piece(struct arena *a, size_t size, size_t align)
{
    char *piece = a->at + (-(uintptr_t)a->at & (align - 1));
    a->at = piece + size;
    a->left_bytes -= size < a->left_bytes ? size : a->left_bytes;
    return piece;
}

void *arena_alloc_slow(struct arena *a, size_t size, size_t align)
{
    CHECK(align > 0);
    CHECK((align & (align - 1)) == 0);
    if (a->owed) {
        return arena_need(a, size, align);
    }
    if (!is_within(a, size)) {
        return NULL;
    }
    if (!has_room(a, size, align)) {
        size_t cap = block_cap(size, align);
        if (!budget_take(a->budget, cap)) {
            arena_spoil(a, ERR_OVERLOADED);
            return NULL;
        }
        add_block(a, cap);
    }
    return cut_piece(a, size, align);
}

void *arena_need(struct arena *a, size_t size, size_t align)
{
    (void)is_within(a, size);
    if (!has_room(a, size, align)) {
        size_t cap = block_cap(size, align);
        if (a->owed || a->error != ERR_OK) {
            budget_force(a->budget, cap);
        } else if (!budget_take(a->budget, cap)) {
            arena_spoil(a, ERR_OVERLOADED);
            budget_force(a->budget, cap);
        }
        add_block(a, cap);
    }
    return cut_piece(a, size, align);
}

void arena_owe(struct arena *a)
{
    a->owed = true;
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
