/*
 * Notifications of new events: one for any number of events, never none, and none after closing.
 */
#include "base/check.h"
#include "lib/engine_kit.h"
#include "lib/test.h"

struct subscriber {
    struct engine_kit *kit;
    struct engine_notifier *notifier;
    uint64_t wakes;
    uint64_t seen; /* the number that it read when it was notified */
    uv_sem_t heard;
    uv_sem_t go_on;
};

static void told(void *data)
{
    struct subscriber *s = data;
    s->wakes++;
    s->seen = engine_notifier_next(s->notifier);
    uv_sem_post(&s->heard);
}

static void open_notifier(void *data)
{
    struct subscriber *s = data;
    s->notifier = engine_notifier_open(s->kit->engine, &s->kit->box, told, s);
    engine_notifier_listen(s->notifier, true);
}

static void stop_listening(void *data)
{
    struct subscriber *s = data;
    engine_notifier_listen(s->notifier, false);
}

static void close_notifier(void *data)
{
    struct subscriber *s = data;
    engine_notifier_close(s->notifier);
}

static struct subscriber subscribe(struct engine_kit *k)
{
    struct subscriber s = {.kit = k};
    CHECK(uv_sem_init(&s.heard, 0) == 0);
    CHECK(uv_sem_init(&s.go_on, 0) == 0);
    return s;
}

static void nothing(void *data)
{
    (void)data;
}

/* Wait until the client's thread has handled every wake of the commands that are done, no matter
 * whether the core thread posted it before or after their results. */
static void wait_for_wakes(struct engine_kit *k)
{
    (void)engine_kit_status(k); /* the core thread has posted them */
    engine_kit_on_client(k, nothing, NULL);
}

static int setup(void **state)
{
    *state = engine_kit_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    engine_kit_close(*state);
    return 0;
}

static void notifier__tells_where_the_log_ends(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s = subscribe(k);
    (void)engine_kit_enqueue(k, "q");
    engine_kit_on_client(k, open_notifier, &s);
    assert_int_equal(engine_notifier_next(s.notifier), 2);
    for (uint64_t i = 0; i < 20; i++) {
        (void)engine_kit_enqueue(k, "q");
        do {
            uv_sem_wait(&s.heard);
        } while (s.seen < 3 + i);
        assert_int_equal(engine_notifier_next(s.notifier), 3 + i);
    }
    engine_kit_on_client(k, stop_listening, &s);
    wait_for_wakes(k);
    uint64_t wakes = s.wakes;
    (void)engine_kit_enqueue(k, "q");
    wait_for_wakes(k);
    assert_int_equal(engine_notifier_next(s.notifier), 23);
    assert_int_equal(s.wakes, wakes);
    engine_kit_on_client(k, close_notifier, &s);
    (void)engine_kit_enqueue(k, "q");
    wait_for_wakes(k);
    assert_int_equal(s.wakes, wakes);
    uv_sem_destroy(&s.heard);
    uv_sem_destroy(&s.go_on);
}

static void notifier__tells_of_a_bulk_operation(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s = subscribe(k);
    engine_kit_on_client(k, open_notifier, &s);
    engine_kit_on_client(k, stop_listening, &s);
    const struct result *r = engine_kit_do(
        k, &(struct command){.type = COMMAND_BULK_PUT,
                             .bulk_put = {.action = COMMAND_JOB_HOLD, .filter = STR("{}")}});
    assert_int_equal(r->code, ERR_OK);
    wait_for_wakes(k);
    assert_int_equal(s.wakes, 1);
    engine_kit_on_client(k, close_notifier, &s);
    uv_sem_destroy(&s.heard);
    uv_sem_destroy(&s.go_on);
}

/* The subscriber's thread is busy while entries are applied. Only one message is queued for it. */
static void block_until_free(void *data)
{
    struct subscriber *s = data;
    uv_sem_post(&s->heard);
    uv_sem_wait(&s->go_on);
}

static void block_main(void *data)
{
    struct subscriber *s = data;
    engine_kit_on_client(s->kit, block_until_free, s);
}

static void count_op(struct engine_op *op)
{
    uv_sem_post(op->data);
}

/* Enqueue and wait without the client's thread. */
static void enqueue_and_wait(struct engine_kit *k, uv_sem_t *done)
{
    struct engine_op op;
    struct command_new job = engine_kit_new_job("q");
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
    struct err err;
    engine_op_init(&op);
    op.done = count_op;
    op.data = done;
    assert_int_equal(engine_op_prepare(k->engine, &op, &c, &err), ERR_OK);
    engine_submit(k->engine, &op);
    uv_sem_wait(done);
    engine_op_deinit(&op);
}

static void notifier__tells_once_of_many(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s = subscribe(k);
    uv_sem_t done;
    uv_thread_t blocker;
    CHECK(uv_sem_init(&done, 0) == 0);
    engine_kit_on_client(k, open_notifier, &s);
    CHECK(uv_thread_create(&blocker, block_main, &s) == 0);
    uv_sem_wait(&s.heard);
    for (unsigned i = 0; i < 50; i++) {
        enqueue_and_wait(k, &done);
    }
    uv_sem_post(&s.go_on);
    CHECK(uv_thread_join(&blocker) == 0);
    wait_for_wakes(k);
    assert_int_equal(s.wakes, 1);
    assert_int_equal(s.seen, 51);
    engine_kit_on_client(k, close_notifier, &s);
    uv_sem_destroy(&done);
    uv_sem_destroy(&s.heard);
    uv_sem_destroy(&s.go_on);
}

static void close_when_free(void *data)
{
    block_until_free(data);
    close_notifier(data);
}

static void close_main(void *data)
{
    struct subscriber *s = data;
    engine_kit_on_client(s->kit, close_when_free, s);
}

/* The subscriber's thread closes the notifier while a wake is in its mailbox. */
static void notifier__tells_nothing_after_closing(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s = subscribe(k);
    uv_sem_t done;
    uv_thread_t closer;
    CHECK(uv_sem_init(&done, 0) == 0);
    engine_kit_on_client(k, open_notifier, &s);
    CHECK(uv_thread_create(&closer, close_main, &s) == 0);
    uv_sem_wait(&s.heard);
    enqueue_and_wait(k, &done);
    (void)engine_kit_status(k); /* the wake is in the mailbox */
    uv_sem_post(&s.go_on);
    CHECK(uv_thread_join(&closer) == 0);
    enqueue_and_wait(k, &done);
    wait_for_wakes(k);
    assert_int_equal(s.wakes, 0);
    uv_sem_destroy(&done);
    uv_sem_destroy(&s.heard);
    uv_sem_destroy(&s.go_on);
}

TEST_GROUP(engine_notifier,
           cmocka_unit_test_setup_teardown(notifier__tells_where_the_log_ends, setup, teardown),
           cmocka_unit_test_setup_teardown(notifier__tells_of_a_bulk_operation, setup, teardown),
           cmocka_unit_test_setup_teardown(notifier__tells_once_of_many, setup, teardown),
           cmocka_unit_test_setup_teardown(notifier__tells_nothing_after_closing, setup, teardown));
