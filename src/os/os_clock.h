/*
 * Os_clock: the real clock, and real random numbers. Nothing else in the program asks the system
 * for them.
 */
#pragma once

#include <stddef.h>

#include "base/clock.h"

/* A clock that reads the system. */
struct clock os_clock(void);

struct wall os_clock_wall(void);
struct mono os_clock_mono(void);
/* Like os_clock_mono, which stands still while the machine sleeps; this one does not. */
struct mono os_clock_boot(void);

/* Processor time that the calling thread has used. */
int64_t os_clock_thread_ns(void);

/* Unpredictable bytes. Aborts if the system has none. */
void os_clock_random(void *out, size_t n);
