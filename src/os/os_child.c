#include "os/os_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "os/os_file.h"
#include "os/os_signal.h"

enum { REPORT_FD = 3, PIPE_COUNT = 3, CHILD_FD_MIN = 16 };

/* Descriptors for the child are first moved to numbers that do not collide with their final
 * ones. */
struct plumbing {
    int input;
    int ours[PIPE_COUNT];
    int theirs[PIPE_COUNT]; /* become descriptors 1, 2 and REPORT_FD */
};

static void close_all(struct plumbing *p)
{
    os_file_close(p->input);
    for (size_t i = 0; i < PIPE_COUNT; i++) {
        os_file_close(p->ours[i]);
        os_file_close(p->theirs[i]);
    }
}

static int move_up(int fd)
{
    int up = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FD_MIN);
    os_file_close(fd);
    return up;
}

static enum err_code lay(struct plumbing *p, struct str input, struct err *err)
{
    struct iovec bytes = {.iov_base = (void *)(uintptr_t)input.ptr, .iov_len = input.len};
    p->input = move_up(memfd_create("corvo-input", MFD_CLOEXEC));
    if (p->input < 0) {
        return err_from_errno(err, "memfd_create");
    }
    if (input.len > 0 && os_file_write_at(p->input, &bytes, 1, 0, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < PIPE_COUNT; i++) {
        int ends[2] = {-1, -1};
        if (pipe2(ends, O_CLOEXEC) != 0) {
            return err_from_errno(err, "pipe2");
        }
        p->ours[i] = ends[0];
        p->theirs[i] = move_up(ends[1]);
        if (p->theirs[i] < 0 || fcntl(p->ours[i], F_SETFL, O_NONBLOCK) != 0) {
            return err_from_errno(err, "fcntl");
        }
    }
    return ERR_OK;
}

/* Runs between fork and exec: only async-signal-safe calls. */
ATTR_NORETURN static void become(const struct plumbing *p, const char *command,
                                 char *const *environment)
{
    static const int numbers[PIPE_COUNT] = {STDOUT_FILENO, STDERR_FILENO, REPORT_FD};
    char shell[] = "/bin/sh";
    char option[] = "-c";
    char *const argv[] = {shell, option, (char *)(uintptr_t)command, NULL};
    bool good = dup2(p->input, STDIN_FILENO) >= 0;
    for (size_t i = 0; i < PIPE_COUNT; i++) {
        good = good && dup2(p->theirs[i], numbers[i]) >= 0;
    }
    (void)setpgid(0, 0);
    os_signal_restore();
    if (good) {
        (void)execve(shell, argv, environment);
    }
    _exit(127);
}

enum err_code os_child_start(const char *command, struct str input, char *const *environment,
                             struct os_child *out, struct err *err)
{
    struct plumbing p = {-1, {-1, -1, -1}, {-1, -1, -1}};
    enum err_code code = lay(&p, input, err);
    if (code != ERR_OK) {
        close_all(&p);
        return code;
    }
    pid_t pid = fork();
    if (pid == 0) {
        become(&p, command, environment);
    }
    int exit_fd = pid < 0 ? -1 : pidfd_open(pid, 0);
    if (exit_fd < 0) {
        code = err_from_errno(err, pid < 0 ? "fork" : "pidfd_open");
        close_all(&p);
        if (pid > 0) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
        }
        return code;
    }
    (void)setpgid(pid, pid); /* in parent and child, so that no signal is sent before it */
    *out = (struct os_child){pid, exit_fd, p.ours[0], p.ours[1], p.ours[2]};
    p.ours[0] = p.ours[1] = p.ours[2] = -1;
    close_all(&p);
    return ERR_OK;
}

void os_child_signal(const struct os_child *c, int number)
{
    CHECK(c->pid > 0);
    (void)kill(-c->pid, number);
}

int os_child_end(struct os_child *c)
{
    int status = 0;
    CHECK(c->pid > 0);
    /* Before waitpid: while the leader is a zombie, its group id cannot be reused. */
    os_child_signal(c, SIGKILL);
    CHECK(waitpid(c->pid, &status, 0) == c->pid);
    os_file_close(c->exit_fd);
    os_file_close(c->stdout_fd);
    os_file_close(c->stderr_fd);
    os_file_close(c->report_fd);
    *c = (struct os_child){.exit_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .report_fd = -1};
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
