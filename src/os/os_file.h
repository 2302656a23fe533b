/*
 * Os_file: the system calls for files and folders.
 *
 * For every call that changes a name or a size, this file states when the change survives a power
 * failure: data after os_file_flush, names after os_file_flush_dir; os_file_replace and
 * os_file_make_dirs are durable on return. Interrupted and partial calls are continued. Unless
 * stated otherwise, errors are ERR_IO, ERR_NO_SPACE, or ERR_NOT_FOUND for a missing path. Functions
 * that have a path name it in the message.
 *
 * Any thread may call anything. Do not call these on a loop's thread, except at start: they wait
 * for the disk.
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

/* Return dir/name, which must fit: the folder of a node is checked once, when it is opened, and
 * names below it are chosen by the program. */
struct os_file_path os_file_join(const char *dir, const char *name);

/* flags as for open(2); the file gets O_CLOEXEC and mode 0644, restricted by
 * os_process_keep_private. */
ATTR_NODISCARD enum err_code os_file_open(const char *path, int flags, int *out_fd,
                                          struct err *err);
void os_file_close(int fd); /* -1 is allowed */
void os_file_closep(int *fd);

/* Write the whole list at the offset. After a failure any part may have been written; the call can
 * be repeated. */
ATTR_NODISCARD enum err_code os_file_write_at(int fd, const struct iovec *iov, size_t count,
                                              uint64_t offset, struct err *err);

/* Read up to size bytes from the offset; *out_n is less than size only at the end of the file. */
ATTR_NODISCARD enum err_code os_file_read_at(int fd, void *bytes, size_t size, uint64_t offset,
                                             size_t *out_n, struct err *err);

/* Write zeros from one offset to another and flush them, in pieces: one large flush would delay
 * small flushes of others. */
ATTR_NODISCARD enum err_code os_file_zero(int fd, uint64_t from, uint64_t to, struct err *err);

/* Make written data durable. After a failure the data may be lost even if a later call succeeds,
 * so do not retry. */
ATTR_NODISCARD enum err_code os_file_flush(int fd, struct err *err);
ATTR_NODISCARD enum err_code os_file_flush_dir(const char *path, struct err *err);

/* Replace the content of the file atomically; durable on return. */
ATTR_NODISCARD enum err_code os_file_replace(const char *path, struct str bytes, struct err *err);

/* Append the whole file to out; ERR_TOO_LARGE past its limit. ERR_NOT_FOUND if there is no file. */
ATTR_NODISCARD enum err_code os_file_read(const char *path, struct buf *out, struct err *err);

/* Map the whole file into memory: for files of any size that are not truncated meanwhile. The
 * descriptor may be closed afterwards. */
ATTR_NODISCARD enum err_code os_file_map(int fd, struct str *out, struct err *err);
void os_file_unmap(struct str mapped); /* an empty mapping is allowed */

struct os_file_info {
    uint64_t size;
    uint64_t device, inode; /* together identify the data: hard links share them */
    bool is_dir;
    bool is_regular; /* not a folder, device, pipe or socket */
};

/* ERR_NOT_FOUND if the path does not exist. */
ATTR_NODISCARD enum err_code os_file_stat(const char *path, struct os_file_info *out,
                                          struct err *err);

/* Compute the crc32c of all bytes. */
ATTR_NODISCARD enum err_code os_file_checksum(const char *path, uint32_t *out_crc,
                                              uint64_t *out_size, struct err *err);

struct os_file_names {
    char **name;
    size_t count;
};

/* List the names in a folder, sorted by bytes, without "." and "..". The caller clears *out. */
ATTR_NODISCARD enum err_code os_file_list(const char *dir, struct os_file_names *out,
                                          struct err *err);

/* List the files (not the folders) below a folder, as paths relative to it. */
ATTR_NODISCARD enum err_code os_file_list_tree(const char *dir, struct os_file_names *out,
                                               struct err *err);
void os_file_names_clear(struct os_file_names *names);

/* Create the folder and its missing parents, with mode 0755. Succeeds if it exists. */
ATTR_NODISCARD enum err_code os_file_make_dirs(const char *path, struct err *err);

/* Rename a file or folder. Durable after os_file_flush_dir. */
ATTR_NODISCARD enum err_code os_file_rename(const char *from, const char *to, struct err *err);

/* Remove a file, or a folder with its content. Succeeds if it does not exist. */
ATTR_NODISCARD enum err_code os_file_remove_tree(const char *path, struct err *err);

/* The same, if nothing depends on it: a failure is only logged. */
void os_file_discard(const char *path);

/* Return the space available to an ordinary user on the disk that contains path. */
ATTR_NODISCARD enum err_code os_file_free_bytes(const char *path, uint64_t *out_bytes,
                                                struct err *err);

/* Create a file that occupies this many bytes of the disk, or resize it; it need not survive a
 * power failure. ERR_IO with sys EOPNOTSUPP if the file system does not support it. */
ATTR_NODISCARD enum err_code os_file_reserve(const char *path, uint64_t bytes, struct err *err);

/* Lock the folder against other processes, with the file "lock" in it, until *out_fd is closed;
 * ERR_CONFLICT if another process has the lock. */
ATTR_NODISCARD enum err_code os_file_lock_dir(const char *dir, int *out_fd, struct err *err);
