#include "store/store_event.h"

#include "base/limits.h"
#include "lib/rng.h"
#include "unit/store/store_fixture.h"

/* The events that were read: first and last number, and count. */
struct seen {
    uint64_t first, last, count, stop_after;
    struct wall first_at;
};

static bool look(void *data, const struct store_event *e)
{
    struct seen *s = data;
    if (s->count == 0) {
        s->first = e->seq;
        s->first_at = e->at;
    } else {
        assert_int_equal(e->seq, s->last + 1); /* in order, none repeated, none missing */
    }
    s->last = e->seq;
    s->count++;
    return s->stop_after == 0 || s->count < s->stop_after;
}

static struct seen read_after(struct store_fixture *f, uint64_t after)
{
    struct seen s = {0};
    store_event_read(&f->store, after, look, &s);
    return s;
}

static void expect_range(struct store_fixture *f, uint64_t after, uint64_t first, uint64_t last)
{
    struct seen s = read_after(f, after);
    assert_int_equal(s.count, last + 1 - first);
    if (s.count > 0) {
        assert_int_equal(s.first, first);
        assert_int_equal(s.last, last);
    }
}

/* Write an entry at this second with count events. */
static void write_block(struct store_fixture *f, int64_t second, unsigned count)
{
    struct store_event_block b;
    store_event_block_init(&b);
    for (unsigned i = 0; i < count; i++) {
        struct store_event e = samples_event(i % SAMPLES_EVENTS, 0, (struct wall){0});
        store_event_add(&b, &e);
    }
    f->store.meta.now.ns = second * NS_PER_S;
    store_event_write(&f->store, &b);
    assert_int_equal(b.count, 0);
    store_event_block_deinit(&b);
    store_fixture_commit(f);
}

static struct wall trim(struct store_fixture *f, int64_t before_second)
{
    struct wall oldest = store_event_trim(&f->store, (struct wall){.ns = before_second * NS_PER_S});
    store_fixture_commit(f);
    assert_int_equal(oldest.ns, store_event_oldest_at(&f->store).ns);
    return oldest;
}

static void words__are_those_of_the_contract(void **state)
{
    (void)state;
    static const char *const words[] = {
        "enqueued",         "started",       "completed",     "continued",       "held",
        "failed",           "retrying",      "dead",          "progress",        "approved",
        "rejected",         "retried",       "cancelled",     "moved",           "deleted",
        "priority_changed", "promoted",      "reclaimed",     "expired",         "queue.paused",
        "queue.resumed",    "queue.cleared", "queue.deleted", "budget.exceeded",
    };
    assert_int_equal(COUNT_OF(words), STORE_EVENT_TYPE_LAST);
    for (unsigned i = 0; i < COUNT_OF(words); i++) {
        assert_string_equal(store_event_word((enum store_event_type)(i + 1)), words[i]);
    }
}

struct expected {
    uint64_t first_seq;
    struct wall at;
    unsigned next;
};

static bool expect_sample(void *data, const struct store_event *e)
{
    struct expected *x = data;
    struct store_event want = samples_event(x->next++, x->first_seq, x->at);
    samples_same_event(e, &want);
    return true;
}

static void block__keeps_every_type_with_its_details(void **state)
{
    struct store_fixture *f = *state;
    struct expected x = {.first_seq = 1, .at = {.ns = 5 * NS_PER_S}};
    write_block(f, 5, SAMPLES_EVENTS);
    store_event_read(&f->store, 0, expect_sample, &x);
    assert_int_equal(x.next, SAMPLES_EVENTS);
}

static void write__of_nothing_writes_nothing(void **state)
{
    struct store_fixture *f = *state;
    write_block(f, 1, 0);
    assert_int_equal(f->store.meta.next_event, 1);
    assert_int_equal(store_event_oldest_at(&f->store).ns, 0);
    expect_range(f, 0, 1, 0);
}

static void read__begins_in_the_middle_of_a_block(void **state)
{
    struct store_fixture *f = *state;
    write_block(f, 1, 3); /* 1 to 3 */
    write_block(f, 2, 1); /* 4 */
    write_block(f, 3, 5); /* 5 to 9 */
    for (uint64_t after = 0; after < 9; after++) {
        expect_range(f, after, after + 1, 9);
    }
    expect_range(f, 9, 1, 0);
    expect_range(f, 1000, 1, 0);
    expect_range(f, UINT64_MAX, 1, 0);
}

static void read__stops_when_it_is_told(void **state)
{
    struct store_fixture *f = *state;
    write_block(f, 1, 3);
    write_block(f, 2, 3);
    for (uint64_t n = 1; n <= 6; n++) {
        struct seen s = {.stop_after = n};
        store_event_read(&f->store, 1, look, &s);
        assert_int_equal(s.count, n < 5 ? n : 5);
    }
}

static void trim__takes_blocks_older_than_the_moment(void **state)
{
    struct store_fixture *f = *state;
    write_block(f, 10, 3);                           /* 1 to 3 */
    write_block(f, 20, 3);                           /* 4 to 6 */
    write_block(f, 30, 3);                           /* 7 to 9 */
    assert_int_equal(trim(f, 10).ns, 10 * NS_PER_S); /* exactly this time stays */
    expect_range(f, 0, 1, 9);
    assert_int_equal(trim(f, 11).ns, 20 * NS_PER_S);
    assert_int_equal(f->store.meta.oldest_event, 4);
    expect_range(f, 0, 4, 9);
    expect_range(f, 1, 4, 9);
    assert_int_equal(trim(f, 30).ns, 30 * NS_PER_S);
    expect_range(f, 0, 7, 9);
    store_fixture_reopen(f);
    assert_int_equal(f->store.meta.oldest_event, 7);
    expect_range(f, 8, 9, 9);
}

static void trim__of_everything_never_gives_a_number_twice(void **state)
{
    struct store_fixture *f = *state;
    write_block(f, 10, 3);
    write_block(f, 20, 2);
    assert_int_equal(trim(f, 100).ns, 0);
    expect_range(f, 0, 1, 0);
    assert_int_equal(f->store.meta.next_event, 6);
    store_fixture_reopen(f);
    assert_int_equal(trim(f, 200).ns, 0);
    write_block(f, 300, 2);
    expect_range(f, 0, 6, 7);
    expect_range(f, 5, 6, 7);
}

/* Trimming is part of an entry, which may also write events. */
static void trim__leaves_what_the_same_entry_writes(void **state)
{
    struct store_fixture *f = *state;
    struct store_event_block b;
    struct store_event e = samples_event(0, 0, (struct wall){0});
    write_block(f, 10, 3);
    store_event_block_init(&b);
    assert_int_equal(store_event_trim(&f->store, (struct wall){.ns = 99 * NS_PER_S}).ns, 0);
    assert_int_equal(store_event_trim(&f->store, (struct wall){.ns = 99 * NS_PER_S}).ns, 0);
    store_event_add(&b, &e);
    f->store.meta.now.ns = 100 * NS_PER_S;
    store_event_write(&f->store, &b);
    store_fixture_commit(f);
    store_event_block_deinit(&b);
    expect_range(f, 0, 4, 4);
    assert_int_equal(store_event_oldest_at(&f->store).ns, 100 * NS_PER_S);
}

static void log__keeps_a_bounded_number_of_events(void **state)
{
    struct store_fixture *f = *state;
    enum { PER_BLOCK = 3000, BLOCKS = 60, LOOK_EVERY = 5 };
    for (unsigned i = 1; i <= BLOCKS; i++) {
        write_block(f, i, PER_BLOCK);
        if (i % LOOK_EVERY != 0) {
            continue;
        }
        struct seen s = read_after(f, 0);
        uint64_t all = (uint64_t)i * PER_BLOCK;
        assert_int_equal(s.last, all);
        assert_int_equal(f->store.meta.oldest_event, s.first);
        /* At least the promised number, and only a few blocks more. */
        assert_true(s.count >= (all < LIMIT_EVENTS_KEPT ? all : LIMIT_EVENTS_KEPT));
        assert_true(s.count < LIMIT_EVENTS_KEPT + 3 * PER_BLOCK);
        if (i == BLOCKS / 2) {
            store_fixture_reopen(f);
        }
    }
}

static void log__keeps_a_block_that_is_larger_than_the_limit(void **state)
{
    struct store_fixture *f = *state;
    write_block(f, 1, 10);
    write_block(f, 2, LIMIT_EVENTS_KEPT + 50000);
    struct seen s = read_after(f, 0);
    assert_int_equal(s.last, LIMIT_EVENTS_KEPT + 50010);
    write_block(f, 3, 10);
    s = read_after(f, LIMIT_EVENTS_KEPT + 50000);
    assert_int_equal(s.count, 20);
}

/* Blocks written since the start are known. Older blocks must be searched for. */
static void log__is_cut_at_the_same_place_after_a_restart(void **state)
{
    struct store_fixture *restarted = *state;
    struct store_fixture *on = NULL;
    assert_int_equal(store_fixture_setup((void **)&on), 0);
    struct rng rng = rng_from(7);
    enum { BLOCKS = 400, STEP = 500, STEPS = 4 }; /* the cut is often at the beginning of a block */
    for (unsigned i = 1; i <= BLOCKS; i++) {
        unsigned count = STEP * (1 + (unsigned)rng_below(&rng, STEPS));
        if (rng_below(&rng, 20) == 0) {
            store_fixture_reopen(restarted);
        }
        write_block(restarted, i, count);
        write_block(on, i, count);
        if (rng_below(&rng, 50) == 0) {
            int64_t before = (int64_t)i - 10;
            assert_int_equal(trim(restarted, before).ns, trim(on, before).ns);
        }
        assert_int_equal(restarted->store.meta.oldest_event, on->store.meta.oldest_event);
    }
    struct seen s = read_after(on, 0);
    assert_int_equal(s.first, on->store.meta.oldest_event);
    assert_true(on->store.event_starts.len <= s.count * sizeof(uint64_t));
    assert_int_equal(store_fixture_teardown((void **)&on), 0);
}

struct copy {
    struct store_event_block block;
    struct wall at;
};

static bool copy_event(void *data, const struct store_event *e)
{
    struct copy *c = data;
    c->at = e->at;
    store_event_add(&c->block, e);
    return true;
}

/* False if the bytes are not a block. Otherwise checks that the same bytes result when the events
 * are encoded. */
static bool encodes_again(struct str bytes)
{
    struct copy c = {0};
    struct buf again;
    store_event_block_init(&c.block);
    buf_init(&again, 1 << 20);
    bool ok = store_event_each(1, bytes, copy_event, &c);
    if (ok && c.block.count > 0) {
        store_event_encode(&c.block, c.at, &again);
        assert_true(str_eq(buf_str(&again), bytes));
    }
    buf_deinit(&again);
    store_event_block_deinit(&c.block);
    return ok;
}

static void each__refuses_what_was_never_written(void **state)
{
    (void)state;
    struct rng rng = rng_from(31);
    struct store_event_block b;
    struct buf bytes;
    store_event_block_init(&b);
    buf_init(&bytes, 1 << 20);
    for (unsigned i = 0; i < SAMPLES_EVENTS; i++) {
        struct store_event e = samples_event(i, 0, (struct wall){0});
        store_event_add(&b, &e);
    }
    store_event_encode(&b, (struct wall){.ns = 77}, &bytes);
    store_event_block_deinit(&b);
    assert_true(encodes_again(buf_str(&bytes)));
    for (size_t len = 0; len < bytes.len; len++) {
        assert_false(encodes_again(str_from(bytes.ptr, len)));
    }
    for (unsigned i = 0; i < 20000; i++) {
        size_t at = rng_below(&rng, bytes.len);
        char old = bytes.ptr[at];
        bytes.ptr[at] = (char)(uint8_t)rng_next(&rng);
        (void)encodes_again(buf_str(&bytes));
        bytes.ptr[at] = old;
    }
    bytes.ptr[0] = 2; /* a later version */
    assert_false(encodes_again(buf_str(&bytes)));
    bytes.ptr[0] = 1;
    buf_add_char(&bytes, '\0');
    assert_false(encodes_again(buf_str(&bytes)));
    buf_deinit(&bytes);
}

static struct store_fixture *failing;

static void trim_failing(void)
{
    (void)store_event_trim(&failing->store, (struct wall){.ns = 1});
}

static void read_failing(void)
{
    (void)read_after(failing, 0);
}

/* A walk that fails must not be mistaken for the end of the log. */
static void read_failures__stop_the_process(void **state)
{
    struct store_fixture *f = *state;
    write_block(f, 1, 3);
    failing = f;
    fault_arm(FAULT_KV_READ, 1);
    expect_abort(trim_failing);
    expect_abort(read_failing);
}

TEST_GROUP(store_event, cmocka_unit_test(words__are_those_of_the_contract),
           STORE_TEST(block__keeps_every_type_with_its_details),
           STORE_TEST(write__of_nothing_writes_nothing),
           STORE_TEST(read__begins_in_the_middle_of_a_block),
           STORE_TEST(read__stops_when_it_is_told),
           STORE_TEST(trim__takes_blocks_older_than_the_moment),
           STORE_TEST(trim__of_everything_never_gives_a_number_twice),
           STORE_TEST(trim__leaves_what_the_same_entry_writes),
           STORE_TEST(log__keeps_a_bounded_number_of_events),
           STORE_TEST(log__keeps_a_block_that_is_larger_than_the_limit),
           STORE_TEST(log__is_cut_at_the_same_place_after_a_restart),
           cmocka_unit_test(each__refuses_what_was_never_written),
           STORE_TEST(read_failures__stop_the_process));
