#include "os/os_process.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "os/os_file.h"

enum {
    STATUS_BYTES_MAX = 16 * 1024,
    HEAP_MAPPED_BYTES = 4 << 20, /* larger pieces are mapped, and unmapped when freed */
    HEAP_SPARE_BYTES = 8 << 20,  /* kept free at the end of the heap */
};

/* Return the number after "Name:" at the start of a line; 0 if there is none. */
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

enum { PROC_LINE = 128 };

/* Read the beginning of a file of /proc; empty if it cannot be read. */
static void read_line(const char *path, char line[static PROC_LINE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, line, PROC_LINE - 1);
    line[len > 0 ? len : 0] = '\0';
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* "5368710 133642 6144 …": pages of address space, pages in memory, and others. */
uint64_t os_process_resident(void)
{
    char line[PROC_LINE];
    read_line("/proc/self/statm", line);
    const char *at = strchr(line, ' ');
    long page_bytes = sysconf(_SC_PAGESIZE);
    return at == NULL || page_bytes <= 0 ? 0 : strtoull(at, NULL, 10) * (uint64_t)page_bytes;
}

uint64_t os_process_cpus(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus > 0 ? (uint64_t)cpus : 0;
}

/* Read the number in a file. UINT64_MAX if there is no file or it contains "max". */
static uint64_t number_in(const char *path)
{
    struct buf text;
    struct err err;
    int64_t number = 0;
    buf_init(&text, STATUS_BYTES_MAX);
    bool found = os_file_read(path, &text, &err) == ERR_OK &&
                 str_to_i64(str_trim(buf_str(&text)), &number) && number > 0;
    buf_deinit(&text);
    return found ? (uint64_t)number : UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Return the lowest limit of the group and its ancestors: folders from the root down to path. */
static uint64_t group_memory(struct str path)
{
    uint64_t bytes = UINT64_MAX;
    char file[OS_FILE_PATH_MAX];
    for (;;) {
        int n = snprintf(file, sizeof file, "/sys/fs/cgroup" STR_FMT "/memory.max", STR_ARG(path));
        bytes = n > 0 && (size_t)n < sizeof file ? least(bytes, number_in(file)) : bytes;
        if (path.len == 0) {
            return bytes;
        }
        do {
            path.len--;
        } while (path.len > 0 && path.ptr[path.len] != '/');
    }
}

/* In /proc/self/cgroup, "0::/user.slice/…" is the path of the group. The two fixed paths are those
 * of version 1, and of a container. */
static uint64_t any_group_memory(void)
{
    struct buf text;
    struct err err;
    uint64_t bytes = least(number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
                           number_in("/sys/fs/cgroup/memory.max"));
    buf_init(&text, STATUS_BYTES_MAX);
    if (os_file_read("/proc/self/cgroup", &text, &err) == ERR_OK) {
        struct str rest = buf_str(&text);
        while (rest.len > 0) {
            struct str line = str_trim(str_cut(&rest, '\n'));
            if (str_starts_with(line, STR("0::/"))) {
                bytes = least(bytes, group_memory(str_from_offset(line, 3)));
            }
        }
    }
    buf_deinit(&text);
    return bytes;
}

uint64_t os_process_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t machine =
        pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
    uint64_t bytes = least(machine, any_group_memory());
    return bytes == UINT64_MAX ? 0 : bytes;
}

void os_process_tune_heap(void)
{
    /* By default the allocator raises this threshold, up to 32 MiB, when a large piece is freed,
     * and then keeps such pieces. */
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there are no threads yet */
    (void)mallopt(M_MMAP_THRESHOLD, HEAP_MAPPED_BYTES);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the same */
    (void)mallopt(M_TRIM_THRESHOLD, HEAP_SPARE_BYTES);
}

void os_process_trim_heap(void)
{
    (void)malloc_trim(HEAP_SPARE_BYTES);
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
    static const int useless[] = {O_WRONLY, O_RDONLY, O_RDONLY}; /* for input, output and errors */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            CHECK(open("/dev/null", useless[fd]) == fd); /* open returns the lowest free number */
        }
    }
}

void os_process_keep_private(void)
{
    (void)umask(S_IRWXG | S_IRWXO);
}
