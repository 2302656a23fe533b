#include "base/fault.h"

#include <stdatomic.h>

#include "base/check.h"

/* Passes left before the point fails; 0: never fails. */
static atomic_uint left[FAULT_COUNT];
static atomic_uint_fast64_t values[FAULT_COUNT];

void fault_arm(enum fault point, unsigned nth)
{
    CHECK(point < FAULT_COUNT);
    atomic_store(&values[point], 0);
    atomic_store(&left[point], nth);
}

void fault_arm_value(enum fault point, uint64_t value)
{
    CHECK(point < FAULT_COUNT);
    atomic_store(&values[point], value);
    atomic_store(&left[point], 1);
}

uint64_t fault_value(enum fault point)
{
    CHECK(point < FAULT_COUNT);
    return atomic_load(&values[point]);
}

void fault_reset(void)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        atomic_store(&left[i], 0);
        atomic_store(&values[i], 0);
    }
}

bool fault_passes(enum fault point)
{
    CHECK(point < FAULT_COUNT);
    unsigned now = atomic_load(&left[point]);
    while (now > 1 && !atomic_compare_exchange_weak(&left[point], &now, now - 1)) {
    }
    return now != 1;
}
