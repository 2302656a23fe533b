#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"

enum { BUF_FIRST_BYTES = 512 };

void buf_init(struct buf *b, size_t limit_bytes)
{
    *b = (struct buf){.limit_bytes = limit_bytes};
}

void buf_init_room(struct buf *b, size_t limit_bytes, void *room, size_t room_bytes)
{
    *b = (struct buf){.ptr = room,
                      .cap = room_bytes < limit_bytes ? room_bytes : limit_bytes,
                      .limit_bytes = limit_bytes,
                      .borrowed = true};
}

void buf_deinit(struct buf *b)
{
    if (!b->borrowed) {
        free(b->ptr);
    }
    buf_init(b, b->limit_bytes);
}

/* The content in memory of its own, with room for cap bytes. */
static void own(struct buf *b, size_t cap)
{
    char *ptr = realloc(b->borrowed ? NULL : b->ptr, cap);
    CHECK(ptr != NULL);
    if (b->borrowed && b->len > 0) {
        memcpy(ptr, b->ptr, b->len);
    }
    b->borrowed = false;
    b->ptr = ptr;
    b->cap = cap;
}

char *buf_grow(struct buf *b, size_t n)
{
    if (b->overflow || n > b->limit_bytes - b->len) {
        b->overflow = true;
        return NULL;
    }
    if (n > b->cap - b->len) {
        size_t cap = b->cap < BUF_FIRST_BYTES ? BUF_FIRST_BYTES : b->cap * 2;
        if (cap < b->len + n) {
            cap = b->len + n;
        }
        if (cap > b->limit_bytes) {
            cap = b->limit_bytes;
        }
        own(b, cap);
    }
    return b->ptr + b->len;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    char small[256];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    CHECK(n >= 0);
    if ((size_t)n < sizeof small) {
        buf_add(b, small, (size_t)n);
        return;
    }
    /* vsnprintf wants room for its NUL too. */
    char *room = buf_reserve(b, (size_t)n + 1);
    if (room != NULL) {
        va_start(args, fmt);
        (void)vsnprintf(room, (size_t)n + 1, fmt, args);
        va_end(args);
        b->len += (size_t)n;
    }
}

char *buf_take(struct buf *b)
{
    if (b->borrowed) {
        own(b, b->cap);
    }
    char *ptr = b->ptr;
    buf_init(b, b->limit_bytes);
    return ptr;
}
