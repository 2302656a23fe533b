#include "base/hash.h"

#include <endian.h>
#include <string.h>

#include "base/attr.h"

static uint64_t word_at(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return le64toh(word);
}

static uint64_t add_word(uint64_t h, uint64_t word)
{
    word *= 0x9fb21c651e98df25U;
    h = (h ^ word ^ (word >> 29)) * 0xd6e8feb86659fd93U;
    return h ^ h >> 32;
}

/* The last n bytes of `all`, fewer than a word, padded with zeros to a word. A memcpy of
 * variable length would be a call. */
static uint64_t last_bytes(const uint8_t *p, size_t n, size_t all)
{
    if (all >= sizeof(uint64_t)) { /* read the bytes before them too, and shift those out */
        return word_at(p + n - sizeof(uint64_t)) >> 8 * (sizeof(uint64_t) - n);
    }
    if (n >= sizeof(uint32_t)) {
        uint32_t low;
        uint32_t high; /* overlaps the low part */
        memcpy(&low, p, sizeof low);
        memcpy(&high, p + n - sizeof high, sizeof high);
        return le32toh(low) | (uint64_t)le32toh(high) << 8 * (n - sizeof high);
    }
    return p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
}

enum { LANES = 4 };
#define STRIDE (LANES * sizeof(uint64_t))

/* Long inputs, in independent lanes. Not inlined, so that short inputs, which are the common
 * ones, need not save registers. */
ATTR_NOINLINE static uint64_t add_strides(uint64_t h, const uint8_t *p, size_t strides)
{
    uint64_t lane[LANES] = {h, hash_u64(h + 1), hash_u64(h + 2), hash_u64(h + 3)};
    for (; strides > 0; strides--, p += STRIDE) {
#pragma GCC unroll LANES /* keeps the lanes in registers */
        for (unsigned i = 0; i < LANES; i++) {
            lane[i] = add_word(lane[i], word_at(p + i * sizeof(uint64_t)));
        }
    }
    for (unsigned i = 1; i < LANES; i++) {
        lane[0] = add_word(lane[0], lane[i]);
    }
    return lane[0];
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    const size_t all = n;
    uint64_t h = hash_u64(seed ^ (0x9e3779b97f4a7c15U * (n + 1)));
    if (n >= 2 * STRIDE) {
        h = add_strides(h, p, n / STRIDE);
        p += n / STRIDE * STRIDE;
        n %= STRIDE;
    }
    for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), p += sizeof(uint64_t)) {
        h = add_word(h, word_at(p));
    }
    if (n > 0) {
        h = (h ^ last_bytes(p, n, all)) * 0x9fb21c651e98df25U;
    }
    return hash_u64(h);
}
