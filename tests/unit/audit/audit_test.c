/*
 * The audit log: every change is written, refusals are limited and omitted entries are counted, and
 * a reader waits for the entries noted before.
 */
#include "audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/fault.h"
#include "lib/engine_kit.h"
#include "lib/test.h"
#include "store/store.h"

enum { REFUSED_AT_ONCE = 100, WAITING_MAX = 4096, SPACE_BYTES_MIN = 64 << 20 };

struct fixture {
    struct engine_kit *kit;
    struct audit *audit;
    struct audit_reader reader;
    uv_sem_t told;
    bool waits;
};

static int setup_engine(void **state, void (*configure)(struct engine_config *config))
{
    struct fixture *f = calloc(1, sizeof *f);
    CHECK(f != NULL);
    f->kit = engine_kit_open(configure);
    f->audit = audit_new(f->kit->engine, 0);
    CHECK(uv_sem_init(&f->told, 0) == 0);
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return setup_engine(state, NULL);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    audit_free(f->audit);
    engine_kit_close(f->kit);
    uv_sem_destroy(&f->told);
    free(f);
    return 0;
}

static void tell(struct msg *m)
{
    uv_sem_post(&CONTAINER_OF(m, struct fixture, reader.msg)->told);
}

static void ask(void *data)
{
    struct fixture *f = data;
    f->reader = (struct audit_reader){.msg = {.deliver = tell}, .mailbox = &f->kit->box};
    f->waits = audit_wait(f->audit, &f->reader);
}

/* Request all entries noted so far. False if they are already written. */
static bool must_wait(struct fixture *f)
{
    engine_kit_on_client(f->kit, ask, f);
    return f->waits;
}

static void wait_written(struct fixture *f)
{
    if (must_wait(f)) {
        uv_sem_wait(&f->told);
    }
}

static void note(struct fixture *f, unsigned count, bool refused)
{
    struct store_audit entry = {
        .method = STR("POST"), .path = STR("/api/v1/x"), .status = refused ? 403 : 200};
    for (unsigned i = 0; i < count; i++) {
        audit_note(f->audit, &entry, refused);
    }
}

struct sums {
    unsigned entries;
    unsigned left_out;
};

static void add_up(void *data, struct str key, struct str value)
{
    struct sums *s = data;
    struct store_audit entry;
    (void)key;
    assert_true(store_access_decode_audit(value, &entry));
    s->entries++;
    s->left_out += entry.suppressed;
}

static struct sums stored(struct fixture *f)
{
    struct sums s = {0};
    store_each(engine_store(f->kit->engine), STORE_KIND_AUDIT, add_up, &s);
    return s;
}

static void audit__writes_every_change_down(void **state)
{
    struct fixture *f = *state;
    note(f, 1000, false);
    wait_written(f);
    assert_int_equal(stored(f).entries, 1000);
    assert_int_equal(stored(f).left_out, 0);
}

static void audit__counts_the_refusals_that_it_leaves_out(void **state)
{
    struct fixture *f = *state;
    note(f, 100000, true);
    note(f, 1, false); /* changes are not limited by refusals */
    wait_written(f);
    struct sums s = stored(f);
    assert_in_range(s.entries, REFUSED_AT_ONCE + 1, 50000);
    assert_int_equal(s.entries + s.left_out, 100001);
}

static void audit__bounds_what_waits(void **state)
{
    struct fixture *f = *state;
    engine_kit_hold(f->kit);
    note(f, 10000, false);
    engine_kit_release(f->kit);
    wait_written(f);
    note(f, 1, false);
    wait_written(f);
    struct sums s = stored(f);
    assert_in_range(s.entries, WAITING_MAX, 10001);
    assert_int_equal(s.entries + s.left_out, 10001);
}

/* Clients choose the length of the texts, and entries of other clients share the command. */
static void audit__cuts_texts_that_are_too_long(void **state)
{
    struct fixture *f = *state;
    static char text[4096];
    memset(text, 'X', sizeof text);
    struct str too_long = str_from(text, sizeof text);
    const struct store_audit changes[] = {
        {.ns = too_long},
        {.principal = too_long},
        {.role = too_long},
        {.path = too_long},
        {.query = too_long},
        {.method = too_long},
        {.ns = too_long,
         .principal = too_long,
         .role = too_long,
         .path = too_long,
         .query = too_long,
         .method = too_long},
    };
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        engine_kit_hold(f->kit);
        note(f, 1, false); /* in progress, so that the following entries share a command */
        note(f, 100, false);
        for (unsigned n = 0; n < 100; n++) {
            audit_note(f->audit, &changes[i], false);
        }
        engine_kit_release(f->kit);
        wait_written(f);
        assert_int_equal(stored(f).entries, 201 * (i + 1));
    }
    assert_int_equal(stored(f).left_out, 0);
}

static void one_pending(struct engine_config *config)
{
    config->pending_ops_max = 1;
}

static int setup_one_pending(void **state)
{
    return setup_engine(state, one_pending);
}

static void audit__loses_nothing_to_an_overload(void **state)
{
    struct fixture *f = *state;
    struct engine_kit_op busy;
    struct command_new job = engine_kit_new_job("q");
    struct command enqueue = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
    engine_kit_op_init(&busy, f->kit);
    engine_kit_hold(f->kit);
    engine_kit_start(&busy, &enqueue, 0); /* while it is pending, others are refused */
    note(f, 1000, false);
    engine_kit_release(f->kit);
    engine_kit_wait(&busy);
    engine_kit_op_deinit(&busy);
    wait_written(f);
    assert_int_equal(stored(f).entries, 1000);
    assert_int_equal(stored(f).left_out, 0);
}

static void some_space(struct engine_config *config)
{
    config->free_bytes_min = SPACE_BYTES_MIN;
}

static int setup_some_space(void **state)
{
    fault_arm_value(FAULT_DISK_SPACE_LOW, (uint64_t)1 << 40);
    return setup_engine(state, some_space);
}

static int teardown_some_space(void **state)
{
    fault_reset();
    return teardown(state);
}

/* Simulate this much free disk space, and wait until the engine has measured it. */
static void set_free(struct fixture *f, uint64_t bytes)
{
    struct engine_status s;
    fault_arm_value(FAULT_DISK_SPACE_LOW, bytes);
    do {
        engine_status(f->kit->engine, &s); /* waits for the core thread */
    } while (s.space.seen.free_bytes != bytes);
}

/* On a full disk jobs can still be deleted, but audit entries cannot be written. */
static void audit__counts_what_could_not_be_written(void **state)
{
    struct fixture *f = *state;
    audit_left_out(f->audit, 7);
    set_free(f, 1 << 20);
    note(f, 10, false);
    wait_written(f);
    assert_int_equal(stored(f).entries, 0);
    set_free(f, (uint64_t)1 << 40);
    note(f, 1, false);
    wait_written(f);
    assert_int_equal(stored(f).entries, 1);
    assert_int_equal(stored(f).left_out, 17);
}

static void audit__lets_a_reader_wait_for_what_came_before_it(void **state)
{
    struct fixture *f = *state;
    assert_false(must_wait(f));
    engine_kit_hold(f->kit);
    note(f, 1, false);
    assert_true(must_wait(f));
    assert_int_equal(uv_sem_trywait(&f->told), UV_EAGAIN);
    engine_kit_release(f->kit);
    uv_sem_wait(&f->told);
    assert_int_equal(stored(f).entries, 1);
}

static void audit__forgets_a_reader_that_gave_up(void **state)
{
    struct fixture *f = *state;
    engine_kit_hold(f->kit);
    note(f, 1, false);
    assert_true(must_wait(f));
    assert_true(audit_wait_end(f->audit, &f->reader));
    assert_false(audit_wait_end(f->audit, &f->reader));
    engine_kit_release(f->kit);
    wait_written(f);
    assert_int_equal(stored(f).entries, 1);
}

static void audit__passes_on_what_was_left_out(void **state)
{
    struct fixture *f = *state;
    uint32_t left_out = 0;
    uint32_t told = 0;
    uint32_t sum = 0;
    for (unsigned i = 0; i < 1000; i++) {
        if (audit_may_tell(f->audit, &left_out)) {
            told++;
            sum += left_out;
        }
    }
    assert_in_range(told, REFUSED_AT_ONCE, 999);
    audit_left_out(f->audit, 7);
    note(f, 1, false);
    wait_written(f);
    assert_int_equal(told + sum + stored(f).left_out, 1007);
}

#define AUDIT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
TEST_GROUP(audit, AUDIT_TEST(audit__writes_every_change_down),
           AUDIT_TEST(audit__counts_the_refusals_that_it_leaves_out),
           AUDIT_TEST(audit__bounds_what_waits), AUDIT_TEST(audit__cuts_texts_that_are_too_long),
           cmocka_unit_test_setup_teardown(audit__loses_nothing_to_an_overload, setup_one_pending,
                                           teardown),
           cmocka_unit_test_setup_teardown(audit__counts_what_could_not_be_written,
                                           setup_some_space, teardown_some_space),
           AUDIT_TEST(audit__lets_a_reader_wait_for_what_came_before_it),
           AUDIT_TEST(audit__forgets_a_reader_that_gave_up),
           AUDIT_TEST(audit__passes_on_what_was_left_out));
