/*
 * Kv_disk: the store of a simulated node, instead of RocksDB.
 *
 * kv_disk.c implements all functions of kv/kv.h, so the linker uses only the record functions of
 * that module. The machine and the store above it are the real code. A folder is only a name. Data
 * that was committed but not flushed is lost in a crash, and a flush covers all families, as kv.h
 * promises. The simulation decides when to flush. The stores of a process share equal tables, so a
 * checkpoint is a copy of a few pointers.
 */
#pragma once

#include <stdbool.h>

/* Flush what was committed to the open store of this name, as RocksDB may at any time. If whole is
 * false, only some families are flushed, which RocksDB must never do. */
void kv_disk_flush(const char *path, bool whole);

/* Simulate a crash. When the open store of this name is closed, it loses what was not flushed. */
void kv_disk_crash(const char *path);

/* Copy a checkpoint to the folder of a store. False if there is no checkpoint of that name. */
bool kv_disk_copy(const char *from, const char *to);

/* Make a checkpoint of only the flushed data, which kv_checkpoint must never do. */
void kv_disk_stale_checkpoint(const char *path, const char *dir);

/* Forget all folders between two runs. Stores that are still open after a violation are leaked. */
void kv_disk_clear(void);
