/*
 * Buf: bytes that are owned and grow, up to a limit that must be said when it is made.
 *
 * What is put into a buf is sized by a client or a disk, so passing the limit is an ordinary
 * outcome: the buf then refuses, remembers it (overflow) and keeps what it had. A writer may thus
 * append many times and look once, at the end. Running out of real memory aborts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t limit_bytes;
    bool overflow; /* something did not fit */
};

void buf_init(struct buf *b, size_t limit_bytes);
void buf_deinit(struct buf *b); /* fine on one that was never used; leaves it empty */

/* Forget the content, keep the memory. */
static inline void buf_clear(struct buf *b)
{
    b->len = 0;
    b->overflow = false;
}

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){.ptr = b->ptr, .len = b->len};
}

/* Room for n more bytes, or NULL past the limit. The caller fills them and adds to len. */
ATTR_NODISCARD char *buf_reserve(struct buf *b, size_t n);

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_add_str(struct buf *b, struct str s);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* The bytes leave the buf, which is empty afterwards; the caller frees them. NULL when empty. */
ATTR_NODISCARD char *buf_take(struct buf *b);
