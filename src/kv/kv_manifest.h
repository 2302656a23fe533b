/*
 * Kv_manifest: the end of the file in which RocksDB lists its tables.
 *
 * RocksDB appends each change of the list, and flushes it before it relies on it. After a power
 * failure in between, a part of the change can be on disk. RocksDB ignores a record that ends
 * early, but if a sector in it is missing, it finds a wrong checksum and does not open. Such a
 * record was not flushed, so nothing depends on it, and it is cleared with everything behind it.
 * Should the sector have been flushed and the disk have lost it, nothing is lost either: the store
 * is older then, and the log or a snapshot brings it up to date, or it lacks tables and does not
 * open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

/* Clear an unfinished record at the end of the list, if there is one. dir is the folder of a store
 * that is not open; it may be empty or missing. All other damage is left for RocksDB to report. */
ATTR_NODISCARD enum err_code kv_manifest__mend(const char *dir, struct err *err);

enum { KV_MANIFEST_BLOCK_BYTES = 32 << 10 };

/* A walk through the file; zeros at first. */
struct kv_manifest_walk {
    uint64_t offset; /* of the next block */
    uint64_t start;  /* of the record that is being read */
    bool inside;     /* that record continues in the next block */
};

enum kv_manifest_found {
    KV_MANIFEST_SOUND,
    KV_MANIFEST_TORN,    /* the record at walk->start lacks a sector; the walk is over */
    KV_MANIFEST_DAMAGED, /* in another way; the walk is over */
};

/* Read the next block. Only the last one may be shorter. */
enum kv_manifest_found kv_manifest__read(struct kv_manifest_walk *walk, struct str block);
