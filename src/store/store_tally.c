#include "store/store_tally.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "base/unpack.h"

enum {
    VERSION = 1,
    START_VERSION = 1,
    KEY_START = 's',
    VALUE_BYTES_MAX = 128,
    CELLS_PER_TURN = 2000 /* after this many, a walk ends with the current bucket */
};

static const struct {
    char key; /* the byte after the kind */
    int64_t seconds;
    uint32_t kept;
} series_rows[STORE_TALLY_SERIES] = {
    [STORE_TALLY_PARTS] = {'p', LIMIT_TALLY_PART_S, LIMIT_TALLY_PARTS},
    [STORE_TALLY_HOURS] = {'h', 3600, LIMIT_TALLY_HOURS},
    [STORE_TALLY_TAG_PARTS] = {'P', LIMIT_TALLY_PART_S, LIMIT_TALLY_PARTS},
    [STORE_TALLY_TAG_HOURS] = {'H', 3600, LIMIT_TALLY_HOURS},
};

static int64_t add_capped(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

void store_tally_add(struct store_tally *a, const struct store_tally *b)
{
    a->input = add_capped(a->input, b->input);
    a->output = add_capped(a->output, b->output);
    a->cache_creation = add_capped(a->cache_creation, b->cache_creation);
    a->cache_read = add_capped(a->cache_read, b->cache_read);
    a->cost_nusd = add_capped(a->cost_nusd, b->cost_nusd);
    a->reports = add_capped(a->reports, b->reports);
}

static void raise(int64_t *a, int64_t b)
{
    *a = *a > b ? *a : b;
}

void store_tally_raise(struct store_tally *a, const struct store_tally *b)
{
    raise(&a->input, b->input);
    raise(&a->output, b->output);
    raise(&a->cache_creation, b->cache_creation);
    raise(&a->cache_read, b->cache_read);
    raise(&a->cost_nusd, b->cost_nusd);
    raise(&a->reports, b->reports);
}

int64_t store_tally_seconds(enum store_tally_series series)
{
    return series_rows[series].seconds;
}

uint32_t store_tally_kept(enum store_tally_series series)
{
    return series_rows[series].kept;
}

int64_t store_tally_number(enum store_tally_series series, struct wall at)
{
    return at.ns / NS_PER_S / series_rows[series].seconds;
}

/* --- keys --- */

void store_tally_prefix(enum store_tally_series series, uint32_t number,
                        char out[STORE_TALLY_PREFIX_BYTES])
{
    struct buf b;
    buf_init_room(&b, STORE_TALLY_PREFIX_BYTES, out, STORE_TALLY_PREFIX_BYTES);
    buf_add_char(&b, series_rows[series].key);
    pack_u32_be(&b, number);
}

void store_tally_key(enum store_tally_series series, uint32_t number,
                     const struct store_tally_name *name, struct buf *out)
{
    buf_add_char(out, series_rows[series].key);
    pack_u32_be(out, number);
    pack_text(out, name->queue);
    pack_text(out, name->first);
    pack_text(out, name->second);
}

bool store_tally_decode_key(struct str key, enum store_tally_series *out_series,
                            uint32_t *out_number, struct store_tally_name *out)
{
    struct unpack u = unpack_from(key);
    char first = (char)unpack_u8(&u);
    *out_number = unpack_u32_be(&u);
    out->queue = unpack_text(&u);
    out->first = unpack_text(&u);
    out->second = unpack_text(&u);
    for (unsigned i = 0; i < STORE_TALLY_SERIES; i++) {
        if (series_rows[i].key == first) {
            *out_series = (enum store_tally_series)i;
            return unpack_done(&u);
        }
    }
    return false;
}

/* --- values --- */

void store_tally_encode(const struct store_tally *t, struct buf *out)
{
    pack_u8(out, VERSION);
    pack_varint(out, (uint64_t)t->input);
    pack_varint(out, (uint64_t)t->output);
    pack_varint(out, (uint64_t)t->cache_creation);
    pack_varint(out, (uint64_t)t->cache_read);
    pack_varint(out, (uint64_t)t->cost_nusd);
    pack_varint(out, (uint64_t)t->reports);
}

static int64_t unpack_sum(struct unpack *u)
{
    uint64_t v = unpack_varint(u);
    u->bad |= v > INT64_MAX;
    return (int64_t)v;
}

bool store_tally_decode(struct str bytes, struct store_tally *out)
{
    struct unpack u = unpack_from(bytes);
    if (unpack_u8(&u) != VERSION) {
        return false;
    }
    out->input = unpack_sum(&u);
    out->output = unpack_sum(&u);
    out->cache_creation = unpack_sum(&u);
    out->cache_read = unpack_sum(&u);
    out->cost_nusd = unpack_sum(&u);
    out->reports = unpack_sum(&u);
    return unpack_done(&u);
}

static void must_decode(struct str value, struct store_tally *out)
{
    if (!store_tally_decode(value, out)) {
        check_fatal("a sum of usage cannot be read");
    }
}

bool store_tally_get(struct store *s, struct str key, struct store_tally *out)
{
    struct buf value;
    char room[VALUE_BYTES_MAX];
    buf_init_room(&value, sizeof room, room, sizeof room);
    bool found = store_get(s, STORE_KIND_TALLY, key, &value);
    if (found) {
        must_decode(buf_str(&value), out);
    }
    buf_deinit(&value);
    return found;
}

void store_tally_put(struct store *s, struct str key, const struct store_tally *t)
{
    buf_clear(&s->scratch);
    store_tally_encode(t, &s->scratch);
    store_put(s, STORE_KIND_TALLY, key, buf_str(&s->scratch));
}

/* --- the start of counting --- */

static const char start_key = KEY_START;

struct str store_tally_start_key(void)
{
    return str_from(&start_key, 1);
}

bool store_tally_decode_start(struct str key, struct str value, struct store_tally_start *out)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    out->known = true;
    out->at.ns = unpack_i64(&u);
    out->row = unpack_u64(&u);
    return str_eq(key, store_tally_start_key()) && version == START_VERSION && unpack_done(&u);
}

struct store_tally_start store_tally_start_get(struct store *s)
{
    struct store_tally_start start = {0};
    struct str key = store_tally_start_key();
    struct buf value;
    buf_init(&value, VALUE_BYTES_MAX);
    if (store_get(s, STORE_KIND_TALLY, key, &value) &&
        !store_tally_decode_start(key, buf_str(&value), &start)) {
        check_fatal("the start of the sums of usage cannot be read");
    }
    buf_deinit(&value);
    return start;
}

void store_tally_encode_start(const struct store_tally_start *start, struct buf *out)
{
    pack_u8(out, START_VERSION);
    pack_i64(out, start->at.ns);
    pack_u64(out, start->row);
}

void store_tally_start_put(struct store *s, const struct store_tally_start *start)
{
    buf_clear(&s->scratch);
    store_tally_encode_start(start, &s->scratch);
    store_put(s, STORE_KIND_TALLY, store_tally_start_key(), buf_str(&s->scratch));
}

/* --- walks --- */

struct trimming {
    struct store *s;
    uint32_t *from;
    uint32_t keep_from;
    unsigned left;
};

static uint32_t number_of(struct str key)
{
    struct unpack u = unpack_from(str_from_offset(key, 1));
    return unpack_u32_be(&u);
}

static bool trim_one(void *data, struct str key, struct str value)
{
    struct trimming *t = data;
    uint32_t number = number_of(key);
    (void)value;
    *t->from = number;
    if (t->left == 0 || number >= t->keep_from) {
        return false;
    }
    t->left--;
    store_delete(t->s, STORE_KIND_TALLY, key);
    return true;
}

void store_tally_trim(struct store *s, enum store_tally_series series, uint32_t *from,
                      uint32_t keep_from, unsigned max)
{
    struct trimming t = {s, from, keep_from, max};
    char begin[STORE_TALLY_PREFIX_BYTES];
    if (*from >= keep_from) {
        return;
    }
    store_tally_prefix(series, *from, begin);
    store_each_from(s, STORE_KIND_TALLY, str_from(begin, 1), str_from(begin, sizeof begin),
                    trim_one, &t);
    if (*from < keep_from && t.left > 0) {
        *from = keep_from; /* no older cells are left */
    }
}

/* Seek to the first cell of the series in this bucket or a later one. False if there is none. */
static bool seek(struct kv_iter *it, enum store_tally_series series, uint32_t *number)
{
    char key[1 + STORE_TALLY_PREFIX_BYTES] = {STORE_KIND_TALLY};
    store_tally_prefix(series, *number, key + 1);
    kv_iter_seek(it, str_from(key, sizeof key));
    struct str found = kv_iter_valid(it) ? kv_iter_key(it) : STR_EMPTY;
    if (found.len < sizeof key || memcmp(found.ptr, key, 2) != 0) {
        return false;
    }
    *number = number_of(str_from_offset(found, 1));
    return true;
}

/* Call fn for the cells of the bucket, from the iterator's position on. Returns their number. */
static unsigned each_of(struct kv_iter *it, enum store_tally_series series, uint32_t number,
                        void (*fn)(void *data, bool is_tag, const struct store_tally_name *name,
                                   const struct store_tally *t),
                        void *data)
{
    unsigned count = 0;
    char prefix[1 + STORE_TALLY_PREFIX_BYTES] = {STORE_KIND_TALLY};
    store_tally_prefix(series, number, prefix + 1);
    for (; kv_iter_valid(it); kv_iter_next(it), count++) {
        struct str key = kv_iter_key(it);
        enum store_tally_series of;
        struct store_tally_name name;
        struct store_tally t;
        uint32_t of_number;
        if (!str_starts_with(key, str_from(prefix, sizeof prefix))) {
            break;
        }
        if (!store_tally_decode_key(str_from_offset(key, 1), &of, &of_number, &name)) {
            check_fatal("the key of a sum of usage cannot be read");
        }
        must_decode(kv_iter_value(it), &t);
        fn(data, of >= STORE_TALLY_TAG_PARTS, &name, &t);
    }
    return count;
}

bool store_tally_each(struct store *s, struct store_tally_walk *w,
                      void (*fn)(void *data, bool is_tag, const struct store_tally_name *name,
                                 const struct store_tally *t),
                      void *data)
{
    enum store_tally_series plain = w->hours ? STORE_TALLY_HOURS : STORE_TALLY_PARTS;
    enum store_tally_series tags = w->hours ? STORE_TALLY_TAG_HOURS : STORE_TALLY_TAG_PARTS;
    unsigned seen = 0;
    bool more = w->next < w->before;
    struct kv_iter *it = store_iter(s, STORE_META, STR_EMPTY);
    while (more && seen < CELLS_PER_TURN) {
        uint32_t number = w->next;
        more = seek(it, plain, &number) && number < w->before;
        if (more) {
            seen += each_of(it, plain, number, fn, data);
            w->next = number + 1;
            if (w->tags && seek(it, tags, &number) && number + 1 == w->next) {
                seen += each_of(it, tags, number, fn, data);
            }
        }
    }
    store_end_walk(it);
    return more;
}
