/*
 * Hash: 64 bits for tables in memory and for the rolling state hash.
 *
 * Not collision-resistant: a client that chooses the keys can find collisions, so tables with keys
 * from clients compare whole keys. The function must never change, because the state hash is
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
