#include "base/hash.h"

#include <endian.h>
#include <string.h>

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

enum { LANES = 4 };
#define STRIDE (LANES * sizeof(uint64_t))

/* Long inputs in lanes that do not wait for one another. */
static uint64_t add_strides(uint64_t h, const uint8_t *p, size_t strides)
{
    uint64_t lane[LANES] = {h, hash_u64(h + 1), hash_u64(h + 2), hash_u64(h + 3)};
    for (; strides > 0; strides--, p += STRIDE) {
#pragma GCC unroll LANES /* so that they stay in registers */
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
        uint64_t word = 0;
        memcpy(&word, p, n);
        h = (h ^ le64toh(word)) * 0x9fb21c651e98df25U;
    }
    return hash_u64(h);
}
