/*
 * The files of the log: their names, and making, reusing and removing them.
 *
 * No write of an entry waits for this work while a ready segment has room, so it runs in libuv's
 * thread pool. A segment is ready when its name and its zeros are on disk; from then on writing to
 * it changes data only.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/fault.h"
#include "raftlog/wal_int.h"

enum {
    ZERO_BYTES = 1 << 20,
    SMALL_SEGMENTS = 2,        /* the first segments of a log, each a quarter of the next */
    SMALL_BYTES_MIN = 4 << 20, /* minimum size of these */
};

struct wal_file *wal_files__new(uint64_t generation, uint64_t size)
{
    struct wal_file *f = calloc(1, sizeof *f);
    CHECK(f != NULL);
    f->generation = generation;
    f->size = size;
    return f;
}

void wal_files__push(struct wal_files *files, struct wal_file *f)
{
    CHECK(f != NULL);
    CHECK(f->next == NULL);
    if (files->last == NULL) {
        files->first = f;
    } else {
        files->last->next = f;
    }
    files->last = f;
    files->count++;
}

struct wal_file *wal_files__pop(struct wal_files *files)
{
    struct wal_file *f = files->first;
    if (f != NULL) {
        files->first = f->next;
        if (files->first == NULL) {
            files->last = NULL;
        }
        f->next = NULL;
        files->count--;
    }
    return f;
}

void wal_files__clear(struct wal_files *files)
{
    for (struct wal_file *f = wal_files__pop(files); f != NULL; f = wal_files__pop(files)) {
        free(f);
    }
}

struct wal_name wal_files__name(const char *prefix, uint64_t generation)
{
    struct wal_name name;
    int n = snprintf(name.z, sizeof name.z, "%s%016" PRIx64, prefix, generation);
    CHECK(n > 0 && (size_t)n < sizeof name.z);
    return name;
}

struct segment_id wal_files__id(const struct wal *w, const struct wal_file *f)
{
    return (struct segment_id){.key = w->key, .generation = f->generation};
}

static struct os_file_path path_of(const char *dir, const char *prefix, uint64_t generation)
{
    struct wal_name name = wal_files__name(prefix, generation);
    return os_file_join(dir, name.z);
}

static enum err_code rename_file(const char *dir, uint64_t generation, const char *from_prefix,
                                 const char *to_prefix, uint64_t to_generation, struct err *err)
{
    struct os_file_path from = path_of(dir, from_prefix, generation);
    struct os_file_path to = path_of(dir, to_prefix, to_generation);
    return os_file_rename(from.z, to.z, err);
}

/* Turn a segment that is no longer needed into a spare, or remove it. A failure is harmless: a
 * file that stays is found and dropped at the next start. */
static void retire(struct wal_upkeep *u, struct wal_file *f)
{
    struct err err;
    if (f->size == u->segment_bytes && u->spares.count < u->spares_max &&
        rename_file(u->dir, f->generation, WAL_FILES_LOG, WAL_FILES_SPARE, f->generation, &err) ==
            ERR_OK) {
        wal_files__push(&u->spares, f);
        return;
    }
    struct os_file_path path = path_of(u->dir, WAL_FILES_LOG, f->generation);
    os_file_discard(path.z);
    free(f);
}

/* Remove spares beyond the limit. */
static void trim_spares(struct wal_upkeep *u)
{
    while (u->spares.count > u->spares_max) {
        struct wal_file *spare = wal_files__pop(&u->spares);
        struct os_file_path path = path_of(u->dir, WAL_FILES_SPARE, spare->generation);
        os_file_discard(path.z);
        free(spare);
    }
}

/* A spare becomes a segment unchanged: its old records are invalid in the new generation. */
static enum err_code take_spare(struct wal_upkeep *u, int *out_fd, struct err *err)
{
    struct wal_file *spare = wal_files__pop(&u->spares);
    uint64_t generation = spare->generation;
    free(spare);
    if (rename_file(u->dir, generation, WAL_FILES_SPARE, WAL_FILES_LOG, u->generation, err) !=
        ERR_OK) {
        return err->code;
    }
    struct os_file_path path = path_of(u->dir, WAL_FILES_LOG, u->generation);
    return os_file_open(path.z, O_RDWR, out_fd, err);
}

/* The size of a new segment. A log begins with small segments, so that a new server starts quickly
 * and one with little work stays small. */
static uint64_t size_of_new(const struct wal_upkeep *u)
{
    uint64_t size = u->segment_bytes;
    for (uint64_t g = u->generation; g <= SMALL_SEGMENTS && size / 4 >= SMALL_BYTES_MIN; g++) {
        size /= 4;
    }
    return size - size % SEGMENT_ALIGN;
}

/* Write in pieces: on a slow disk the whole may take minutes, and a stop must not wait for that. */
static enum err_code write_zeros(struct wal_upkeep *u, int fd, uint64_t size, struct err *err)
{
    uint64_t to;
    for (uint64_t from = 0; from < size; from = to) {
        uint64_t left = size - from;
        to = from + (left < ZERO_BYTES ? left : ZERO_BYTES);
        if (atomic_load(&u->stop)) {
            return err_set_default(err, ERR_STOPPING);
        }
        if (os_file_zero(fd, from, to, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static enum err_code make_new(struct wal_upkeep *u, uint64_t size, int *out_fd, struct err *err)
{
    struct os_file_path path = path_of(u->dir, WAL_FILES_LOG, u->generation);
    if (FAULT(DISK_WRITE_FULL)) {
        return err_set(err, ERR_NO_SPACE, "write: a test said so");
    }
    if (os_file_open(path.z, O_RDWR | O_CREAT | O_TRUNC, out_fd, err) != ERR_OK) {
        return err->code;
    }
    if (write_zeros(u, *out_fd, size, err) != ERR_OK) {
        os_file_discard(path.z);
        return err->code;
    }
    return ERR_OK;
}

void wal_files__upkeep(struct wal_upkeep *u)
{
    for (struct wal_file *f = wal_files__pop(&u->dropped); f != NULL;
         f = wal_files__pop(&u->dropped)) {
        retire(u, f);
    }
    u->ready = NULL;
    if (u->generation == 0) {
        trim_spares(u);
        return;
    }
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    bool spare = u->spares.count > 0;
    uint64_t size = spare ? u->segment_bytes : size_of_new(u);
    enum err_code code = spare ? take_spare(u, &fd, &u->err) : make_new(u, size, &fd, &u->err);
    if (code == ERR_OK && os_file_flush_dir(u->dir, &u->err) == ERR_OK) {
        u->ready = wal_files__new(u->generation, size);
        u->ready_fd = fd;
        fd = -1;
    }
    trim_spares(u);
}

enum err_code wal_files__grow(struct wal_file *f, int fd, uint64_t size, struct err *err)
{
    CHECK(size > f->size);
    if (os_file_zero(fd, f->size, size, err) != ERR_OK) {
        return err->code;
    }
    f->size = size;
    return ERR_OK;
}
