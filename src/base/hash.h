/*
 * Hash: 64 bits for tables in memory and for the rolling state hash.
 *
 * Not collision-resistant: somebody who chooses the keys can find collisions, so tables with keys
 * from clients compare whole keys. The function is fixed for ever, because the state hash is
 * compared between nodes and versions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t n);

/* Spread the bits of one number. */
static inline uint64_t hash_u64(uint64_t v)
{
    v ^= v >> 32;
    v *= 0xd6e8feb86659fd93U;
    v ^= v >> 32;
    v *= 0xd6e8feb86659fd93U;
    v ^= v >> 32;
    return v;
}
