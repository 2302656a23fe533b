/*
 * Nemesis: simulates a slow disk and a wrong clock for one process.
 *
 * Preloaded into a server, it reads two numbers from the file NEMESIS_CONTROL before each call. A
 * test changes them while the server runs: the error of the wall clock in nanoseconds, and a delay
 * in microseconds for each write and flush of a file below NEMESIS_DIR. The monotonic clock is not
 * changed, because it has no epoch that could be wrong.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NS_PER_S = 1000000000, US_PER_S = 1000000 };

/* Content of the file, which nodes.py writes. */
struct control {
    _Atomic int64_t clock_offset_ns;
    _Atomic int64_t disk_delay_us;
};

static struct {
    int (*clock_gettime)(clockid_t id, struct timespec *out);
    ssize_t (*write)(int fd, const void *bytes, size_t n);
    ssize_t (*pwrite)(int fd, const void *bytes, size_t n, off_t at);
    ssize_t (*pwritev)(int fd, const struct iovec *iov, int count, off_t at);
    int (*fsync)(int fd);
    int (*fdatasync)(int fd);
} real;

static struct control none;
static struct control *control = &none;
static const char *folder;

#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *at = dlsym(RTLD_NEXT, #name);                                                        \
        memcpy(&real.name, &at, sizeof at);                                                        \
    } while (0)

/* Constructors of other libraries may call these functions before ours has run. */
static void find_all(void)
{
    if (real.fdatasync == NULL) {
        FIND(clock_gettime);
        FIND(write);
        FIND(pwrite);
        FIND(pwritev);
        FIND(fsync);
        FIND(fdatasync);
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("NEMESIS_CONTROL");
    find_all();
    if (path == NULL) {
        return;
    }
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED
                      : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        perror("nemesis: NEMESIS_CONTROL");
        abort();
    }
    (void)close(fd);
    control = at;
    folder = getenv("NEMESIS_DIR");
}

/* The clock */

int clock_gettime(clockid_t id, struct timespec *out)
{
    find_all();
    int rc = real.clock_gettime(id, out);
    int64_t offset = atomic_load(&control->clock_offset_ns);
    if (rc == 0 && offset != 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        int64_t now = (int64_t)out->tv_sec * NS_PER_S + out->tv_nsec + offset;
        out->tv_sec = (time_t)(now / NS_PER_S);
        out->tv_nsec = (long)(now % NS_PER_S);
    }
    return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int rc = clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return rc;
}

/* The disk */

static bool is_inside(int fd)
{
    char link_path[64];
    char path[PATH_BYTES];
    (void)snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", fd);
    ssize_t n = folder == NULL ? 0 : readlink(link_path, path, sizeof path - 1);
    if (n <= 0) {
        return false;
    }
    path[n] = '\0';
    return strncmp(path, folder, strlen(folder)) == 0;
}

static void wait_for_disk(int fd)
{
    find_all();
    int64_t us = atomic_load(&control->disk_delay_us);
    if (us > 0 && is_inside(fd)) {
        struct timespec t = {.tv_sec = (time_t)(us / US_PER_S),
                             .tv_nsec = (long)(us % US_PER_S) * 1000};
        (void)nanosleep(&t, NULL);
    }
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    wait_for_disk(fd);
    return real.write(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    wait_for_disk(fd);
    return real.pwrite(fd, bytes, n, at);
}

ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t at)
{
    wait_for_disk(fd);
    return real.pwritev(fd, iov, count, at);
}

int fsync(int fd)
{
    wait_for_disk(fd);
    return real.fsync(fd);
}

int fdatasync(int fd)
{
    wait_for_disk(fd);
    return real.fdatasync(fd);
}
