/*
 * Readers of the event log on one thread: each receives every event once and in order, even if
 * other readers are blocked.
 */
#include "hub/hub.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "lib/engine_kit.h"
#include "lib/test.h"

enum { FRAMES_MAX = 4000 };

/* A reader and what it has received. Belongs to the client's thread, like the hub. */
struct reader {
    struct hub_reader r;
    struct fixture *f;
    unsigned room; /* frames that it accepts before it returns FULL */
    unsigned count;
    unsigned wanted; /* posts f->done when count reaches this */
    bool cut;
    bool forbidden, refused;
    uint64_t ids[FRAMES_MAX];
};

struct fixture {
    struct engine_kit *kit;
    struct hub *hub;
    struct hub_counts counts;
    uv_sem_t done;
    struct reader *readers[4];
    unsigned reader_count;
    unsigned target; /* reader of a call on the client's thread */
    unsigned room;
};

static enum http_write take(struct hub_reader *r, struct str frame)
{
    struct reader *reader = CONTAINER_OF(r, struct reader, r);
    int64_t id;
    if (reader->room == 0) {
        return HTTP_WRITE_FULL;
    }
    const char *line_end = memchr(frame.ptr, '\n', frame.len);
    CHECK(str_to_i64(str_from(frame.ptr + 4, (size_t)(line_end - frame.ptr) - 4), &id));
    CHECK(reader->count < FRAMES_MAX);
    reader->ids[reader->count++] = (uint64_t)id;
    reader->room--;
    if (reader->count == reader->wanted) {
        uv_sem_post(&reader->f->done);
    }
    return HTTP_WRITE_OK;
}

static void cut(struct hub_reader *r)
{
    struct reader *reader = CONTAINER_OF(r, struct reader, r);
    reader->cut = true;
    uv_sem_post(&reader->f->done);
}

static bool may_read(struct hub_reader *r)
{
    return !CONTAINER_OF(r, struct reader, r)->forbidden;
}

static void refused(struct hub_reader *r)
{
    struct reader *reader = CONTAINER_OF(r, struct reader, r);
    reader->refused = true;
    uv_sem_post(&reader->f->done);
}

static void open_hub(void *data)
{
    struct fixture *f = data;
    f->hub = hub_open(f->kit->engine, &f->kit->loop, &f->kit->box, &f->counts);
}

static void close_hub(void *data)
{
    struct fixture *f = data;
    for (unsigned i = 0; i < f->reader_count; i++) {
        if (!f->readers[i]->cut && !f->readers[i]->refused) {
            hub_leave(f->hub, &f->readers[i]->r);
        }
    }
    hub_close(f->hub);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    CHECK(f != NULL);
    CHECK(uv_sem_init(&f->done, 0) == 0);
    f->kit = engine_kit_open(NULL);
    engine_kit_on_client(f->kit, open_hub, f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    engine_kit_on_client(f->kit, close_hub, f);
    engine_kit_close(f->kit);
    for (unsigned i = 0; i < f->reader_count; i++) {
        free(f->readers[i]);
    }
    uv_sem_destroy(&f->done);
    free(f);
    return 0;
}

static void join_last(void *data)
{
    struct fixture *f = data;
    hub_join(f->hub, &f->readers[f->reader_count - 1]->r);
}

static struct reader *join(struct fixture *f, unsigned room, unsigned wanted)
{
    struct reader *reader = calloc(1, sizeof *reader);
    CHECK(reader != NULL);
    CHECK(f->reader_count < COUNT_OF(f->readers));
    reader->f = f;
    reader->room = room;
    reader->wanted = wanted;
    reader->r = (struct hub_reader){.match = {.types = EVENT_MATCH_ALL},
                                    .named = true,
                                    .next = 1,
                                    .write = take,
                                    .cut = cut,
                                    .may_read = may_read,
                                    .refused = refused};
    f->readers[f->reader_count++] = reader;
    return reader;
}

static void start(struct fixture *f)
{
    engine_kit_on_client(f->kit, join_last, f);
}

static void make_room(void *data)
{
    struct fixture *f = data;
    f->readers[f->target]->room = f->room;
    hub_writable(f->hub, &f->readers[f->target]->r);
}

static void give_room(struct fixture *f, unsigned reader, unsigned room)
{
    f->target = reader;
    f->room = room;
    engine_kit_on_client(f->kit, make_room, f);
}

static void add_events(struct fixture *f, unsigned count)
{
    struct command_new *jobs = calloc(count, sizeof *jobs);
    CHECK(jobs != NULL);
    for (unsigned i = 0; i < count; i++) {
        jobs[i] = engine_kit_new_job(i % 2 == 0 ? "even" : "odd");
    }
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = count}};
    (void)engine_kit_do(f->kit, &c);
    free(jobs);
}

static void expect_ids(const struct reader *r, unsigned count, uint64_t first, uint64_t step)
{
    assert_int_equal(r->count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(r->ids[i], first + i * step);
    }
}

static void hub__gives_old_and_new_events_in_order(void **state)
{
    struct fixture *f = *state;
    add_events(f, 1500); /* more than a slice */
    struct reader *r = join(f, UINT32_MAX, 1500);
    start(f);
    uv_sem_wait(&f->done);
    r->wanted = 1600;
    add_events(f, 99);
    add_events(f, 1);
    uv_sem_wait(&f->done);
    expect_ids(r, 1600, 1, 1);
    assert_int_equal(atomic_load(&f->counts.events), 1600);
}

static void hub__passes_over_what_a_filter_leaves_out(void **state)
{
    struct fixture *f = *state;
    static const struct str queues[] = {{"odd", 3}};
    struct reader *r = join(f, UINT32_MAX, 500);
    r->r.match.by_queue = true;
    r->r.match.queues = queues;
    r->r.match.queue_count = 1;
    start(f);
    add_events(f, 1000);
    uv_sem_wait(&f->done);
    expect_ids(r, 500, 2, 2);
}

static void hub__waits_for_one_without_holding_up_the_others(void **state)
{
    struct fixture *f = *state;
    struct reader *slow = join(f, 10, 10);
    start(f);
    struct reader *quick = join(f, UINT32_MAX, 1000);
    start(f);
    add_events(f, 1000);
    uv_sem_wait(&f->done);
    uv_sem_wait(&f->done);
    expect_ids(quick, 1000, 1, 1);
    expect_ids(slow, 10, 1, 1);
    give_room(f, 0, 5);
    expect_ids(slow, 15, 1, 1);
    slow->wanted = 1000;
    give_room(f, 0, 100000);
    uv_sem_wait(&f->done);
    expect_ids(slow, 1000, 1, 1);
}

/* If an event has two frames, there may be room for only the first. */
static void hub__repeats_no_half_of_an_event(void **state)
{
    struct fixture *f = *state;
    struct reader *r = join(f, 3, 3);
    r->r.message = true;
    start(f);
    add_events(f, 5);
    uv_sem_wait(&f->done);
    for (unsigned i = 0; i < 7; i++) {
        give_room(f, 0, 1);
    }
    assert_int_equal(r->count, 10);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(r->ids[i], 1 + i / 2);
    }
}

static void hub__cuts_one_that_takes_nothing_while_the_log_grows(void **state)
{
    struct fixture *f = *state;
    struct reader *r = join(f, 1, 1);
    start(f);
    add_events(f, 100);
    uv_sem_wait(&f->done);
    for (unsigned i = 0; i <= LIMIT_STREAM_BEHIND / 10000; i++) {
        add_events(f, 10000);
    }
    uv_sem_wait(&f->done);
    assert_true(r->cut);
    assert_int_equal(atomic_load(&f->counts.cut), 1);
    expect_ids(r, 1, 1, 1);
}

static void forbid(void *data)
{
    struct fixture *f = data;
    f->readers[f->target]->forbidden = true;
}

static void hub__gives_nothing_to_one_that_may_no_longer_read(void **state)
{
    struct fixture *f = *state;
    struct reader *first = join(f, UINT32_MAX, 10);
    start(f);
    struct reader *second = join(f, UINT32_MAX, 10);
    start(f);
    add_events(f, 10);
    uv_sem_wait(&f->done);
    uv_sem_wait(&f->done);
    f->target = 1;
    engine_kit_on_client(f->kit, forbid, f);
    first->wanted = 20;
    add_events(f, 10);
    uv_sem_wait(&f->done);
    uv_sem_wait(&f->done);
    assert_true(second->refused);
    expect_ids(second, 10, 1, 1);
    expect_ids(first, 20, 1, 1);
    assert_int_equal(atomic_load(&f->counts.cut), 0);
    assert_int_equal(atomic_load(&f->counts.ended), 1);
}

#define HUB_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
TEST_GROUP(hub, HUB_TEST(hub__gives_old_and_new_events_in_order),
           HUB_TEST(hub__passes_over_what_a_filter_leaves_out),
           HUB_TEST(hub__waits_for_one_without_holding_up_the_others),
           HUB_TEST(hub__repeats_no_half_of_an_event),
           HUB_TEST(hub__gives_nothing_to_one_that_may_no_longer_read),
           HUB_TEST(hub__cuts_one_that_takes_nothing_while_the_log_grows));
