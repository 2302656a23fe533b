/*
 * Lossy_disk: simulates a disk that can lose what was not flushed.
 *
 * Preloaded into a process, it intercepts the system calls that change files in the folder
 * LOSSY_DIR. It writes a journal to LOSSY_JOURNAL: the previous content before each change, and the
 * flushes. The process does not notice this. After the process was killed, lossy_disk.py reads the
 * journal and brings the folder into a state that a power failure could have left.
 *
 * A change is recorded before it is made, a flush afterwards, each with one write(2). If the
 * process dies in between, the journal lists more changes that may be lost than there are, never
 * fewer. Files that are removed or replaced are kept under another name in LOSSY_JOURNAL.aside.
 *
 * If LOSSY_KILL_AT is a number, the process is killed when the journal has that many records:
 * before a change, or after a flush. In this way each step of a start can be hit, however short it
 * is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* Format of the journal, which lossy_disk.py reads. */
enum kind {
    KIND_WRITE = 'W',
    KIND_SIZE = 'T',
    KIND_FLUSH = 'S',
    KIND_FLUSH_DIR = 'D',
    KIND_CREATE = 'C',
    KIND_MKDIR = 'M',
    KIND_RENAME = 'R',
    KIND_LINK = 'L',
    KIND_UNLINK = 'U',
    KIND_RMDIR = 'X',
};

struct record {
    uint64_t kind;
    uint64_t seq;
    uint64_t ino;      /* of the file; for a rename: of the old folder */
    uint64_t dir;      /* for a change of names: the folder */
    uint64_t at;       /* of a write; for a flush: the last record that it covers */
    uint64_t length;   /* of a write */
    uint64_t old_size; /* of the file */
    uint64_t path_bytes, aside_bytes, old_bytes; /* of the names and old content that follow */
};

static struct {
    int (*open)(const char *path, int flags, ...);
    ssize_t (*write)(int fd, const void *bytes, size_t n);
    ssize_t (*pwrite)(int fd, const void *bytes, size_t n, off_t at);
    ssize_t (*pwritev)(int fd, const struct iovec *iov, int count, off_t at);
    int (*ftruncate)(int fd, off_t size);
    int (*fallocate)(int fd, int mode, off_t at, off_t n);
    int (*posix_fallocate)(int fd, off_t at, off_t n);
    int (*fsync)(int fd);
    int (*fdatasync)(int fd);
    int (*rename)(const char *from, const char *to);
    int (*link)(const char *from, const char *to);
    int (*unlink)(const char *path);
    int (*mkdir)(const char *path, mode_t mode);
    int (*rmdir)(const char *path);
} real;

static const char *folder;
static char aside_folder[PATH_BYTES];
static int journal = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of a change and its record */
static uint64_t last_seq;
static uint64_t kill_at; /* 0: never */
static uint64_t aside_count;

static void stop(const char *why)
{
    (void)fprintf(stderr, "lossy_disk: %s: %s\n", why, strerror(errno));
    abort();
}

#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *at = dlsym(RTLD_NEXT, #name);                                                        \
        memcpy(&real.name, &at, sizeof at);                                                        \
    } while (0)

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("LOSSY_JOURNAL");
    FIND(open);
    FIND(write);
    FIND(pwrite);
    FIND(pwritev);
    FIND(ftruncate);
    FIND(fallocate);
    FIND(posix_fallocate);
    FIND(fsync);
    FIND(fdatasync);
    FIND(rename);
    FIND(link);
    FIND(unlink);
    FIND(mkdir);
    FIND(rmdir);
    folder = getenv("LOSSY_DIR");
    if (folder == NULL || path == NULL) {
        folder = NULL;
        return;
    }
    (void)snprintf(aside_folder, sizeof aside_folder, "%s.aside", path);
    const char *number = getenv("LOSSY_KILL_AT");
    kill_at = number == NULL ? 0 : strtoull(number, NULL, 10);
    journal = real.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (journal < 0) {
        stop("journal");
    }
}

/* Tracked files */

static bool is_inside(const char *path)
{
    return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

/* Does fd refer to a file or folder in LOSSY_DIR? */
static bool is_tracked(int fd, struct stat *out)
{
    char link_path[64];
    char path[PATH_BYTES];
    if (folder == NULL || fd == journal || fstat(fd, out) != 0) {
        return false;
    }
    (void)snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link_path, path, sizeof path - 1);
    if (n <= 0) {
        return false;
    }
    path[n] = '\0';
    return is_inside(path);
}

static uint64_t ino_of_parent(const char *path)
{
    char dir[PATH_BYTES];
    struct stat st;
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return 0;
    }
    (void)snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
    return stat(dir, &st) == 0 ? st.st_ino : 0;
}

/* The journal */

static void append(struct record r, const char *path, const char *aside, const void *old)
{
    size_t size = sizeof r + r.path_bytes + r.aside_bytes + r.old_bytes;
    char *bytes = malloc(size);
    if (bytes == NULL) {
        stop("memory");
    }
    r.seq = ++last_seq;
    memcpy(bytes, &r, sizeof r);
    char *at = bytes + sizeof r;
    at = mempcpy(at, path == NULL ? "" : path, r.path_bytes);
    at = mempcpy(at, aside == NULL ? "" : aside, r.aside_bytes);
    (void)mempcpy(at, old == NULL ? "" : old, r.old_bytes);
    if (real.write(journal, bytes, size) != (ssize_t)size) {
        stop("journal");
    }
    free(bytes);
    if (r.seq == kill_at) {
        (void)kill(getpid(), SIGKILL);
    }
}

/* Read the content of the file from `at` on, at most n bytes. The caller frees it. */
static void *read_old(int fd, uint64_t at, uint64_t n, uint64_t size, uint64_t *out_n)
{
    char path[64];
    uint64_t there = at >= size ? 0 : size - at < n ? size - at : n;
    char *old = malloc(there + 1);
    if (old == NULL) {
        stop("memory");
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int reader = there == 0 ? -1 : real.open(path, O_RDONLY | O_CLOEXEC);
    *out_n = 0;
    while (reader >= 0 && *out_n < there) {
        ssize_t got = pread(reader, old + *out_n, there - *out_n, (off_t)(at + *out_n));
        if (got <= 0) {
            break;
        }
        *out_n += (uint64_t)got;
    }
    if (*out_n != there) {
        stop("what was there before");
    }
    if (reader >= 0) {
        (void)close(reader);
    }
    return old;
}

static void note_write(int fd, const struct stat *st, uint64_t at, uint64_t n)
{
    struct record r = {.kind = KIND_WRITE,
                       .ino = st->st_ino,
                       .at = at,
                       .length = n,
                       .old_size = (uint64_t)st->st_size};
    void *old = read_old(fd, at, n, r.old_size, &r.old_bytes);
    append(r, NULL, NULL, old);
    free(old);
}

static void note_size(int fd, const struct stat *st, uint64_t new_size)
{
    struct record r = {.kind = KIND_SIZE, .ino = st->st_ino, .old_size = (uint64_t)st->st_size};
    void *old = read_old(fd, new_size, UINT64_MAX, r.old_size, &r.old_bytes);
    append(r, NULL, NULL, old);
    free(old);
}

/* Record a change of names. from is NULL except for a rename. A file that loses its name `lost` is
 * kept. */
static void note_name(enum kind kind, const char *path, const char *from, const char *lost)
{
    char names[2 * PATH_BYTES];
    char aside[PATH_BYTES + 32] = "";
    struct record r = {.kind = (uint64_t)kind, .dir = ino_of_parent(path)};
    r.path_bytes = (uint64_t)snprintf(names, sizeof names, "%s", path);
    if (from != NULL) {
        r.ino = ino_of_parent(from);
        r.path_bytes += (uint64_t)snprintf(names + r.path_bytes + 1,
                                           sizeof names - r.path_bytes - 1, "%s", from) +
                        1;
    }
    if (lost != NULL) {
        (void)snprintf(aside, sizeof aside, "%s/%llu", aside_folder,
                       (unsigned long long)++aside_count);
        r.aside_bytes = real.link(lost, aside) == 0 ? strlen(aside) : 0;
    }
    append(r, names, aside, NULL);
}

/* The system calls */

static int open_any(const char *path, int flags, mode_t mode)
{
    struct stat st;
    if (!is_inside(path) || (flags & (O_CREAT | O_TRUNC)) == 0) {
        return real.open(path, flags, mode);
    }
    pthread_mutex_lock(&lock);
    bool exists = stat(path, &st) == 0;
    if (!exists && (flags & O_CREAT) != 0) {
        note_name(KIND_CREATE, path, NULL, NULL);
    } else if (exists && (flags & O_TRUNC) != 0 && st.st_size > 0) {
        int reader = real.open(path, O_RDONLY | O_CLOEXEC);
        note_size(reader, &st, 0);
        (void)close(reader);
    }
    int fd = real.open(path, flags, mode);
    pthread_mutex_unlock(&lock);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_any(path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    struct stat st;
    if (!is_tracked(fd, &st)) {
        return real.write(fd, bytes, n);
    }
    pthread_mutex_lock(&lock);
    bool at_end = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
    off_t at = at_end ? st.st_size : lseek(fd, 0, SEEK_CUR);
    note_write(fd, &st, (uint64_t)at, n);
    ssize_t rc = real.write(fd, bytes, n);
    pthread_mutex_unlock(&lock);
    return rc;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    struct stat st;
    if (!is_tracked(fd, &st)) {
        return real.pwrite(fd, bytes, n, at);
    }
    pthread_mutex_lock(&lock);
    note_write(fd, &st, (uint64_t)at, n);
    ssize_t rc = real.pwrite(fd, bytes, n, at);
    pthread_mutex_unlock(&lock);
    return rc;
}

ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t at)
{
    struct stat st;
    uint64_t n = 0;
    if (!is_tracked(fd, &st)) {
        return real.pwritev(fd, iov, count, at);
    }
    for (int i = 0; i < count; i++) {
        n += iov[i].iov_len;
    }
    pthread_mutex_lock(&lock);
    note_write(fd, &st, (uint64_t)at, n);
    ssize_t rc = real.pwritev(fd, iov, count, at);
    pthread_mutex_unlock(&lock);
    return rc;
}

int ftruncate(int fd, off_t size)
{
    struct stat st;
    if (!is_tracked(fd, &st)) {
        return real.ftruncate(fd, size);
    }
    pthread_mutex_lock(&lock);
    note_size(fd, &st, (uint64_t)size);
    int rc = real.ftruncate(fd, size);
    pthread_mutex_unlock(&lock);
    return rc;
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
    struct stat st;
    if (is_tracked(fd, &st)) {
        pthread_mutex_lock(&lock);
        note_size(fd, &st, (uint64_t)st.st_size);
        pthread_mutex_unlock(&lock);
    }
    return real.fallocate(fd, mode, at, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
    struct stat st;
    if (is_tracked(fd, &st)) {
        pthread_mutex_lock(&lock);
        note_size(fd, &st, (uint64_t)st.st_size);
        pthread_mutex_unlock(&lock);
    }
    return real.posix_fallocate(fd, at, n);
}

/* A flush covers the changes that began before it. Changes that other threads make meanwhile may
 * not be covered. */
static int flush(int fd, int (*call)(int fd))
{
    struct stat st;
    if (!is_tracked(fd, &st)) {
        return call(fd);
    }
    pthread_mutex_lock(&lock);
    struct record r = {.kind = S_ISDIR(st.st_mode) ? KIND_FLUSH_DIR : KIND_FLUSH,
                       .ino = st.st_ino,
                       .at = last_seq};
    pthread_mutex_unlock(&lock);
    int rc = call(fd);
    if (rc == 0) {
        pthread_mutex_lock(&lock);
        append(r, NULL, NULL, NULL);
        pthread_mutex_unlock(&lock);
    }
    return rc;
}

int fsync(int fd)
{
    return flush(fd, real.fsync);
}

int fdatasync(int fd)
{
    return flush(fd, real.fdatasync);
}

int rename(const char *from, const char *to)
{
    struct stat st;
    if (!is_inside(to)) {
        return real.rename(from, to);
    }
    pthread_mutex_lock(&lock);
    bool replaces = stat(to, &st) == 0 && S_ISREG(st.st_mode);
    note_name(KIND_RENAME, to, from, replaces ? to : NULL);
    int rc = real.rename(from, to);
    pthread_mutex_unlock(&lock);
    return rc;
}

int link(const char *from, const char *to)
{
    if (!is_inside(to)) {
        return real.link(from, to);
    }
    pthread_mutex_lock(&lock);
    note_name(KIND_LINK, to, NULL, NULL);
    int rc = real.link(from, to);
    pthread_mutex_unlock(&lock);
    return rc;
}

int unlink(const char *path)
{
    if (!is_inside(path)) {
        return real.unlink(path);
    }
    pthread_mutex_lock(&lock);
    note_name(KIND_UNLINK, path, NULL, path);
    int rc = real.unlink(path);
    pthread_mutex_unlock(&lock);
    return rc;
}

int mkdir(const char *path, mode_t mode)
{
    struct stat st;
    if (!is_inside(path) || stat(path, &st) == 0) {
        return real.mkdir(path, mode);
    }
    pthread_mutex_lock(&lock);
    note_name(KIND_MKDIR, path, NULL, NULL);
    int rc = real.mkdir(path, mode);
    pthread_mutex_unlock(&lock);
    return rc;
}

int rmdir(const char *path)
{
    if (!is_inside(path)) {
        return real.rmdir(path);
    }
    pthread_mutex_lock(&lock);
    note_name(KIND_RMDIR, path, NULL, NULL);
    int rc = real.rmdir(path);
    pthread_mutex_unlock(&lock);
    return rc;
}
