/*
 * Giving space back. A deletion is a record of its own until a compaction brings it together with
 * what it deletes, and RocksDB is in no hurry: a family that nobody writes to any more keeps the
 * bytes of everything that was deleted from it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kv/kv_int.h"

enum {
    SHRINK_PART = 4,             /* at least this part of a family must be deletions */
    SHRINK_BYTES_MIN = 64 << 20, /* and this much is worth a compaction */
    SHRINK_MEMORY_MIN = 10000,   /* deletions in memory that are worth a flush */
    /* the same when every megabyte counts */
    SHRINK_URGENT_BYTES_MIN = 1 << 20,
    SHRINK_URGENT_MEMORY_MIN = 100,
};

/* What a family has on disk, and between which keys its deletions are. */
struct usage {
    uint64_t bytes, entries, deletions;
    struct buf first, last;
};

static void widen(struct usage *u, struct str first, struct str last)
{
    if (u->first.len == 0 || str_cmp(first, buf_str(&u->first)) < 0) {
        buf_clear(&u->first);
        buf_add_str(&u->first, first);
    }
    if (u->last.len == 0 || str_cmp(last, buf_str(&u->last)) > 0) {
        buf_clear(&u->last);
        buf_add_str(&u->last, last);
    }
}

static void count_file(struct usage *u, const rocksdb_livefiles_t *files, int i)
{
    size_t first_len = 0;
    size_t last_len = 0;
    const char *first = rocksdb_livefiles_smallestkey(files, i, &first_len);
    const char *last = rocksdb_livefiles_largestkey(files, i, &last_len);
    uint64_t deletions = rocksdb_livefiles_deletions(files, i);
    u->bytes += rocksdb_livefiles_size(files, i);
    u->entries += rocksdb_livefiles_entries(files, i);
    u->deletions += deletions;
    if (deletions > 0) {
        widen(u, str_from(first, first_len), str_from(last, last_len));
    }
}

static void count_family(const struct kv *kv, unsigned family, struct usage *out)
{
    const rocksdb_livefiles_t *files = rocksdb_livefiles(kv->db);
    int count = rocksdb_livefiles_count(files);
    for (int i = 0; i < count; i++) {
        if (strcmp(rocksdb_livefiles_column_family_name(files, i), kv->names[family]) == 0) {
            count_file(out, files, i);
        }
    }
    rocksdb_livefiles_destroy(files);
}

/* Each deletion hides about one entry, and both go together. */
static bool is_worth_it(const struct usage *u, bool urgent)
{
    return u->deletions > 0 && u->deletions >= u->entries / SHRINK_PART &&
           u->bytes >= (urgent ? SHRINK_URGENT_BYTES_MIN : SHRINK_BYTES_MIN);
}

static uint64_t property(const struct kv *kv, unsigned family, const char *name)
{
    uint64_t value = 0;
    (void)rocksdb_property_int_cf(kv->db, kv__family(kv, family), name, &value);
    return value;
}

/* Deletions that are only in memory delete nothing on disk. */
static bool wants_flush(const struct kv *kv, bool urgent)
{
    for (unsigned family = 0; family < kv->family_count; family++) {
        uint64_t deletions = property(kv, family, "rocksdb.num-deletes-active-mem-table") +
                             property(kv, family, "rocksdb.num-deletes-imm-mem-tables");
        struct usage u = {0};
        buf_init(&u.first, SIZE_MAX);
        buf_init(&u.last, SIZE_MAX);
        if (deletions >= (urgent ? SHRINK_URGENT_MEMORY_MIN : SHRINK_MEMORY_MIN)) {
            count_family(kv, family, &u);
        }
        bool wants = u.entries > 0 && deletions >= u.entries / SHRINK_PART;
        buf_deinit(&u.first);
        buf_deinit(&u.last);
        if (wants) {
            return true;
        }
    }
    return false;
}

static enum err_code flush(struct kv *kv, struct err *err)
{
    char *msg = NULL;
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    kv__settle(kv);
    rocksdb_flushoptions_set_wait(options, 1);
    /* Of one family is of all: see atomic_flush. */
    rocksdb_flush_cf(kv->db, options, kv__family(kv, 0), &msg);
    rocksdb_flushoptions_destroy(options);
    return msg == NULL ? ERR_OK : kv__err(err, msg, "flush the store");
}

static void compact(const struct kv *kv, unsigned family, const struct usage *u)
{
    rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
    /* Flushes of others must not wait for it. */
    rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
    rocksdb_compact_range_cf_opt(kv->db, kv__family(kv, family), options, u->first.ptr,
                                 u->first.len, u->last.ptr, u->last.len);
    rocksdb_compactoptions_destroy(options);
}

enum err_code kv_shrink(struct kv *kv, bool urgent, bool *out_shrunk, struct err *err)
{
    *out_shrunk = false;
    if (wants_flush(kv, urgent) && flush(kv, err) != ERR_OK) {
        return err->code;
    }
    for (unsigned family = 0; family < kv->family_count; family++) {
        struct usage u = {0};
        buf_init(&u.first, SIZE_MAX);
        buf_init(&u.last, SIZE_MAX);
        count_family(kv, family, &u);
        if (is_worth_it(&u, urgent)) {
            compact(kv, family, &u);
            *out_shrunk = true;
        }
        buf_deinit(&u.first);
        buf_deinit(&u.last);
    }
    return ERR_OK;
}
