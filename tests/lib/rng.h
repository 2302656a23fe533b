/*
 * Rng: pseudo-random numbers from a seed, the same on every machine. Tests print their seed.
 */
#pragma once

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline struct rng rng_from(uint64_t seed)
{
    return (struct rng){.state = seed * 0x9e3779b97f4a7c15U + 1};
}

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/* A number from 0 to n - 1. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    return rng_next(r) % n;
}
