/*
 * Parked claims: what wakes them, in which order, and how they end.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "lib/engine_kit.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "os/os_clock.h"

enum { LONG_MS = 600000 };

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

/* Start a claim of one job and check that it is parked. */
static void start_parked(struct engine_kit_op *o, struct engine_kit *k, const char *queue)
{
    struct str name = str_from_z(queue);
    struct command c = engine_kit_claim_command(&name, 1);
    uint64_t before = engine_kit_parked(k);
    engine_kit_op_init(o, k);
    engine_kit_start(o, &c, LONG_MS);
    assert_int_equal(engine_kit_parked(k), before + 1);
}

static void expect_claimed(struct engine_kit_op *o, struct id id)
{
    engine_kit_wait(o);
    assert_int_equal(o->op.err.code, ERR_OK);
    assert_int_equal(o->result.count, 1);
    assert_true(id_eq(o->result.items[0].id, id));
}

static void expect_empty(struct engine_kit_op *o)
{
    engine_kit_wait(o);
    assert_int_equal(o->op.err.code, ERR_OK);
    assert_int_equal(o->result.code, ERR_OK);
    assert_int_equal(o->result.count, 0);
}

/* Wakes. Each row creates a state in which a claim finds no job, and then does something that makes
 * the claim succeed. Both return the job. */

static struct id make_nothing(struct engine_kit *k)
{
    (void)k;
    return ID_NONE;
}

static struct id do_enqueue(struct engine_kit *k, struct id id)
{
    (void)id;
    return engine_kit_enqueue(k, "q");
}

static struct id make_scheduled(struct engine_kit *k)
{
    struct command_new job = engine_kit_new_job("q");
    job.job.scheduled_at = wall_add_ms(os_clock_wall(), 50);
    return engine_kit_put(k, job);
}

static struct id do_nothing(struct engine_kit *k, struct id id)
{
    (void)k;
    return id;
}

static struct id make_failed(struct engine_kit *k)
{
    struct command_new job = engine_kit_new_job("q");
    job.job.retry_base_ms = 50;
    struct id id = engine_kit_put(k, job);
    (void)engine_kit_claim(k, "q");
    engine_kit_fail(k, id);
    return id;
}

static struct id make_dead(struct engine_kit *k)
{
    struct command_new job = engine_kit_new_job("q");
    job.job.max_retries = 0;
    struct id id = engine_kit_put(k, job);
    (void)engine_kit_claim(k, "q");
    engine_kit_fail(k, id);
    assert_int_equal(engine_kit_state(k, id), JOB_DEAD);
    return id;
}

static struct id do_retry(struct engine_kit *k, struct id id)
{
    engine_kit_job(k, COMMAND_JOB_RETRY, id);
    return id;
}

static struct id make_paused(struct engine_kit *k)
{
    engine_kit_queue(k, COMMAND_QUEUE_PAUSE, "q", 0);
    return engine_kit_enqueue(k, "q");
}

static struct id do_resume(struct engine_kit *k, struct id id)
{
    engine_kit_queue(k, COMMAND_QUEUE_RESUME, "q", 0);
    return id;
}

static struct id make_full(struct engine_kit *k)
{
    engine_kit_queue(k, COMMAND_QUEUE_CONCURRENCY, "q", 1);
    struct id first = engine_kit_enqueue(k, "q");
    (void)engine_kit_enqueue(k, "q");
    assert_true(id_eq(engine_kit_claim(k, "q"), first));
    return first;
}

static struct id do_ack(struct engine_kit *k, struct id id)
{
    engine_kit_ack(k, id);
    return ID_NONE; /* any other job */
}

static struct id do_raise_limit(struct engine_kit *k, struct id id)
{
    (void)id;
    engine_kit_queue(k, COMMAND_QUEUE_CONCURRENCY, "q", 2);
    return ID_NONE; /* any other job */
}

static struct id make_throttled(struct engine_kit *k)
{
    engine_kit_queue(k, COMMAND_QUEUE_THROTTLE, "q", 100);
    (void)engine_kit_enqueue(k, "q");
    (void)engine_kit_claim(k, "q");
    return engine_kit_enqueue(k, "q");
}

static struct id make_throttled_and_empty(struct engine_kit *k)
{
    engine_kit_queue(k, COMMAND_QUEUE_THROTTLE, "q", 100);
    (void)engine_kit_enqueue(k, "q");
    (void)engine_kit_claim(k, "q");
    return ID_NONE;
}

static struct id make_throttled_for_long(struct engine_kit *k)
{
    engine_kit_queue(k, COMMAND_QUEUE_THROTTLE, "q", LONG_MS);
    (void)engine_kit_enqueue(k, "q");
    (void)engine_kit_claim(k, "q");
    return engine_kit_enqueue(k, "q");
}

static struct id do_unthrottle(struct engine_kit *k, struct id id)
{
    engine_kit_queue(k, COMMAND_QUEUE_UNTHROTTLE, "q", 0);
    return id;
}

static struct id make_held(struct engine_kit *k)
{
    struct id id = engine_kit_enqueue(k, "q");
    engine_kit_job(k, COMMAND_JOB_HOLD, id);
    return id;
}

static struct id do_approve(struct engine_kit *k, struct id id)
{
    engine_kit_job(k, COMMAND_JOB_APPROVE, id);
    return id;
}

static struct id make_dependent(struct engine_kit *k)
{
    struct id first = engine_kit_enqueue(k, "other");
    struct command_new job = engine_kit_new_job("q");
    job.job.waits_for = str_from(first.b, ID_BYTES);
    (void)engine_kit_put(k, job);
    return first;
}

static struct id do_complete_other(struct engine_kit *k, struct id first)
{
    assert_true(id_eq(engine_kit_claim(k, "other"), first));
    engine_kit_ack(k, first);
    return ID_NONE;
}

static struct id make_elsewhere(struct engine_kit *k)
{
    return engine_kit_enqueue(k, "other");
}

static struct id do_move(struct engine_kit *k, struct id id)
{
    struct command c = {
        .type = COMMAND_JOBS,
        .jobs = {.action = COMMAND_JOB_MOVE, .queue = STR("q"), .ids = &id, .count = 1}};
    assert_int_equal(engine_kit_do(k, &c)->code, ERR_OK);
    return id;
}

static struct id make_leased(struct engine_kit *k)
{
    struct id id = engine_kit_enqueue(k, "q");
    struct str name = STR("q");
    struct command c = engine_kit_claim_command(&name, 1);
    c.claim.lease_ms = 50;
    assert_int_equal(engine_kit_do(k, &c)->count, 1);
    return id;
}

static void engine_park__a_claim_is_woken_by_what_lets_it_succeed(void **state)
{
    static const struct {
        const char *name;
        struct id (*make)(struct engine_kit *k);
        struct id (*wake)(struct engine_kit *k, struct id id);
    } rows[] = {
        {"enqueue", make_nothing, do_enqueue},
        {"its time has come", make_scheduled, do_nothing},
        {"the back-off is over", make_failed, do_nothing},
        {"retry of a dead job", make_dead, do_retry},
        {"resume", make_paused, do_resume},
        {"a place becomes free", make_full, do_ack},
        {"the limit is raised", make_full, do_raise_limit},
        {"the throttle's window passes", make_throttled, do_nothing},
        {"enqueue into a closed throttle", make_throttled_and_empty, do_enqueue},
        {"the throttle is removed", make_throttled_for_long, do_unthrottle},
        {"approve", make_held, do_approve},
        {"a dependency is met", make_dependent, do_complete_other},
        {"a job is moved here", make_elsewhere, do_move},
        {"a lease runs out", make_leased, do_nothing},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct engine_kit *k = engine_kit_open(NULL);
        struct engine_kit_op o;
        struct id made = rows[i].make(k);
        start_parked(&o, k, "q");
        struct id want = rows[i].wake(k, made);
        engine_kit_wait(&o);
        assert_int_equal(o.op.err.code, ERR_OK);
        assert_int_equal(o.result.count, 1);
        assert_true(id_is_none(want) || id_eq(o.result.items[0].id, want));
        assert_int_equal(engine_kit_parked(k), 0);
        engine_kit_op_deinit(&o);
        engine_kit_close(k);
    }
}

/* Number and order */

static void engine_park__jobs_go_to_the_longest_waiting_one_each(void **state)
{
    struct engine_kit *k = *state;
    enum { WAITERS = 7, JOBS = 3 };
    struct engine_kit_op o[WAITERS];
    struct command_new jobs[JOBS];
    for (size_t i = 0; i < WAITERS; i++) {
        start_parked(&o[i], k, "q");
    }
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = engine_kit_new_job("q");
    }
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = JOBS}};
    uint64_t before = engine_kit_status(k).applied_ops;
    const struct result *r = engine_kit_do(k, &c);
    for (size_t i = 0; i < JOBS; i++) {
        expect_claimed(&o[i], r->items[i].id);
    }
    struct engine_status status = engine_kit_status(k);
    assert_int_equal(status.parked_ops, WAITERS - JOBS);
    assert_int_equal(status.applied_ops, before + 1 + JOBS); /* no claim was woken in vain */
    for (size_t i = JOBS; i < WAITERS; i++) {
        expect_claimed(&o[i], engine_kit_enqueue(k, "q"));
    }
    for (size_t i = 0; i < WAITERS; i++) {
        engine_kit_op_deinit(&o[i]);
    }
}

static void engine_park__a_throttle_wakes_no_more_than_it_lets_through(void **state)
{
    struct engine_kit *k = *state;
    enum { WAITERS = 6 };
    struct engine_kit_op o[WAITERS];
    struct id ids[WAITERS];
    engine_kit_queue(k, COMMAND_QUEUE_THROTTLE, "q", 20); /* one per 20 ms */
    for (size_t i = 0; i < WAITERS; i++) {
        start_parked(&o[i], k, "q");
    }
    uint64_t before = engine_kit_status(k).applied_ops;
    for (size_t i = 0; i < WAITERS; i++) {
        ids[i] = engine_kit_enqueue(k, "q");
    }
    for (size_t i = 0; i < WAITERS; i++) {
        expect_claimed(&o[i], ids[i]);
        engine_kit_op_deinit(&o[i]);
    }
    assert_int_equal(engine_kit_status(k).applied_ops, before + 2 * (uint64_t)WAITERS);
}

/* The claim that gets all jobs is submitted together with the enqueue, but is in the next entry. By
 * then the parked claims have been woken and come after it. They are not in the entry of the
 * enqueue, because its first job is for another queue. */
static void engine_park__a_woken_claim_that_loses_keeps_its_place(void **state)
{
    struct engine_kit *k = *state;
    enum { JOBS = 6, BIG = 250000, WAITERS = 3 };
    struct engine_kit_op o[WAITERS];
    struct engine_kit_op enqueue;
    struct engine_kit_op greedy;
    struct str queue = STR("q");
    struct command_new jobs[JOBS];
    char *payload = malloc(BIG);
    assert_non_null(payload);
    memset(payload, '1', BIG);
    for (size_t i = 0; i < WAITERS; i++) {
        start_parked(&o[i], k, "q");
    }
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = engine_kit_new_job(i == 0 ? "other" : "q");
        jobs[i].job.payload = str_from(payload, BIG);
    }
    static_assert(JOBS * BIG > LIMIT_ENTRY_BYTES, "nothing else fits into its entry");
    engine_kit_op_init(&enqueue, k);
    engine_kit_op_init(&greedy, k);
    uint64_t before = engine_kit_status(k).applied_ops;
    engine_kit_hold(k);
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = JOBS}};
    engine_kit_start(&enqueue, &c, 0);
    c = engine_kit_claim_command(&queue, JOBS);
    engine_kit_start(&greedy, &c, 0);
    engine_kit_release(k);
    engine_kit_wait(&greedy);
    assert_int_equal(greedy.result.count, JOBS - 1);
    assert_true(greedy.op.index > enqueue.op.index);

    struct engine_status status = engine_kit_status(k);
    assert_int_equal(status.applied_ops, before + 2 + WAITERS); /* they were woken */
    assert_int_equal(status.parked_ops, WAITERS);               /* and parked again */
    for (size_t i = 0; i < WAITERS; i++) {
        expect_claimed(&o[i], engine_kit_enqueue(k, "q"));
        engine_kit_op_deinit(&o[i]);
    }
    engine_kit_op_deinit(&enqueue);
    engine_kit_op_deinit(&greedy);
    free(payload);
}

/* A claim that waits in a queue is in the same entry, and so in the same flush, as the command that
 * adds the job. */
static void engine_park__a_claim_goes_along_with_its_job(void **state)
{
    static const struct {
        const char *name;
        struct id (*make)(struct engine_kit *k);
        struct id (*feed)(struct engine_kit *k, struct id id);
    } rows[] = {
        {"enqueue", make_nothing, do_enqueue},
        {"its time has come", make_scheduled, do_nothing},
        {"the back-off is over", make_failed, do_nothing},
        {"a lease runs out", make_leased, do_nothing},
        {"retry of a dead job", make_dead, do_retry},
        {"resume", make_paused, do_resume},
        {"approve", make_held, do_approve},
        {"a job is moved here", make_elsewhere, do_move},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct engine_kit *k = engine_kit_open(NULL);
        struct engine_kit_op o;
        struct id made = rows[i].make(k);
        struct engine_status before = engine_kit_status(k); /* waiting writes no entry */
        start_parked(&o, k, "q");
        expect_claimed(&o, rows[i].feed(k, made));
        struct engine_status after = engine_kit_status(k);
        assert_int_equal(after.entries, before.entries + 1);
        assert_int_equal(after.applied_ops, before.applied_ops + 2);
        engine_kit_op_deinit(&o);
        engine_kit_close(k);
    }
}

static void expect_still_parked(struct engine_kit *k, const struct engine_status *before)
{
    struct engine_status after = engine_kit_status(k);
    assert_int_equal(after.parked_ops, before->parked_ops);
    assert_int_equal(after.entries, before->entries + 1);
    assert_int_equal(after.applied_ops, before->applied_ops + 1); /* the claim was not even tried */
}

static void engine_park__a_claim_stays_where_limits_would_stop_it(void **state)
{
    struct engine_kit *k = *state;
    struct engine_kit_op o;
    struct id first = make_full(k);
    start_parked(&o, k, "q");
    struct engine_status before = engine_kit_status(k);
    (void)engine_kit_enqueue(k, "q");
    expect_still_parked(k, &before);
    engine_kit_queue(k, COMMAND_QUEUE_PAUSE, "q", 0);
    engine_kit_ack(k, first);
    before = engine_kit_status(k);
    (void)engine_kit_enqueue(k, "q");
    expect_still_parked(k, &before);
    struct command_new later = engine_kit_new_job("q");
    later.job.scheduled_at = wall_add_ms(os_clock_wall(), LONG_MS);
    before = engine_kit_status(k);
    (void)engine_kit_put(k, later);
    expect_still_parked(k, &before);
    engine_kit_cancel(&o);
    expect_empty(&o);
    engine_kit_op_deinit(&o);
}

/* The unique key is held by another job. The claim in the same entry finds no job, and is the first
 * to get the next job. */
static void engine_park__a_claim_that_went_along_in_vain_keeps_its_place(void **state)
{
    struct engine_kit *k = *state;
    struct engine_kit_op o[2];
    struct command_new job = engine_kit_new_job("q");
    job.job.unique_key = STR("only");
    job.job.unique_period_s = 3600;
    struct id held = engine_kit_put(k, job);
    assert_true(id_eq(engine_kit_claim(k, "q"), held));
    start_parked(&o[0], k, "q");
    start_parked(&o[1], k, "q");
    struct engine_status before = engine_kit_status(k);
    assert_true(id_eq(engine_kit_put(k, job), held));
    assert_int_equal(engine_kit_parked(k), 2);
    assert_int_equal(engine_kit_status(k).applied_ops, before.applied_ops + 2);
    expect_claimed(&o[0], engine_kit_enqueue(k, "q"));
    expect_claimed(&o[1], engine_kit_enqueue(k, "q"));
    engine_kit_op_deinit(&o[0]);
    engine_kit_op_deinit(&o[1]);
}

static void engine_park__a_claim_may_wait_in_many_queues(void **state)
{
    struct engine_kit *k = *state;
    struct str names[] = {STR("a"), STR("b"), STR("a"), STR("c")};
    struct command c = engine_kit_claim_command(names, 1);
    struct engine_kit_op o;
    c.claim.queue_count = COUNT_OF(names);
    for (const char *queue = "abc"; *queue != '\0'; queue++) {
        char name[2] = {*queue, '\0'};
        engine_kit_op_init(&o, k);
        engine_kit_start(&o, &c, LONG_MS);
        assert_int_equal(engine_kit_parked(k), 1);
        expect_claimed(&o, engine_kit_enqueue(k, name));
        assert_int_equal(engine_kit_parked(k), 0);
        engine_kit_op_deinit(&o);
    }
}

/* A worker that was not seen for some time is recorded, even if there is no job for it. */
static void engine_park__a_new_worker_is_known_before_it_waits(void **state)
{
    struct engine_kit *k = *state;
    struct str queue = STR("q");
    struct command c = engine_kit_claim_command(&queue, 1);
    struct engine_kit_op o;
    struct buf row;
    buf_init(&row, 4096);
    c.claim.worker_id = STR("w1");
    engine_kit_op_init(&o, k);
    engine_kit_start(&o, &c, LONG_MS);
    (void)engine_kit_enqueue(k, "other"); /* when this has a result, the claim is parked */
    assert_int_equal(engine_kit_parked(k), 1);
    assert_true(store_get(engine_store(k->engine), STORE_KIND_WORKER, STR("w1"), &row));
    expect_claimed(&o, engine_kit_enqueue(k, "q"));
    engine_kit_op_deinit(&o);
    buf_deinit(&row);
}

/* Ends of claims */

static void engine_park__ends_empty_at_the_deadline(void **state)
{
    struct engine_kit *k = *state;
    struct str queue = STR("q");
    struct command c = engine_kit_claim_command(&queue, 1);
    struct engine_kit_op o[3];
    for (size_t i = 0; i < COUNT_OF(o); i++) {
        engine_kit_op_init(&o[i], k);
        engine_kit_start(&o[i], &c, 30 - 10 * (int64_t)i);
    }
    for (size_t i = 0; i < COUNT_OF(o); i++) {
        expect_empty(&o[i]);
    }
    assert_true(o[2].done_place < o[1].done_place);
    assert_true(o[1].done_place < o[0].done_place);
    assert_int_equal(engine_kit_parked(k), 0);
    assert_int_equal(engine_kit_status(k).applied_ops, 0); /* no entry was written for them */
    for (size_t i = 0; i < COUNT_OF(o); i++) {
        engine_kit_op_deinit(&o[i]);
    }
}

static void engine_park__ends_empty_at_a_stop(void **state)
{
    struct engine_kit *k = *state;
    struct engine_kit_op o[3];
    for (size_t i = 0; i < COUNT_OF(o); i++) {
        start_parked(&o[i], k, "q");
    }
    engine_kit_stop_engine(k);
    for (size_t i = 0; i < COUNT_OF(o); i++) {
        expect_empty(&o[i]);
        assert_int_equal(o[i].done_count, 1);
        engine_kit_op_deinit(&o[i]);
    }
}

static void engine_park__a_cancelled_claim_ends_empty_and_leaves_the_job(void **state)
{
    struct engine_kit *k = *state;
    struct engine_kit_op first;
    struct engine_kit_op second;
    start_parked(&first, k, "q");
    start_parked(&second, k, "q");
    engine_kit_cancel(&first);
    expect_empty(&first);
    assert_int_equal(engine_kit_parked(k), 1);
    expect_claimed(&second, engine_kit_enqueue(k, "q"));
    engine_kit_op_deinit(&first);
    engine_kit_op_deinit(&second);
}

static void nothing(void *data)
{
    (void)data;
}

/* A claim that is cancelled while it is in an entry, and gets no job, must not be parked. */
static void engine_park__a_claim_cancelled_in_the_pipeline_does_not_park(void **state)
{
    struct engine_kit *k = *state;
    struct str queue = STR("q");
    struct command c = engine_kit_claim_command(&queue, 1);
    struct engine_kit_op o;
    engine_kit_op_init(&o, k);
    c.claim.worker_id = STR("new"); /* goes through the log before it parks */
    engine_kit_hold(k);
    engine_kit_start(&o, &c, LONG_MS);
    engine_kit_cancel(&o);
    engine_kit_on_client(k, nothing, NULL); /* the cancellation has been sent */
    engine_kit_release(k);
    expect_empty(&o);
    assert_int_equal(engine_kit_parked(k), 0);
    engine_kit_op_deinit(&o);
}

/* The client disconnected while the claim was in the pipeline. Another claim gets the job at once.
 */
static void engine_park__a_claim_that_is_given_back_lets_the_next_have_the_job(void **state)
{
    struct engine_kit *k = *state;
    struct engine_kit_op gone;
    struct engine_kit_op next;
    start_parked(&gone, k, "q");
    struct id id = engine_kit_enqueue(k, "q");
    engine_kit_wait(&gone);
    assert_int_equal(gone.result.count, 1);
    assert_true(gone.op.waited);
    start_parked(&next, k, "q");
    assert_true(engine_give_back(k->engine, &gone.op));
    expect_claimed(&next, id);
    engine_kit_op_deinit(&gone);
    engine_kit_op_deinit(&next);
}

static void engine_park__a_claim_that_got_nothing_gives_nothing_back(void **state)
{
    struct engine_kit *k = *state;
    struct engine_kit_op o;
    start_parked(&o, k, "q");
    engine_kit_cancel(&o);
    expect_empty(&o);
    assert_false(engine_give_back(k->engine, &o.op));
    engine_kit_op_deinit(&o);
}

/* Cancellation races with completion. In either case, done is called once, and the job is either
 * claimed or waiting. */
static void engine_park__cancelling_races_with_waking(void **state)
{
    struct engine_kit *k = *state;
    enum { ROUNDS = 200 };
    struct rng rng = rng_from(1);
    unsigned claimed = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct engine_kit_op claim;
        struct engine_kit_op enqueue;
        struct command_new job = engine_kit_new_job("q");
        struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
        engine_kit_op_init(&enqueue, k);
        start_parked(&claim, k, "q");
        if (rng_below(&rng, 2) == 0) {
            engine_kit_start(&enqueue, &c, 0);
            engine_kit_cancel(&claim);
        } else {
            engine_kit_cancel(&claim);
            engine_kit_start(&enqueue, &c, 0);
        }
        engine_kit_wait(&enqueue);
        engine_kit_wait(&claim);
        struct id id = enqueue.result.items[0].id;
        assert_int_equal(claim.op.err.code, ERR_OK);
        assert_int_equal(engine_kit_state(k, id),
                         claim.result.count == 1 ? JOB_ACTIVE : JOB_PENDING);
        claimed += claim.result.count;
        if (claim.result.count == 0) {
            assert_true(id_eq(engine_kit_claim(k, "q"), id));
        }
        assert_int_equal(claim.done_count, 1);
        engine_kit_op_deinit(&claim);
        engine_kit_op_deinit(&enqueue);
    }
    struct engine_status status = engine_kit_status(k);
    assert_int_equal(status.parked_ops, 0);
    assert_int_equal(status.live_jobs, ROUNDS);
    assert_in_range(claimed, 0, ROUNDS);
}

TEST_GROUP(
    engine_park, cmocka_unit_test(engine_park__a_claim_is_woken_by_what_lets_it_succeed),
    cmocka_unit_test_setup_teardown(engine_park__jobs_go_to_the_longest_waiting_one_each, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_park__a_throttle_wakes_no_more_than_it_lets_through,
                                    setup, teardown),
    cmocka_unit_test_setup_teardown(engine_park__a_woken_claim_that_loses_keeps_its_place, setup,
                                    teardown),
    cmocka_unit_test(engine_park__a_claim_goes_along_with_its_job),
    cmocka_unit_test_setup_teardown(engine_park__a_claim_stays_where_limits_would_stop_it, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_park__a_claim_that_went_along_in_vain_keeps_its_place,
                                    setup, teardown),
    cmocka_unit_test_setup_teardown(engine_park__a_claim_may_wait_in_many_queues, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_park__a_new_worker_is_known_before_it_waits, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_park__ends_empty_at_the_deadline, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_park__ends_empty_at_a_stop, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_park__a_cancelled_claim_ends_empty_and_leaves_the_job,
                                    setup, teardown),
    cmocka_unit_test_setup_teardown(
        engine_park__a_claim_that_is_given_back_lets_the_next_have_the_job, setup, teardown),
    cmocka_unit_test_setup_teardown(engine_park__a_claim_that_got_nothing_gives_nothing_back, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(engine_park__a_claim_cancelled_in_the_pipeline_does_not_park,
                                    setup, teardown),
    cmocka_unit_test_setup_teardown(engine_park__cancelling_races_with_waking, setup, teardown));
