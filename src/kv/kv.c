#include "kv/kv.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/fault.h"
#include "kv/kv_batch_int.h"
#include "kv/kv_int.h"
#include "kv/kv_manifest.h"
#include "kv/kv_record.h"
#include "log/log.h"
#include "os/os_file.h"

enum {
    KV_FULL_PAUSE_MS = 100,
    KV_FULL_TRIES = 600, /* tries to write to a full disk: one minute */
    KV_WRITE_BUFFER_BYTES = 64 << 20,
    KV_CACHE_BYTES = 64 << 20,
    KV_WINDOW_BYTES = 2 << 20,
    KV_WINDOW_KEYS = 4096,     /* written in a few milliseconds */
    KV_SKIPPED_MAX = 256,      /* deleted keys in a row before an optional walk stops */
    KV_LARGE_BYTES = 8 << 20,  /* a commit this large is not put into the window */
    KV_BLOCK_BYTES = 16 << 10, /* about sixty documents: neighbours are read together */
    KV_BLOOM_BITS = 10,
    KV_BACKGROUND_JOBS = 2,
    KV_SYNC_BYTES = 1 << 20, /* tables are synced in pieces: log flushes come in between */
    KV_OPEN_FILES_MAX = 512, /* bounds file descriptors and the memory of table readers */
};

enum err_code kv__err(struct err *err, char *msg, const char *doing)
{
    bool corrupt = strncmp(msg, "Corruption", 10) == 0;
    bool full = strstr(msg, "No space left") != NULL;
    enum err_code code = corrupt ? ERR_CORRUPT : full ? ERR_NO_SPACE : ERR_IO;
    (void)err_set(err, code, "%s: %s", doing, msg);
    rocksdb_free(msg);
    return code;
}

/* Use the position of one insert as a hint for the next: a few comparisons instead of sixty.
 * RocksDB keeps one hint per prefix, here the first byte. Its C API has no function for this
 * option. Debian builds RocksDB with its assertions, which compare some ten keys more at each
 * insert: nothing here avoids that. Also, RocksDB mixes up the hints of keys and of deleted ranges,
 * so no ranges are written to such a family: write_range. */
static void set_hinted_options(struct kv *kv)
{
    char *msg = NULL;
    kv->hinted_options = rocksdb_options_create();
    rocksdb_get_options_from_string(kv->options,
                                    "memtable_insert_with_hint_prefix_extractor=fixed:1",
                                    kv->hinted_options, &msg);
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
    kv->read_near = rocksdb_readoptions_create();
    rocksdb_readoptions_set_max_skippable_internal_keys(kv->read_near, KV_SKIPPED_MAX);

    rocksdb_options_set_create_if_missing(kv->options, 1);
    rocksdb_options_set_create_missing_column_families(kv->options, 1);
    rocksdb_options_set_write_buffer_size(kv->options, write_buffer);
    rocksdb_options_set_max_write_buffer_number(kv->options, 3);
    rocksdb_options_set_atomic_flush(kv->options, 1);
    rocksdb_options_set_allow_concurrent_memtable_write(kv->options, 0);
    rocksdb_options_set_max_background_jobs(kv->options, KV_BACKGROUND_JOBS);
    rocksdb_options_set_max_open_files(kv->options, KV_OPEN_FILES_MAX);
    rocksdb_options_set_bytes_per_sync(kv->options, KV_SYNC_BYTES);
    rocksdb_options_set_compression(kv->options, rocksdb_lz4_compression);
    /* The first levels are rewritten soon, and most of their data is deleted by then. */
    rocksdb_options_set_min_level_to_compress(kv->options, 2);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(kv->options, 1);
    rocksdb_options_set_max_compaction_bytes(kv->options, KV_COMPACTION_BYTES_MAX);
    rocksdb_options_set_keep_log_file_num(kv->options, 2);
    rocksdb_options_set_info_log_level(kv->options, 3 /* errors */);
    rocksdb_block_based_options_set_filter_policy(
        kv->table, rocksdb_filterpolicy_create_bloom_full(KV_BLOOM_BITS));
    rocksdb_block_based_options_set_block_size(kv->table, KV_BLOCK_BYTES);
    rocksdb_block_based_options_set_block_cache(kv->table, kv->cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(kv->table, 1);
    rocksdb_options_set_block_based_table_factory(kv->options, kv->table);
    set_hinted_options(kv);
    rocksdb_writeoptions_disable_WAL(kv->write, 1);
}

/* Open the database. A new thread inherits the name of its creator, and RocksDB does not name
 * all of its threads: they would be mistaken for the caller. */
static rocksdb_t *open_db(struct kv *kv, const char *path, int family_count,
                          const char *const *names, const rocksdb_options_t *const *options,
                          char **msg)
{
    char caller[16] = ""; /* maximum length of a thread name */
    (void)pthread_getname_np(pthread_self(), caller, sizeof caller);
    (void)pthread_setname_np(pthread_self(), "rocksdb");
    rocksdb_t *db = rocksdb_open_column_families(kv->options, path, family_count, names, options,
                                                 kv->family, msg);
    (void)pthread_setname_np(pthread_self(), caller);
    return db;
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
    atomic_init(&kv->refs, 1);
    kv->path = strdup(path);
    CHECK(kv->path != NULL);
    CHECK(pthread_mutex_init(&kv->lock, NULL) == 0);
    kv_window_init(&kv->window);
    kv->wb = rocksdb_writebatch_create();
    set_options(kv, config);
    for (size_t i = 0; i < config->family_count; i++) {
        bool hinted = (config->hinted_families & 1U << i) != 0;
        names[i] = kv->names[i] = config->families[i];
        options[i] = hinted ? kv->hinted_options : kv->options;
    }
    /* RocksDB requires this family; it stays empty. */
    names[config->family_count] = "default";
    options[config->family_count] = kv->options;
    if (kv_manifest__mend(path, err) != ERR_OK) {
        return err_wrap(err, "open the store");
    }
    kv->db = open_db(kv, path, (int)config->family_count + 1, names, options, &msg);
    if (msg != NULL) {
        kv->db = NULL;
        return kv__err(err, msg, "open the store");
    }
    kv->family_count = config->family_count;
    kv->hinted_families = config->hinted_families;
    kv->window_bytes = config->window_bytes > 0 ? config->window_bytes : KV_WINDOW_BYTES;
    /* RocksDB counts key comparisons for its statistics, unless they are disabled for the
     * thread. */
    rocksdb_set_perf_level(rocksdb_disable);
    *out_kv = TAKE(kv);
    return ERR_OK;
}

/* Ranges are not written to a hinted family: there, each stored key is deleted singly. */
static void write_range(struct kv *kv, const struct kv_record *r)
{
    rocksdb_column_family_handle_t *family = kv__family(kv, r->family);
    if ((kv->hinted_families & 1U << r->family) == 0) {
        rocksdb_writebatch_delete_range_cf(kv->wb, family, r->key.ptr, r->key.len, r->value.ptr,
                                           r->value.len);
        return;
    }
    /* A RocksDB iterator, not a kv_iter: that would hold the store, which may be closing. */
    rocksdb_iterator_t *it = rocksdb_create_iterator_cf(kv->db, kv->read, family);
    char *msg = NULL;
    for (rocksdb_iter_seek(it, r->key.ptr, r->key.len); rocksdb_iter_valid(it) != 0;
         rocksdb_iter_next(it)) {
        size_t len = 0;
        const char *key = rocksdb_iter_key(it, &len);
        if (str_cmp(str_from(key, len), r->value) >= 0) {
            break;
        }
        rocksdb_writebatch_delete_cf(kv->wb, family, key, len);
    }
    rocksdb_iter_get_error(it, &msg);
    if (msg != NULL) { /* otherwise an error would look like the end of the keys */
        check_fatal("delete a range of the store: %s", msg);
    }
    rocksdb_iter_destroy(it);
}

static void write_record(void *data, const struct kv_record *r)
{
    struct kv *kv = data;
    rocksdb_column_family_handle_t *family = kv__family(kv, r->family);
    switch (r->kind) {
    case KV_RECORD_PUT:
    case KV_RECORD_PUT_NEW:
        rocksdb_writebatch_put_cf(kv->wb, family, r->key.ptr, r->key.len, r->value.ptr,
                                  r->value.len);
        break;
    case KV_RECORD_DELETE:
        rocksdb_writebatch_delete_cf(kv->wb, family, r->key.ptr, r->key.len);
        break;
    case KV_RECORD_DELETE_RANGE:
        write_range(kv, r);
        break;
    }
}

/* If a flush or a compaction finds the disk full, RocksDB refuses writes until its own retry has
 * succeeded. A commit cannot be undone, so it waits for that; a compaction that failed has freed
 * its space by then. */
static char *write_patiently(struct kv *kv)
{
    static const struct timespec pause = {.tv_nsec = (long)KV_FULL_PAUSE_MS * 1000000};
    char *msg = NULL;
    for (unsigned tries = 0;; tries++) {
        rocksdb_write(kv->db, kv->write, kv->wb, &msg);
        if (msg == NULL || tries == KV_FULL_TRIES || strstr(msg, "No space left") == NULL) {
            return msg;
        }
        if (tries == 0) {
            log_warn("store waits for disk space", LOG_Z("error", msg));
        }
        rocksdb_free(msg);
        msg = NULL;
        (void)nanosleep(&pause, NULL);
    }
}

/* Write the records in kv->wb as one commit of RocksDB. */
static enum err_code write_gathered(struct kv *kv, struct err *err)
{
    char *msg = write_patiently(kv);
    rocksdb_writebatch_clear(kv->wb);
    return msg == NULL ? ERR_OK : kv__err(err, msg, "write to the store");
}

/* Write the commits in the window as one commit of RocksDB. The lock must be held. */
static enum err_code write_window(struct kv *kv, struct err *err)
{
    if (kv_window_bytes(&kv->window) == 0) {
        return ERR_OK;
    }
    kv_window_each(&kv->window, (unsigned)kv->family_count, kv->hinted_families, write_record, kv);
    enum err_code code = write_gathered(kv, err);
    if (code == ERR_OK) {
        kv_window_clear(&kv->window);
    }
    return code;
}

/* Delete the keys that this commit itself has put into the range: RocksDB does not have them
 * yet. */
static void drop_earlier(struct kv *kv, const char *at, const char *end,
                         const struct kv_record *range)
{
    while (at < end) {
        struct kv_record r;
        at = kv_record_read(at, &r);
        if (r.kind != KV_RECORD_DELETE_RANGE && r.family == range->family &&
            str_cmp(r.key, range->key) >= 0 && str_cmp(r.key, range->value) < 0) {
            rocksdb_writebatch_delete_cf(kv->wb, kv__family(kv, r.family), r.key.ptr, r.key.len);
        }
    }
}

/* Write a large commit directly to RocksDB: the window would only hold another copy of it, and
 * its offsets end at 4 GiB. The lock is held, the window is empty. */
static enum err_code write_large(struct kv *kv, struct kv_batch *b, struct err *err)
{
    const char *end = b->records.ptr + b->records.len;
    for (const char *at = b->records.ptr; at < end;) {
        struct kv_record r;
        const char *next = kv_record_read(at, &r);
        if (r.kind == KV_RECORD_DELETE_RANGE && (kv->hinted_families & 1U << r.family) != 0) {
            drop_earlier(kv, b->records.ptr, at, &r);
        }
        write_record(kv, &r);
        at = next;
    }
    buf_deinit(&b->records); /* freed early: kv->wb has a copy, and the memtable gets another one */
    enum err_code code = write_gathered(kv, err);
    rocksdb_writebatch_destroy(kv->wb);
    kv->wb = rocksdb_writebatch_create();
    return code;
}

void kv__flush_window_locked(struct kv *kv)
{
    struct err err;
    if (write_window(kv, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
}

void kv__flush_window(struct kv *kv)
{
    (void)pthread_mutex_lock(&kv->lock);
    kv__flush_window_locked(kv);
    (void)pthread_mutex_unlock(&kv->lock);
}

struct kv *kv_hold(struct kv *kv)
{
    atomic_fetch_add(&kv->refs, 1);
    return kv;
}

void kv_retire(struct kv *kv)
{
    kv_allow_compaction(kv, false);
    atomic_store(&kv->retired, true);
}

void kv_close(struct kv *kv)
{
    if (kv == NULL || atomic_fetch_sub(&kv->refs, 1) > 1) {
        return;
    }
    if (kv->db != NULL) {
        kv__flush_window(kv);
        for (size_t i = 0; i <= kv->family_count; i++) {
            rocksdb_column_family_handle_destroy(kv->family[i]);
        }
        rocksdb_close(kv->db);
    }
    rocksdb_readoptions_destroy(kv->read);
    rocksdb_readoptions_destroy(kv->read_near);
    rocksdb_writeoptions_destroy(kv->write);
    rocksdb_block_based_options_destroy(kv->table);
    rocksdb_options_destroy(kv->options);
    rocksdb_options_destroy(kv->hinted_options);
    rocksdb_cache_destroy(kv->cache);
    rocksdb_writebatch_destroy(kv->wb);
    kv_window_deinit(&kv->window);
    (void)pthread_mutex_destroy(&kv->lock);
    if (atomic_load(&kv->retired)) {
        os_file_discard(kv->path);
    }
    free(kv->path);
    free(kv);
}

struct kv_batch *kv_batch_new(struct kv *kv)
{
    return kv_batch__new(kv->family_count);
}

enum err_code kv_commit(struct kv *kv, struct kv_batch *b, struct err *err)
{
    enum err_code code = ERR_OK;
    if (FAULT(KV_COMMIT)) {
        return err_set(err, ERR_IO, "write to the store: injected fault");
    }
    (void)pthread_mutex_lock(&kv->lock);
    bool large = b->records.len >= KV_LARGE_BYTES;
    if (large || kv_window_bytes(&kv->window) >= kv->window_bytes ||
        kv->window.count >= KV_WINDOW_KEYS) {
        code = write_window(kv, err);
    }
    if (code == ERR_OK && large) {
        code = write_large(kv, b, err);
    } else if (code == ERR_OK) {
        kv_window_add(&kv->window, buf_str(&b->records));
    }
    (void)pthread_mutex_unlock(&kv->lock);
    if (code == ERR_OK) {
        kv_batch__clear(b);
    }
    return code;
}

struct kv_view *kv_view_new(struct kv *kv)
{
    struct kv_view *v = calloc(1, sizeof *v);
    CHECK(v != NULL);
    kv__flush_window(kv);
    v->kv = kv_hold(kv);
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
        kv_close(v->kv);
        free(v);
    }
}

static enum err_code add_value(struct buf *out, struct str value, struct err *err)
{
    buf_add_str(out, value);
    return out->overflow ? err_set(err, ERR_TOO_LARGE,
                                   "a stored value of %zu bytes is over its limit", value.len)
                         : ERR_OK;
}

/* NOLINTNEXTLINE(readability-function-size): the place of the key, and two results of one read */
static enum err_code get_stored(struct kv *kv, const struct kv_view *view, unsigned family,
                                struct str key, struct buf *out, bool *out_found, struct err *err)
{
    char *msg = NULL;
    size_t len = 0;
    rocksdb_pinnableslice_t *slice = rocksdb_get_pinned_cf(
        kv->db, kv__read_options(kv, view), kv__family(kv, family), key.ptr, key.len, &msg);
    if (msg != NULL) {
        return kv__err(err, msg, "read from the store");
    }
    *out_found = slice != NULL;
    if (slice == NULL) {
        return ERR_OK;
    }
    const char *value = rocksdb_pinnableslice_value(slice, &len);
    enum err_code code = add_value(out, str_from(value, len), err);
    rocksdb_pinnableslice_destroy(slice);
    return code;
}

/* NOLINTNEXTLINE(readability-function-size): as above */
enum err_code kv_get(struct kv *kv, const struct kv_view *view, unsigned family, struct str key,
                     struct buf *out, bool *out_found, struct err *err)
{
    if (view == NULL) {
        return kv_get_any(kv, 1U << family, key, out, out_found, err);
    }
    if (FAULT(KV_READ)) {
        return err_set(err, ERR_IO, "read from the store: injected fault");
    }
    return get_stored(kv, view, family, key, out, out_found, err);
}

/* Look for the key in the window. Families for which the window has no answer stay in *families.
 * The lock must be held. */
static bool find_recent(const struct kv *kv, unsigned *families, struct str key,
                        struct str *out_value)
{
    for (unsigned family = 0; family < kv->family_count; family++) {
        if ((*families & 1U << family) == 0) {
            continue;
        }
        enum kv_window_answer answer = kv_window_find(&kv->window, family, key, out_value);
        if (answer == KV_WINDOW_HAS) {
            return true;
        }
        if (answer == KV_WINDOW_GONE) {
            *families &= ~(1U << family);
        }
    }
    return false;
}

/* Several families, all read at the same moment, without a view: see kv_view_new. */
/* NOLINTNEXTLINE(readability-function-size): as above */
static enum err_code get_stored_any(struct kv *kv, unsigned families, struct str key,
                                    struct buf *out, bool *out_found, struct err *err)
{
    const rocksdb_column_family_handle_t *handles[KV_FAMILIES_MAX] = {NULL};
    const char *keys[KV_FAMILIES_MAX] = {NULL};
    size_t key_lens[KV_FAMILIES_MAX] = {0};
    char *values[KV_FAMILIES_MAX];
    size_t value_lens[KV_FAMILIES_MAX];
    char *msgs[KV_FAMILIES_MAX];
    size_t count = 0;
    enum err_code code = ERR_OK;

    for (unsigned family = 0; family < kv->family_count; family++) {
        if ((families & 1U << family) != 0) {
            handles[count] = kv__family(kv, family);
            keys[count] = key.ptr;
            key_lens[count++] = key.len;
        }
    }
    rocksdb_multi_get_cf(kv->db, kv->read, handles, count, keys, key_lens, values, value_lens,
                         msgs);
    *out_found = false;
    for (size_t i = 0; i < count; i++) {
        if (msgs[i] != NULL) {
            code = kv__err(err, msgs[i], "read from the store");
        } else if (values[i] != NULL && code == ERR_OK) {
            *out_found = true;
            code = add_value(out, str_from(values[i], value_lens[i]), err);
        }
        rocksdb_free(values[i]);
    }
    return code;
}

/* NOLINTNEXTLINE(readability-function-size): as above */
enum err_code kv_get_any(struct kv *kv, unsigned families, struct str key, struct buf *out,
                         bool *out_found, struct err *err)
{
    enum err_code code = ERR_OK;
    struct str value;
    if (FAULT(KV_READ)) {
        return err_set(err, ERR_IO, "read from the store: injected fault");
    }
    (void)pthread_mutex_lock(&kv->lock);
    *out_found = find_recent(kv, &families, key, &value);
    if (*out_found) {
        code = add_value(out, value, err);
    }
    (void)pthread_mutex_unlock(&kv->lock);
    if (*out_found || families == 0) {
        return code;
    }
    return (families & (families - 1)) == 0
               ? get_stored(kv, NULL, (unsigned)__builtin_ctz(families), key, out, out_found, err)
               : get_stored_any(kv, families, key, out, out_found, err);
}

/* Read the keys that the window knows; the result has a bit for each other key. */
static uint64_t get_near_recent(struct kv *kv, unsigned family, const struct str *keys,
                                size_t count, const struct kv_visitor *visitor)
{
    uint64_t left = 0;
    (void)pthread_mutex_lock(&kv->lock);
    for (size_t i = 0; i < count; i++) {
        struct str value;
        enum kv_window_answer answer = kv_window_find(&kv->window, family, keys[i], &value);
        if (answer == KV_WINDOW_HAS) {
            visitor->value(visitor->data, i, value);
        } else if (answer == KV_WINDOW_UNKNOWN) {
            left |= UINT64_C(1) << i;
        }
    }
    (void)pthread_mutex_unlock(&kv->lock);
    return left;
}

/* Read the remaining keys. The iterator is at the first of them, or at the next key behind it. */
static void get_near_stored(struct kv_iter *it, const struct str *keys, size_t count, uint64_t left,
                            const struct kv_visitor *visitor)
{
    struct str last = keys[__builtin_ctzll(left)];
    for (size_t i = 0; i < count; i++) {
        if ((left & UINT64_C(1) << i) == 0) {
            continue;
        }
        /* There are no keys between the last key and the iterator. */
        bool passed = str_cmp(last, keys[i]) < 0 &&
                      (!kv_iter_valid(it) || str_cmp(kv_iter_key(it), keys[i]) > 0);
        if (!passed && kv_iter__walk_to(it, keys[i])) {
            visitor->value(visitor->data, i, kv_iter_value(it));
        }
        last = keys[i];
    }
}

/* NOLINTNEXTLINE(readability-function-size): the keys, their number and the visitor */
enum err_code kv_get_near(struct kv *kv, unsigned family, const struct str *keys, size_t count,
                          const struct kv_visitor *visitor, struct err *err)
{
    CHECK(count <= KV_NEAR_MAX);
    uint64_t left = get_near_recent(kv, family, keys, count, visitor);
    if (left == 0) {
        return ERR_OK;
    }
    struct kv_iter *it = kv_iter__new_stored(kv, kv->read, family, keys[__builtin_ctzll(left)]);
    get_near_stored(it, keys, count, left, visitor);
    enum err_code code = kv_iter_error(it, err);
    kv_iter_free(it);
    return code;
}

void kv_get_some(struct kv *kv, unsigned family, const struct str *keys, size_t count,
                 const struct kv_visitor *visitor)
{
    CHECK(count <= KV_NEAR_MAX);
    uint64_t left = get_near_recent(kv, family, keys, count, visitor);
    if (left != 0) {
        struct kv_iter *it =
            kv_iter__new_stored(kv, kv->read_near, family, keys[__builtin_ctzll(left)]);
        get_near_stored(it, keys, count, left, visitor);
        kv_iter_free(it);
    }
}

enum err_code kv_checkpoint(struct kv *kv, const char *dir, struct err *err)
{
    char *msg = NULL;
    if (FAULT(KV_CHECKPOINT)) {
        return err_set(err, ERR_IO, "checkpoint: injected fault");
    }
    kv__flush_window(kv);
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(kv->db, &msg);
    if (msg != NULL) {
        return kv__err(err, msg, "checkpoint");
    }
    /* With a log size of 0, RocksDB flushes all families first, at the same commit. */
    rocksdb_checkpoint_create(checkpoint, dir, 0, &msg);
    rocksdb_checkpoint_object_destroy(checkpoint);
    return msg == NULL ? ERR_OK : kv__err(err, msg, "checkpoint");
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
    (void)pthread_mutex_lock(&kv->lock);
    size_t recent = kv_window_bytes(&kv->window);
    (void)pthread_mutex_unlock(&kv->lock);
    out->window_bytes = recent;
    out->memtable_bytes = recent + property_of(kv, "rocksdb.cur-size-all-mem-tables");
    out->sst_bytes = property_of(kv, "rocksdb.live-sst-files-size");
    out->cache_bytes = rocksdb_cache_get_usage(kv->cache);
}
