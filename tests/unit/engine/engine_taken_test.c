/*
 * Notifications of jobs that are taken from their workers: each once, with or without events, and
 * never before the result of the claim.
 */
#include "engine/engine_taken.h"

#include "base/check.h"
#include "lib/engine_kit.h"
#include "lib/test.h"

enum { TAKEN_MAX = 16 };

struct subscriber {
    struct engine_kit *kit;
    struct engine_taken *taken;
    const struct engine_kit_op *claim; /* to check that it had its result before the notification */
    struct id jobs[TAKEN_MAX];
    bool answered[TAKEN_MAX];
    unsigned count;
    uv_sem_t heard;
};

static void told(void *data, struct id job, uint64_t lease_token)
{
    struct subscriber *s = data;
    CHECK(lease_token > 0);
    CHECK(s->count < TAKEN_MAX);
    s->answered[s->count] = s->claim != NULL && s->claim->done_count > 0;
    s->jobs[s->count++] = job;
    uv_sem_post(&s->heard);
}

static void open_taken(void *data)
{
    struct subscriber *s = data;
    s->taken = engine_taken_open(s->kit->engine, &s->kit->box, told, s);
}

static void close_taken(void *data)
{
    struct subscriber *s = data;
    engine_taken_close(s->taken);
}

static void without_events(struct engine_config *config)
{
    config->lifecycle_events = false;
}

static int setup(void **state)
{
    *state = engine_kit_open(without_events);
    return 0;
}

static int teardown(void **state)
{
    engine_kit_close(*state);
    return 0;
}

static void taken__tells_what_was_not_the_workers_doing(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s = {.kit = k};
    CHECK(uv_sem_init(&s.heard, 0) == 0);
    engine_kit_on_client(k, open_taken, &s);
    struct id jobs[6];
    for (unsigned i = 0; i < 6; i++) {
        jobs[i] = engine_kit_enqueue(k, "q");
    }
    for (unsigned i = 0; i < 5; i++) {
        assert_true(id_eq(engine_kit_claim(k, "q"), jobs[i]));
    }
    engine_kit_ack(k, jobs[0]);
    engine_kit_fail(k, jobs[1]);
    engine_kit_job(k, COMMAND_JOB_CANCEL, jobs[5]); /* no worker had it */
    assert_int_equal(s.count, 0);
    engine_kit_job(k, COMMAND_JOB_CANCEL, jobs[2]);
    engine_kit_job(k, COMMAND_JOB_HOLD, jobs[3]);
    engine_kit_job(k, COMMAND_JOB_DELETE, jobs[4]);
    for (unsigned i = 0; i < 3; i++) {
        uv_sem_wait(&s.heard);
    }
    engine_kit_job(k, COMMAND_JOB_DELETE, jobs[3]); /* it was taken before */
    engine_kit_on_client(k, close_taken, &s);
    assert_int_equal(s.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(id_eq(s.jobs[i], jobs[2 + i]));
    }
    uv_sem_destroy(&s.heard);
}

static void taken__comes_behind_the_claim_of_the_same_entry(void **state)
{
    struct engine_kit *k = *state;
    struct subscriber s = {.kit = k};
    struct engine_kit_op claim, cancel;
    struct str queue = STR("q");
    struct id job = engine_kit_enqueue(k, "q");
    struct command take = engine_kit_claim_command(&queue, 1);
    struct command stop = {.type = COMMAND_JOBS,
                           .jobs = {.action = COMMAND_JOB_CANCEL, .ids = &job, .count = 1}};
    CHECK(uv_sem_init(&s.heard, 0) == 0);
    engine_kit_on_client(k, open_taken, &s);
    engine_kit_op_init(&claim, k);
    engine_kit_op_init(&cancel, k);
    s.claim = &claim;
    engine_kit_hold(k);
    engine_kit_start(&claim, &take, 0);
    engine_kit_start(&cancel, &stop, 0);
    engine_kit_release(k);
    engine_kit_wait(&claim);
    engine_kit_wait(&cancel);
    assert_int_equal(claim.op.index, cancel.op.index);
    assert_int_equal(claim.result.count, 1);
    uv_sem_wait(&s.heard);
    engine_kit_on_client(k, close_taken, &s);
    assert_int_equal(s.count, 1);
    assert_true(id_eq(s.jobs[0], job));
    assert_true(s.answered[0]);
    engine_kit_op_deinit(&claim);
    engine_kit_op_deinit(&cancel);
    uv_sem_destroy(&s.heard);
}

TEST_GROUP(engine_taken,
           cmocka_unit_test_setup_teardown(taken__tells_what_was_not_the_workers_doing, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(taken__comes_behind_the_claim_of_the_same_entry, setup,
                                           teardown));
