/*
 * Tmpdir: a temporary folder for a test, removed with its content at the end.
 *
 * Also has helpers that damage files like crashes and bad disks do.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "os/os_file.h"

struct tmpdir {
    char path[256];
};

/* Create a folder below TMPDIR, or below /tmp if TMPDIR is not set. */
struct tmpdir tmpdir_new(void);

/* The same, but in memory if the system has /dev/shm. */
struct tmpdir tmpdir_new_in_memory(void);

void tmpdir_remove(struct tmpdir *t); /* leaves an empty path and accepts one */

/* The path of a name in the folder. */
struct os_file_path tmpdir_path(const struct tmpdir *t, const char *name);

/* Copy a folder with its content to a path that must not exist. Empty folders are left out. */
void tmpdir_copy(const char *from, const char *to);

void tmpdir_write(const char *path, struct str bytes);
void tmpdir_read(const char *path, struct buf *out); /* initializes out */
void tmpdir_flip_bit(const char *path, uint64_t offset);

/* Checksum of the names and bytes of all files below a folder. */
uint32_t tmpdir_checksum(const char *dir);

/* The nth file, in order, of those in a folder whose name begins with prefix; the first is 0. Fails
 * if there is none. */
struct os_file_path tmpdir_find(const char *dir, const char *prefix, size_t nth);
size_t tmpdir_count(const char *dir, const char *prefix);
