/*
 * Meter: what a piece of work cost.
 *
 * CPU time is of the whole process, background threads included, less the calling thread when that
 * one only makes the load. Seconds on these machines are noisy; CPU per operation is less so, and
 * ratios inside one run least.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct meter {
    int64_t wall_ns;
    int64_t cpu_ns;        /* of the process */
    int64_t thread_cpu_ns; /* of the calling thread */
};

struct meter meter_now(void);

/* The difference from start to now. */
struct meter meter_since(struct meter start);

/* Highest resident memory so far, and memory from malloc in use now, in bytes. */
uint64_t meter_peak_bytes(void);
uint64_t meter_heap_bytes(void);

/* Under Callgrind with --instr-atstart=no: look from here on, or no longer. Otherwise nothing. */
void meter_count_instructions(bool on);
