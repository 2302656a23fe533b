#include "store/store_history.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"

/* Version of a value, and the byte after the kind in a key. */
enum {
    VERSION = 1,
    VERSION_OLDEST = 2, /* adds the oldest pending job */
    KEY_OPEN = 'c',
    KEY_SIZES = 'z',
    KEY_BYTES_MAX = 8 + LIMIT_INTERNAL_NAME_BYTES,
    VALUE_BYTES_MAX = 8192
};
static const char step_keys[STORE_HISTORY_STEPS] = {'m', 'h'};

/* --- histograms --- */

enum { EXACT = 4, PER_DOUBLING = 4 };

static unsigned bucket_of(uint64_t ms)
{
    if (ms < EXACT) {
        return (unsigned)ms;
    }
    unsigned top = 63U - (unsigned)__builtin_clzll(ms); /* at least 2 */
    unsigned part = (unsigned)(ms >> (top - 2)) & (PER_DOUBLING - 1);
    unsigned at = EXACT + (top - 2) * PER_DOUBLING + part;
    return at < STORE_HISTORY_BUCKETS ? at : STORE_HISTORY_BUCKETS - 1;
}

uint64_t store_history_bound_ms(unsigned bucket)
{
    if (bucket < EXACT) {
        return bucket;
    }
    unsigned doubling = (bucket - EXACT) / PER_DOUBLING;
    unsigned part = (bucket - EXACT) % PER_DOUBLING;
    return (uint64_t)(PER_DOUBLING + part) << doubling;
}

static void add_to_bucket(struct store_history_times *t, unsigned i, uint32_t count)
{
    t->bucket[i] += count;
    t->used[i / 64] |= UINT64_C(1) << i % 64;
}

/* Return the first used bucket from i on; STORE_HISTORY_BUCKETS if there is none. */
static unsigned next_used(const struct store_history_times *t, unsigned i)
{
    for (; i < STORE_HISTORY_BUCKETS; i = (i | 63U) + 1) {
        uint64_t rest = t->used[i / 64] >> i % 64;
        if (rest != 0) {
            return i + (unsigned)__builtin_ctzll(rest);
        }
    }
    return STORE_HISTORY_BUCKETS;
}

void store_history_time_add(struct store_history_times *t, int64_t ms)
{
    uint64_t value = ms < 0 ? 0 : (uint64_t)ms;
    t->count++;
    t->sum_ms += value;
    t->max_ms = value > t->max_ms ? value : t->max_ms;
    add_to_bucket(t, bucket_of(value), 1);
}

uint64_t store_history_quantile_ms(const struct store_history_times *t, unsigned thousandths)
{
    /* The rank, rounded up: the p99 of ten values is the tenth. */
    uint64_t rank = (t->count * thousandths + 999) / 1000;
    uint64_t seen = 0;
    for (unsigned i = 0; i + 1 < STORE_HISTORY_BUCKETS; i++) {
        seen += t->bucket[i];
        if (seen >= rank && seen > 0) {
            uint64_t bound = store_history_bound_ms(i + 1) - 1;
            return bound < t->max_ms ? bound : t->max_ms;
        }
    }
    return t->max_ms;
}

static void merge_times(struct store_history_times *a, const struct store_history_times *b)
{
    if (b->count == 0) {
        return;
    }
    a->count += b->count;
    a->sum_ms += b->sum_ms;
    a->max_ms = b->max_ms > a->max_ms ? b->max_ms : a->max_ms;
    for (unsigned i = next_used(b, 0); i < STORE_HISTORY_BUCKETS; i = next_used(b, i + 1)) {
        add_to_bucket(a, i, b->bucket[i]);
    }
}

void store_history_merge(struct store_history *a, const struct store_history *b)
{
    for (unsigned i = 0; i < STORE_HISTORY_COUNTS; i++) {
        a->count[i] += b->count[i];
    }
    a->depth = b->depth;
    a->depth_max = b->depth_max > a->depth_max ? b->depth_max : a->depth_max;
    a->workers = b->workers;
    a->oldest_at_ms = b->oldest_at_ms;
    a->oldest_max_ms = b->oldest_max_ms > a->oldest_max_ms ? b->oldest_max_ms : a->oldest_max_ms;
    merge_times(&a->wait, &b->wait);
    merge_times(&a->run, &b->run);
}

/* --- encoding --- */

static void encode_times(const struct store_history_times *t, struct buf *out)
{
    int used = __builtin_popcountll(t->used[0]) + __builtin_popcountll(t->used[1]);
    unsigned next = 0;
    pack_varint(out, (uint64_t)used);
    if (used == 0) {
        return;
    }
    pack_varint(out, t->sum_ms);
    pack_varint(out, t->max_ms);
    for (unsigned i = next_used(t, 0); i < STORE_HISTORY_BUCKETS; i = next_used(t, i + 1)) {
        pack_varint(out, i - next);
        pack_varint(out, t->bucket[i]);
        next = i + 1;
    }
}

static void decode_times(struct unpack *u, struct store_history_times *t)
{
    uint64_t used = unpack_varint(u);
    uint64_t next = 0;
    if (used == 0) {
        return;
    }
    t->sum_ms = unpack_varint(u);
    t->max_ms = unpack_varint(u);
    for (; used > 0 && !u->bad; used--) {
        uint64_t gap = unpack_varint(u);
        uint64_t count = unpack_varint(u);
        if (gap >= STORE_HISTORY_BUCKETS - next || count == 0 || count > UINT32_MAX) {
            u->bad = true;
            return;
        }
        next += gap;
        add_to_bucket(t, (unsigned)next++, (uint32_t)count);
        t->count += count;
    }
}

uint64_t store_history_age_ms(const struct store_history *h, int64_t at_ms)
{
    uint64_t at = at_ms < 0 ? 0 : (uint64_t)at_ms;
    return h->oldest_at_ms == 0 || h->oldest_at_ms > at ? 0 : at - h->oldest_at_ms;
}

void store_history_encode(const struct store_history *h, bool oldest, struct buf *out)
{
    uint32_t mask = 0;
    pack_u8(out, oldest ? VERSION_OLDEST : VERSION);
    for (unsigned i = 0; i < STORE_HISTORY_COUNTS; i++) {
        mask |= (uint32_t)(h->count[i] != 0) << i;
    }
    pack_varint(out, mask);
    for (unsigned i = 0; i < STORE_HISTORY_COUNTS; i++) {
        if (h->count[i] != 0) {
            pack_varint(out, h->count[i]);
        }
    }
    pack_varint(out, h->depth);
    pack_varint(out, h->depth_max);
    pack_varint(out, h->workers);
    encode_times(&h->wait, out);
    encode_times(&h->run, out);
    if (oldest) {
        pack_varint(out, h->oldest_at_ms);
        pack_varint(out, h->oldest_max_ms);
    }
}

bool store_history_decode(struct str bytes, struct store_history *out)
{
    struct unpack u = unpack_from(bytes);
    *out = (struct store_history){0};
    uint8_t version = unpack_u8(&u);
    uint64_t mask = unpack_varint(&u);
    if ((version != VERSION && version != VERSION_OLDEST) || mask >> STORE_HISTORY_COUNTS != 0) {
        return false;
    }
    for (unsigned i = 0; i < STORE_HISTORY_COUNTS; i++) {
        if ((mask >> i & 1) != 0) {
            out->count[i] = unpack_varint(&u);
            u.bad |= out->count[i] == 0;
        }
    }
    out->depth = unpack_varint(&u);
    out->depth_max = unpack_varint(&u);
    out->workers = unpack_varint(&u);
    decode_times(&u, &out->wait);
    decode_times(&u, &out->run);
    if (version == VERSION_OLDEST) {
        out->oldest_at_ms = unpack_varint(&u);
        out->oldest_max_ms = unpack_varint(&u);
    }
    return unpack_done(&u);
}

static void must_decode(struct str value, struct store_history *out)
{
    if (!store_history_decode(value, out)) {
        check_fatal("a cell of the history cannot be read");
    }
}

/* --- keys --- */

struct key {
    struct buf buf;
    char room[KEY_BYTES_MAX];
};

static struct str open_key(struct key *k, struct str name)
{
    buf_init_room(&k->buf, sizeof k->room, k->room, sizeof k->room);
    buf_add_char(&k->buf, KEY_OPEN);
    buf_add_str(&k->buf, name);
    CHECK(!k->buf.overflow);
    return buf_str(&k->buf);
}

static struct str cell_key(struct key *k, enum store_history_step step, uint32_t number,
                           struct str name)
{
    buf_init_room(&k->buf, sizeof k->room, k->room, sizeof k->room);
    buf_add_char(&k->buf, step_keys[step]);
    pack_u32_be(&k->buf, number);
    buf_add_str(&k->buf, name);
    CHECK(!k->buf.overflow);
    return buf_str(&k->buf);
}

/* Read the committed value of the key into out. False if there is none. */
static bool read_value(struct store *s, struct str key, struct buf *out)
{
    buf_init(out, VALUE_BYTES_MAX);
    return store_get(s, STORE_KIND_HISTORY, key, out);
}

/* --- the open cell --- */

bool store_history_open_get(struct store *s, struct str name, uint32_t *out_minute,
                            struct store_history *out)
{
    struct key k;
    struct buf value;
    bool found = read_value(s, open_key(&k, name), &value);
    if (found) {
        struct unpack u = unpack_from(buf_str(&value));
        *out_minute = unpack_u32(&u);
        must_decode(str_from_offset(buf_str(&value), sizeof *out_minute), out);
    }
    buf_deinit(&value);
    return found;
}

void store_history_open_put(struct store *s, struct str name, uint32_t minute,
                            const struct store_history *h)
{
    struct key k;
    struct buf *value = &s->scratch; /* a buffer on the stack would be zeroed at each call */
    buf_clear(value);
    pack_u32(value, minute);
    store_history_encode(h, s->oldest, value);
    CHECK(!value->overflow);
    store_put(s, STORE_KIND_HISTORY, open_key(&k, name), buf_str(value));
}

void store_history_open_delete(struct store *s, struct str name)
{
    struct key k;
    store_delete(s, STORE_KIND_HISTORY, open_key(&k, name));
}

/* --- closed cells --- */

bool store_history_get(struct store *s, enum store_history_step step, uint32_t number,
                       struct str name, struct store_history *out, size_t *out_bytes)
{
    struct key k;
    struct buf value;
    struct str key = cell_key(&k, step, number, name);
    bool found = read_value(s, key, &value);
    if (found) {
        must_decode(buf_str(&value), out);
    }
    *out_bytes = found ? key.len + value.len : 0;
    buf_deinit(&value);
    return found;
}

size_t store_history_put(struct store *s, enum store_history_step step, uint32_t number,
                         struct str name, const struct store_history *h)
{
    struct key k;
    struct buf *value = &s->scratch;
    struct str key = cell_key(&k, step, number, name);
    buf_clear(value);
    store_history_encode(h, s->oldest, value);
    CHECK(!value->overflow);
    store_put(s, STORE_KIND_HISTORY, key, buf_str(value));
    return key.len + value->len;
}

static uint32_t number_of(struct str rest)
{
    struct unpack u = unpack_from(str_from_offset(rest, 1));
    return unpack_u32_be(&u);
}

struct trimming {
    struct store *s;
    uint32_t *from;
    uint32_t keep_from;
    uint64_t bytes, bytes_max;
    uint64_t gone;
    unsigned left;
};

static bool trim_one(void *data, struct str rest, struct str value)
{
    struct trimming *t = data;
    uint32_t number = number_of(rest);
    bool old = number < t->keep_from;
    bool many = t->bytes - t->gone > t->bytes_max;
    *t->from = number;
    if (t->left == 0 || (!old && !many)) {
        return false;
    }
    t->left--;
    t->gone += rest.len + value.len;
    store_delete(t->s, STORE_KIND_HISTORY, rest);
    return true;
}

uint64_t store_history_trim(struct store *s, enum store_history_step step, uint32_t *from,
                            uint64_t bytes, struct store_history_bounds bounds)
{
    struct trimming t = {s, from, bounds.keep_from, bytes, bounds.bytes_max, 0, bounds.max};
    struct key k;
    if (*from >= bounds.keep_from && bytes <= bounds.bytes_max) {
        return 0;
    }
    struct str begin = cell_key(&k, step, *from, STR_EMPTY);
    store_each_from(s, STORE_KIND_HISTORY, str_from(&step_keys[step], 1), begin, trim_one, &t);
    if (*from < bounds.keep_from && t.left > 0) {
        *from = bounds.keep_from; /* no older cells are left */
    }
    return t.gone;
}

void store_history_sizes_get(struct store *s, uint64_t out_bytes[STORE_HISTORY_STEPS])
{
    static const char key = KEY_SIZES;
    struct buf value;
    memset(out_bytes, 0, STORE_HISTORY_STEPS * sizeof *out_bytes);
    if (read_value(s, str_from(&key, 1), &value)) {
        struct unpack u = unpack_from(buf_str(&value));
        for (unsigned i = 0; i < STORE_HISTORY_STEPS; i++) {
            out_bytes[i] = unpack_u64(&u);
        }
        if (!unpack_done(&u)) {
            check_fatal("the size of the history cannot be read");
        }
    }
    buf_deinit(&value);
}

void store_history_sizes_put(struct store *s, const uint64_t bytes[STORE_HISTORY_STEPS])
{
    static const char key = KEY_SIZES;
    char room[sizeof(uint64_t) * STORE_HISTORY_STEPS];
    struct buf value;
    buf_init_room(&value, sizeof room, room, sizeof room);
    for (unsigned i = 0; i < STORE_HISTORY_STEPS; i++) {
        pack_u64(&value, bytes[i]);
    }
    store_put(s, STORE_KIND_HISTORY, str_from(&key, 1), buf_str(&value));
}

/* --- reading --- */

/* Build the complete key of a record, with its kind. */
static struct str whole(struct buf *out, char *room, size_t size, struct str rest)
{
    buf_init_room(out, size, room, size);
    buf_add_char(out, STORE_KIND_HISTORY);
    buf_add_str(out, rest);
    CHECK(!out->overflow);
    return buf_str(out);
}

/* Seek to the key. Returns its value; empty if there is none. */
static struct str seek(struct kv_iter *it, struct str rest)
{
    char room[KEY_BYTES_MAX + 1];
    struct buf key;
    kv_iter_seek(it, whole(&key, room, sizeof room, rest));
    bool found = kv_iter_valid(it) && str_eq(kv_iter_key(it), buf_str(&key));
    return found ? kv_iter_value(it) : STR_EMPTY;
}

/* Read the number of the cell at the iterator's position. False if there is no such cell of the
 * step. */
static bool standing_on(const struct kv_iter *it, enum store_history_step step, uint32_t *out)
{
    struct str key = kv_iter_valid(it) ? kv_iter_key(it) : STR_EMPTY;
    if (key.len < 6 || key.ptr[0] != STORE_KIND_HISTORY || key.ptr[1] != step_keys[step]) {
        return false;
    }
    *out = number_of(str_from_offset(key, 1));
    return true;
}

/* Read the open cell of the name and the number of its step. False if there is none. */
static bool read_open(struct kv_iter *it, struct str name, enum store_history_step step,
                      uint32_t *out_number, struct store_history *out)
{
    struct key k;
    struct str value = seek(it, open_key(&k, name));
    if (value.len == 0) {
        return false;
    }
    struct unpack u = unpack_from(value);
    *out_number = unpack_u32(&u) / (uint32_t)(store_history_seconds(step) / 60);
    must_decode(str_from_offset(value, sizeof *out_number), out);
    return true;
}

bool store_history_last(struct store *s, struct str name, enum store_history_step step,
                        uint32_t *out_number, struct store_history *out)
{
    struct kv_iter *it = store_iter(s, STORE_META, STR_EMPTY);
    bool found = read_open(it, name, step, out_number, out);
    store_end_walk(it);
    return found;
}

void store_history_each(struct store *s, struct str name, struct store_history_range range,
                        void (*fn)(void *data, uint32_t number, const struct store_history *h),
                        void *data)
{
    struct store_history cell;
    struct store_history open;
    struct key k;
    uint32_t open_at = 0;
    uint32_t number = 0;
    /* One iterator sees one state: the open cell is not closed in between. */
    struct kv_iter *it = store_iter(s, STORE_META, STR_EMPTY);
    bool is_open = read_open(it, name, range.step, &open_at, &open);
    for (uint32_t at = range.from; at < range.before;) {
        struct str value = seek(it, cell_key(&k, range.step, at, name));
        if (!standing_on(it, range.step, &number) || number >= range.before) {
            break;
        }
        if (value.len == 0) {
            /* The iterator is at another name: in this bucket, so continue with the next bucket; or
             * in a later bucket, so continue there. */
            at = number == at ? at + 1 : number;
            continue;
        }
        must_decode(value, &cell);
        if (is_open && open_at == number) {
            store_history_merge(&cell, &open);
            is_open = false;
        }
        fn(data, number, &cell);
        at++;
    }
    store_end_walk(it);
    if (is_open && open_at >= range.from && open_at < range.before) {
        fn(data, open_at, &open);
    }
}

/* --- searching back --- */

/* Hours per step of the search: at most 120 cells. A step by minutes reads at most 59. */
enum { BACK_HOURS = 120, HOUR_MINUTES = 60 };

struct store_history_back store_history_back(enum store_history_step step, uint32_t number)
{
    return (struct store_history_back){.step = step, .before = number, .left = LIMIT_HISTORY_HOURS};
}

struct found {
    bool any;
    struct store_history *cell;
};

static void keep_last(void *data, uint32_t number, const struct store_history *h)
{
    struct found *f = data;
    (void)number;
    f->any = true;
    *f->cell = *h;
}

bool store_history_back_step(struct store *s, struct str name, struct store_history_back *b,
                             struct store_history *out)
{
    bool minutes = b->step == STORE_HISTORY_MINUTE;
    uint32_t most = b->left < BACK_HOURS ? b->left : BACK_HOURS;
    uint32_t cells = minutes ? b->before % HOUR_MINUTES : most < b->before ? most : b->before;
    struct store_history_range range = {b->step, b->before - cells, b->before};
    struct found f = {.cell = out};
    *out = (struct store_history){0};
    store_history_each(s, name, range, keep_last, &f);
    if (minutes) {
        b->step = STORE_HISTORY_HOUR;
        b->before = range.from / HOUR_MINUTES;
    } else {
        b->before = range.from;
        b->left -= cells;
    }
    return f.any || b->before == 0 || b->left == 0;
}
