#include "base/fault.h"

#include <stdatomic.h>

#include "base/check.h"

/* How often the point may still be passed before it fails; 0 is "never fails". */
static atomic_uint left[FAULT_COUNT];

void fault_arm(enum fault point, unsigned nth)
{
    CHECK(point < FAULT_COUNT);
    atomic_store(&left[point], nth);
}

void fault_reset(void)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        atomic_store(&left[i], 0);
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
