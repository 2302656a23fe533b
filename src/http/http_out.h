/*
 * Http_out: pending output, as a list of blocks.
 *
 * Small pieces are copied one after another into blocks. The blocks come from a cache that all
 * connections of a thread share; an idle connection holds none. Static bytes are referenced, not
 * copied. One list can be appended to another without copying.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <uv.h>

#include "base/buf.h"
#include "base/str.h"

struct http_block {
    struct http_block *next;
    const char *from; /* first unsent byte */
    size_t len;       /* unsent bytes */
    size_t room;      /* free bytes after them; 0 if they are not in data */
    size_t cap;       /* of data */
    char *owned;      /* external memory of owned_cap bytes that the block frees; or NULL */
    size_t owned_cap;
    char data[];
};

/* Free blocks of one thread. All blocks count against the budget but are never refused: their
 * content was already taken from it, or is small. */
struct http_block_cache {
    struct http_block *free;
    size_t count;
    struct budget *budget; /* NULL: none */
};

void http_out_cache_clear(struct http_block_cache *cache);

struct http_out {
    struct http_block *first, *last;
    size_t bytes;
    struct http_block_cache *cache; /* must outlive the list */
};

void http_out_init(struct http_out *out, struct http_block_cache *cache);
void http_out_clear(struct http_out *out);

/* Reserve n contiguous bytes. The caller fills them and calls http_out_commit with the number
 * used. */
char *http_out_reserve(struct http_out *out, size_t n);
void http_out_commit(struct http_out *out, size_t n);

void http_out_add(struct http_out *out, struct str bytes);

/* Add bytes that live as long as the process, without copying. */
void http_out_add_static(struct http_out *out, struct str bytes);

/* Add the whole content of the buf; large memory is taken over instead of copied. */
void http_out_add_buf(struct http_out *out, struct buf *bytes);

/* Add a separate block, which http_out_first returns as one piece. */
void http_out_add_piece(struct http_out *out, struct str bytes);

/* The unsent part of the first block; empty if there is none. */
struct str http_out_first(const struct http_out *out);

/* Append all blocks of from to out; from is empty afterwards. */
void http_out_move(struct http_out *out, struct http_out *from);

/* Fill in at most max pieces from the first bytes; returns their number. */
unsigned http_out_pieces(const struct http_out *out, uv_buf_t *pieces, unsigned max);

/* Remove the first n bytes, which have been sent. */
void http_out_sent(struct http_out *out, size_t n);
