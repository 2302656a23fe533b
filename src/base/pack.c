#include "base/pack.h"

#include <assert.h>

static_assert(sizeof(double) == sizeof(uint64_t), "a double is packed as its 64 bits");

void pack_f64(struct buf *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    pack_u64(b, bits);
}

void pack_varint_long(struct buf *b, uint64_t v)
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
