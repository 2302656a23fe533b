#include "base/hash.h"

#include <endian.h>
#include <string.h>

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t h = hash_u64(seed ^ (0x9e3779b97f4a7c15U * (n + 1)));
    uint64_t word;

    for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        word = le64toh(word) * 0x9fb21c651e98df25U;
        h = (h ^ word ^ (word >> 29)) * 0xd6e8feb86659fd93U;
        h ^= h >> 32;
    }
    if (n > 0) {
        word = 0;
        memcpy(&word, p, n);
        h = (h ^ le64toh(word)) * 0x9fb21c651e98df25U;
    }
    return hash_u64(h);
}
