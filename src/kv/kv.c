#include "kv/kv.h"

#include <stdlib.h>
#include <string.h>

#include <rocksdb/c.h>

#include "base/check.h"
#include "base/fault.h"

enum {
    KV_WRITE_BUFFER_BYTES = 64 << 20,
    KV_CACHE_BYTES = 64 << 20,
    KV_BLOOM_BITS = 10,
    KV_BACKGROUND_JOBS = 2,
    KV_OPEN_FILES_MAX = 512, /* bounds file descriptors and the memory of table readers */
};

struct kv {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_options_t *sequential_options;
    rocksdb_block_based_table_options_t *table;
    rocksdb_cache_t *cache;
    rocksdb_writeoptions_t *write;
    rocksdb_readoptions_t *read;
    rocksdb_column_family_handle_t *family[KV_FAMILIES_MAX + 1]; /* the last is RocksDB's own */
    size_t family_count;
    unsigned sequential_families;
};

struct kv_batch {
    rocksdb_writebatch_t *wb;
    struct kv *kv;
};

struct kv_view {
    struct kv *kv;
    const rocksdb_snapshot_t *snapshot;
    rocksdb_readoptions_t *read;
};

struct kv_iter {
    rocksdb_iterator_t *it;
};

/* RocksDB's message becomes ours and is freed. */
static enum err_code kv_err(struct err *err, char *msg, const char *doing)
{
    bool corrupt = strncmp(msg, "Corruption", 10) == 0;
    bool full = strstr(msg, "No space left") != NULL;
    enum err_code code = corrupt ? ERR_CORRUPT : full ? ERR_NO_SPACE : ERR_IO;
    (void)err_set(err, code, "%s: %s", doing, msg);
    rocksdb_free(msg);
    return code;
}

/* The place of one write as a hint for the next: a few comparisons instead of sixty. RocksDB keeps
 * one such place per prefix, here the first byte. It has no function for this option; and it mixes
 * up the places of keys and of deleted ranges, so a family has either. */
static void set_sequential_options(struct kv *kv)
{
    char *msg = NULL;
    kv->sequential_options = rocksdb_options_create();
    rocksdb_get_options_from_string(kv->options,
                                    "memtable_insert_with_hint_prefix_extractor=fixed:1",
                                    kv->sequential_options, &msg);
    CHECK(msg == NULL);
}

static void set_options(struct kv *kv, const struct kv_config *config)
{
    size_t write_buffer =
        config->write_buffer_bytes > 0 ? config->write_buffer_bytes : KV_WRITE_BUFFER_BYTES;
    size_t cache = config->cache_bytes > 0 ? config->cache_bytes : KV_CACHE_BYTES;

    kv->options = rocksdb_options_create();
    kv->table = rocksdb_block_based_options_create();
    kv->cache = rocksdb_cache_create_lru(cache);
    kv->write = rocksdb_writeoptions_create();
    kv->read = rocksdb_readoptions_create();

    rocksdb_options_set_create_if_missing(kv->options, 1);
    rocksdb_options_set_create_missing_column_families(kv->options, 1);
    rocksdb_options_set_write_buffer_size(kv->options, write_buffer);
    rocksdb_options_set_max_write_buffer_number(kv->options, 3);
    rocksdb_options_set_atomic_flush(kv->options, 1);
    rocksdb_options_set_allow_concurrent_memtable_write(kv->options, 0);
    rocksdb_options_set_max_background_jobs(kv->options, KV_BACKGROUND_JOBS);
    rocksdb_options_set_max_open_files(kv->options, KV_OPEN_FILES_MAX);
    rocksdb_options_set_compression(kv->options, rocksdb_lz4_compression);
    /* The first levels are rewritten soon, and most of what is in them is gone by then. */
    rocksdb_options_set_min_level_to_compress(kv->options, 2);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(kv->options, 1);
    rocksdb_options_set_keep_log_file_num(kv->options, 2);
    rocksdb_options_set_info_log_level(kv->options, 3 /* errors */);
    rocksdb_block_based_options_set_filter_policy(
        kv->table, rocksdb_filterpolicy_create_bloom_full(KV_BLOOM_BITS));
    rocksdb_block_based_options_set_block_cache(kv->table, kv->cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(kv->table, 1);
    rocksdb_options_set_block_based_table_factory(kv->options, kv->table);
    set_sequential_options(kv);
    rocksdb_writeoptions_disable_WAL(kv->write, 1);
}

static void kv_closep(struct kv **kv)
{
    kv_close(*kv);
}

enum err_code kv_open(const char *path, const struct kv_config *config, struct kv **out_kv,
                      struct err *err)
{
    CHECK(config->family_count <= KV_FAMILIES_MAX);
    ATTR_CLEANUP(kv_closep) struct kv *kv = calloc(1, sizeof *kv);
    const char *names[KV_FAMILIES_MAX + 1];
    const rocksdb_options_t *options[KV_FAMILIES_MAX + 1];
    char *msg = NULL;

    CHECK(kv != NULL);
    set_options(kv, config);
    for (size_t i = 0; i < config->family_count; i++) {
        bool sequential = (config->sequential_families & 1U << i) != 0;
        names[i] = config->families[i];
        options[i] = sequential ? kv->sequential_options : kv->options;
    }
    /* RocksDB insists on a family of its own; nothing is kept in it. */
    names[config->family_count] = "default";
    options[config->family_count] = kv->options;
    kv->db = rocksdb_open_column_families(kv->options, path, (int)config->family_count + 1, names,
                                          options, kv->family, &msg);
    if (msg != NULL) {
        kv->db = NULL;
        return kv_err(err, msg, "open the store");
    }
    kv->family_count = config->family_count;
    kv->sequential_families = config->sequential_families;
    /* RocksDB counts every comparison of keys for whoever might ask, unless this thread says no. */
    rocksdb_set_perf_level(rocksdb_disable);
    *out_kv = TAKE(kv);
    return ERR_OK;
}

void kv_close(struct kv *kv)
{
    if (kv == NULL) {
        return;
    }
    if (kv->db != NULL) {
        for (size_t i = 0; i <= kv->family_count; i++) {
            rocksdb_column_family_handle_destroy(kv->family[i]);
        }
        rocksdb_close(kv->db);
    }
    rocksdb_readoptions_destroy(kv->read);
    rocksdb_writeoptions_destroy(kv->write);
    rocksdb_block_based_options_destroy(kv->table);
    rocksdb_options_destroy(kv->options);
    rocksdb_options_destroy(kv->sequential_options);
    rocksdb_cache_destroy(kv->cache);
    free(kv);
}

static rocksdb_column_family_handle_t *family_of(const struct kv *kv, unsigned family)
{
    CHECK(family < kv->family_count);
    return kv->family[family];
}

struct kv_batch *kv_batch_new(struct kv *kv)
{
    struct kv_batch *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->kv = kv;
    b->wb = rocksdb_writebatch_create();
    return b;
}

void kv_batch_free(struct kv_batch *b)
{
    if (b != NULL) {
        rocksdb_writebatch_destroy(b->wb);
        free(b);
    }
}

void kv_put(struct kv_batch *b, unsigned family, struct str key, struct str value)
{
    rocksdb_writebatch_put_cf(b->wb, family_of(b->kv, family), key.ptr, key.len, value.ptr,
                              value.len);
}

void kv_delete(struct kv_batch *b, unsigned family, struct str key)
{
    rocksdb_writebatch_delete_cf(b->wb, family_of(b->kv, family), key.ptr, key.len);
}

void kv_delete_range(struct kv_batch *b, unsigned family, struct str from, struct str until)
{
    CHECK((b->kv->sequential_families & 1U << family) == 0);
    rocksdb_writebatch_delete_range_cf(b->wb, family_of(b->kv, family), from.ptr, from.len,
                                       until.ptr, until.len);
}

size_t kv_batch_count(const struct kv_batch *b)
{
    return (size_t)rocksdb_writebatch_count(b->wb);
}

struct str kv_batch_bytes(const struct kv_batch *b)
{
    size_t len = 0;
    const char *data = rocksdb_writebatch_data(b->wb, &len);
    return str_from(data, len);
}

enum err_code kv_commit(struct kv *kv, struct kv_batch *b, struct err *err)
{
    char *msg = NULL;
    if (FAULT(KV_COMMIT)) {
        return err_set(err, ERR_IO, "write to the store: injected fault");
    }
    rocksdb_write(kv->db, kv->write, b->wb, &msg);
    if (msg != NULL) {
        return kv_err(err, msg, "write to the store");
    }
    rocksdb_writebatch_clear(b->wb);
    return ERR_OK;
}

struct kv_view *kv_view_new(struct kv *kv)
{
    struct kv_view *v = calloc(1, sizeof *v);
    CHECK(v != NULL);
    v->kv = kv;
    v->snapshot = rocksdb_create_snapshot(kv->db);
    v->read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(v->read, v->snapshot);
    return v;
}

void kv_view_free(struct kv_view *v)
{
    if (v != NULL) {
        rocksdb_readoptions_destroy(v->read);
        rocksdb_release_snapshot(v->kv->db, v->snapshot);
        free(v);
    }
}

static const rocksdb_readoptions_t *read_of(const struct kv *kv, const struct kv_view *view)
{
    return view == NULL ? kv->read : view->read;
}

/* NOLINTNEXTLINE(readability-function-size): where, what, and two answers of one read */
enum err_code kv_get(struct kv *kv, const struct kv_view *view, unsigned family, struct str key,
                     struct buf *out, bool *out_found, struct err *err)
{
    char *msg = NULL;
    if (FAULT(KV_READ)) {
        return err_set(err, ERR_IO, "read from the store: injected fault");
    }
    rocksdb_pinnableslice_t *slice = rocksdb_get_pinned_cf(
        kv->db, read_of(kv, view), family_of(kv, family), key.ptr, key.len, &msg);
    if (msg != NULL) {
        return kv_err(err, msg, "read from the store");
    }
    *out_found = slice != NULL;
    if (slice != NULL) {
        size_t len = 0;
        const char *value = rocksdb_pinnableslice_value(slice, &len);
        buf_add(out, value, len);
        rocksdb_pinnableslice_destroy(slice);
        if (out->overflow) {
            return err_set(err, ERR_TOO_LARGE, "a stored value of %zu bytes is over its limit",
                           len);
        }
    }
    return ERR_OK;
}

struct kv_iter *kv_iter_new(struct kv *kv, const struct kv_view *view, unsigned family,
                            struct str from)
{
    struct kv_iter *it = calloc(1, sizeof *it);
    CHECK(it != NULL);
    it->it = rocksdb_create_iterator_cf(kv->db, read_of(kv, view), family_of(kv, family));
    rocksdb_iter_seek(it->it, from.len == 0 ? "" : from.ptr, from.len);
    return it;
}

void kv_iter_free(struct kv_iter *it)
{
    if (it != NULL) {
        rocksdb_iter_destroy(it->it);
        free(it);
    }
}

bool kv_iter_valid(const struct kv_iter *it)
{
    return rocksdb_iter_valid(it->it) != 0;
}

void kv_iter_next(struct kv_iter *it)
{
    rocksdb_iter_next(it->it);
}

void kv_iter_seek(struct kv_iter *it, struct str key)
{
    rocksdb_iter_seek(it->it, key.ptr, key.len);
}

void kv_iter_seek_back(struct kv_iter *it, struct str key)
{
    rocksdb_iter_seek_for_prev(it->it, key.ptr, key.len);
}

struct str kv_iter_key(const struct kv_iter *it)
{
    size_t len = 0;
    const char *key = rocksdb_iter_key(it->it, &len);
    return str_from(key, len);
}

struct str kv_iter_value(const struct kv_iter *it)
{
    size_t len = 0;
    const char *value = rocksdb_iter_value(it->it, &len);
    return str_from(value, len);
}

enum err_code kv_iter_error(const struct kv_iter *it, struct err *err)
{
    char *msg = NULL;
    if (FAULT(KV_READ)) {
        return err_set(err, ERR_IO, "walk the store: injected fault");
    }
    rocksdb_iter_get_error(it->it, &msg);
    return msg == NULL ? ERR_OK : kv_err(err, msg, "walk the store");
}

enum err_code kv_checkpoint(struct kv *kv, const char *dir, struct err *err)
{
    char *msg = NULL;
    if (FAULT(KV_CHECKPOINT)) {
        return err_set(err, ERR_IO, "checkpoint: injected fault");
    }
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(kv->db, &msg);
    if (msg != NULL) {
        return kv_err(err, msg, "checkpoint");
    }
    /* A log size of 0 makes it flush every family first, at one point of the commits. */
    rocksdb_checkpoint_create(checkpoint, dir, 0, &msg);
    rocksdb_checkpoint_object_destroy(checkpoint);
    return msg == NULL ? ERR_OK : kv_err(err, msg, "checkpoint");
}

static uint64_t property_of(struct kv *kv, const char *name)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < kv->family_count; i++) {
        uint64_t value = 0;
        if (rocksdb_property_int_cf(kv->db, kv->family[i], name, &value) == 0) {
            sum += value;
        }
    }
    return sum;
}

void kv_stats(struct kv *kv, struct kv_stats *out)
{
    out->memtable_bytes = property_of(kv, "rocksdb.cur-size-all-mem-tables");
    out->sst_bytes = property_of(kv, "rocksdb.live-sst-files-size");
    out->cache_bytes = rocksdb_cache_get_usage(kv->cache);
}
