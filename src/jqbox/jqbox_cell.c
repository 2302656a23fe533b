#include "jqbox/jqbox_cell.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"

/* System call numbers depend on the architecture, and a process could use those of another one. On
 * an unknown architecture there is no sandbox, so no child may run. */
#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

/* A sanitizer maps terabytes of address space that it does not use. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { BOUND_SPACE = 0 };
#else
enum { BOUND_SPACE = 1 };
#endif

enum { CPU_S_MAX = 900 }; /* the parent's timeout ends a child long before */

static const uint32_t allowed[] = {
    /* memory, socket, time, seed of hashes, exit, and what a sanitizer needs at start */
    SYS_brk,   SYS_mmap,        SYS_munmap,        SYS_mremap,       SYS_madvise,
    SYS_read,  SYS_write,       SYS_clock_gettime, SYS_gettimeofday, SYS_getrandom,
    SYS_futex, SYS_sigaltstack, SYS_rt_sigreturn,  SYS_exit,         SYS_exit_group,
};

static struct sock_filter load(size_t offset)
{
    return (struct sock_filter){.code = BPF_LD | BPF_W | BPF_ABS, .k = (uint32_t)offset};
}

/* Compare the loaded word with the value, and skip a number of rules in each case. */
static struct sock_filter if_equal(uint32_t value, unsigned skip_then, unsigned skip_else)
{
    return (struct sock_filter){.code = BPF_JMP | BPF_JEQ | BPF_K,
                                .jt = (uint8_t)skip_then,
                                .jf = (uint8_t)skip_else,
                                .k = value};
}

static struct sock_filter answer(uint32_t what)
{
    return (struct sock_filter){.code = BPF_RET | BPF_K, .k = what};
}

static bool bound_calls(void)
{
    enum { CALLS = sizeof allowed / sizeof allowed[0] };
    struct sock_filter rules[CALLS + 5];
    unsigned n = 0;
    rules[n++] = load(offsetof(struct seccomp_data, arch));
    rules[n++] = if_equal(ARCHITECTURE, 0, CALLS + 1);
    rules[n++] = load(offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < CALLS; i++) {
        rules[n++] = if_equal(allowed[i], CALLS - i, 0);
    }
    rules[n++] = answer(SECCOMP_RET_ERRNO | EPERM);
    rules[n++] = answer(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = rules};
    return ARCHITECTURE != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Bytes that libraries and stack have already mapped. The limit for the program is added to
 * them. */
static rlim_t mapped_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f != NULL) {
        if (fscanf(f, "%llu", &pages) != 1) { /* NOLINT(cert-err34-c): the kernel wrote it */
            pages = 0;
        }
        (void)fclose(f);
    }
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static bool bound_use(void)
{
    const rlim_t mapped = mapped_bytes();
    const struct {
        __rlimit_resource_t what;
        rlim_t most;
    } rows[] = {
        {RLIMIT_AS, BOUND_SPACE && mapped > 0 ? mapped + LIMIT_JQ_BYTES : RLIM_INFINITY},
        {RLIMIT_CPU, CPU_S_MAX},
        {RLIMIT_CORE, 0},
        {RLIMIT_FSIZE, 0},
        {RLIMIT_NOFILE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rlimit limit = {rows[i].most, rows[i].most};
        if (setrlimit(rows[i].what, &limit) != 0) {
            return false;
        }
    }
    return !BOUND_SPACE || mapped > 0;
}

bool jqbox_cell_enter(void)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
           prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && bound_use() && bound_calls();
}
