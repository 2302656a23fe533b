/*
 * Engine_times: durations, counted in buckets (config-and-metrics.md 11.4).
 *
 * A plain value without a lock. The core thread counts; to read it, ask the core thread for a copy.
 */
#pragma once

#include <stdint.h>

enum { ENGINE_TIMES_BUCKETS = 15 };

struct engine_times {
    uint64_t count[ENGINE_TIMES_BUCKETS]; /* the last one counts durations above all bounds */
    uint64_t sum_ns;
};

/* The upper bound of bucket i; "+Inf" for the last one. */
const char *engine_times_bound_text(unsigned i);    /* "50µs" */
const char *engine_times_bound_seconds(unsigned i); /* "0.00005" */

void engine_times_add(struct engine_times *t, int64_t ns);

uint64_t engine_times_count(const struct engine_times *t);

/* The upper bound of the bucket that contains the value with this rank (1 to the count); the
 * largest bound for values above all bounds. */
int64_t engine_times_rank_ns(const struct engine_times *t, uint64_t rank);
