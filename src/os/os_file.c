#include "os/os_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/fault.h"
#include "log/log.h"

enum { CHUNK_BYTES = 1 << 20, FILE_MODE = 0644, DIR_MODE = 0755 };

/* Fill err from errno, with the name of the file. Reads errno first. */
static enum err_code fail(struct err *err, const char *call, const char *path)
{
    bool missing = errno == ENOENT;
    (void)err_from_errno(err, call);
    if (missing) {
        err->code = ERR_NOT_FOUND;
    }
    return err_wrap(err, "'%s'", path);
}

struct os_file_path os_file_join(const char *dir, const char *name)
{
    struct os_file_path path;
    size_t dir_len = strlen(dir);
    size_t name_len = strlen(name);
    CHECK(dir_len + 1 + name_len < sizeof path.z);
    memcpy(path.z, dir, dir_len);
    path.z[dir_len] = '/';
    memcpy(path.z + dir_len + 1, name, name_len + 1);
    return path;
}

enum err_code os_file_open(const char *path, int flags, int *out_fd, struct err *err)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, FILE_MODE);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return fail(err, "open", path);
    }
    *out_fd = fd;
    return ERR_OK;
}

void os_file_close(int fd)
{
    if (fd >= 0) {
        /* Data that matters was flushed before; an interrupted close has closed the file. */
        (void)close(fd);
    }
}

void os_file_closep(int *fd)
{
    os_file_close(*fd);
    *fd = -1;
}

static enum err_code write_plain(int fd, const char *at, size_t n, uint64_t offset, struct err *err)
{
    while (n > 0) {
        ssize_t wrote = pwrite(fd, at, n, (off_t)offset);
        if (wrote < 0) {
            if (errno == EINTR) {
                continue;
            }
            return err_from_errno(err, "write");
        }
        at += wrote;
        n -= (size_t)wrote;
        offset += (uint64_t)wrote;
    }
    return ERR_OK;
}

enum err_code os_file_write_at(int fd, const struct iovec *iov, size_t count, uint64_t offset,
                               struct err *err)
{
    size_t i = 0;
    while (i < count) {
        size_t n = count - i < IOV_MAX ? count - i : IOV_MAX;
        ssize_t wrote = pwritev(fd, iov + i, (int)n, (off_t)offset);
        if (wrote < 0) {
            if (errno == EINTR) {
                continue;
            }
            return err_from_errno(err, "write");
        }
        offset += (uint64_t)wrote;
        size_t left = (size_t)wrote;
        while (i < count && left >= iov[i].iov_len) {
            left -= iov[i].iov_len;
            i++;
        }
        if (left > 0) { /* partial write inside this item: finish it, because the list is const */
            size_t rest = iov[i].iov_len - left;
            if (write_plain(fd, (const char *)iov[i].iov_base + left, rest, offset, err) !=
                ERR_OK) {
                return err->code;
            }
            offset += rest;
            i++;
        }
    }
    return ERR_OK;
}

enum err_code os_file_read_at(int fd, void *bytes, size_t size, uint64_t offset, size_t *out_n,
                              struct err *err)
{
    *out_n = 0;
    while (*out_n < size) {
        ssize_t n =
            pread(fd, (char *)bytes + *out_n, size - *out_n, (off_t)(offset + (uint64_t)*out_n));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return err_from_errno(err, "read");
        }
        if (n == 0) {
            break;
        }
        *out_n += (size_t)n;
    }
    return ERR_OK;
}

enum err_code os_file_zero(int fd, uint64_t from, uint64_t to, struct err *err)
{
    CHECK(from <= to);
    char *zeros = calloc(1, CHUNK_BYTES);
    CHECK(zeros != NULL);
    enum err_code code = ERR_OK;
    while (from < to && code == ERR_OK) {
        size_t n = to - from < CHUNK_BYTES ? (size_t)(to - from) : CHUNK_BYTES;
        code = write_plain(fd, zeros, n, from, err);
        code = code == ERR_OK ? os_file_flush(fd, err) : code;
        from += n;
    }
    free(zeros);
    return code;
}

enum err_code os_file_flush(int fd, struct err *err)
{
    return fdatasync(fd) == 0 ? ERR_OK : err_from_errno(err, "flush");
}

enum err_code os_file_flush_dir(const char *path, struct err *err)
{
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    if (os_file_open(path, O_RDONLY | O_DIRECTORY, &fd, err) != ERR_OK) {
        return err->code;
    }
    if (FAULT(DISK_FLUSH_DIR)) {
        return err_set(err, ERR_IO, "'%s': flush: a test said so", path);
    }
    return fsync(fd) == 0 ? ERR_OK : fail(err, "flush", path);
}

/* Return the parent folder of path. */
static struct os_file_path parent_of(const char *path)
{
    struct os_file_path dir = {.z = "."};
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);
    if (slash != NULL) {
        CHECK(len < sizeof dir.z - 1);
        memcpy(dir.z, path, len);
        dir.z[len] = '\0';
    }
    if (slash != NULL && len == 0) {
        dir = (struct os_file_path){.z = "/"};
    }
    return dir;
}

static enum err_code write_new(const char *path, struct str bytes, struct err *err)
{
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    if (os_file_open(path, O_WRONLY | O_CREAT | O_TRUNC, &fd, err) != ERR_OK) {
        return err->code;
    }
    if (write_plain(fd, bytes.ptr, bytes.len, 0, err) != ERR_OK) {
        return err_wrap(err, "'%s'", path);
    }
    return fsync(fd) == 0 ? ERR_OK : fail(err, "flush", path);
}

enum err_code os_file_replace(const char *path, struct str bytes, struct err *err)
{
    char temporary[OS_FILE_PATH_MAX];
    int n = snprintf(temporary, sizeof temporary, "%s.tmp", path);
    CHECK(n > 0 && (size_t)n < sizeof temporary);
    if (write_new(temporary, bytes, err) != ERR_OK) {
        (void)unlink(temporary);
        return err->code;
    }
    if (rename(temporary, path) != 0) {
        (void)fail(err, "rename", path);
        (void)unlink(temporary);
        return err->code;
    }
    struct os_file_path dir = parent_of(path);
    return os_file_flush_dir(dir.z, err);
}

enum err_code os_file_read(const char *path, struct buf *out, struct err *err)
{
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    struct os_file_info info = {0};
    if (os_file_stat(path, &info, err) != ERR_OK ||
        os_file_open(path, O_RDONLY, &fd, err) != ERR_OK) {
        return err->code;
    }
    /* One byte more than the size, so that the end is found without growing again. */
    for (size_t room = (size_t)info.size + 1;; room = CHUNK_BYTES) {
        size_t left = out->limit_bytes - out->len;
        char *at = buf_reserve(out, room <= left ? room : left);
        if (at == NULL || left == 0) {
            return err_set(err, ERR_TOO_LARGE, "'%s': larger than %zu bytes", path,
                           out->limit_bytes);
        }
        ssize_t got;
        do {
            got = read(fd, at, room <= left ? room : left);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            return fail(err, "read", path);
        }
        if (got == 0) {
            return ERR_OK;
        }
        out->len += (size_t)got;
    }
}

enum err_code os_file_map(int fd, struct str *out, struct err *err)
{
    struct stat st;
    *out = STR_EMPTY;
    if (fstat(fd, &st) != 0) {
        return err_from_errno(err, "stat");
    }
    if (!S_ISREG(st.st_mode)) {
        return err_set(err, ERR_IO, "not a regular file");
    }
    if (st.st_size == 0) {
        return ERR_OK;
    }
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
        return err_from_errno(err, "map");
    }
    *out = str_from(at, (size_t)st.st_size);
    return ERR_OK;
}

void os_file_unmap(struct str mapped)
{
    if (mapped.len > 0) {
        int code = munmap((void *)(uintptr_t)mapped.ptr, mapped.len);
        CHECK(code == 0); /* the mapping is from os_file_map */
    }
}

enum err_code os_file_stat(const char *path, struct os_file_info *out, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return fail(err, "stat", path);
    }
    *out = (struct os_file_info){.size = (uint64_t)st.st_size,
                                 .device = (uint64_t)st.st_dev,
                                 .inode = (uint64_t)st.st_ino,
                                 .is_dir = S_ISDIR(st.st_mode),
                                 .is_regular = S_ISREG(st.st_mode)};
    return ERR_OK;
}

enum err_code os_file_checksum(const char *path, uint32_t *out_crc, uint64_t *out_size,
                               struct err *err)
{
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    if (os_file_open(path, O_RDONLY, &fd, err) != ERR_OK) {
        return err->code;
    }
    char *chunk = malloc(CHUNK_BYTES);
    CHECK(chunk != NULL);
    uint32_t crc = 0;
    uint64_t size = 0;
    ssize_t got;
    while ((got = read(fd, chunk, CHUNK_BYTES)) != 0) {
        if (got > 0) {
            crc = crc32c_update(crc, chunk, (size_t)got);
            size += (uint64_t)got;
        } else if (errno != EINTR) {
            break;
        }
    }
    if (got < 0) {
        (void)fail(err, "read", path);
    } else {
        *out_crc = crc;
        *out_size = size;
    }
    free(chunk);
    return got < 0 ? err->code : ERR_OK;
}

static void names_add(struct os_file_names *names, const char *name)
{
    /* Grown one by one: the folders have only tens of files. */
    names->name = realloc(names->name, (names->count + 1) * sizeof *names->name);
    CHECK(names->name != NULL);
    names->name[names->count] = strdup(name);
    CHECK(names->name[names->count] != NULL);
    names->count++;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_sort(struct os_file_names *names)
{
    if (names->count > 0) {
        qsort(names->name, names->count, sizeof *names->name, compare_names);
    }
}

void os_file_names_clear(struct os_file_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->name[i]);
    }
    free(names->name);
    *names = (struct os_file_names){0};
}

enum err_code os_file_list(const char *dir, struct os_file_names *out, struct err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, NULL, NULL);
    if (n < 0) {
        return fail(err, "list", dir);
    }
    *out = (struct os_file_names){0};
    for (int i = 0; i < n; i++) {
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
            names_add(out, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    names_sort(out);
    return ERR_OK;
}

/* Visits one file or folder of a walk; false, with errno set, ends the walk. */
typedef bool (*visit_fn)(const FTSENT *entry, void *data);

static enum err_code walk(const char *path, visit_fn visit, void *data, struct err *err)
{
    char root[OS_FILE_PATH_MAX];
    int n = snprintf(root, sizeof root, "%s", path);
    CHECK(n > 0 && (size_t)n < sizeof root);
    char *roots[] = {root, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (tree == NULL) {
        return fail(err, "walk", path);
    }
    enum err_code code = ERR_OK;
    errno = 0;
    for (FTSENT *entry = fts_read(tree); entry != NULL; entry = fts_read(tree)) {
        if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR) {
            errno = entry->fts_errno;
            code = fail(err, "walk", entry->fts_path);
            break;
        }
        if (!visit(entry, data)) {
            code = fail(err, "walk", entry->fts_path);
            break;
        }
        errno = 0;
    }
    if (code == ERR_OK && errno != 0) {
        code = fail(err, "walk", path);
    }
    (void)fts_close(tree);
    return code;
}

struct tree_list {
    struct os_file_names *names;
    size_t root_len;
};

static bool visit_list(const FTSENT *entry, void *data)
{
    struct tree_list *list = data;
    if (entry->fts_info == FTS_F) {
        names_add(list->names, entry->fts_path + list->root_len + 1);
    }
    return true;
}

enum err_code os_file_list_tree(const char *dir, struct os_file_names *out, struct err *err)
{
    struct os_file_names names = {0};
    struct tree_list list = {.names = &names, .root_len = strlen(dir)};
    if (walk(dir, visit_list, &list, err) != ERR_OK) {
        os_file_names_clear(&names);
        return err->code;
    }
    names_sort(&names);
    *out = names;
    return ERR_OK;
}

static bool visit_remove(const FTSENT *entry, void *data)
{
    (void)data;
    if (entry->fts_info == FTS_D) {
        return true; /* visited again as FTS_DP, when it is empty */
    }
    int rc = entry->fts_info == FTS_DP ? rmdir(entry->fts_accpath) : unlink(entry->fts_accpath);
    return rc == 0 || errno == ENOENT;
}

enum err_code os_file_remove_tree(const char *path, struct err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? ERR_OK : fail(err, "stat", path);
    }
    return walk(path, visit_remove, NULL, err);
}

void os_file_discard(const char *path)
{
    struct err err;
    if (os_file_remove_tree(path, &err) != ERR_OK) {
        log_warn("file not removed", LOG_Z("error", err.msg));
    }
}

enum err_code os_file_make_dirs(const char *path, struct err *err)
{
    char part[OS_FILE_PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof part) {
        return err_set(err, ERR_VALIDATION,
                       "the path of a directory has %zu bytes; 1 to %d are allowed", len,
                       OS_FILE_PATH_MAX - 1);
    }
    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (part[i] != '/' && part[i] != '\0') {
            continue;
        }
        char kept = part[i];
        part[i] = '\0';
        if (mkdir(part, DIR_MODE) == 0) {
            struct os_file_path dir = parent_of(part);
            if (os_file_flush_dir(dir.z, err) != ERR_OK) {
                return err->code;
            }
        } else if (errno != EEXIST) {
            return fail(err, "create directory", part);
        }
        part[i] = kept;
    }
    struct os_file_info info = {0};
    if (os_file_stat(path, &info, err) != ERR_OK) {
        return err->code;
    }
    return info.is_dir ? ERR_OK : err_set(err, ERR_IO, "'%s' is not a directory", path);
}

enum err_code os_file_rename(const char *from, const char *to, struct err *err)
{
    return rename(from, to) == 0 ? ERR_OK : fail(err, "rename", from);
}

enum err_code os_file_free_bytes(const char *path, uint64_t *out_bytes, struct err *err)
{
    struct statvfs st;
    if (statvfs(path, &st) != 0) {
        return fail(err, "free space", path);
    }
    *out_bytes = FAULT(DISK_SPACE_LOW) ? fault_value(FAULT_DISK_SPACE_LOW)
                                       : (uint64_t)st.f_bavail * (uint64_t)st.f_frsize;
    return ERR_OK;
}

enum err_code os_file_reserve(const char *path, uint64_t bytes, struct err *err)
{
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    if (os_file_open(path, O_RDWR | O_CREAT, &fd, err) != ERR_OK) {
        return err->code;
    }
    if (ftruncate(fd, (off_t)bytes) != 0 || fallocate(fd, 0, 0, (off_t)bytes) != 0) {
        return fail(err, "reserve space in", path);
    }
    return ERR_OK;
}

enum err_code os_file_lock_dir(const char *dir, int *out_fd, struct err *err)
{
    struct os_file_path path = os_file_join(dir, "lock");
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    if (os_file_open(path.z, O_RDWR | O_CREAT, &fd, err) != ERR_OK) {
        return err->code;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK
                   ? err_set(err, ERR_CONFLICT, "'%s' is locked by another process", path.z)
                   : fail(err, "lock", path.z);
    }
    *out_fd = fd;
    fd = -1;
    return ERR_OK;
}
