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
    const char *from; /* the first byte not sent yet */
    size_t len;       /* bytes from there on */
    size_t room;      /* bytes free behind them; 0 when they are not in data */
    size_t cap;       /* of data */
    char *owned;      /* memory outside that the block frees, of owned_cap bytes; or NULL */
    size_t owned_cap;
    char data[];
};

/* Free blocks of one thread. All blocks count in the budget; none is refused, because what is put
 * into them was taken from it before, or is little. */
struct http_block_cache {
    struct http_block *free;
    size_t count;
    struct budget *budget; /* NULL: none */
};

void http_out_cache_clear(struct http_block_cache *cache);

struct http_out {
    struct http_block *first, *last;
    size_t bytes;
    struct http_block_cache *cache; /* outlives the list */
};

void http_out_init(struct http_out *out, struct http_block_cache *cache);
void http_out_clear(struct http_out *out);

/* Room for n bytes in one piece; the caller fills them and says with http_out_commit how many it
 * used. */
char *http_out_reserve(struct http_out *out, size_t n);
void http_out_commit(struct http_out *out, size_t n);

void http_out_add(struct http_out *out, struct str bytes);

/* The bytes live as long as the process. */
void http_out_add_static(struct http_out *out, struct str bytes);

/* The bytes are all that the buf holds: its memory is taken over where it can be. */
void http_out_add_buf(struct http_out *out, struct buf *bytes);

/* A block of its own, which http_out_first then gives back as one piece. */
void http_out_add_piece(struct http_out *out, struct str bytes);

/* What is left of the first block; empty when there is nothing. */
struct str http_out_first(const struct http_out *out);

/* Everything of from goes behind what is in out; from is empty afterwards. */
void http_out_move(struct http_out *out, struct http_out *from);

/* Describe the first bytes in at most max pieces; returns how many. */
unsigned http_out_pieces(const struct http_out *out, uv_buf_t *pieces, unsigned max);

/* The first n bytes have been sent. */
void http_out_sent(struct http_out *out, size_t n);
