#include "http/http_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { BLOCK_BYTES = 8 * 1024 - (int)sizeof(struct http_block) };

/* Up to this size, each piece gets a whole block, which is faster. */
enum { PIECES_BYTES = 64 * 1024 };

/* AddressSanitizer should see every block being freed. */
#if defined(__SANITIZE_ADDRESS__)
enum { CACHE_BLOCKS = 0 };
#else
enum { CACHE_BLOCKS = 256 };
#endif

static struct http_block *block_new(struct http_block_cache *cache, size_t cap)
{
    struct http_block *b = cache->free;
    if (b != NULL && cap <= BLOCK_BYTES) {
        cache->free = b->next;
        cache->count--;
    } else {
        cap = cap > BLOCK_BYTES ? cap : BLOCK_BYTES;
        b = malloc(sizeof *b + cap);
        CHECK(b != NULL);
        budget_force(cache->budget, cap);
        b->cap = cap;
    }
    b->next = NULL;
    b->owned = NULL;
    b->from = b->data;
    b->len = 0;
    b->room = b->cap;
    return b;
}

/* Allocate a block for exactly len bytes, which is not reused. */
static struct http_block *block_exact(struct http_block_cache *cache, size_t len)
{
    struct http_block *b = malloc(sizeof *b + len);
    CHECK(b != NULL);
    budget_force(cache->budget, len);
    *b = (struct http_block){.cap = len};
    b->from = b->data;
    return b;
}

static void block_release(struct http_block_cache *cache, struct http_block *b)
{
    budget_give(cache->budget, b->cap);
    if (b->owned != NULL) {
        budget_give(cache->budget, b->owned_cap);
        free(b->owned);
    }
    free(b);
}

static void block_free(struct http_block_cache *cache, struct http_block *b)
{
    if (b->cap == BLOCK_BYTES && cache->count + 1 <= CACHE_BLOCKS) {
        b->next = cache->free;
        cache->free = b;
        cache->count++;
    } else {
        block_release(cache, b);
    }
}

void http_out_cache_clear(struct http_block_cache *cache)
{
    while (cache->free != NULL) {
        struct http_block *b = cache->free;
        cache->free = b->next;
        block_release(cache, b);
    }
    cache->count = 0;
}

void http_out_init(struct http_out *out, struct http_block_cache *cache)
{
    *out = (struct http_out){.cache = cache};
}

static void drop_first(struct http_out *out)
{
    struct http_block *b = out->first;
    out->bytes -= b->len;
    out->first = b->next;
    if (out->first == NULL) {
        out->last = NULL;
    }
    block_free(out->cache, b);
}

void http_out_clear(struct http_out *out)
{
    while (out->first != NULL) {
        drop_first(out);
    }
    CHECK(out->bytes == 0);
}

static void append(struct http_out *out, struct http_block *b)
{
    if (out->last == NULL) {
        out->first = b;
    } else {
        out->last->next = b;
    }
    out->last = b;
}

char *http_out_reserve(struct http_out *out, size_t n)
{
    if (out->last == NULL || out->last->room < n) {
        append(out, block_new(out->cache, n));
    }
    struct http_block *b = out->last;
    return b->data + (b->cap - b->room);
}

void http_out_commit(struct http_out *out, size_t n)
{
    CHECK(out->last != NULL);
    CHECK(n <= out->last->room);
    out->last->room -= n;
    out->last->len += n;
    out->bytes += n;
}

void http_out_add(struct http_out *out, struct str bytes)
{
    if (bytes.len > 0) {
        memcpy(http_out_reserve(out, bytes.len), bytes.ptr, bytes.len);
        http_out_commit(out, bytes.len);
    }
}

void http_out_add_static(struct http_out *out, struct str bytes)
{
    if (bytes.len == 0) {
        return;
    }
    struct http_block *b = block_new(out->cache, 0);
    b->from = bytes.ptr;
    b->len = bytes.len;
    b->room = 0;
    append(out, b);
    out->bytes += bytes.len;
}

void http_out_add_buf(struct http_out *out, struct buf *bytes)
{
    struct str held = buf_str(bytes);
    size_t cap;
    CHECK(bytes->budget == out->cache->budget);
    char *memory = held.len < BLOCK_BYTES ? NULL : buf_hand_over(bytes, &cap);
    if (memory == NULL) {
        http_out_add_piece(out, held);
        return;
    }
    struct http_block *b = block_exact(out->cache, 0);
    b->owned = memory;
    b->owned_cap = cap;
    b->from = memory;
    b->len = held.len;
    append(out, b);
    out->bytes += held.len;
}

void http_out_add_piece(struct http_out *out, struct str bytes)
{
    if (bytes.len == 0) {
        return;
    }
    /* A slow reader may have thousands of small pieces queued; then each block is only as large as
     * its piece. */
    bool is_slow = out->bytes > PIECES_BYTES && bytes.len < BLOCK_BYTES;
    struct http_block *b =
        is_slow ? block_exact(out->cache, bytes.len) : block_new(out->cache, bytes.len);
    append(out, b);
    memcpy(b->data, bytes.ptr, bytes.len);
    b->len = bytes.len;
    b->room = 0;
    out->bytes += bytes.len;
}

struct str http_out_first(const struct http_out *out)
{
    return out->first == NULL ? STR_EMPTY : str_from(out->first->from, out->first->len);
}

void http_out_move(struct http_out *out, struct http_out *from)
{
    CHECK(out->cache == from->cache);
    if (from->first == NULL) {
        return;
    }
    append(out, from->first);
    out->last = from->last;
    out->bytes += from->bytes;
    http_out_init(from, from->cache);
}

unsigned http_out_pieces(const struct http_out *out, uv_buf_t *pieces, unsigned max)
{
    unsigned n = 0;
    for (struct http_block *b = out->first; b != NULL && n < max; b = b->next) {
        if (b->len > 0) {
            /* libuv's type is char *, although it only reads. */
            pieces[n].base = (char *)(uintptr_t)b->from;
            pieces[n].len = b->len;
            n++;
        }
    }
    return n;
}

void http_out_sent(struct http_out *out, size_t n)
{
    CHECK(n <= out->bytes);
    while (out->first != NULL && n >= out->first->len) {
        n -= out->first->len;
        drop_first(out);
    }
    if (n > 0) {
        CHECK(out->first != NULL);
        out->first->from += n;
        out->first->len -= n;
        out->bytes -= n;
    }
}
