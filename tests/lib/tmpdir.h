/*
 * Tmpdir: a folder of a test's own, gone with all that is in it when the test is over.
 *
 * It also does to files what crashes and bad disks do: cuts, flips and mixes them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "os/os_file.h"

struct tmpdir {
    char path[256];
};

/* Below TMPDIR, or /tmp without it. */
struct tmpdir tmpdir_new(void);

/* The same, but in memory where the system has a folder for that. */
struct tmpdir tmpdir_new_in_memory(void);

void tmpdir_remove(struct tmpdir *t); /* leaves an empty path; fine on one */

/* Path of a name in it. */
struct os_file_path tmpdir_path(const struct tmpdir *t, const char *name);

/* Copy a folder with all that is in it; to must not exist. Empty folders are left out. */
void tmpdir_copy(const char *from, const char *to);

void tmpdir_write(const char *path, struct str bytes);
void tmpdir_read(const char *path, struct buf *out); /* out is made here, the caller's after */
void tmpdir_flip_bit(const char *path, uint64_t offset);

/* Of the names and bytes of all files below a folder: the same when nothing was changed. */
uint32_t tmpdir_checksum(const char *dir);

/* The only file in a folder whose name begins with prefix, or the nth of them in order. */
struct os_file_path tmpdir_find(const char *dir, const char *prefix, size_t nth);
size_t tmpdir_count(const char *dir, const char *prefix);
