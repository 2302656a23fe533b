#include "base/pack.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

static_assert(sizeof(double) == sizeof(uint64_t), "a double is packed as its 64 bits");

void pack_u8(struct buf *b, uint8_t v)
{
    buf_add(b, &v, sizeof v);
}

void pack_u16(struct buf *b, uint16_t v)
{
    v = htole16(v);
    buf_add(b, &v, sizeof v);
}

void pack_u32(struct buf *b, uint32_t v)
{
    v = htole32(v);
    buf_add(b, &v, sizeof v);
}

void pack_u64(struct buf *b, uint64_t v)
{
    v = htole64(v);
    buf_add(b, &v, sizeof v);
}

void pack_i64(struct buf *b, int64_t v)
{
    pack_u64(b, (uint64_t)v);
}

void pack_f64(struct buf *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    pack_u64(b, bits);
}

void pack_varint(struct buf *b, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    while (v >= 0x80) {
        bytes[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    bytes[n++] = (uint8_t)v;
    buf_add(b, bytes, n);
}

void pack_text(struct buf *b, struct str s)
{
    pack_varint(b, s.len);
    buf_add_str(b, s);
}

void pack_u64_be(struct buf *b, uint64_t v)
{
    v = htobe64(v);
    buf_add(b, &v, sizeof v);
}

void pack_u32_be(struct buf *b, uint32_t v)
{
    v = htobe32(v);
    buf_add(b, &v, sizeof v);
}
