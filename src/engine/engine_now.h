/*
 * Engine_now: the time that a leader puts into entries and compares due times with.
 *
 * It is the system's clock, and never goes back, because the state's time does not. When the clock
 * is set back, or the state comes from a time that the clock has not reached (it was wrong for a
 * while, or another leader's was), it goes on from there at half the pace until the clock has
 * caught up. If it stood still instead, leases would not end and retries not come for as long as
 * the clock had been wrong.
 *
 * A value without a lock; for the core thread.
 */
#pragma once

#include <stdbool.h>

#include "base/clock.h"

struct engine_now {
    struct wall last; /* given out */
    struct mono at;   /* when */
    bool begun;
    bool warned; /* that the clock is behind, since it is */
};

/* The time, from what the clocks say and what time the state has. */
struct wall engine_now_next(struct engine_now *n, struct wall clock, struct mono mono,
                            struct wall state);
