#include "lib/meter.h"

#include <malloc.h>
#include <sys/resource.h>

#include "os/os_clock.h"

/* Benches are also built on machines without Valgrind. */
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_STOP_INSTRUMENTATION  (void)0
#endif

static int64_t cpu_of(int who)
{
    struct rusage u;
    (void)getrusage(who, &u);
    return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
           (int64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * NS_PER_US;
}

struct meter meter_now(void)
{
    return (struct meter){.wall_ns = os_clock_mono().ns,
                          .cpu_ns = cpu_of(RUSAGE_SELF),
                          .thread_cpu_ns = cpu_of(RUSAGE_THREAD)};
}

struct meter meter_since(struct meter start)
{
    struct meter now = meter_now();
    return (struct meter){.wall_ns = now.wall_ns - start.wall_ns,
                          .cpu_ns = now.cpu_ns - start.cpu_ns,
                          .thread_cpu_ns = now.thread_cpu_ns - start.thread_cpu_ns};
}

uint64_t meter_peak_bytes(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_maxrss * 1024;
}

uint64_t meter_heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

void meter_count_instructions(bool on)
{
    if (on) {
        CALLGRIND_START_INSTRUMENTATION;
    } else {
        CALLGRIND_STOP_INSTRUMENTATION;
    }
}
