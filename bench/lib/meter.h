/*
 * Meter: the cost of a piece of work.
 *
 * The CPU time is that of the whole process with its background threads. Benches subtract the
 * calling thread if it only generates the load. Wall time is noisy on these machines, CPU per
 * operation is less noisy, and ratios within one run are the least noisy.
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

/* Peak resident memory, and memory from malloc in use now, in bytes. */
uint64_t meter_peak_bytes(void);
uint64_t meter_heap_bytes(void);

/* Under Callgrind with --instr-atstart=no: start or stop counting instructions. Otherwise no
 * effect. */
void meter_count_instructions(bool on);
