/*
 * Buf: bytes that are owned and grow, up to a limit that must be said when it is made.
 *
 * What is put into a buf is sized by a client or a disk, so passing the limit is an ordinary
 * outcome: the buf then refuses, remembers it (overflow) and keeps what it had. A writer may thus
 * append many times and look once, at the end. The memory of a buf may come from a budget, which
 * refuses in the same way. Running out of real memory aborts.
 *
 * A buf may begin in room that its owner has anyway, on the stack or beside it, and moves out when
 * that is too small. Such a buf must not be copied as a struct.
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
    struct budget *budget; /* what is not borrowed is taken from it; NULL: from none */
    bool overflow;         /* something did not fit */
    bool refused;          /* it was the budget that refused */
    bool owed;             /* the budget may not refuse: what is written has been done already */
    bool borrowed;         /* ptr is the owner's room */
};

void buf_init(struct buf *b, size_t limit_bytes);
/* The room, of that many bytes, lives at least as long as the buf. */
void buf_init_room(struct buf *b, size_t limit_bytes, void *room, size_t room_bytes);
/* Take what it needs from a budget that outlives it. Before anything is put into it. */
void buf_set_budget(struct buf *b, struct budget *budget);
void buf_deinit(struct buf *b); /* fine on one that was never used; leaves it empty */

/* Forget the content, keep the memory. */
static inline void buf_clear(struct buf *b)
{
    b->len = 0;
    b->overflow = b->refused = false;
}

/* Why it overflowed: ERR_TOO_LARGE or, when the budget is spent, ERR_OVERLOADED; or ERR_OK. */
static inline enum err_code buf_error(const struct buf *b)
{
    return !b->overflow ? ERR_OK : b->refused ? ERR_OVERLOADED : ERR_TOO_LARGE;
}

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){.ptr = b->ptr, .len = b->len};
}

/* Make room for n more bytes, when there is too little; NULL past the limit. */
ATTR_NODISCARD char *buf_grow(struct buf *b, size_t n);

/* Room for n more bytes, or NULL past the limit. The caller fills them and adds to len. */
ATTR_NODISCARD static inline char *buf_reserve(struct buf *b, size_t n)
{
    return n <= b->cap - b->len && !b->overflow ? b->ptr + b->len : buf_grow(b, n);
}

/* Inline, because most of what is written is a few bytes of known size. */
static inline void buf_add(struct buf *b, const void *bytes, size_t n)
{
    char *room = n == 0 ? NULL : buf_reserve(b, n);
    if (room != NULL) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): only nothing is at NULL */
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

void buf_printf(struct buf *b, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* The bytes leave the buf, which is empty afterwards; the caller frees them. NULL when empty. They
 * are the caller's, no longer the budget's. */
ATTR_NODISCARD char *buf_take(struct buf *b);

/* The memory of a buf that is not in borrowed room leaves it with what it took from the budget:
 * *out_cap bytes, which the caller gives back when it frees them. NULL, and nothing happens, when
 * it is in borrowed room. */
ATTR_NODISCARD char *buf_hand_over(struct buf *b, size_t *out_cap);
