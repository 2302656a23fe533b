/*
 * Pack: encodes everything that is stored or sent.
 *
 * Numbers are little-endian and fixed; small counts and lengths are varints (7 bits per byte, low
 * bits first); text is a varint length and its bytes. Keys that must sort as numbers are
 * big-endian. Read it with unpack.h, which is included here.
 */
#pragma once

#include <endian.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/unpack.h" /* IWYU pragma: export */

static inline void pack_u8(struct buf *b, uint8_t v)
{
    buf_add(b, &v, sizeof v);
}

static inline void pack_bool(struct buf *b, bool v)
{
    pack_u8(b, v ? 1 : 0);
}

static inline void pack_u16(struct buf *b, uint16_t v)
{
    v = htole16(v);
    buf_add(b, &v, sizeof v);
}

static inline void pack_u32(struct buf *b, uint32_t v)
{
    v = htole32(v);
    buf_add(b, &v, sizeof v);
}

static inline void pack_u64(struct buf *b, uint64_t v)
{
    v = htole64(v);
    buf_add(b, &v, sizeof v);
}

static inline void pack_i64(struct buf *b, int64_t v)
{
    pack_u64(b, (uint64_t)v);
}

/* A varint of more than one byte. */
void pack_varint_long(struct buf *b, uint64_t v);

static inline void pack_varint(struct buf *b, uint64_t v)
{
    if (v < 0x80) {
        pack_u8(b, (uint8_t)v);
    } else {
        pack_varint_long(b, v);
    }
}

static inline void pack_text(struct buf *b, struct str s)
{
    char *room = s.len < 0x80 ? buf_reserve(b, 1 + s.len) : NULL;
    if (room == NULL) { /* longer than the inline case, or past the limit */
        pack_varint(b, s.len);
        buf_add_str(b, s);
        return;
    }
    room[0] = (char)s.len;
    if (s.len > 0) {
        memcpy(room + 1, s.ptr, s.len);
    }
    b->len += 1 + s.len;
}

static inline void pack_u64_be(struct buf *b, uint64_t v)
{
    v = htobe64(v);
    buf_add(b, &v, sizeof v);
}

static inline void pack_u32_be(struct buf *b, uint32_t v)
{
    v = htobe32(v);
    buf_add(b, &v, sizeof v);
}
