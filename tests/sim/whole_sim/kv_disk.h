/*
 * Kv_disk: the store of a simulated node, in place of RocksDB.
 *
 * kv_disk.c has all the functions of kv/kv.h, so the linker takes nothing of that module but its
 * records: the machine and the store above run as they are. A folder is a name. What was committed
 * and not flushed is lost in a crash, and a flush is of all families at once, as kv.h promises; the
 * simulation decides when there is one. Several stores of one process share what is equal, so a
 * checkpoint is a copy of a few pointers.
 */
#pragma once

#include <stdbool.h>

/* RocksDB flushes whenever it likes: now, what was committed to the open store of this name. With
 * whole false it does what it must not do: some families only. */
void kv_disk_flush(const char *path, bool whole);

/* The process dies: what the open store of this name has not flushed is gone when it is closed. */
void kv_disk_crash(const char *path);

/* A checkpoint becomes the folder of a store; false when there is none of that name. */
bool kv_disk_copy(const char *from, const char *to);

/* Keep a checkpoint of what is flushed and no more: what kv_checkpoint must not do. */
void kv_disk_stale_checkpoint(const char *path, const char *dir);

/* Forget all folders, between two runs; stores that are open still, after a violation, are left. */
void kv_disk_clear(void);
