/*
 * Os_file: the system calls for files and folders.
 *
 * Every call that changes a name or a size says here when the change survives a power cut: data
 * after os_file_flush, names after os_file_flush_dir, os_file_replace and os_file_make_dirs by
 * themselves. Calls that were interrupted or did less than asked are continued; all failures carry
 * ERR_IO or ERR_NO_SPACE and name the file.
 *
 * Any thread may call anything. Nothing here is for a loop's thread, except at start: it waits for
 * the disk.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { OS_FILE_PATH_MAX = 1024, OS_FILE_NAME_MAX = 255 };

struct os_file_path {
    char z[OS_FILE_PATH_MAX];
};

/* dir/name. Both must fit: the folder of a node is checked once, when it is opened, and names below
 * it are ours. */
struct os_file_path os_file_join(const char *dir, const char *name);

/* flags as for open(2); the file is closed on exec and created with mode 0644, less what the
 * process keeps private (os_process_keep_private). */
ATTR_NODISCARD enum err_code os_file_open(const char *path, int flags, int *out_fd,
                                          struct err *err);
void os_file_close(int fd); /* -1 is fine */
void os_file_closep(int *fd);

/* Write all of the list at the offset. After a failure any part of it may have been written; the
 * same call may be made again. */
ATTR_NODISCARD enum err_code os_file_write_at(int fd, const struct iovec *iov, size_t count,
                                              uint64_t offset, struct err *err);

/* Read up to size bytes from the offset; *out_n is less than size at the end of the file only. */
ATTR_NODISCARD enum err_code os_file_read_at(int fd, void *bytes, size_t size, uint64_t offset,
                                             size_t *out_n, struct err *err);

/* Write zeros from one offset to another, and flush them: piece by piece, because a disk that has
 * much to flush keeps those waiting who flush a little. */
ATTR_NODISCARD enum err_code os_file_zero(int fd, uint64_t from, uint64_t to, struct err *err);

/* Make what was written durable. After a failure the data may be gone although a later call
 * succeeds, so there is no second try. */
ATTR_NODISCARD enum err_code os_file_flush(int fd, struct err *err);
ATTR_NODISCARD enum err_code os_file_flush_dir(const char *path, struct err *err);

/* Put bytes where the file is, all or nothing, durable on return. */
ATTR_NODISCARD enum err_code os_file_replace(const char *path, struct str bytes, struct err *err);

/* Add the whole file to out; ERR_TOO_LARGE past its limit. ERR_NOT_FOUND when there is none. */
ATTR_NODISCARD enum err_code os_file_read(const char *path, struct buf *out, struct err *err);

/* The whole file as memory that is read from the disk where it is looked at: for files of any size
 * that nobody makes shorter meanwhile. The descriptor may be closed. */
ATTR_NODISCARD enum err_code os_file_map(int fd, struct str *out, struct err *err);
void os_file_unmap(struct str mapped); /* an empty one is fine */

struct os_file_info {
    uint64_t size;
    uint64_t device, inode; /* together the identity of the bytes: hard links share it */
    bool is_dir;
    bool is_regular; /* no folder, device, pipe or socket */
};

/* ERR_NOT_FOUND when there is nothing of that name. */
ATTR_NODISCARD enum err_code os_file_stat(const char *path, struct os_file_info *out,
                                          struct err *err);

/* crc32c over all bytes. */
ATTR_NODISCARD enum err_code os_file_checksum(const char *path, uint32_t *out_crc,
                                              uint64_t *out_size, struct err *err);

struct os_file_names {
    char **name;
    size_t count;
};

/* The names in a folder, sorted by byte, without "." and "..". The caller clears out. */
ATTR_NODISCARD enum err_code os_file_list(const char *dir, struct os_file_names *out,
                                          struct err *err);

/* The files (not the folders) below a folder, as paths relative to it. */
ATTR_NODISCARD enum err_code os_file_list_tree(const char *dir, struct os_file_names *out,
                                               struct err *err);
void os_file_names_clear(struct os_file_names *names);

/* Create the folder and the missing ones above it, with mode 0755. Fine when it exists. */
ATTR_NODISCARD enum err_code os_file_make_dirs(const char *path, struct err *err);

/* Durable after os_file_flush_dir. */
ATTR_NODISCARD enum err_code os_file_rename(const char *from, const char *to, struct err *err);

/* A file or a folder with all that is in it. Fine when there is none. */
ATTR_NODISCARD enum err_code os_file_remove_tree(const char *path, struct err *err);

/* The same, when nothing depends on it: a failure is logged. */
void os_file_discard(const char *path);

/* What an ordinary user could still write on the disk that holds path. */
ATTR_NODISCARD enum err_code os_file_free_bytes(const char *path, uint64_t *out_bytes,
                                                struct err *err);

/* Create a file that occupies so many bytes of the disk, or change it to that size; the names and
 * blocks need not survive a power cut. ERR_IO with sys EOPNOTSUPP where the file system cannot. */
ATTR_NODISCARD enum err_code os_file_reserve(const char *path, uint64_t bytes, struct err *err);

/* Keep other processes out until the file is closed; ERR_CONFLICT when one is there already. */
ATTR_NODISCARD enum err_code os_file_lock(const char *path, int *out_fd, struct err *err);
