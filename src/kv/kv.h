/*
 * Kv: ordered keys and values on disk, in named families. The only module that knows RocksDB.
 *
 * There is no write-ahead log here: the Raft log serves as one. A commit survives a crash of the
 * process only after a flush, and a flush is atomic over all families. After a restart the store
 * therefore has the state of some commit, never between two. Closing and checkpoints flush. The
 * writer stores its log position in the same commits.
 *
 * The newest commits stay in memory for a short time (kv_window.h), because most of their writes
 * are soon overwritten, and are passed to RocksDB together. Readers see no difference: a get reads
 * the window first, and a walk merges a copy of it. A view or a checkpoint writes it out first.
 *
 * One thread writes. Any thread can read while the store is open; to read several keys
 * consistently, use a kv_view. Errors are ERR_IO, ERR_NO_SPACE or ERR_CORRUPT.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct kv;
struct kv_batch;
struct kv_view;
struct kv_iter;

enum { KV_FAMILIES_MAX = 8 };

struct kv_config {
    const char *const *families; /* names, by family number; must outlive the store */
    size_t family_count;
    /* Bit n: in family n, keys that are written together are often close to each other, and deleted
     * ranges are rare and short. The position of one write is then used as a hint for the next, and
     * ranges are deleted key by key. */
    unsigned hinted_families;
    size_t write_buffer_bytes; /* per family; 0 is the default of 64 MiB */
    size_t cache_bytes;        /* block cache over all families; 0 is the default of 64 MiB */
    size_t window_bytes;       /* size of the window; 0 is the default of 2 MiB */
};

/* Open or create the store in the directory path. The caller owns *out_kv. */
ATTR_NODISCARD enum err_code kv_open(const char *path, const struct kv_config *config,
                                     struct kv **out_kv, struct err *err);

/* All batches must have been freed. The store stays open until all views and iterators are freed
 * and all holders have closed it too. NULL is allowed. */
void kv_close(struct kv *kv);

/* Hold the store open: requires one more kv_close. Any thread, while the store is open. */
struct kv *kv_hold(struct kv *kv);

/* The store was replaced by another one: remove its directory when it is finally closed. Do not
 * write to it any more. */
void kv_retire(struct kv *kv);

/* A batch collects writes. kv_commit applies all of them and empties the batch, or applies none.
 * After an error the batch is unchanged, except that a batch of many megabytes is emptied. The
 * caller must limit the size of a batch. */
struct kv_batch *kv_batch_new(struct kv *kv);
void kv_batch_free(struct kv_batch *b); /* NULL is allowed */
void kv_put(struct kv_batch *b, unsigned family, struct str key, struct str value);
/* A put of a key that the family does not contain. If it is deleted soon after, neither write
 * reaches RocksDB. */
void kv_put_new(struct kv_batch *b, unsigned family, struct str key, struct str value);
void kv_delete(struct kv_batch *b, unsigned family, struct str key);
void kv_delete_range(struct kv_batch *b, unsigned family, struct str from, struct str until);
size_t kv_batch_count(const struct kv_batch *b);

/* The collected writes as bytes, which are the same on every node: for the state hash. */
struct str kv_batch_bytes(const struct kv_batch *b);

ATTR_NODISCARD enum err_code kv_commit(struct kv *kv, struct kv_batch *b, struct err *err);

/* A consistent view of the store for readers on any thread. Use it for rare, long work only: after
 * a view is freed, RocksDB rewrites the data that was flushed before, to remove sequence numbers.
 */
struct kv_view *kv_view_new(struct kv *kv);
void kv_view_free(struct kv_view *v); /* NULL is allowed */

/* Append the value to out; *out_found is false if there is none. Without a view, reads the newest
 * value. ERR_TOO_LARGE if out has no room for it. */
ATTR_NODISCARD enum err_code kv_get(struct kv *kv, const struct kv_view *view, unsigned family,
                                    struct str key, struct buf *out, bool *out_found,
                                    struct err *err);

/* The newest value of a key that is in at most one of these families (bit n: family n). All of them
 * are read at the same moment. Otherwise as kv_get. */
ATTR_NODISCARD enum err_code kv_get_any(struct kv *kv, unsigned families, struct str key,
                                        struct buf *out, bool *out_found, struct err *err);

/* Called with a value and the index of its key in `keys`. Must not use the store. */
struct kv_visitor {
    void (*value)(void *data, size_t i, struct str value);
    void *data;
};

enum { KV_NEAR_MAX = 64 };

/* The newest values of several keys of a family, those that exist. If the keys are next to each
 * other in the store, this is much faster than reading them separately. */
ATTR_NODISCARD enum err_code kv_get_near(struct kv *kv, unsigned family, const struct str *keys,
                                         size_t count, const struct kv_visitor *visitor,
                                         struct err *err);

/* The same, but leaves out keys that cannot be read or follow many deleted keys; the caller reads
 * the missing keys separately. Any thread. */
void kv_get_some(struct kv *kv, unsigned family, const struct str *keys, size_t count,
                 const struct kv_visitor *visitor);

/* Walk a family in key order, from the first key at or after `from`. */
struct kv_iter *kv_iter_new(struct kv *kv, const struct kv_view *view, unsigned family,
                            struct str from);
/* The same for several families at the same moment, each from its first key. */
void kv_iters_new(struct kv *kv, const unsigned *families, size_t count, struct kv_iter **out_its);
void kv_iter_free(struct kv_iter *it); /* NULL is allowed */
bool kv_iter_valid(const struct kv_iter *it);
void kv_iter_next(struct kv_iter *it);
/* Move to the first key at or after `key`. */
void kv_iter_seek(struct kv_iter *it, struct str key);
/* Move to the last key at or before `key`; invalid if there is none. */
void kv_iter_seek_back(struct kv_iter *it, struct str key);
struct str kv_iter_key(const struct kv_iter *it);
struct str kv_iter_value(const struct kv_iter *it);
/* The error that made the iterator invalid; ERR_OK at the end of the keys. */
ATTR_NODISCARD enum err_code kv_iter_error(const struct kv_iter *it, struct err *err);

/* Write a flushed copy of the store into the new directory dir. Files are shared through hard links
 * if the file system supports them. Any thread, while writing continues. */
ATTR_NODISCARD enum err_code kv_checkpoint(struct kv *kv, const char *dir, struct err *err);

/* Rewrite files that contain much deleted data, to free its space. Does nothing if there is little
 * to gain, or if the rewrite would need more than half of the free bytes; urgent accepts a smaller
 * gain. Returns whether files were rewritten. One call at a time, on a thread that may wait, while
 * reading and writing continue. */
bool kv_shrink(struct kv *kv, bool urgent, uint64_t free_bytes);

/* The approximate maximum that one automatic compaction of RocksDB writes. */
#define KV_COMPACTION_BYTES_MAX ((uint64_t)1 << 30)

/* Allow or pause automatic compactions. A compaction writes its output before it deletes its input.
 * If the disk is full, it makes all writes fail, so none should start without space. Any thread. */
void kv_allow_compaction(struct kv *kv, bool allow);

/* Read a complete store that is not open, without changing it, and count its keys. damage is called
 * for each family or table that cannot be read. */
void kv_check(const char *path, const struct kv_config *config, uint64_t *out_keys,
              void (*damage)(void *data, const char *what), void *data);

/* Call fn for each key of a family of a store that is not open, in order, until fn returns false.
 * ERR_CORRUPT also if the store has a family that is not in the configuration. */
ATTR_NODISCARD enum err_code kv_check_each(const char *path, const struct kv_config *config,
                                           unsigned family,
                                           bool (*fn)(void *data, struct str key, struct str value),
                                           void *data, struct err *err);

/* Bytes in memory and on disk, for status. */
struct kv_stats {
    uint64_t window_bytes;   /* of the newest commits */
    uint64_t memtable_bytes; /* including the window */
    uint64_t cache_bytes;
    uint64_t sst_bytes;
};
void kv_stats(struct kv *kv, struct kv_stats *out);
