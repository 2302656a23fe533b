#include "store/store_event.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"

enum { BLOCK_VERSION = 1 };

/* The oldest events are removed in groups, so that not every entry deletes something. */
enum { TRIM_STEP = 4096 };

static const char *const type_words[] = {
#define STORE_EVENT_WORD(name, number, word) [number] = (word),
    STORE_EVENT_LIST(STORE_EVENT_WORD)
#undef STORE_EVENT_WORD
};

const char *store_event_word(enum store_event_type type)
{
    CHECK(type > 0);
    CHECK(type <= STORE_EVENT_TYPE_LAST);
    return type_words[type];
}

void store_event_block_init(struct store_event_block *b)
{
    buf_init(&b->bytes, SIZE_MAX);
    b->count = 0;
}

void store_event_block_deinit(struct store_event_block *b)
{
    buf_deinit(&b->bytes);
}

/* Encode the members that depend on the type. */
static void add_details(struct buf *out, const struct store_event *e)
{
    switch ((int)e->type) {
    case STORE_EVENT_STARTED:
        pack_text(out, e->text);
        pack_varint(out, e->attempt);
        break;
    case STORE_EVENT_FAILED:
        pack_text(out, e->text);
        pack_varint(out, e->attempt);
        pack_varint(out, e->remaining);
        pack_i64(out, e->next_attempt_at.ns);
        break;
    case STORE_EVENT_HELD:
    case STORE_EVENT_BUDGET_EXCEEDED:
    case STORE_EVENT_PROGRESS:
        pack_text(out, e->text);
        break;
    case STORE_EVENT_MOVED:
        pack_text(out, e->text);
        pack_text(out, e->text2);
        break;
    default:
        break;
    }
}

static uint32_t take_count(struct unpack *u)
{
    uint64_t n = unpack_varint(u);
    if (n > UINT32_MAX) {
        u->bad = true;
    }
    return (uint32_t)n;
}

static void take_details(struct unpack *u, struct store_event *e)
{
    switch ((int)e->type) {
    case STORE_EVENT_STARTED:
        e->text = unpack_text(u);
        e->attempt = take_count(u);
        break;
    case STORE_EVENT_FAILED:
        e->text = unpack_text(u);
        e->attempt = take_count(u);
        e->remaining = take_count(u);
        e->next_attempt_at.ns = unpack_i64(u);
        break;
    case STORE_EVENT_HELD:
    case STORE_EVENT_BUDGET_EXCEEDED:
    case STORE_EVENT_PROGRESS:
        e->text = unpack_text(u);
        break;
    case STORE_EVENT_MOVED:
        e->text = unpack_text(u);
        e->text2 = unpack_text(u);
        break;
    default:
        break;
    }
}

void store_event_add(struct store_event_block *b, const struct store_event *e)
{
    pack_u8(&b->bytes, (uint8_t)e->type);
    buf_add(&b->bytes, e->job.b, ID_BYTES);
    pack_text(&b->bytes, e->queue);
    add_details(&b->bytes, e);
    b->count++;
}

void store_event_encode(const struct store_event_block *b, struct wall at, struct buf *out)
{
    pack_u8(out, BLOCK_VERSION);
    pack_i64(out, at.ns);
    pack_varint(out, b->count);
    buf_add_str(out, buf_str(&b->bytes));
}

struct seq_key {
    char bytes[8];
};

static struct seq_key key_of(uint64_t seq)
{
    struct seq_key k;
    for (unsigned i = 0; i < 8; i++) {
        k.bytes[i] = (char)(uint8_t)(seq >> (56 - 8 * i));
    }
    return k;
}

static uint64_t seq_of(struct str key)
{
    struct unpack u = unpack_from(key);
    uint64_t seq = unpack_u64_be(&u);
    if (!unpack_done(&u)) {
        check_fatal("a key of the event log has %zu bytes", key.len);
    }
    return seq;
}

/* The first event numbers of the blocks that were written since the store was opened, in order.
 * With them, a trim finds its position without an iterator. Under load, a trim happens every few
 * milliseconds, and a new iterator after a deleted range would write kv's window to RocksDB each
 * time. */

static size_t starts_count(const struct store *s)
{
    return s->event_starts.len / sizeof(uint64_t);
}

static uint64_t start_at(const struct store *s, size_t i)
{
    uint64_t start;
    memcpy(&start, s->event_starts.ptr + i * sizeof start, sizeof start);
    return start;
}

/* Return the number of these blocks that begin before seq. */
static size_t starts_before(const struct store *s, uint64_t seq)
{
    size_t low = 0;
    size_t high = starts_count(s);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (start_at(s, middle) < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void forget_starts_before(struct store *s, uint64_t seq)
{
    size_t gone = starts_before(s, seq) * sizeof(uint64_t);
    if (gone > 0) {
        s->event_starts.len -= gone;
        memmove(s->event_starts.ptr, s->event_starts.ptr + gone, s->event_starts.len);
    }
}

/* Return the start of the committed block that contains seq. */
static uint64_t block_start(struct store *s, uint64_t seq)
{
    size_t known = starts_before(s, seq + 1);
    if (known > 0) {
        return start_at(s, known - 1);
    }
    struct seq_key key = key_of(seq);
    struct str at = str_from(key.bytes, sizeof key.bytes);
    struct kv_iter *it = store_iter(s, STORE_EVENTS, at);
    kv_iter_seek_back(it, at);
    uint64_t start = kv_iter_valid(it) ? seq_of(kv_iter_key(it)) : s->meta.oldest_event;
    store_end_walk(it);
    return start;
}

/* Delete the blocks that begin before seq, which is the start of a block or the next event. */
static void drop_before(struct store *s, uint64_t seq)
{
    struct seq_key from = key_of(0);
    struct seq_key until = key_of(seq);
    kv_delete_range(s->batch, STORE_EVENTS, str_from(from.bytes, sizeof from.bytes),
                    str_from(until.bytes, sizeof until.bytes));
    s->meta.oldest_event = seq;
    forget_starts_before(s, seq);
}

void store_event_write(struct store *s, struct store_event_block *b)
{
    if (b->count == 0) {
        return;
    }
    CHECK(!b->bytes.overflow);
    uint64_t start = s->meta.next_event;
    struct seq_key key = key_of(start);
    buf_clear(&s->scratch);
    store_event_encode(b, s->meta.now, &s->scratch);
    CHECK(!s->scratch.overflow);
    kv_put(s->batch, STORE_EVENTS, str_from(key.bytes, sizeof key.bytes), buf_str(&s->scratch));
    s->meta.next_event += b->count;
    buf_clear(&b->bytes);
    b->count = 0;
    if (s->meta.next_event - s->meta.oldest_event > LIMIT_EVENTS_KEPT + TRIM_STEP) {
        drop_before(s, block_start(s, s->meta.next_event - LIMIT_EVENTS_KEPT));
    }
    buf_add(&s->event_starts, &start, sizeof start);
    CHECK(!s->event_starts.overflow);
}

static struct wall written_at(struct str block)
{
    struct unpack u = unpack_from(block);
    uint8_t version = unpack_u8(&u);
    struct wall at = {.ns = unpack_i64(&u)};
    if (u.bad || version != BLOCK_VERSION) {
        check_fatal("a block of the event log cannot be read");
    }
    return at;
}

struct wall store_event_trim(struct store *s, struct wall before)
{
    struct seq_key from = key_of(s->meta.oldest_event);
    struct kv_iter *it = store_iter(s, STORE_EVENTS, str_from(from.bytes, sizeof from.bytes));
    struct wall oldest = {0};
    uint64_t keep_from = s->meta.next_event; /* if no block remains */
    bool any = false;
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        struct wall at = written_at(kv_iter_value(it));
        if (at.ns >= before.ns) {
            oldest = at;
            keep_from = seq_of(kv_iter_key(it));
            break;
        }
        any = true;
    }
    store_end_walk(it);
    if (any) {
        drop_before(s, keep_from);
    }
    return oldest;
}

struct wall store_event_oldest_at(struct store *s)
{
    struct wall at = {0};
    struct kv_iter *it = store_iter(s, STORE_EVENTS, STR_EMPTY);
    if (kv_iter_valid(it)) {
        at = written_at(kv_iter_value(it));
    }
    store_end_walk(it);
    return at;
}

bool store_event_each(uint64_t first_seq, struct str block,
                      bool (*fn)(void *data, const struct store_event *e), void *data)
{
    struct unpack u = unpack_from(block);
    if (unpack_u8(&u) != BLOCK_VERSION) {
        return false;
    }
    struct wall at = {.ns = unpack_i64(&u)};
    uint64_t count = unpack_varint(&u);
    if (count == 0) {
        return false; /* an empty block is never written */
    }
    for (uint64_t i = 0; i < count; i++) {
        struct store_event e = {.seq = first_seq + i, .at = at};
        uint8_t type = unpack_u8(&u);
        struct str job = unpack_bytes(&u, ID_BYTES);
        e.queue = unpack_text(&u);
        if (u.bad || type == 0 || type > STORE_EVENT_TYPE_LAST) {
            return false;
        }
        e.type = (enum store_event_type)type;
        memcpy(e.job.b, job.ptr, ID_BYTES);
        take_details(&u, &e);
        if (u.bad) {
            return false;
        }
        if (!fn(data, &e)) {
            return true;
        }
    }
    return unpack_done(&u);
}

struct after {
    uint64_t seq;
    bool (*fn)(void *data, const struct store_event *e);
    void *data;
    bool stopped;
};

static bool pass_newer(void *data, const struct store_event *e)
{
    struct after *a = data;
    if (e->seq > a->seq && !a->fn(a->data, e)) {
        a->stopped = true;
    }
    return !a->stopped;
}

void store_event_read(struct store *s, uint64_t after,
                      bool (*fn)(void *data, const struct store_event *e), void *data)
{
    struct after a = {.seq = after, .fn = fn, .data = data};
    struct seq_key from = key_of(after == UINT64_MAX ? after : after + 1);
    struct str key = str_from(from.bytes, sizeof from.bytes);
    struct kv_iter *it = store_iter(s, STORE_EVENTS, key);
    /* The event may be in the middle of a block that begins earlier. */
    kv_iter_seek_back(it, key);
    if (!kv_iter_valid(it)) {
        store_end_walk(it);
        it = store_iter(s, STORE_EVENTS, key);
    }
    for (; kv_iter_valid(it) && !a.stopped; kv_iter_next(it)) {
        if (!store_event_each(seq_of(kv_iter_key(it)), kv_iter_value(it), pass_newer, &a)) {
            check_fatal("a block of the event log cannot be read");
        }
    }
    store_end_walk(it);
}

static bool take_seq(void *data, const struct store_event *e)
{
    uint64_t *seq = data;
    *seq = e->seq;
    return false;
}

uint64_t store_event_first(struct store *s, uint64_t seq, uint64_t none)
{
    uint64_t first = none;
    store_event_read(s, seq == 0 ? 0 : seq - 1, take_seq, &first);
    return first;
}
