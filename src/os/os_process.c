#include "os/os_process.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "os/os_file.h"

enum { STATUS_BYTES_MAX = 16 * 1024 };

/* The number behind "Name:" at the beginning of a line; 0 when there is none. */
static uint64_t field(struct str text, struct str name)
{
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end == NULL ? text.len : (size_t)(end - text.ptr);
        struct str line = str_from(text.ptr, len);
        if (str_starts_with(line, name)) {
            struct str rest = str_trim(str_from_offset(line, name.len));
            uint64_t v = 0;
            for (size_t i = 0; i < rest.len && rest.ptr[i] >= '0' && rest.ptr[i] <= '9'; i++) {
                v = v * 10 + (uint64_t)(rest.ptr[i] - '0');
            }
            return v;
        }
        text = str_from_offset(text, end == NULL ? len : len + 1);
    }
    return 0;
}

static uint64_t thread_stack_bytes(void)
{
    pthread_attr_t attr;
    size_t bytes = 0;
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_getstacksize(&attr, &bytes) == 0);
    (void)pthread_attr_destroy(&attr);
    return bytes;
}

static void read_status(struct os_process_usage *out)
{
    struct buf text;
    struct err err;
    buf_init(&text, STATUS_BYTES_MAX);
    if (os_file_read("/proc/self/status", &text, &err) == ERR_OK) {
        out->threads = field(buf_str(&text), STR("Threads:"));
        out->stack_bytes = field(buf_str(&text), STR("VmStk:")) * 1024;
        if (out->threads > 1) {
            out->stack_bytes += (out->threads - 1) * thread_stack_bytes();
        }
    }
    buf_deinit(&text);
}

static int64_t nanoseconds(struct timeval t)
{
    return (int64_t)t.tv_sec * NS_PER_S + (int64_t)t.tv_usec * NS_PER_US;
}

void os_process_usage(struct os_process_usage *out)
{
    struct rusage usage;
    struct mallinfo2 heap = mallinfo2();
    *out = (struct os_process_usage){.cpus = os_process_cpus(),
                                     .heap_bytes = heap.uordblks + heap.hblkhd};
    read_status(out);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        out->cpu_user_ns = nanoseconds(usage.ru_utime);
        out->cpu_system_ns = nanoseconds(usage.ru_stime);
    }
}

/* "0.41 0.30 0.22 3/187 4711": three averages, then running/all. */
uint64_t os_process_running(void)
{
    char line[128] = "";
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    const char *at = read(fd, line, sizeof line - 1) > 0 ? strchr(line, '/') : NULL;
    (void)close(fd);
    while (at != NULL && at > line && at[-1] != ' ') {
        at--;
    }
    return at == NULL ? 0 : strtoull(at, NULL, 10);
}

uint64_t os_process_cpus(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus > 0 ? (uint64_t)cpus : 0;
}

uint64_t os_process_raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 0;
    }
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

void os_process_fill_standard(void)
{
    static const int useless[] = {O_WRONLY, O_RDONLY, O_RDONLY}; /* of input, output and errors */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            CHECK(open("/dev/null", useless[fd]) == fd); /* the lowest that is free */
        }
    }
}

void os_process_keep_private(void)
{
    (void)umask(S_IRWXG | S_IRWXO);
}
