#include "event/event_pages.h"

#include "base/limits.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

struct fixture {
    struct tmpdir dir;
    struct store store;
    struct event_pages *pages;
};

static int setup(void **state)
{
    static struct fixture f;
    struct err err;
    f = (struct fixture){.dir = tmpdir_new_in_memory(), .pages = event_pages_new(16 << 20)};
    if (store_open(&f.store, tmpdir_path(&f.dir, "state").z, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    event_pages_free(f->pages);
    store_close(&f->store);
    tmpdir_remove(&f->dir);
    return 0;
}

/* Add one entry with count events. The text of each is its number. */
static void append(struct fixture *f, unsigned count)
{
    struct store_event_block block;
    store_event_block_init(&block);
    f->store.meta.now.ns++;
    for (unsigned i = 0; i < count; i++) {
        char text[24];
        uint64_t seq = f->store.meta.next_event + i;
        int n = snprintf(text, sizeof text, "%llu", (unsigned long long)seq);
        struct store_event e = {.type = STORE_EVENT_HELD,
                                .queue = seq % 3 == 0 ? STR("a") : STR("b"),
                                .text = str_from(text, (size_t)n)};
        store_event_add(&block, &e);
    }
    store_event_write(&f->store, &block);
    f->store.meta.applied_index++;
    store_commit(&f->store);
    store_event_block_deinit(&block);
}

/* Read from seq to the end. Every event must occur once and have its content. */
static void walk(struct fixture *f, uint64_t seq)
{
    uint64_t next = f->store.meta.next_event;
    while (seq < next) {
        struct event_page *page = event_pages_get(f->pages, &f->store, seq, next);
        assert_non_null(page);
        assert_in_range(seq, page->first, page->first + page->count - 1);
        for (uint32_t i = (uint32_t)(seq - page->first); i < page->count; i++, seq++) {
            const struct store_event *e = &page->events[i];
            char want[64];
            assert_int_equal(e->seq, seq);
            expect_str(e->queue, seq % 3 == 0 ? STR("a") : STR("b"));
            int n = snprintf(want, sizeof want, "id: %llu\n", (unsigned long long)seq);
            struct str frame =
                event_pages_frame(page, i, i % 2 == 0 ? EVENT_JSON_NAMED : EVENT_JSON_MESSAGE);
            assert_true(str_starts_with(frame, str_from(want, (size_t)n)));
            expect_str(str_from_offset(frame, frame.len - 2), STR("\n\n"));
        }
    }
    assert_int_equal(seq, next);
}

static void pages__hold_every_event_whatever_the_blocks(void **state)
{
    struct fixture *f = *state;
    static const unsigned sizes[] = {1, 126, 1, 1, 127, 128, 129, 300, 5, 5, 5};
    for (unsigned i = 0; i < COUNT_OF(sizes); i++) {
        append(f, sizes[i]);
        walk(f, f->store.meta.next_event - sizes[i]); /* the newest page grows */
        walk(f, 1);
    }
    event_pages_free(f->pages);
    f->pages = event_pages_new(16 << 20);
    walk(f, 200); /* from the middle of a block */
}

static void pages__stay_within_their_limit(void **state)
{
    struct fixture *f = *state;
    event_pages_free(f->pages);
    f->pages = event_pages_new(1); /* one page at a time */
    append(f, 20000);
    walk(f, 1);
    walk(f, 19000);
}

static void pages__say_when_an_event_is_no_longer_kept(void **state)
{
    struct fixture *f = *state;
    append(f, 100);
    walk(f, 1); /* page 0 is kept, half full */
    for (unsigned i = 0; i < 12; i++) {
        append(f, 10000);
    }
    uint64_t oldest = f->store.meta.oldest_event;
    uint64_t next = f->store.meta.next_event;
    assert_in_range(oldest, next - LIMIT_EVENTS_KEPT - 10000 - 4096, next - 1);
    assert_null(event_pages_get(f->pages, &f->store, oldest - 1, next));
    assert_null(event_pages_get(f->pages, &f->store, 101, next));
    walk(f, oldest);
}

/* A page that began before the log was trimmed in the middle of the page. */
static void pages__begin_again_after_a_gap(void **state)
{
    struct fixture *f = *state;
    append(f, 20);
    walk(f, 1);
    append(f, 20);
    append(f, 20);
    /* Remove blocks that begin before 41. */
    f->store.meta.now.ns++;
    assert_int_equal(store_event_trim(&f->store, (struct wall){.ns = 3}).ns, 3);
    f->store.meta.applied_index++;
    store_commit(&f->store);
    assert_int_equal(f->store.meta.oldest_event, 41);
    uint64_t next = f->store.meta.next_event;
    assert_null(event_pages_get(f->pages, &f->store, 21, next));
    walk(f, 41);
}

#define PAGES_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
TEST_GROUP_ONE_THREAD(event_pages, NULL, NULL,
                      PAGES_TEST(pages__hold_every_event_whatever_the_blocks),
                      PAGES_TEST(pages__stay_within_their_limit),
                      PAGES_TEST(pages__say_when_an_event_is_no_longer_kept),
                      PAGES_TEST(pages__begin_again_after_a_gap));
