#include "base/unpack.h"

uint64_t unpack_varint_long(struct unpack *u)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = unpack_u8(u);
        uint64_t part = byte & 0x7fU;
        if (shift == 63 && part > 1) {
            break;
        }
        v |= part << shift;
        if ((byte & 0x80) == 0) {
            /* A number has only one valid encoding: no trailing zero byte. */
            if (byte == 0 && shift > 0) {
                break;
            }
            return u->bad ? 0 : v;
        }
    }
    u->bad = true;
    return 0;
}

uint64_t unpack_u64_be(struct unpack *u)
{
    uint64_t v;
    unpack_take(u, &v, sizeof v);
    return be64toh(v);
}

uint32_t unpack_u32_be(struct unpack *u)
{
    uint32_t v;
    unpack_take(u, &v, sizeof v);
    return be32toh(v);
}

struct str unpack_bytes(struct unpack *u, size_t n)
{
    if (u->bad || unpack_left(u) < n) {
        u->bad = true;
        return STR_EMPTY;
    }
    struct str s = str_from(u->at, n);
    u->at += n;
    return s;
}

struct str unpack_text(struct unpack *u)
{
    uint64_t n = unpack_varint(u);
    if (n > unpack_left(u)) {
        u->bad = true;
        return STR_EMPTY;
    }
    return unpack_bytes(u, (size_t)n);
}

bool unpack_done(const struct unpack *u)
{
    return !u->bad && u->at == u->end;
}
