#include "store/store.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/pack.h"
#include "store/store_docs.h"

enum { STORE_META_VERSION = 1 };

static const char *const family_names[STORE_FAMILY_COUNT] = {
    [STORE_LIVE] = "live",     [STORE_DONE] = "done", [STORE_ROWS] = "rows",
    [STORE_EVENTS] = "events", [STORE_META] = "meta",
};

static void meta_encode(const struct store_meta *m, struct buf *out)
{
    pack_u8(out, STORE_META_VERSION);
    pack_u64(out, m->applied_index);
    pack_i64(out, m->now.ns);
    pack_u64(out, m->next_order);
    pack_u64(out, m->lease_token);
    pack_u64(out, m->next_event);
    pack_u64(out, m->oldest_event);
    pack_u64(out, m->next_row);
    pack_u64(out, m->state_hash);
    buf_add(out, m->purge_cursor.b, ID_BYTES);
}

enum err_code store_check_meta(struct str value, struct store_meta *m, struct err *err)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    if (version != STORE_META_VERSION) {
        return err_set(err, ERR_CORRUPT, "the machine's record has the unknown version %u",
                       version);
    }
    m->applied_index = unpack_u64(&u);
    m->now.ns = unpack_i64(&u);
    m->next_order = unpack_u64(&u);
    m->lease_token = unpack_u64(&u);
    m->next_event = unpack_u64(&u);
    m->oldest_event = unpack_u64(&u);
    m->next_row = unpack_u64(&u);
    m->state_hash = unpack_u64(&u);
    struct str cursor = unpack_bytes(&u, ID_BYTES);
    if (!unpack_done(&u)) {
        return err_set(err, ERR_CORRUPT, "the machine's record is truncated");
    }
    memcpy(m->purge_cursor.b, cursor.ptr, ID_BYTES);
    return ERR_OK;
}

/* Build a key from the kind byte and the rest, in scratch_key. */
static struct str meta_key(struct store *s, char kind, struct str rest)
{
    buf_clear(&s->scratch_key);
    buf_add_char(&s->scratch_key, kind);
    buf_add_str(&s->scratch_key, rest);
    CHECK(!s->scratch_key.overflow);
    return buf_str(&s->scratch_key);
}

static enum err_code meta_read(struct store *s, struct err *err)
{
    bool found = false;
    buf_clear(&s->scratch);
    if (kv_get(s->kv, NULL, STORE_META, meta_key(s, STORE_KIND_MACHINE, STR_EMPTY), &s->scratch,
               &found, err) != ERR_OK) {
        return err->code;
    }
    if (!found) {
        /* Numbers that clients see begin at 1. */
        s->meta =
            (struct store_meta){.next_order = 1, .next_event = 1, .oldest_event = 1, .next_row = 1};
        return ERR_OK;
    }
    return store_check_meta(buf_str(&s->scratch), &s->meta, err);
}

static const struct kv_config config = {.families = family_names,
                                        .family_count = STORE_FAMILY_COUNT,
                                        .hinted_families =
                                            1U << STORE_LIVE | 1U << STORE_DONE | 1U << STORE_META};

void store_check(const char *path, uint64_t *out_keys, void (*damage)(void *data, const char *what),
                 void *data)
{
    kv_check(path, &config, out_keys, damage, data);
}

enum err_code store_check_each(const char *path, enum store_family family,
                               bool (*fn)(void *data, struct str key, struct str value), void *data,
                               struct err *err)
{
    return kv_check_each(path, &config, family, fn, data, err);
}

enum err_code store_open(struct store *s, const char *path, struct err *err)
{
    *s = (struct store){0};
    CHECK(pthread_mutex_init(&s->kv_lock, NULL) == 0);
    /* Everything that is in the log must be stored, regardless of its size: see
     * LIMIT_STEP_BYTES. */
    buf_init(&s->scratch, SIZE_MAX);
    buf_init(&s->scratch_key, 4096);
    buf_init(&s->event_starts, SIZE_MAX); /* at most one number for each event in the log */
    if (kv_open(path, &config, &s->kv, err) != ERR_OK) {
        return err->code;
    }
    s->batch = kv_batch_new(s->kv);
    s->docs = store_docs_new(s, LIMIT_DOC_CACHE_BYTES);
    return meta_read(s, err);
}

void store_close(struct store *s)
{
    store_docs_free(s->docs);
    kv_batch_free(s->batch);
    kv_close(s->kv);
    buf_deinit(&s->scratch);
    buf_deinit(&s->scratch_key);
    buf_deinit(&s->event_starts);
    (void)pthread_mutex_destroy(&s->kv_lock);
    *s = (struct store){0};
}

enum err_code store_replace(struct store *s, const char *path, struct err *err)
{
    struct kv *fresh = NULL;
    if (kv_open(path, &config, &fresh, err) != ERR_OK) {
        return err->code;
    }
    store_docs_free(s->docs);
    kv_batch_free(s->batch);
    buf_clear(&s->event_starts);
    (void)pthread_mutex_lock(&s->kv_lock);
    struct kv *old = s->kv;
    s->kv = fresh;
    (void)pthread_mutex_unlock(&s->kv_lock);
    kv_retire(old);
    kv_close(old);
    s->batch = kv_batch_new(s->kv);
    s->docs = store_docs_new(s, LIMIT_DOC_CACHE_BYTES);
    return meta_read(s, err);
}

struct kv *store_hold(struct store *s)
{
    (void)pthread_mutex_lock(&s->kv_lock);
    struct kv *kv = kv_hold(s->kv);
    (void)pthread_mutex_unlock(&s->kv_lock);
    return kv;
}

struct kv_iter *store_iter(struct store *s, enum store_family family, struct str from)
{
    struct kv *kv = store_hold(s);
    struct kv_iter *it = kv_iter_new(kv, NULL, family, from);
    kv_close(kv); /* the iterator holds it now */
    return it;
}

void store_commit(struct store *s)
{
    struct err err;
    struct str bytes = kv_batch_bytes(s->batch);
    s->meta.state_hash = hash_bytes(s->meta.state_hash, bytes.ptr, bytes.len);
    buf_clear(&s->scratch);
    meta_encode(&s->meta, &s->scratch);
    store_put(s, STORE_KIND_MACHINE, STR_EMPTY, buf_str(&s->scratch));
    if (kv_commit(s->kv, s->batch, &err) != ERR_OK) {
        check_fatal("the state of entry %llu cannot be stored: %s",
                    (unsigned long long)s->meta.applied_index, err.msg);
    }
    store_docs_committed(s->docs);
}

void store_put(struct store *s, char kind, struct str rest, struct str value)
{
    kv_put(s->batch, STORE_META, meta_key(s, kind, rest), value);
}

void store_put_key(struct store *s, struct str key, struct str value)
{
    kv_put(s->batch, STORE_META, key, value);
}

void store_delete(struct store *s, char kind, struct str rest)
{
    kv_delete(s->batch, STORE_META, meta_key(s, kind, rest));
}

bool store_get(struct store *s, char kind, struct str rest, struct buf *out)
{
    struct err err;
    struct buf key; /* not scratch_key: this can be called on any thread */
    bool found = false;
    buf_init(&key, 4096);
    buf_add_char(&key, kind);
    buf_add_str(&key, rest);
    struct kv *kv = store_hold(s);
    if (kv_get(kv, NULL, STORE_META, buf_str(&key), out, &found, &err) != ERR_OK) {
        check_fatal("the store cannot be read: %s", err.msg);
    }
    kv_close(kv);
    buf_deinit(&key);
    return found;
}

void store_each_from(struct store *s, char kind, struct str prefix, struct str from,
                     bool (*fn)(void *data, struct str rest, struct str value), void *data)
{
    struct str begin = str_cmp(from, prefix) > 0 ? from : prefix;
    struct buf key;
    buf_init(&key, SIZE_MAX);
    buf_add_char(&key, kind);
    buf_add_str(&key, begin);
    struct kv_iter *it = store_iter(s, STORE_META, buf_str(&key));
    bool more = true;
    for (; more && kv_iter_valid(it); kv_iter_next(it)) {
        struct str found = kv_iter_key(it);
        if (found.len == 0 || found.ptr[0] != kind ||
            !str_starts_with(str_from_offset(found, 1), prefix)) {
            break;
        }
        more = fn(data, str_from_offset(found, 1), kv_iter_value(it));
    }
    store_end_walk(it);
    buf_deinit(&key);
}

void store_each(struct store *s, char kind,
                void (*fn)(void *data, struct str rest, struct str value), void *data)
{
    struct kv_iter *it = store_iter(s, STORE_META, str_from(&kind, 1));
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        struct str key = kv_iter_key(it);
        if (key.len == 0 || key.ptr[0] != kind) {
            break;
        }
        fn(data, str_from_offset(key, 1), kv_iter_value(it));
    }
    store_end_walk(it);
}

void store_end_walk(struct kv_iter *it)
{
    struct err err;
    if (kv_iter_error(it, &err) != ERR_OK) {
        check_fatal("the store cannot be read: %s", err.msg);
    }
    kv_iter_free(it);
}

uint64_t store_digest(struct store *s)
{
    uint64_t digest = 0;
    for (unsigned family = 0; family < STORE_FAMILY_COUNT; family++) {
        struct kv_iter *it = store_iter(s, family, STR_EMPTY);
        for (; kv_iter_valid(it); kv_iter_next(it)) {
            struct str key = kv_iter_key(it);
            struct str value = kv_iter_value(it);
            digest = hash_bytes(digest + family, key.ptr, key.len);
            digest = hash_bytes(digest, value.ptr, value.len);
        }
        store_end_walk(it);
    }
    return digest;
}
