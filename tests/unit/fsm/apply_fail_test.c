/*
 * Failures: retries, backoff, death (http-api.md 5.3, 5.4, 6.1, 6.10, 8.5).
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_rows.h"

static struct id active_job(struct kit *k, const struct job *t)
{
    struct id id = kit_enqueue_job(k, t);
    const char *queue = kit_text(k, STR_FMT, STR_ARG(t->queue)).ptr;
    assert_true(id_eq(kit_claim(k, queue), id));
    return id;
}

static void fail__with_attempts_left_waits_for_the_backoff(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    struct id id = active_job(k, &t);
    kit_pass_ms(k, 100);
    const struct result *r = kit_fail(k, id, "it broke");
    assert_int_equal(r->state, JOB_RETRYING);
    assert_int_equal(r->attempt, 1);
    assert_int_equal(r->remaining, 2);
    assert_int_equal(r->at.ns, wall_add_ms(k->now, 5000).ns);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_RETRYING);
    assert_int_equal(j.attempt, 1);
    assert_int_equal(j.failed_at.ns, k->now.ns);
    assert_int_equal(j.scheduled_at.ns, wall_add_ms(k->now, 5000).ns);
    assert_int_equal(j.lease_expires_at.ns, 0);
    expect_str(j.worker_id, STR_EMPTY);
    expect_str(j.hostname, STR_EMPTY);
    kit_expect_errors(k, id, "it broke");
    kit_expect_events(k, id, "enqueued started failed retrying");
    kit_expect_count(k, queue, JOB_RETRYING, 1);
    assert_int_equal(kit_queue_info(k, queue).failures, 1);
}

static void fail__without_attempts_left_is_the_end(void **state)
{
    struct kit *k = *state;
    static const uint32_t max_retries[] = {0, 1};
    for (unsigned i = 0; i < COUNT_OF(max_retries); i++) {
        struct job t = kit_template(kit_name(k), "{}");
        t.max_retries = max_retries[i];
        struct id id = active_job(k, &t);
        const struct result *r = kit_fail(k, id, "it broke");
        assert_int_equal(r->state, JOB_DEAD);
        assert_int_equal(r->remaining, 0);
        assert_int_equal(r->at.ns, 0);
        struct job j = kit_job(k, id);
        assert_int_equal(j.state, JOB_DEAD);
        assert_int_equal(j.failed_at.ns, k->now.ns);
        assert_int_equal(j.scheduled_at.ns, 0);
        expect_str(j.worker_id, STR_EMPTY);
        assert_int_equal(j.lease_expires_at.ns, 0);
        kit_expect_events(k, id, "enqueued started failed dead");
    }
}

static void attempts__go_down_to_zero_with_the_backoff_going_up(void **state)
{
    struct kit *k = *state;
    static const struct {
        enum job_backoff backoff;
        int64_t delays_ms[4];
    } rows[] = {
        {JOB_BACKOFF_NONE, {0, 0, 0, 0}},
        {JOB_BACKOFF_FIXED, {1000, 1000, 1000, 1000}},
        {JOB_BACKOFF_LINEAR, {1000, 2000, 3000, 3500}},
        {JOB_BACKOFF_EXPONENTIAL, {1000, 2000, 3500, 3500}},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const char *queue = kit_name(k);
        struct job t = kit_template(queue, "{}");
        t.backoff = rows[i].backoff;
        t.max_retries = 5;
        t.retry_base_ms = 1000;
        t.retry_max_ms = 3500;
        struct id id = kit_enqueue_job(k, &t);
        ROW(job_backoff_name(rows[i].backoff));
        for (uint32_t attempt = 1; attempt <= 4; attempt++) {
            int64_t delay = rows[i].delays_ms[attempt - 1];
            assert_true(id_eq(kit_claim(k, queue), id));
            const struct result *r = kit_fail(k, id, "x");
            assert_int_equal(r->attempt, attempt);
            assert_int_equal(r->remaining, 5 - attempt);
            assert_int_equal(r->at.ns, wall_add_ms(k->now, delay).ns);
            kit_expect_state(k, id, JOB_RETRYING); /* even without a delay */
            kit_tick(k, delay);
        }
        assert_true(id_eq(kit_claim(k, queue), id));
        assert_int_equal(kit_fail(k, id, "x")->state, JOB_DEAD);
    }
}

static void fail__of_an_expired_job_is_the_end(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = {.job = kit_template(queue, "{}"), .expire_after_ms = 1000};
    struct command c = kit_enqueue_command(&new, 1);
    struct id id = kit_apply(k, &c)->items[0].id;
    (void)kit_claim(k, queue);
    kit_tick(k, 1001);
    kit_expect_state(k, id, JOB_ACTIVE); /* an active job does not expire */
    const struct result *r = kit_fail(k, id, "late");
    assert_int_equal(r->state, JOB_DEAD);
    assert_int_equal(r->remaining, 0);
    kit_expect_errors(k, id, "late");
}

static void fail__is_refused_in_every_other_state(void **state)
{
    struct kit *k = *state;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        const char *name = job_state_name((enum job_state)s);
        if (s == JOB_ACTIVE) {
            continue;
        }
        ROW(name);
        struct id id = kit_job_in(k, (enum job_state)s);
        struct command c = {.type = COMMAND_FAIL, .fail = {.id = id, .error = STR("x")}};
        kit_refuses(k, &c, ERR_FAIL, kit_text(k, "job {id} is not active (state=%s)", name).ptr,
                    id);
    }
    struct id missing = id_make(k->now, 7777777, 2);
    struct command c = {.type = COMMAND_FAIL, .fail = {.id = missing}};
    kit_refuses(k, &c, ERR_NOT_FOUND, "job \"{id}\" not found", missing);
}

static void lease_token__of_an_earlier_claim_is_refused(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    struct id id = active_job(k, &t);
    uint64_t stale = kit_job(k, id).lease_token;
    kit_tick(k, JOB_LEASE_MS + 1);
    (void)kit_claim(k, queue);
    struct command c = {.type = COMMAND_FAIL, .fail = {.id = id, .lease_token = stale}};
    kit_refuses(k, &c, ERR_FAIL, "job {id} is not active: its lease was lost", id);
    c.fail.lease_token = kit_job(k, id).lease_token;
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    kit_expect_state(k, id, JOB_RETRYING);
}

struct find_failed {
    struct kit *kit;
    struct id job;
    struct store_event found;
};

static bool find_failed(void *data, const struct store_event *e)
{
    struct find_failed *f = data;
    if (id_eq(e->job, f->job) && e->type == STORE_EVENT_FAILED) {
        f->found = *e;
        f->found.text = arena_str(f->kit->arena, e->text);
    }
    return true;
}

static void failed_event__has_the_details(void **state)
{
    struct kit *k = *state;
    struct job t = kit_template(kit_name(k), "{}");
    struct id id = active_job(k, &t);
    char error[LIMIT_EVENT_ERROR_BYTES + 32];
    memset(error, 'e', sizeof error);
    memcpy(error + LIMIT_EVENT_ERROR_BYTES - 1, "\xc3\xa4 more", 8); /* cut inside a character */
    (void)kit_fail(k, id, error);
    struct find_failed f = {.kit = k, .job = id};
    store_event_read(machine_store(k->machine), 0, find_failed, &f);
    assert_int_equal(f.found.attempt, 1);
    assert_int_equal(f.found.remaining, 2);
    assert_int_equal(f.found.next_attempt_at.ns, wall_add_ms(k->now, 5000).ns);
    assert_int_equal(f.found.text.len, LIMIT_EVENT_ERROR_BYTES - 1);
}

static void errors__survive_retry_and_end_with_the_limit(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.max_retries = 1;
    struct id id = active_job(k, &t);
    struct command c = {.type = COMMAND_FAIL,
                        .fail = {.id = id, .error = STR("first"), .backtrace = STR("somewhere")}};
    (void)kit_apply(k, &c);
    (void)kit_do(k, COMMAND_JOB_RETRY, id);
    kit_expect_errors(k, id, "first");
    (void)kit_claim(k, queue);
    (void)kit_fail(k, id, "second");
    kit_expect_errors(k, id, "first|second");
    assert_int_equal(kit_job(k, id).error_count, 2);
}

static void fail__clears_the_reason_of_an_earlier_hold(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.hold_reason = STR("old");
    struct id id = active_job(k, &t);
    (void)kit_fail(k, id, "x");
    expect_str(kit_job(k, id).hold_reason, STR_EMPTY);
}

/* The first answer was lost, and the repeated fail gets the same answer, even if the job has
 * changed since. */
static void fail__repeated_with_its_lease_token_gets_the_first_answer(void **state)
{
    struct kit *k = *state;
    static const uint32_t max_retries[] = {3, 1};
    for (unsigned i = 0; i < COUNT_OF(max_retries); i++) {
        const char *queue = kit_name(k);
        struct job t = kit_template(queue, "{}");
        t.max_retries = max_retries[i];
        struct id id = active_job(k, &t);
        struct command c = {.type = COMMAND_FAIL,
                            .fail = {.id = id,
                                     .lease_token = kit_job(k, id).lease_token,
                                     .error = STR("it broke")}};
        struct result first = *kit_apply(k, &c);
        assert_int_equal(first.state, max_retries[i] == 3 ? JOB_RETRYING : JOB_DEAD);
        for (unsigned later = 0; later < 2; later++) {
            uint64_t digest = kit_digest(k);
            const struct result *r = kit_apply(k, &c);
            assert_int_equal(r->code, ERR_OK);
            assert_int_equal(r->state, first.state);
            assert_int_equal(r->attempt, first.attempt);
            assert_int_equal(r->remaining, first.remaining);
            assert_int_equal(r->at.ns, first.at.ns);
            assert_int_equal(kit_digest(k), digest);
            kit_tick(k, 10000); /* pending by now if it has attempts left */
            kit_reopen(k);
        }
        kit_expect_errors(k, id, "it broke");
        assert_int_equal(kit_queue_info(k, queue).failures, 1);
        /* An ack after a fail of the same claim is not a repetition. */
        struct command_ack_item item = {.id = id, .lease_token = c.fail.lease_token};
        struct command ack = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
        kit_refuses(k, &ack, ERR_ACK, "job {id} is not active", id);
        if (max_retries[i] == 3) {
            assert_true(id_eq(kit_claim(k, queue), id));
            kit_refuses(k, &c, ERR_FAIL, "job {id} is not active: its lease was lost", id);
        }
    }
}

static void fail__after_attempts_were_reset_is_no_repeat(void **state)
{
    struct kit *k = *state;
    struct job t = kit_template(kit_name(k), "{}");
    struct id id = active_job(k, &t);
    struct command c = {.type = COMMAND_FAIL,
                        .fail = {.id = id, .lease_token = kit_job(k, id).lease_token}};
    (void)kit_apply(k, &c);
    struct command move = kit_action(COMMAND_JOB_MOVE, &id);
    move.jobs.queue = str_from_z(kit_name(k));
    move.jobs.reset_attempts = true;
    assert_int_equal(kit_apply(k, &move)->code, ERR_OK);
    kit_refuses(k, &c, ERR_FAIL, "job {id} is not active (state=retrying)", id);
}

TEST_GROUP_FIXTURE(apply_fail, kit_setup, kit_teardown,
                   cmocka_unit_test(fail__repeated_with_its_lease_token_gets_the_first_answer),
                   cmocka_unit_test(fail__after_attempts_were_reset_is_no_repeat),
                   cmocka_unit_test(fail__with_attempts_left_waits_for_the_backoff),
                   cmocka_unit_test(fail__without_attempts_left_is_the_end),
                   cmocka_unit_test(attempts__go_down_to_zero_with_the_backoff_going_up),
                   cmocka_unit_test(fail__of_an_expired_job_is_the_end),
                   cmocka_unit_test(fail__is_refused_in_every_other_state),
                   cmocka_unit_test(lease_token__of_an_earlier_claim_is_refused),
                   cmocka_unit_test(failed_event__has_the_details),
                   cmocka_unit_test(errors__survive_retry_and_end_with_the_limit),
                   cmocka_unit_test(fail__clears_the_reason_of_an_earlier_hold));
