/*
 * Buf: an owned, growing sequence of bytes, up to a limit that is set at the start.
 *
 * Clients and disks determine the size of a buf's content, so exceeding the limit is an ordinary
 * outcome: the buf then refuses bytes, sets overflow and keeps its content. A writer can therefore
 * append many times and check once, at the end. The memory of a buf can be counted in a budget,
 * which refuses in the same way. Running out of real memory aborts.
 *
 * A buf can begin in memory borrowed from its owner, on the stack or next to the buf, and moves to
 * allocated memory when that is too small. Such a buf must not be copied as a struct.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/budget.h"
#include "base/err.h"
#include "base/str.h"

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t limit_bytes;
    struct budget *budget; /* budget for memory that is not borrowed; NULL: none */
    bool overflow;         /* the buf has refused bytes */
    bool refused;          /* the budget caused the refusal */
    bool owed;             /* the budget may not refuse: the content describes work already done */
    bool borrowed;         /* ptr is borrowed memory of the owner */
};

void buf_init(struct buf *b, size_t limit_bytes);
/* Begin in borrowed memory of room_bytes, which must outlive the buf. */
void buf_init_room(struct buf *b, size_t limit_bytes, void *room, size_t room_bytes);
/* Count memory in a budget, which must outlive the buf. Call it while the buf is empty. */
void buf_set_budget(struct buf *b, struct budget *budget);
void buf_deinit(struct buf *b); /* also for a buf that was never used; leaves it empty */

/* Drop the content, keep the memory. */
static inline void buf_clear(struct buf *b)
{
    b->len = 0;
    b->overflow = b->refused = false;
}

/* Return the reason of the overflow: ERR_TOO_LARGE, or ERR_OVERLOADED if the budget is exhausted.
 * ERR_OK if there was none. */
static inline enum err_code buf_error(const struct buf *b)
{
    return !b->overflow ? ERR_OK : b->refused ? ERR_OVERLOADED : ERR_TOO_LARGE;
}

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){.ptr = b->ptr, .len = b->len};
}

/* Make room for n more bytes if necessary; NULL past the limit. */
ATTR_NODISCARD char *buf_grow(struct buf *b, size_t n);

/* Return room for n more bytes, or NULL beyond the limit. The caller fills it and adds to len. */
ATTR_NODISCARD static inline char *buf_reserve(struct buf *b, size_t n)
{
    return n <= b->cap - b->len && !b->overflow ? b->ptr + b->len : buf_grow(b, n);
}

/* Inline, because most calls add a few bytes of known size. */
static inline void buf_add(struct buf *b, const void *bytes, size_t n)
{
    char *room = n == 0 ? NULL : buf_reserve(b, n);
    if (room != NULL) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): bytes is NULL only if n is 0 */
        memcpy(room, bytes, n);
        b->len += n;
    }
}

static inline void buf_add_str(struct buf *b, struct str s)
{
    buf_add(b, s.ptr, s.len);
}

static inline void buf_add_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

/* Append a text as well-formed UTF-8: U+FFFD replaces each byte that is not part of a character. */
void buf_add_utf8(struct buf *b, struct str text);

void buf_printf(struct buf *b, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* Move the bytes out of the buf, which is empty afterwards; the caller frees them. NULL when
 * empty. The budget no longer counts them. */
ATTR_NODISCARD char *buf_take(struct buf *b);

/* Move the memory out together with its share of the budget: *out_cap bytes, which the caller
 * returns to the budget when freeing the memory. NULL, and nothing happens, if the memory is
 * borrowed. */
ATTR_NODISCARD char *buf_hand_over(struct buf *b, size_t *out_cap);
