/*
 * Kv_int: shared by the files of this module.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <rocksdb/c.h>

#include "base/check.h"
#include "kv/kv.h"
#include "kv/kv_window.h"

struct kv {
    rocksdb_t *db;
    atomic_uint refs;
    char *path;
    atomic_bool retired; /* remove the directory when closed */
    rocksdb_options_t *options;
    rocksdb_options_t *hinted_options;
    rocksdb_block_based_table_options_t *table;
    rocksdb_cache_t *cache;
    rocksdb_writeoptions_t *write;
    rocksdb_readoptions_t *read;
    rocksdb_readoptions_t *read_near;                            /* stops after many deleted keys */
    rocksdb_column_family_handle_t *family[KV_FAMILIES_MAX + 1]; /* the last is RocksDB's own */
    const char *names[KV_FAMILIES_MAX]; /* owned by the caller; outlive the store */
    size_t family_count;
    unsigned hinted_families;
    size_t window_bytes;
    pthread_mutex_t lock; /* protects the members below */
    struct kv_window window;
    rocksdb_writebatch_t *wb; /* the window on its way to RocksDB */
};

struct kv_view {
    struct kv *kv;
    const rocksdb_snapshot_t *snapshot;
    rocksdb_readoptions_t *read;
};

/* Convert a message of RocksDB to an error, and free it. */
enum err_code kv__err(struct err *err, char *msg, const char *doing);

/* Write the window to RocksDB, before an operation on more than one key. If an accepted commit
 * cannot be written, the process stops. */
void kv__flush_window(struct kv *kv);
void kv__flush_window_locked(struct kv *kv); /* the lock is held */

static inline rocksdb_column_family_handle_t *kv__family(const struct kv *kv, unsigned family)
{
    CHECK(family < kv->family_count);
    return kv->family[family];
}

static inline const rocksdb_readoptions_t *kv__read_options(const struct kv *kv,
                                                            const struct kv_view *view)
{
    return view == NULL ? kv->read : view->read;
}

/* An iterator over RocksDB's data, without the window. */
struct kv_iter *kv_iter__new_stored(struct kv *kv, const rocksdb_readoptions_t *read,
                                    unsigned family, struct str from);

/* Move to the first key at or after `key`, which is usually close. Returns whether it is `key`. */
bool kv_iter__walk_to(struct kv_iter *it, struct str key);
