/*
 * Clock: the two kinds of time.
 *
 * Wall time is for people and the log; it may jump. Mono time only measures durations. The two are
 * different types, so that adding one to the other does not compile. The functions of core/ get the
 * current time as an argument; inside a replicated command it is the leader's timestamp.
 */
#pragma once

#include <stdint.h>

#define NS_PER_US 1000LL
#define NS_PER_MS 1000000LL
#define NS_PER_S  1000000000LL

struct wall {
    int64_t ns; /* since 1970-01-01T00:00:00Z; 0 means "not set" where a time is optional */
};

#define WALL_NONE ((struct wall){.ns = 0})

struct mono {
    int64_t ns; /* since an arbitrary start */
};

/* Return at + ms, saturating instead of wrapping around. */
static inline struct wall wall_add_ms(struct wall at, int64_t ms)
{
    int64_t ns;
    if (__builtin_mul_overflow(ms, NS_PER_MS, &ns) || __builtin_add_overflow(at.ns, ns, &ns)) {
        ns = ms < 0 ? INT64_MIN : INT64_MAX;
    }
    return (struct wall){.ns = ns};
}
