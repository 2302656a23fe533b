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
    const char *const *families; /* names, in the order of the numbers that calls use; they live as
                                    long as the store */
    size_t family_count;
    /* Bit n: keys of family n that are written together often lie near each other, and ranges of
     * them are rarely deleted, and short. The place of one write is then a hint for the next, and
     * the keys of a range go one by one. */
    unsigned hinted_families;
    size_t write_buffer_bytes; /* per family; 0 is the default of 64 MiB */
    size_t cache_bytes;        /* block cache over all families; 0 is the default of 64 MiB */
    size_t window_bytes;       /* commits kept together; 0 is the default of 2 MiB */
};

/* Open, or create, the store in the folder path. On success the caller owns *out_kv. */
ATTR_NODISCARD enum err_code kv_open(const char *path, const struct kv_config *config,
                                     struct kv **out_kv, struct err *err);

/* Every batch must be gone before. Views and iterators keep it open until they are gone, as does
 * whoever holds it. NULL is fine. */
void kv_close(struct kv *kv);

/* One more kv_close until it is closed. Any thread that knows it to be open. */
struct kv *kv_hold(struct kv *kv);

/* When it is closed at last, its folder is removed: another one has taken its place. Nothing is
 * written to it any more. */
void kv_retire(struct kv *kv);

/* A batch collects writes; kv_commit applies all of them and empties it, or none and leaves it; one
 * of many megabytes is empty in either case. It takes whatever is put into it: bounding that is the
 * caller's business. */
struct kv_batch *kv_batch_new(struct kv *kv);
void kv_batch_free(struct kv_batch *b); /* NULL is fine */
void kv_put(struct kv_batch *b, unsigned family, struct str key, struct str value);
/* A put of a key that the family does not have. When it is deleted soon, nothing was ever there. */
void kv_put_new(struct kv_batch *b, unsigned family, struct str key, struct str value);
void kv_delete(struct kv_batch *b, unsigned family, struct str key);
void kv_delete_range(struct kv_batch *b, unsigned family, struct str from, struct str until);
size_t kv_batch_count(const struct kv_batch *b);

/* The writes collected so far as bytes that are the same on every node: for the state hash. */
struct str kv_batch_bytes(const struct kv_batch *b);

ATTR_NODISCARD enum err_code kv_commit(struct kv *kv, struct kv_batch *b, struct err *err);

/* A fixed moment of the store for readers on any thread. For rare and long work: when a view is
 * freed, RocksDB writes all that was flushed before it once more, to take sequence numbers out. */
struct kv_view *kv_view_new(struct kv *kv);
void kv_view_free(struct kv_view *v); /* NULL is fine */

/* Append the value to out. view NULL reads the newest. *out_found says whether there was one.
 * ERR_TOO_LARGE when out has no room for it. */
ATTR_NODISCARD enum err_code kv_get(struct kv *kv, const struct kv_view *view, unsigned family,
                                    struct str key, struct buf *out, bool *out_found,
                                    struct err *err);

/* The newest value of a key that at most one of these families (bit n: family n) has, all of them
 * looked at in the same moment. Otherwise as kv_get. */
ATTR_NODISCARD enum err_code kv_get_any(struct kv *kv, unsigned families, struct str key,
                                        struct buf *out, bool *out_found, struct err *err);

/* Called with a value and the place of its key among those that were asked for; must not use the
 * store. */
struct kv_visitor {
    void (*value)(void *data, size_t i, struct str value);
    void *data;
};

enum { KV_NEAR_MAX = 64 };

/* The newest values of keys of a family, those that there are: where the keys follow one another in
 * the store, that is far cheaper than one by one. */
ATTR_NODISCARD enum err_code kv_get_near(struct kv *kv, unsigned family, const struct str *keys,
                                         size_t count, const struct kv_visitor *visitor,
                                         struct err *err);

/* The same for who asks one by one for what is left out: keys that are not there, and keys that
 * cannot be read or are behind many that were deleted. From any thread. */
void kv_get_some(struct kv *kv, unsigned family, const struct str *keys, size_t count,
                 const struct kv_visitor *visitor);

/* Walk a family in key order, from the first key at or after `from`. */
struct kv_iter *kv_iter_new(struct kv *kv, const struct kv_view *view, unsigned family,
                            struct str from);
/* The same for several families, all as they are at this moment, each from its first key. */
void kv_iters_new(struct kv *kv, const unsigned *families, size_t count, struct kv_iter **out_its);
void kv_iter_free(struct kv_iter *it); /* NULL is fine */
bool kv_iter_valid(const struct kv_iter *it);
void kv_iter_next(struct kv_iter *it);
/* To the first key at or after `key`. */
void kv_iter_seek(struct kv_iter *it, struct str key);
/* To the last key at or before `key`; invalid when there is none. */
void kv_iter_seek_back(struct kv_iter *it, struct str key);
struct str kv_iter_key(const struct kv_iter *it);
struct str kv_iter_value(const struct kv_iter *it);
/* What made the iterator invalid, if not the end of the keys. */
ATTR_NODISCARD enum err_code kv_iter_error(const struct kv_iter *it, struct err *err);

/* A copy of the store, flushed, in the new folder dir; files are shared by hard links where the
 * file system can. Any thread, while writing goes on. */
ATTR_NODISCARD enum err_code kv_checkpoint(struct kv *kv, const char *dir, struct err *err);

/* Where much was deleted, write the files anew without it, so that the disk has its space back; a
 * look when nothing was, or when what is left would take more than half of the free bytes while it
 * is written. urgent: little is worth it, too. Says whether something was written. Any thread that
 * may wait, one at a time, while reading and writing go on. */
bool kv_shrink(struct kv *kv, bool urgent, uint64_t free_bytes);

/* What one compaction of RocksDB's own writes at most, give or take a file. */
#define KV_COMPACTION_BYTES_MAX ((uint64_t)1 << 30)

/* Whether RocksDB may compact by itself. A compaction writes its output before its input goes, and
 * one that finds the disk full ends all writes; so none should begin that has no room. Any thread.
 */
void kv_allow_compaction(struct kv *kv, bool allow);

/* Read all of a store that nobody has open, without changing it, and count its keys; damage is
 * called for each family or table that cannot be read. */
void kv_check(const char *path, const struct kv_config *config, uint64_t *out_keys,
              void (*damage)(void *data, const char *what), void *data);

/* Call fn for each key of a family of such a store, in order, until it says no. ERR_CORRUPT too
 * when the store has families that the configuration does not have. */
ATTR_NODISCARD enum err_code kv_check_each(const char *path, const struct kv_config *config,
                                           unsigned family,
                                           bool (*fn)(void *data, struct str key, struct str value),
                                           void *data, struct err *err);

/* Bytes in memory and on disk, for status. */
struct kv_stats {
    uint64_t window_bytes;   /* of the newest commits */
    uint64_t memtable_bytes; /* with those */
    uint64_t cache_bytes;
    uint64_t sst_bytes;
};
void kv_stats(struct kv *kv, struct kv_stats *out);
