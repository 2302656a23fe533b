#include "kv/kv_window.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

enum {
    WINDOW_FIRST_KEYS = 1024,
    WINDOW_KEPT_BYTES = 4 << 20, /* memory that is kept for the next time; more was one big entry */
};

#define WINDOW_BYTES_MAX ((size_t)UINT32_MAX)

struct kv_window_key {
    uint32_t at;   /* where its last record begins */
    uint32_t hash; /* of family and key */
    uint8_t family;
    bool below;   /* the store may have the key too */
    bool dropped; /* since then, with a range of keys */
};

void kv_window_init(struct kv_window *w)
{
    *w = (struct kv_window){0};
    buf_init(&w->bytes, WINDOW_BYTES_MAX);
    buf_init(&w->ranges, WINDOW_BYTES_MAX);
}

void kv_window_deinit(struct kv_window *w)
{
    buf_deinit(&w->bytes);
    buf_deinit(&w->ranges);
    free(w->keys);
    free(w->slots);
    *w = (struct kv_window){0};
}

static struct kv_record record_at(const struct kv_window *w, size_t at)
{
    struct kv_record r;
    (void)kv_record_read(w->bytes.ptr + at, &r);
    return r;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t *slot_of(const struct kv_window *w, uint32_t hash, unsigned family, struct str key)
{
    size_t mask = w->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &w->slots[i];
        if (*slot == 0) {
            return slot;
        }
        const struct kv_window_key *k = &w->keys[*slot - 1];
        if (k->hash == hash && k->family == family && str_eq(record_at(w, k->at).key, key)) {
            return slot;
        }
    }
}

static uint32_t hash_of(unsigned family, struct str key)
{
    return (uint32_t)hash_bytes(family, key.ptr, key.len);
}

/* Room for one more key. At least half of the slots stay free. */
static void grow(struct kv_window *w)
{
    if (w->count < w->room) {
        return;
    }
    w->room = w->room == 0 ? WINDOW_FIRST_KEYS : 2 * w->room;
    w->keys = reallocarray(w->keys, w->room, sizeof *w->keys);
    free(w->slots);
    w->slot_count = 2 * w->room;
    w->slots = calloc(w->slot_count, sizeof *w->slots);
    CHECK(w->keys != NULL && w->slots != NULL);
    for (size_t i = 0; i < w->count; i++) {
        size_t at = w->keys[i].hash & (w->slot_count - 1);
        while (w->slots[at] != 0) {
            at = (at + 1) & (w->slot_count - 1);
        }
        w->slots[at] = (uint32_t)i + 1;
    }
}

static void write_key(struct kv_window *w, const struct kv_record *r, uint32_t at)
{
    grow(w);
    uint32_t hash = hash_of(r->family, r->key);
    uint32_t *slot = slot_of(w, hash, r->family, r->key);
    if (*slot == 0) {
        w->keys[w->count] = (struct kv_window_key){.at = at,
                                                   .hash = hash,
                                                   .family = (uint8_t)r->family,
                                                   .below = r->kind != KV_RECORD_PUT_NEW};
        *slot = (uint32_t)++w->count;
    } else {
        w->keys[*slot - 1].at = at;
        w->keys[*slot - 1].dropped = false;
    }
}

static bool covers(const struct kv_record *range, unsigned family, struct str key)
{
    return range->family == family && str_cmp(key, range->key) >= 0 &&
           str_cmp(key, range->value) < 0;
}

/* Ranges are rare, and what they take is usually old: in the store, not here. */
static void drop_range(struct kv_window *w, const struct kv_record *range, size_t at)
{
    buf_add(&w->ranges, &at, sizeof at);
    for (size_t i = 0; i < w->count; i++) {
        struct kv_record r = record_at(w, w->keys[i].at);
        if (covers(range, r.family, r.key)) {
            w->keys[i].dropped = true;
        }
    }
}

void kv_window_add(struct kv_window *w, struct str records)
{
    size_t at = w->bytes.len;
    buf_add_str(&w->bytes, records);
    CHECK(!w->bytes.overflow);
    while (at < w->bytes.len) {
        struct kv_record r;
        const char *next = kv_record_read(w->bytes.ptr + at, &r);
        if (r.kind == KV_RECORD_DELETE_RANGE) {
            drop_range(w, &r, at);
        } else {
            write_key(w, &r, (uint32_t)at);
        }
        at = (size_t)(next - w->bytes.ptr);
    }
}

static size_t range_count(const struct kv_window *w)
{
    return w->ranges.len / sizeof(size_t);
}

static struct kv_record range_at(const struct kv_window *w, size_t i)
{
    size_t at;
    memcpy(&at, w->ranges.ptr + i * sizeof at, sizeof at);
    return record_at(w, at);
}

enum kv_window_answer kv_window_find(const struct kv_window *w, unsigned family, struct str key,
                                     struct str *out_value)
{
    if (w->count > 0) {
        uint32_t number = *slot_of(w, hash_of(family, key), family, key);
        if (number != 0) {
            const struct kv_window_key *k = &w->keys[number - 1];
            struct kv_record r = record_at(w, k->at);
            *out_value = r.value;
            return k->dropped || r.kind == KV_RECORD_DELETE ? KV_WINDOW_GONE : KV_WINDOW_HAS;
        }
    }
    for (size_t i = 0; i < range_count(w); i++) {
        struct kv_record range = range_at(w, i);
        if (covers(&range, family, key)) {
            return KV_WINDOW_GONE;
        }
    }
    return KV_WINDOW_UNKNOWN;
}

size_t kv_window_bytes(const struct kv_window *w)
{
    return w->bytes.len;
}

void kv_window_each_of(const struct kv_window *w, unsigned family,
                       void (*fn)(void *data, const struct kv_record *r), void *data)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct kv_window_key *k = &w->keys[i];
        if (k->family == family && !k->dropped) {
            struct kv_record r = record_at(w, k->at);
            if (r.kind != KV_RECORD_DELETE || k->below) {
                fn(data, &r);
            }
        }
    }
}

void kv_window_each(const struct kv_window *w, unsigned family_count,
                    void (*fn)(void *data, const struct kv_record *r), void *data)
{
    /* First the ranges: what was in them here is dropped, and what came later stays. */
    for (size_t i = 0; i < range_count(w); i++) {
        struct kv_record range = range_at(w, i);
        fn(data, &range);
    }
    for (unsigned family = 0; family < family_count; family++) {
        kv_window_each_of(w, family, fn, data);
    }
}

bool kv_window_has_range(const struct kv_window *w, unsigned family)
{
    for (size_t i = 0; i < range_count(w); i++) {
        if (range_at(w, i).family == family) {
            return true;
        }
    }
    return false;
}

void kv_window_clear(struct kv_window *w)
{
    if (w->bytes.cap > WINDOW_KEPT_BYTES) {
        kv_window_deinit(w);
        kv_window_init(w);
        return;
    }
    buf_clear(&w->bytes);
    buf_clear(&w->ranges);
    w->count = 0;
    if (w->slot_count > 0) {
        memset(w->slots, 0, w->slot_count * sizeof *w->slots);
    }
}
