#include "base/id_uuid.h"

#include <endian.h>

#include "base/digits.h"
#include "base/hash.h"

enum { HALF_BITS = 61, ROUNDS = 4 };

#define HALF_MASK    ((1ULL << HALF_BITS) - 1)
#define NUMBER_MASK  ((1U << ID_UUID_NUMBER_BITS) - 1)
#define VERSION_MASK 0xf000ULL
#define VERSION_4    0x4000ULL
#define VARIANT_MASK (3ULL << 62)
#define VARIANT_RFC  (2ULL << 62)

_Static_assert(2 * HALF_BITS == 128 - 6, "version and variant take six bits");
_Static_assert(96 + ID_UUID_NUMBER_BITS == 2 * HALF_BITS, "time, index and number fit exactly");

/* The bits of an id, or of a name, in two halves. */
struct halves {
    uint64_t a, b;
};

/* Hash v differently in each round, because the halves of small ids are similar. */
static uint64_t round_bits(unsigned round, uint64_t v)
{
    return hash_u64(v + (round + 1) * 0x9e3779b97f4a7c15U) & HALF_MASK;
}

/* A Feistel network: each round changes one half by the other, which can be undone. */
static struct halves mix(struct halves h)
{
    for (unsigned i = 0; i < ROUNDS; i += 2) {
        h.a ^= round_bits(i, h.b);
        h.b ^= round_bits(i + 1, h.a);
    }
    return h;
}

static struct halves unmix(struct halves h)
{
    for (unsigned i = ROUNDS; i > 0; i -= 2) {
        h.b ^= round_bits(i - 1, h.a);
        h.a ^= round_bits(i - 2, h.b);
    }
    return h;
}

static bool take_id(struct id id, struct halves *out)
{
    uint64_t high;
    uint64_t low;
    memcpy(&high, id.b, sizeof high);
    memcpy(&low, id.b + sizeof high, sizeof low);
    high = be64toh(high);
    low = be64toh(low);
    uint64_t number = low & UINT32_MAX;
    out->a = high >> 3;
    out->b = (high & 7) << 58 | low >> 32 << ID_UUID_NUMBER_BITS | number;
    return number <= NUMBER_MASK;
}

static struct id make_id(struct halves h)
{
    struct id id;
    uint64_t high = htobe64(h.a << 3 | h.b >> 58);
    uint64_t index = h.b >> ID_UUID_NUMBER_BITS & UINT32_MAX;
    uint64_t low = htobe64(index << 32 | (h.b & NUMBER_MASK));
    memcpy(id.b, &high, sizeof high);
    memcpy(id.b + sizeof high, &low, sizeof low);
    return id;
}

void id_uuid_format(uint64_t high, uint64_t low, char out[static ID_UUID_LEN])
{
    high = (high & ~VERSION_MASK) | VERSION_4;
    low = (low & ~VARIANT_MASK) | VARIANT_RFC;
    /* Eight digits each; a dash splits the two words in the middle. */
    digits_put_hex_word(out, (uint32_t)(high >> 32));
    digits_put_hex_word(out + 9, (uint32_t)high);
    memmove(out + 14, out + 13, 4);
    digits_put_hex_word(out + 19, (uint32_t)(low >> 32));
    memmove(out + 24, out + 23, 4);
    digits_put_hex_word(out + 28, (uint32_t)low);
    out[8] = out[13] = out[18] = out[23] = '-';
}

/* The first 60 bits of half a are before the variant; its last bit and half b are after it. */
bool id_uuid_put(struct id id, char out[static ID_UUID_LEN])
{
    struct halves h;
    if (!take_id(id, &h)) {
        return false;
    }
    h = mix(h);
    uint64_t top = h.a >> 1;
    id_uuid_format(top >> 12 << 16 | (top & 0xfff), (h.a & 1) << HALF_BITS | h.b, out);
    return true;
}

/* Read sixteen digits and their dashes; false if a character is wrong. */
static bool take_hex(const char *text, size_t len, const bool *dash, uint64_t *out)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (dash[i]) {
            if (c != '-') {
                return false;
            }
            continue;
        }
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
            return false;
        }
        bits = bits << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *out = bits;
    return true;
}

bool id_uuid_parse(struct str s, struct id *out)
{
    static const bool dash[ID_UUID_LEN] = {[8] = true, [13] = true, [18] = true, [23] = true};
    enum { FIRST_LEN = 18 }; /* eight bytes and two dashes; a dash separates the two parts */
    uint64_t high;
    uint64_t low;
    if (s.len != ID_UUID_LEN || !take_hex(s.ptr, FIRST_LEN, dash, &high) ||
        !take_hex(s.ptr + FIRST_LEN, ID_UUID_LEN - FIRST_LEN, dash + FIRST_LEN, &low) ||
        (high & VERSION_MASK) != VERSION_4 || (low & VARIANT_MASK) != VARIANT_RFC) {
        return false;
    }
    uint64_t top = high >> 16 << 12 | (high & 0xfff);
    *out = make_id(
        unmix((struct halves){.a = top << 1 | (low >> HALF_BITS & 1), .b = low & HALF_MASK}));
    return true;
}

bool id_uuid_is(struct str name, struct id id)
{
    char text[ID_UUID_LEN];
    return name.len == ID_UUID_LEN && id_uuid_put(id, text) &&
           memcmp(name.ptr, text, ID_UUID_LEN) == 0;
}
