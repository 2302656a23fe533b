/*
 * Frees the space of deleted data. A deletion is a record of its own until a compaction merges it
 * with the deleted records. RocksDB has no reason to compact a family that is no longer written,
 * which then keeps the bytes of all its deleted records.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kv/kv_int.h"
#include "log/log.h"

enum {
    SHRINK_PART = 4,                   /* minimum share of deletions in a family */
    SHRINK_BYTES_MIN = 64 << 20,       /* minimum size worth a compaction… */
    SHRINK_URGENT_BYTES_MIN = 1 << 20, /* …and when space is low */
};

/* Size of a family on disk, and the key range of its deletions. */
struct usage {
    uint64_t bytes, entries, deletions;
    struct buf first, last;
    bool everywhere; /* deletions may be anywhere */
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

static uint64_t property(const struct kv *kv, unsigned family, const char *name)
{
    uint64_t value = 0;
    (void)rocksdb_property_int_cf(kv->db, kv__family(kv, family), name, &value);
    return value;
}

/* Count deletions that are still in memory. Their keys are unknown. */
static void count_memory(const struct kv *kv, unsigned family, struct usage *u)
{
    uint64_t deletions = property(kv, family, "rocksdb.num-deletes-active-mem-table") +
                         property(kv, family, "rocksdb.num-deletes-imm-mem-tables");
    u->deletions += deletions;
    u->entries += deletions;
    u->everywhere = deletions > 0;
}

/* Each deletion hides about one record; a compaction removes both. */
static bool is_worth_it(const struct usage *u, bool urgent)
{
    return u->deletions > 0 && u->deletions >= u->entries / SHRINK_PART &&
           u->bytes >= (urgent ? SHRINK_URGENT_BYTES_MIN : SHRINK_BYTES_MIN);
}

/* Does the rest of the family, without deletions and hidden records, fit into the free space? */
static bool fits(const struct usage *u, uint64_t free_bytes)
{
    uint64_t gone = u->deletions < u->entries / 2 ? 2 * u->deletions : u->entries;
    return (u->entries == 0 ? 0 : u->bytes / u->entries * (u->entries - gone)) <= free_bytes / 2;
}

/* RocksDB flushes its memory before it begins: all families together, as always here. The C API
 * has no function for that alone; its flush works on a single family. */
static void compact(const struct kv *kv, unsigned family, const struct usage *u)
{
    const char *first = u->everywhere ? NULL : u->first.ptr;
    const char *last = u->everywhere ? NULL : u->last.ptr;
    rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
    /* Automatic compactions and flushes must not wait for this one. */
    rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
    rocksdb_compact_range_cf_opt(kv->db, kv__family(kv, family), options, first, u->first.len, last,
                                 u->last.len);
    rocksdb_compactoptions_destroy(options);
}

bool kv_shrink(struct kv *kv, bool urgent, uint64_t free_bytes)
{
    bool shrunk = false;
    if (urgent) {
        kv__flush_window(kv); /* the window's deletions count, too */
    }
    for (unsigned family = 0; family < kv->family_count; family++) {
        struct usage u = {0};
        buf_init(&u.first, SIZE_MAX);
        buf_init(&u.last, SIZE_MAX);
        count_family(kv, family, &u);
        count_memory(kv, family, &u);
        if (is_worth_it(&u, urgent) && fits(&u, free_bytes)) {
            compact(kv, family, &u);
            shrunk = true;
        }
        buf_deinit(&u.first);
        buf_deinit(&u.last);
    }
    return shrunk;
}

void kv_allow_compaction(struct kv *kv, bool allow)
{
    const char *name = "disable_auto_compactions";
    const char *value = allow ? "false" : "true";
    for (unsigned family = 0; family < kv->family_count; family++) {
        char *msg = NULL;
        rocksdb_set_options_cf(kv->db, kv__family(kv, family), 1, &name, &value, &msg);
        if (msg != NULL) { /* the options file could not be written, but the option is set */
            log_warn("store options not written", LOG_Z("error", msg));
            rocksdb_free(msg);
        }
    }
}
