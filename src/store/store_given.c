#include "store/store_given.h"

#include "base/pack.h"
#include "base/unpack.h"

enum { GIVEN_VERSION = 1 };

void store_given_encode(const struct store_given *g, struct buf *out)
{
    pack_u8(out, GIVEN_VERSION);
    pack_u32(out, g->first);
    pack_u32(out, g->last);
    pack_u32(out, g->left);
}

bool store_given_decode(struct str value, struct store_given *out)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    out->first = unpack_u32(&u);
    out->last = unpack_u32(&u);
    out->left = unpack_u32(&u);
    return unpack_done(&u) && version == GIVEN_VERSION && out->first <= out->last &&
           out->left > 0 && out->left - 1 <= out->last - out->first;
}

uint32_t store_given_number(struct id id)
{
    const uint8_t *b = id.b + STORE_GIVEN_ENTRY_BYTES;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

struct id store_given_id(const void *entry, uint32_t number)
{
    struct id id;
    memcpy(id.b, entry, STORE_GIVEN_ENTRY_BYTES);
    for (unsigned i = 0; i < ID_BYTES - STORE_GIVEN_ENTRY_BYTES; i++) {
        id.b[STORE_GIVEN_ENTRY_BYTES + i] = (uint8_t)(number >> (24 - 8 * i));
    }
    return id;
}
