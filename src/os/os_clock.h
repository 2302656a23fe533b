/*
 * Os_clock: the system's clocks, and random numbers from the system.
 */
#pragma once

#include <stddef.h>

#include "base/clock.h"

struct wall os_clock_wall(void);
struct mono os_clock_mono(void);
/* Like os_clock_mono, but also counts while the machine is suspended. */
struct mono os_clock_boot(void);

/* CPU time of the calling thread. */
int64_t os_clock_thread_ns(void);

/* Fill out with unpredictable bytes. Aborts if the system has none. */
void os_clock_random(void *out, size_t n);
