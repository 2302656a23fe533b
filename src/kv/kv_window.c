#include "kv/kv_window.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

enum {
    WINDOW_FIRST_KEYS = 1024,
    WINDOW_KEPT_BYTES = 4 << 20, /* memory kept when cleared; only one big entry needs more */
};

#define WINDOW_BYTES_MAX ((size_t)UINT32_MAX)

struct kv_window_key {
    uint32_t at;   /* offset of its last record */
    uint32_t hash; /* of family and key */
    uint8_t family;
    bool below;   /* the store may have the key too */
    bool dropped; /* deleted later by a range */
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

/* The slot of a key, or the free slot where it belongs. */
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

/* Make room for one more key. At least half of the slots stay free. */
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

/* Ranges are rare, and the keys that they delete are usually in the store, not in the window. */
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
    if (records.len == 0) {
        return;
    }
    char *to = buf_reserve(&w->bytes, records.len);
    CHECK(to != NULL);
    const char *from = records.ptr;
    for (const char *end = from + records.len; from < end;) {
        struct kv_record r;
        size_t at = w->bytes.len;
        const char *next = kv_record_read(from, &r);
        memcpy(to, from, (size_t)(next - from));
        w->bytes.len += (size_t)(next - from);
        if (r.kind == KV_RECORD_DELETE_RANGE) {
            drop_range(w, &r, at);
        } else {
            write_key(w, &r, (uint32_t)at);
        }
        to += next - from;
        from = next;
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

/* Sorts the records of a family, kind by kind. A kind is all keys with the same first byte,
 * which often share a longer prefix: the bytes behind that are found once per kind and compared
 * as one number. Most kinds arrive in order. */
struct sorting {
    struct kv_record *records;
    struct place {
        uint64_t head; /* only while sorting */
        const struct kv_record *record;
    } * places, *spare; /* equal sizes */
    size_t count;
    struct kind {
        struct str last; /* latest key */
        size_t count;    /* 0: no keys; the other members are then undefined */
        bool in_order;
        struct place *end; /* behind the placed records */
    } kinds[256];
    uint8_t came[256]; /* the kinds that have keys */
    size_t came_count;
};

static unsigned kind_of(struct str key)
{
    return key.len == 0 ? 0 : (unsigned char)key.ptr[0];
}

static void note_record(void *data, const struct kv_record *r)
{
    struct sorting *s = data;
    unsigned number = kind_of(r->key);
    struct kind *kind = &s->kinds[number];
    if (kind->count == 0) {
        s->came[s->came_count++] = (uint8_t)number;
        kind->in_order = true;
    } else {
        kind->in_order = kind->in_order && str_cmp(kind->last, r->key) < 0;
    }
    kind->count++;
    kind->last = r->key;
    s->records[s->count++] = *r;
}

/* The bytes of a key from an offset on, as a number with the same order. */
static uint64_t head_of(struct str key, size_t from)
{
    uint8_t bytes[sizeof(uint64_t)] = {0};
    size_t len = key.len - from < sizeof bytes ? key.len - from : sizeof bytes;
    memcpy(bytes, key.ptr + from, len);
    uint64_t head;
    memcpy(&head, bytes, sizeof head);
    return be64toh(head);
}

/* Set the heads: the bytes behind the prefix that all keys share. */
static void find_heads(struct place *places, size_t count)
{
    struct str first = places[0].record->key;
    size_t common = first.len;
    for (size_t i = 1; i < count; i++) {
        struct str key = places[i].record->key;
        common = common < key.len ? common : key.len;
        while (common > 0 && memcmp(first.ptr, key.ptr, common) != 0) {
            common--;
        }
    }
    for (size_t i = 0; i < count; i++) {
        places[i].head = head_of(places[i].record->key, common);
    }
}

static bool is_before(const struct place *a, const struct place *b)
{
    return a->head != b->head ? a->head < b->head : str_cmp(a->record->key, b->record->key) < 0;
}

/* Merge two adjacent runs into one. */
static void merge(const struct place *a, size_t a_count, const struct place *b, size_t b_count,
                  struct place *out)
{
    const struct place *a_end = a + a_count;
    const struct place *b_end = b + b_count;
    while (a < a_end && b < b_end) {
        *out++ = is_before(b, a) ? *b++ : *a++;
    }
    while (a < a_end) {
        *out++ = *a++;
    }
    while (b < b_end) {
        *out++ = *b++;
    }
}

/* The C library's sort takes four times as long, because each comparison is a call. Returns the
 * sorted places: places or spare. */
static const struct place *sort(struct place *places, struct place *spare, size_t count)
{
    find_heads(places, count);
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t left = count - at;
            size_t a = left < run ? left : run;
            size_t b = left - a < run ? left - a : run;
            merge(places + at, a, places + at + a, b, spare + at);
        }
        struct place *sorted = spare;
        spare = places;
        places = sorted;
    }
    return places;
}

/* Group the records by kind, keeping their order within a kind. */
static void place_records(struct sorting *s)
{
    struct place *end = s->places;
    for (size_t i = 0; i < s->came_count; i++) {
        struct kind *kind = &s->kinds[s->came[i]];
        kind->end = end;
        end += kind->count;
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct kv_record *r = &s->records[i];
        s->kinds[kind_of(r->key)].end++->record = r;
    }
}

static void each_sorted(const struct kv_window *w, unsigned family, struct sorting *s,
                        void (*fn)(void *data, const struct kv_record *r), void *data)
{
    s->count = s->came_count = 0;
    kv_window_each_of(w, family, note_record, s);
    place_records(s);
    for (size_t i = 0; i < s->came_count; i++) {
        struct kind *kind = &s->kinds[s->came[i]];
        struct place *first = kind->end - kind->count;
        const struct place *place = kind->in_order ? first : sort(first, s->spare, kind->count);
        for (size_t left = kind->count; left > 0; left--) {
            fn(data, (place++)->record);
        }
        kind->count = 0; /* reset for the next family */
    }
}

/* Room for all records. NULL if there are few: then their order does not matter. */
static struct sorting *new_sorting(const struct kv_window *w)
{
    enum { WORTH_SORTING = 64 };
    if (w->count < WORTH_SORTING) {
        return NULL;
    }
    struct sorting *s = malloc(sizeof *s);
    CHECK(s != NULL);
    for (size_t i = 0; i < COUNT_OF(s->kinds); i++) {
        s->kinds[i].count = 0;
    }
    s->records = malloc(w->count * sizeof *s->records);
    s->places = malloc(w->count * sizeof *s->places);
    s->spare = malloc(w->count * sizeof *s->spare);
    CHECK(s->records != NULL && s->places != NULL && s->spare != NULL);
    return s;
}

static void free_sorting(struct sorting *s)
{
    if (s != NULL) {
        free(s->records);
        free(s->places);
        free(s->spare);
        free(s);
    }
}

void kv_window_each(const struct kv_window *w, unsigned family_count, unsigned sorted,
                    void (*fn)(void *data, const struct kv_record *r), void *data)
{
    /* First the ranges: they drop older keys of the window, and later keys stay. */
    for (size_t i = 0; i < range_count(w); i++) {
        struct kv_record range = range_at(w, i);
        fn(data, &range);
    }
    struct sorting *sorting = new_sorting(w);
    for (unsigned family = 0; family < family_count; family++) {
        if (sorting != NULL && (sorted & 1U << family) != 0) {
            each_sorted(w, family, sorting, fn, data);
        } else {
            kv_window_each_of(w, family, fn, data);
        }
    }
    free_sorting(sorting);
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
