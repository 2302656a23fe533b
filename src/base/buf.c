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

void buf_set_budget(struct buf *b, struct budget *budget)
{
    CHECK(b->len == 0);
    CHECK(b->borrowed || b->ptr == NULL);
    b->budget = budget;
}

/* The bytes counted in the budget. */
static size_t owned_bytes(const struct buf *b)
{
    return b->borrowed ? 0 : b->cap;
}

static void forget(struct buf *b)
{
    *b = (struct buf){.limit_bytes = b->limit_bytes, .budget = b->budget};
}

void buf_deinit(struct buf *b)
{
    budget_give(b->budget, owned_bytes(b));
    if (!b->borrowed) {
        free(b->ptr);
    }
    forget(b);
}

/* Move the content to allocated memory with room for cap bytes. */
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
        if (b->owed) {
            budget_force(b->budget, cap - owned_bytes(b));
        } else if (!budget_take(b->budget, cap - owned_bytes(b))) {
            b->overflow = b->refused = true;
            return NULL;
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
    /* vsnprintf also needs room for its NUL. */
    char *room = buf_reserve(b, (size_t)n + 1);
    if (room != NULL) {
        va_start(args, fmt);
        (void)vsnprintf(room, (size_t)n + 1, fmt, args);
        va_end(args);
        b->len += (size_t)n;
    }
}

void buf_add_utf8(struct buf *b, struct str text)
{
    while (text.len > 0) {
        size_t len = str_utf8_len(text);
        buf_add_str(b, len > 0 ? str_from(text.ptr, len) : STR("\xef\xbf\xbd"));
        text = str_from_offset(text, len > 0 ? len : 1);
    }
}

char *buf_take(struct buf *b)
{
    if (b->borrowed) {
        own(b, b->cap);
    } else {
        budget_give(b->budget, b->cap);
    }
    char *ptr = b->ptr;
    forget(b);
    return ptr;
}

char *buf_hand_over(struct buf *b, size_t *out_cap)
{
    if (b->borrowed) {
        return NULL;
    }
    char *ptr = b->ptr;
    *out_cap = b->cap;
    forget(b);
    return ptr;
}
