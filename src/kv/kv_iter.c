/*
 * Iterators over the merged content of RocksDB and the window.
 *
 * An iterator takes a sorted copy of the window's keys of its family at the moment when RocksDB's
 * iterator is made, and merges the two. So a reader delays the committing thread only by the time
 * of the copy, without writing the window. If the window deletes a range of the family, it is
 * written first; that is rare.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "kv/kv_int.h"

enum { ITER_STEPS_MAX = 4 }; /* a seek costs about as much as this many steps */

/* A key from the window. */
struct recent {
    struct str key, value; /* views of kv_iter.bytes */
    bool gone;
};

struct kv_iter {
    struct kv *kv; /* keeps the store open */
    rocksdb_iterator_t *it;
    struct buf bytes; /* copied records of the window */
    struct recent *recent;
    size_t count;
    size_t at;        /* first of recent at or after the position */
    bool from_recent; /* the position is in recent, not in RocksDB */
};

/* An iterator over RocksDB's current content, without a position: the first key may be behind
 * many deleted keys, and not all callers want it. */
static struct kv_iter *new_iter(struct kv *kv, const rocksdb_readoptions_t *read, unsigned family)
{
    struct kv_iter *it = calloc(1, sizeof *it);
    CHECK(it != NULL);
    it->kv = kv_hold(kv);
    buf_init(&it->bytes, SIZE_MAX);
    it->it = rocksdb_create_iterator_cf(kv->db, read, kv__family(kv, family));
    return it;
}

struct kv_iter *kv_iter__new_stored(struct kv *kv, const rocksdb_readoptions_t *read,
                                    unsigned family, struct str from)
{
    struct kv_iter *it = new_iter(kv, read, family);
    kv_iter_seek(it, from);
    return it;
}

/* --- the copy of the window --- */

static void copy_record(void *data, const struct kv_record *r)
{
    struct kv_iter *it = data;
    kv_record_add(&it->bytes, r);
    it->count++;
}

static int compare_recent(const void *a, const void *b)
{
    const struct recent *x = a;
    const struct recent *y = b;
    return str_cmp(x->key, y->key);
}

/* Make views of the copied records, sorted by key. The bytes must not move after this. */
static void sort_recent(struct kv_iter *it)
{
    if (it->count == 0) {
        return;
    }
    const char *at = it->bytes.ptr;
    it->recent = calloc(it->count, sizeof *it->recent);
    CHECK(it->recent != NULL);
    for (size_t i = 0; i < it->count; i++) {
        struct kv_record r;
        at = kv_record_read(at, &r);
        it->recent[i] =
            (struct recent){.key = r.key, .value = r.value, .gone = r.kind == KV_RECORD_DELETE};
    }
    qsort(it->recent, it->count, sizeof *it->recent, compare_recent);
}

/* Does not seek, because the lock is held. */
static struct kv_iter *new_locked(struct kv *kv, unsigned family)
{
    if (kv_window_has_range(&kv->window, family)) {
        kv__flush_window_locked(kv);
    }
    struct kv_iter *it = new_iter(kv, kv->read, family);
    kv_window_each_of(&kv->window, family, copy_record, it);
    return it;
}

/* --- position --- */

static struct str stored_key(const struct kv_iter *it)
{
    size_t len = 0;
    const char *key = rocksdb_iter_key(it->it, &len);
    return str_from(key, len);
}

static bool stored_valid(const struct kv_iter *it)
{
    return rocksdb_iter_valid(it->it) != 0;
}

/* Move to the lower key of the two. A key written or deleted in the window hides the same key in
 * RocksDB. */
static void settle_down(struct kv_iter *it)
{
    while (it->at < it->count) {
        const struct recent *r = &it->recent[it->at];
        int order = stored_valid(it) ? str_cmp(r->key, stored_key(it)) : -1;
        if (order > 0) {
            break;
        }
        if (order == 0) {
            rocksdb_iter_next(it->it);
        }
        if (!r->gone) {
            it->from_recent = true;
            return;
        }
        it->at++;
    }
    it->from_recent = false;
}

/* The first item of recent at or after the key. */
static size_t find_recent(const struct kv_iter *it, struct str key)
{
    size_t low = 0;
    size_t high = it->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (str_cmp(it->recent[mid].key, key) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static bool is_hidden(const struct kv_iter *it, struct str key)
{
    size_t i = find_recent(it, key);
    return i < it->count && str_eq(it->recent[i].key, key);
}

/* --- creation and use --- */

struct kv_iter *kv_iter_new(struct kv *kv, const struct kv_view *view, unsigned family,
                            struct str from)
{
    if (view != NULL) {
        return kv_iter__new_stored(kv, kv__read_options(kv, view), family, from);
    }
    (void)pthread_mutex_lock(&kv->lock);
    struct kv_iter *it = new_locked(kv, family);
    (void)pthread_mutex_unlock(&kv->lock);
    sort_recent(it);
    kv_iter_seek(it, from);
    return it;
}

void kv_iters_new(struct kv *kv, const unsigned *families, size_t count, struct kv_iter **out_its)
{
    /* An iterator keeps the content of the moment of its creation; the lock excludes writes in
     * between. */
    (void)pthread_mutex_lock(&kv->lock);
    for (size_t i = 0; i < count; i++) {
        if (kv_window_has_range(&kv->window, families[i])) {
            kv__flush_window_locked(kv); /* before the first iterator, which would not see it */
        }
    }
    for (size_t i = 0; i < count; i++) {
        out_its[i] = new_locked(kv, families[i]);
    }
    (void)pthread_mutex_unlock(&kv->lock);
    for (size_t i = 0; i < count; i++) {
        sort_recent(out_its[i]);
        kv_iter_seek(out_its[i], STR_EMPTY);
    }
}

void kv_iter_free(struct kv_iter *it)
{
    if (it != NULL) {
        rocksdb_iter_destroy(it->it);
        kv_close(it->kv);
        buf_deinit(&it->bytes);
        free(it->recent);
        free(it);
    }
}

bool kv_iter_valid(const struct kv_iter *it)
{
    return it->from_recent || stored_valid(it);
}

void kv_iter_next(struct kv_iter *it)
{
    if (it->from_recent) {
        it->at++;
    } else {
        rocksdb_iter_next(it->it);
    }
    settle_down(it);
}

void kv_iter_seek(struct kv_iter *it, struct str key)
{
    rocksdb_iter_seek(it->it, key.len == 0 ? "" : key.ptr, key.len);
    it->at = find_recent(it, key);
    settle_down(it);
}

void kv_iter_seek_back(struct kv_iter *it, struct str key)
{
    struct buf found;
    buf_init(&found, SIZE_MAX);
    rocksdb_iter_seek_for_prev(it->it, key.ptr, key.len);
    while (stored_valid(it) && is_hidden(it, stored_key(it))) {
        rocksdb_iter_prev(it->it);
    }
    bool any = stored_valid(it);
    if (any) {
        buf_add_str(&found, stored_key(it));
    }
    size_t i = find_recent(it, key);
    i += i < it->count && str_eq(it->recent[i].key, key) ? 1 : 0;
    while (i > 0 && it->recent[i - 1].gone) {
        i--;
    }
    if (i > 0 && (!any || str_cmp(it->recent[i - 1].key, buf_str(&found)) > 0)) {
        any = true;
        buf_clear(&found);
        buf_add_str(&found, it->recent[i - 1].key);
    }
    if (any) {
        kv_iter_seek(it, buf_str(&found));
    } else { /* RocksDB's iterator is before its first key */
        it->at = it->count;
        it->from_recent = false;
    }
    buf_deinit(&found);
}

struct str kv_iter_key(const struct kv_iter *it)
{
    return it->from_recent ? it->recent[it->at].key : stored_key(it);
}

struct str kv_iter_value(const struct kv_iter *it)
{
    if (it->from_recent) {
        return it->recent[it->at].value;
    }
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
    return msg == NULL ? ERR_OK : kv__err(err, msg, "walk the store");
}

bool kv_iter__walk_to(struct kv_iter *it, struct str key)
{
    for (unsigned i = 0; i < ITER_STEPS_MAX && kv_iter_valid(it); i++) {
        int order = str_cmp(kv_iter_key(it), key);
        if (order == 0) {
            return true;
        }
        if (order > 0) {
            break; /* passed already */
        }
        kv_iter_next(it);
    }
    kv_iter_seek(it, key);
    return kv_iter_valid(it) && str_eq(kv_iter_key(it), key);
}
