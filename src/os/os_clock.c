#include "os/os_clock.h"

#include <sys/random.h>
#include <time.h>

#include "base/check.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    CHECK(clock_gettime(id, &t) == 0);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

struct wall os_clock_wall(void)
{
    return (struct wall){.ns = read_clock(CLOCK_REALTIME)};
}

struct mono os_clock_mono(void)
{
    return (struct mono){.ns = read_clock(CLOCK_MONOTONIC)};
}

struct mono os_clock_boot(void)
{
    return (struct mono){.ns = read_clock(CLOCK_BOOTTIME)};
}

int64_t os_clock_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void os_clock_random(void *out, size_t n)
{
    CHECK(n <= 256); /* up to this size, getrandom always returns all bytes */
    CHECK(getrandom(out, n, 0) == (ssize_t)n);
}
