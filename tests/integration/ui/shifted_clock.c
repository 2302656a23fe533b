/*
 * A library for LD_PRELOAD: the time of day, moved by as many seconds as the file that CORVO_CLOCK
 * names has in its first eight bytes. The file may change while the program runs, so that a test
 * can fill a server with the work of a week. Clocks that only go forward are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t zero;
static const volatile int64_t *shift = &zero;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("CORVO_CLOCK");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) {
        shift = at;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (real_gettime == NULL) {
        *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    }
    int rc = real_gettime(clock, out);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        out->tv_sec += *shift;
    }
    return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now = {0};
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
