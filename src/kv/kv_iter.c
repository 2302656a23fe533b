#include <stdlib.h>

#include "base/fault.h"
#include "kv/kv_int.h"

enum { ITER_STEPS_MAX = 4 }; /* a seek costs about as much as that many steps */

struct kv_iter {
    rocksdb_iterator_t *it;
};

struct kv_iter *kv_iter__new_stored(struct kv *kv, const struct kv_view *view, unsigned family,
                                    struct str from)
{
    struct kv_iter *it = calloc(1, sizeof *it);
    CHECK(it != NULL);
    it->it = rocksdb_create_iterator_cf(kv->db, kv__read_options(kv, view), kv__family(kv, family));
    rocksdb_iter_seek(it->it, from.len == 0 ? "" : from.ptr, from.len);
    return it;
}

struct kv_iter *kv_iter_new(struct kv *kv, const struct kv_view *view, unsigned family,
                            struct str from)
{
    if (view == NULL) {
        kv__settle(kv);
    }
    return kv_iter__new_stored(kv, view, family, from);
}

void kv_iters_new(struct kv *kv, const unsigned *families, size_t count, struct kv_iter **out_its)
{
    /* An iterator stays with what there was when it was made, and nobody writes in between. */
    (void)pthread_mutex_lock(&kv->lock);
    kv__settle_locked(kv);
    for (size_t i = 0; i < count; i++) {
        out_its[i] = kv_iter__new_stored(kv, NULL, families[i], STR_EMPTY);
    }
    (void)pthread_mutex_unlock(&kv->lock);
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
            break; /* it is behind us */
        }
        kv_iter_next(it);
    }
    kv_iter_seek(it, key);
    return kv_iter_valid(it) && str_eq(kv_iter_key(it), key);
}
