#include "jqbox/jqbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/limits.h"
#include "jqbox/jqbox_child.h"
#include "os/os_clock.h"
#include "os/os_file.h"

enum {
    BLOCK_BYTES = 256 * 1024, /* larger only for a single text */
    COMPLAINT_BYTES = 256,
    AGE_S_MAX = 600, /* well below the CPU limit of a child */
    LOOK_MS = 50,    /* interval of checking *until_ns */
};

struct jqbox {
    pid_t pid;
    int fd;
    bool broken;
    const atomic_int_fast64_t *until_ns; /* deadline that another thread may change; NULL: none */
    int64_t opened_ns;
    struct buf program;
    struct buf out; /* frames to send */
    size_t sent;
    size_t count; /* number of texts in out */
    bool answers[JQBOX_TEXTS_MAX];
};

/* The child */

/* Start the child with default signals, and no descriptor but the socket. */
static enum err_code spawn(int socket, pid_t *out_pid, struct err *err)
{
    char name[] = "corvo";
    char argument[] = JQBOX_CHILD_ARGUMENT;
    char *const argv[] = {name, argument, NULL};
    char *const environment[] = {NULL};
    posix_spawnattr_t how;
    posix_spawn_file_actions_t files;
    sigset_t all;
    sigset_t none;
    CHECK(posix_spawnattr_init(&how) == 0);
    CHECK(posix_spawn_file_actions_init(&files) == 0);
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    int rc = posix_spawnattr_setsigdefault(&how, &all);
    rc = rc != 0 ? rc : posix_spawnattr_setsigmask(&how, &none);
    rc = rc != 0 ? rc
                 : posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    rc = rc != 0 ? rc : posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
    rc = rc != 0
             ? rc
             : posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    rc = rc != 0 ? rc : posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    rc = rc != 0 ? rc : posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    rc = rc != 0 ? rc : posix_spawn(out_pid, "/proc/self/exe", &files, &how, argv, environment);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&how);
    if (rc != 0) {
        errno = rc;
        return err_from_errno(err, "posix_spawn");
    }
    return ERR_OK;
}

static enum err_code start(struct jqbox *b, struct err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return err_from_errno(err, "socketpair");
    }
    b->fd = ends[0];
    enum err_code code = spawn(ends[1], &b->pid, err);
    os_file_close(ends[1]);
    return code;
}

void jqbox_close(struct jqbox *b)
{
    if (b == NULL) {
        return;
    }
    os_file_close(b->fd);
    if (b->pid > 0) {
        /* Only this function waits for the child, so its pid cannot be reused before that. */
        (void)kill(b->pid, SIGKILL);
        pid_t got;
        do {
            got = waitpid(b->pid, NULL, 0);
        } while (got < 0 && errno == EINTR);
        /* If the server was started with SIGCHLD ignored, the system has already reaped the
         * child. */
        CHECK(got == b->pid || errno == ECHILD);
    }
    buf_deinit(&b->program);
    buf_deinit(&b->out);
    free(b);
}

/* Communication */

static enum err_code too_long(struct jqbox *b, struct err *err)
{
    b->broken = true;
    return err_set(err, ERR_SEARCH, "search took too long");
}

static enum err_code ended(struct jqbox *b, struct err *err)
{
    b->broken = true;
    return err_set(err, ERR_VALIDATION,
                   "payload_jq: the expression needs too much memory (at most %d MiB) or nests too "
                   "deeply",
                   LIMIT_JQ_BYTES >> 20);
}

static void put_frame(struct jqbox *b, struct str bytes)
{
    uint32_t len = (uint32_t)bytes.len;
    buf_add(&b->out, &len, sizeof len);
    buf_add_str(&b->out, bytes);
}

static enum err_code wait_for(struct jqbox *b, int64_t deadline_ns, struct err *err)
{
    int64_t until_ns = b->until_ns == NULL ? INT64_MAX : atomic_load(b->until_ns);
    int64_t now_ns = os_clock_mono().ns;
    if (now_ns >= deadline_ns || now_ns >= until_ns) {
        return too_long(b, err);
    }
    int64_t left_ms = (deadline_ns - now_ns) / NS_PER_MS + 1;
    if (b->until_ns != NULL && left_ms > LOOK_MS) {
        left_ms = LOOK_MS;
    }
    bool more = b->sent < b->out.len;
    struct pollfd p = {.fd = b->fd, .events = (short)(POLLIN | (more ? POLLOUT : 0))};
    if (poll(&p, 1, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms) < 0 && errno != EINTR) {
        b->broken = true;
        return err_from_errno(err, "poll");
    }
    return ERR_OK;
}

static bool would_wait(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* Receive exactly this many bytes, and meanwhile send the rest of the block: the child answers
 * before it has read everything, so sending alone could block forever. */
static enum err_code exchange(struct jqbox *b, char *in, size_t wanted, int64_t deadline_ns,
                              struct err *err)
{
    size_t got = 0;
    while (got < wanted) {
        if (wait_for(b, deadline_ns, err) != ERR_OK) {
            return err->code;
        }
        if (b->sent < b->out.len) {
            ssize_t n = send(b->fd, b->out.ptr + b->sent, b->out.len - b->sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n < 0 && !would_wait()) {
                b->sent = b->out.len; /* the child has ended; its output can still be read */
            }
            b->sent += n > 0 ? (size_t)n : 0;
        }
        ssize_t n = recv(b->fd, in + got, wanted - got, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && !would_wait())) {
            return ended(b, err);
        }
        got += n > 0 ? (size_t)n : 0;
    }
    return ERR_OK;
}

static void next_block(struct jqbox *b)
{
    buf_clear(&b->out);
    b->sent = 0;
    b->count = 0;
}

/* Return the first line, limited to printable ASCII, without parts that only concern users of the
 * jq tool. */
static struct str first_line(char *text, size_t len)
{
    static const char *const tails[] = {" (Unix shell quoting", " at <top-level>"};
    const struct str prefix = STR("jq: error: ");
    struct str line = str_from(text, len);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n') {
            line.len = i;
            break;
        }
        if (text[i] < ' ' || text[i] > '~') {
            text[i] = '?';
        }
    }
    for (size_t i = 0; i < COUNT_OF(tails); i++) {
        const char *tail = memmem(line.ptr, line.len, tails[i], strlen(tails[i]));
        line.len = tail == NULL ? line.len : (size_t)(tail - line.ptr);
    }
    return str_starts_with(line, prefix) ? str_from_offset(line, prefix.len) : line;
}

static enum err_code compile(struct jqbox *b, int64_t deadline_ns, struct err *err)
{
    uint32_t len = 0;
    char text[COMPLAINT_BYTES] = "";
    put_frame(b, buf_str(&b->program));
    enum err_code code = exchange(b, (char *)&len, sizeof len, deadline_ns, err);
    if (code == ERR_OK && len == 0) {
        next_block(b);
        return ERR_OK;
    }
    if (code == ERR_OK) {
        code = len > sizeof text ? ended(b, err) : exchange(b, text, len, deadline_ns, err);
    }
    if (code == ERR_VALIDATION) {
        return err_set(err, code, "unsupported payload_jq expression: too complex to compile");
    }
    if (code != ERR_OK) {
        return code;
    }
    struct str line = first_line(text, len);
    return err_set(err, ERR_VALIDATION, "unsupported payload_jq expression: %.*s", (int)line.len,
                   line.ptr);
}

enum err_code jqbox_open(struct str program, int64_t deadline_ns, struct jqbox **out,
                         struct err *err)
{
    if (memchr(program.ptr, '\0', program.len) != NULL) {
        return err_set(err, ERR_VALIDATION, "unsupported payload_jq expression: a zero byte");
    }
    struct jqbox *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->fd = -1;
    b->opened_ns = os_clock_mono().ns;
    buf_init(&b->program, SIZE_MAX);
    buf_init(&b->out, SIZE_MAX);
    buf_add_str(&b->program, program);
    enum err_code code = start(b, err);
    if (code == ERR_OK) {
        code = compile(b, deadline_ns, err);
    }
    if (code != ERR_OK) {
        jqbox_close(b);
        return code;
    }
    *out = b;
    return ERR_OK;
}

bool jqbox_fits(const struct jqbox *b, struct str program)
{
    return b != NULL && !b->broken && str_eq(buf_str(&b->program), program) &&
           os_clock_mono().ns - b->opened_ns < AGE_S_MAX * NS_PER_S;
}

bool jqbox_add(struct jqbox *b, struct str text)
{
    CHECK(text.len <= LIMIT_OP_BYTES);
    if (b->count == JQBOX_TEXTS_MAX || (b->count > 0 && b->out.len + text.len > BLOCK_BYTES)) {
        return false;
    }
    put_frame(b, text);
    b->count++;
    return true;
}

void jqbox_watch(struct jqbox *b, const atomic_int_fast64_t *until_ns)
{
    b->until_ns = until_ns;
}

enum err_code jqbox_ask(struct jqbox *b, int64_t deadline_ns, const bool **out, size_t *out_count,
                        struct err *err)
{
    char said[JQBOX_TEXTS_MAX] = "";
    CHECK(!b->broken);
    if (exchange(b, said, b->count, deadline_ns, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < b->count; i++) {
        if (said[i] != '0' && said[i] != '1') {
            return ended(b, err);
        }
        b->answers[i] = said[i] == '1';
    }
    *out = b->answers;
    *out_count = b->count;
    next_block(b);
    return ERR_OK;
}
