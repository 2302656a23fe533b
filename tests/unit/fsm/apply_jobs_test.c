/*
 * Actions of operators on jobs (http-api.md 5.2, 5.3, 5.4, 9, 11.1).
 */
#include "lib/machine_kit.h"

/* The table of 5.2. A letter is the state after the action, a dot a refusal. */
/* clang-format off */
static const struct {
    enum command_job_action action;
    enum err_code code;
    const char *verb; /* in the refusal */
    /* scheduled, pending, active, retrying, held, completed, dead, cancelled; G: deleted */
    const char *to;
    const char *event;
} grid[] = {
    {COMMAND_JOB_RETRY,           ERR_RETRY,   "retry",   "P....PPP", "retried"},
    {COMMAND_JOB_REQUEUE,         ERR_RETRY,   "requeue", "......P.", "retried"},
    {COMMAND_JOB_CANCEL,          ERR_CANCEL,  "cancel",  "XXXX....", "cancelled"},
    {COMMAND_JOB_HOLD,            ERR_HOLD,    "hold",    "HHHH....", "held"},
    {COMMAND_JOB_APPROVE,         ERR_APPROVE, "approve", "....P...", "approved"},
    {COMMAND_JOB_REJECT,          ERR_REJECT,  "reject",  "....D...", "rejected dead"},
    {COMMAND_JOB_MOVE,            ERR_MOVE,    NULL,      "SPARHCDX", "moved"},
    {COMMAND_JOB_CHANGE_PRIORITY, ERR_BULK,    NULL,      "SP......", "priority_changed"},
    {COMMAND_JOB_DELETE,          ERR_OK,      NULL,      "GGGGGGGG", "deleted"},
};
/* clang-format on */
_Static_assert(COUNT_OF(grid) == COMMAND_JOB_ACTION_LAST, "every action has its row");

/* The events so far of a job in each state. */
static const char *const told[JOB_STATE_COUNT] = {
    [JOB_SCHEDULED] = "enqueued",
    [JOB_PENDING] = "enqueued",
    [JOB_ACTIVE] = "enqueued started",
    [JOB_RETRYING] = "enqueued started failed retrying",
    [JOB_HELD] = "enqueued held",
    [JOB_COMPLETED] = "enqueued started completed",
    [JOB_DEAD] = "enqueued started failed dead",
    [JOB_CANCELLED] = "enqueued cancelled",
};

static char letter_of(enum job_state s)
{
    static const char letters[JOB_STATE_COUNT + 1] = "SPARHCDX";
    return letters[s];
}

static struct command action_on(struct kit *k, enum command_job_action action, struct id *id)
{
    struct command c = kit_action(action, id);
    c.jobs.queue = action == COMMAND_JOB_MOVE ? str_from_z(kit_name(k)) : STR_EMPTY;
    c.jobs.priority = JOB_PRIORITY_HIGH;
    return c;
}

static const char *refusal_of(struct kit *k, unsigned row, enum job_state s)
{
    if (grid[row].action == COMMAND_JOB_CHANGE_PRIORITY) {
        return kit_text(k, "cannot change the priority of job {id} in state %s", job_state_name(s))
            .ptr;
    }
    return kit_text(k, "cannot %s job {id} in state %s", grid[row].verb, job_state_name(s)).ptr;
}

static void expect_cell(struct kit *k, unsigned row, enum job_state s)
{
    struct id id = kit_job_in(k, s);
    struct command c = action_on(k, grid[row].action, &id);
    char to = grid[row].to[s];
    if (to == '.') {
        kit_refuses(k, &c, grid[row].code, refusal_of(k, row, s), id);
        kit_expect_state(k, id, s);
        /* In bulk the job is skipped. */
        c.jobs.lenient = true;
        uint64_t digest = kit_digest(k);
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->code, ERR_OK);
        assert_int_equal(r->affected, 0);
        assert_int_equal(r->missing, 0);
        assert_int_equal(kit_digest(k), digest);
        return;
    }
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 1);
    assert_int_equal(r->state, s); /* the previous state */
    assert_int_equal(kit_has(k, id), to != 'G');
    if (to != 'G') {
        assert_int_equal(letter_of(kit_job(k, id).state), to);
    }
    kit_expect_events(k, id, kit_text(k, "%s %s", told[s], grid[row].event).ptr);
}

static void grid__meets_every_state_with_every_action(void **state)
{
    struct kit *k = *state;
    for (unsigned row = 0; row < COUNT_OF(grid); row++) {
        for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
            ROW(kit_text(k, "action %u, %s", grid[row].action, job_state_name((enum job_state)s))
                    .ptr);
            expect_cell(k, row, (enum job_state)s);
        }
    }
}

static void missing__jobs_are_not_found(void **state)
{
    struct kit *k = *state;
    for (unsigned row = 0; row < COUNT_OF(grid); row++) {
        struct id id = id_make(k->now, 7777777, row);
        struct command c = action_on(k, grid[row].action, &id);
        kit_refuses(k, &c, ERR_NOT_FOUND, "job \"{id}\" not found", id);
        c.jobs.lenient = true;
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->code, ERR_OK);
        assert_int_equal(r->affected, 0);
        assert_int_equal(r->missing, 1);
    }
}

/* Check that the job is skipped like a job in a wrong state: nothing changes, and it is not counted
 * as missing. */
static void expect_passed_over(struct kit *k, struct command *c)
{
    uint64_t digest = kit_digest(k);
    const struct result *r = kit_apply(k, c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 0);
    assert_int_equal(r->missing, 0);
    assert_int_equal(kit_digest(k), digest);
}

/* The job matched the filter when it was found, but has changed since. */
static void filter__is_looked_at_once_more_by_every_action(void **state)
{
    struct kit *k = *state;
    for (unsigned row = 0; row < COUNT_OF(grid); row++) {
        for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
            ROW(kit_text(k, "action %u, %s", grid[row].action, job_state_name((enum job_state)s))
                    .ptr);
            struct id id = kit_job_in(k, (enum job_state)s);
            struct job j = kit_job(k, id);
            struct command c = action_on(k, grid[row].action, &id);
            c.jobs.lenient = true;
            c.jobs.fit = (struct job_fit){.states = 255U & ~(1U << s)};
            expect_passed_over(k, &c);
            c.jobs.fit = (struct job_fit){.states = 1U << s, .queue = STR("another")};
            expect_passed_over(k, &c);
            c.jobs.fit = (struct job_fit){.priorities = 7U & ~(1U << j.priority)};
            expect_passed_over(k, &c);
            c.jobs.fit = (struct job_fit){
                .states = 1U << s, .priorities = 1U << j.priority, .queue = j.queue};
            const struct result *r = kit_apply(k, &c);
            assert_int_equal(r->missing, 0);
            assert_int_equal(r->affected, grid[row].to[s] == '.' ? 0 : 1);
        }
    }
}

/* Two operators act on the same job. The answer to the first one remains true. */
static void filter__spares_a_job_that_was_retried_meanwhile(void **state)
{
    struct kit *k = *state;
    struct id ids[] = {kit_job_in(k, JOB_DEAD), kit_job_in(k, JOB_DEAD)};
    (void)kit_do(k, COMMAND_JOB_RETRY, ids[0]);
    const struct result *r =
        kit_apply(k, &(struct command){.type = COMMAND_JOBS,
                                       .jobs = {.action = COMMAND_JOB_DELETE,
                                                .lenient = true,
                                                .fit = {.states = 1U << JOB_DEAD},
                                                .ids = ids,
                                                .count = COUNT_OF(ids)}});
    assert_int_equal(r->affected, 1);
    assert_int_equal(r->missing, 0);
    kit_expect_state(k, ids[0], JOB_PENDING);
    assert_false(kit_has(k, ids[1]));
}

static void bulk__does_what_it_can(void **state)
{
    struct kit *k = *state;
    struct id ids[] = {kit_job_in(k, JOB_PENDING),   id_make(k->now, 7777777, 50),
                       kit_job_in(k, JOB_DEAD),      kit_job_in(k, JOB_ACTIVE),
                       id_make(k->now, 7777777, 51), ID_NONE};
    ids[5] = ids[0]; /* second occurrence */
    struct command c = {
        .type = COMMAND_JOBS,
        .jobs = {
            .action = COMMAND_JOB_CANCEL, .lenient = true, .ids = ids, .count = COUNT_OF(ids)}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->affected, 2);
    assert_int_equal(r->missing, 2);
    kit_expect_state(k, ids[0], JOB_CANCELLED);
    kit_expect_state(k, ids[2], JOB_DEAD);
    kit_expect_state(k, ids[3], JOB_CANCELLED);
    /* All items have the same time. */
    assert_int_equal(kit_job(k, ids[0]).cancelled_at.ns, kit_job(k, ids[3]).cancelled_at.ns);
}

/* Effects of each action on the document */

static void expect_no_claim(const struct job *j)
{
    expect_str(j->worker_id, STR_EMPTY);
    expect_str(j->hostname, STR_EMPTY);
    assert_int_equal(j->lease_expires_at.ns, 0);
}

static void retry__begins_again_and_keeps_the_history(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.max_retries = 1;
    struct id id = kit_enqueue_job(k, &t);
    (void)kit_claim(k, queue);
    (void)kit_beat_item(
        k, (struct command_heartbeat_item){.id = id, .progress = STR("1"), .checkpoint = STR("2")});
    (void)kit_fail(k, id, "broken");
    kit_pass_ms(k, 10);
    (void)kit_do(k, COMMAND_JOB_RETRY, id);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_PENDING);
    assert_int_equal(j.attempt, 0);
    assert_int_equal(j.failed_at.ns, 0);
    assert_int_equal(j.completed_at.ns, 0);
    assert_int_equal(j.scheduled_at.ns, 0);
    expect_no_claim(&j);
    expect_str(j.progress, STR("1"));
    expect_str(j.checkpoint, STR("2"));
    kit_expect_errors(k, id, "broken");
    kit_expect_count(k, queue, JOB_DEAD, 0);
    kit_expect_count(k, queue, JOB_PENDING, 1);
}

static void retry__of_a_cancelled_and_a_scheduled_job(void **state)
{
    struct kit *k = *state;
    struct id cancelled = kit_job_in(k, JOB_CANCELLED);
    struct id scheduled = kit_job_in(k, JOB_SCHEDULED);
    assert_true(kit_job(k, cancelled).cancelled_at.ns != 0);
    (void)kit_do(k, COMMAND_JOB_RETRY, cancelled);
    assert_int_equal(kit_job(k, cancelled).cancelled_at.ns, 0);
    (void)kit_do(k, COMMAND_JOB_RETRY, scheduled);
    assert_int_equal(kit_job(k, scheduled).scheduled_at.ns, 0);
    kit_tick(k, 3600000); /* and it is not promoted again */
    kit_expect_events(k, scheduled, "enqueued retried");
}

static void requeue__keeps_the_attempt(void **state)
{
    struct kit *k = *state;
    struct id id = kit_job_in(k, JOB_DEAD);
    (void)kit_do(k, COMMAND_JOB_REQUEUE, id);
    struct job j = kit_job(k, id);
    assert_int_equal(j.attempt, 1);
    assert_int_equal(j.failed_at.ns, 0);
}

static void cancel__frees_the_worker_and_the_place(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_enqueue(k, queue, "{}");
    (void)kit_queue_with(k, &(struct command_queue){.action = COMMAND_QUEUE_CONCURRENCY,
                                                    .name = str_from_z(queue),
                                                    .max = 1});
    (void)kit_claim(k, queue);
    struct id next = kit_enqueue(k, queue, "{}");
    kit_pass_ms(k, 3);
    assert_int_equal(kit_do(k, COMMAND_JOB_CANCEL, id)->state, JOB_ACTIVE);
    struct job j = kit_job(k, id);
    assert_int_equal(j.cancelled_at.ns, k->now.ns);
    assert_int_equal(j.scheduled_at.ns, 0);
    expect_no_claim(&j);
    assert_true(id_eq(kit_claim(k, queue), next));
    assert_int_equal(kit_beat(k, id), RESULT_CANCEL);
    kit_expect_count(k, queue, JOB_CANCELLED, 1);
}

static void hold__and_approve_take_out_of_line_and_back(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_enqueue(k, queue, "{}");
    (void)kit_claim(k, queue);
    struct command c = kit_action(COMMAND_JOB_HOLD, &id);
    c.jobs.reason = STR("look at it");
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    struct job j = kit_job(k, id);
    expect_no_claim(&j);
    assert_int_equal(j.scheduled_at.ns, 0);
    expect_str(j.hold_reason, STR("look at it"));
    expect_str(kit_last_event(k, id).text, STR("look at it"));
    assert_true(id_is_none(kit_claim(k, queue)));
    kit_tick(k, JOB_LEASE_MS + 1); /* the lease has no effect any more */
    kit_expect_state(k, id, JOB_HELD);
    struct id other = kit_enqueue(k, queue, "{}");
    (void)kit_do(k, COMMAND_JOB_APPROVE, id);
    j = kit_job(k, id);
    expect_str(j.hold_reason, STR_EMPTY);
    assert_int_equal(j.attempt, 1);
    assert_true(id_eq(kit_claim(k, queue), other)); /* it is at the end of the line */
    assert_true(id_eq(kit_claim(k, queue), id));
    /* A job that was scheduled or retrying is not promoted while it is held. */
    struct id scheduled = kit_job_in(k, JOB_SCHEDULED);
    (void)kit_do(k, COMMAND_JOB_HOLD, scheduled);
    assert_int_equal(kit_job(k, scheduled).scheduled_at.ns, 0);
    kit_tick(k, 3600000);
    kit_expect_state(k, scheduled, JOB_HELD);
}

static void reject__is_a_death_with_an_error_entry(void **state)
{
    struct kit *k = *state;
    struct id id = kit_job_in(k, JOB_HELD);
    struct id other = kit_job_in(k, JOB_HELD);
    struct command c = kit_action(COMMAND_JOB_REJECT, &id);
    c.jobs.reason = STR("too dear");
    kit_pass_ms(k, 3);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    struct job j = kit_job(k, id);
    assert_int_equal(j.failed_at.ns, k->now.ns);
    expect_str(j.hold_reason, STR_EMPTY);
    expect_no_claim(&j);
    kit_expect_errors(k, id, "rejected: too dear");
    (void)kit_do(k, COMMAND_JOB_REJECT, other);
    kit_expect_errors(k, other, "rejected");
}

static void move__takes_everything_along(void **state)
{
    struct kit *k = *state;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        const char *target = kit_name(k);
        struct id id = kit_job_in(k, (enum job_state)s);
        struct job before = kit_job(k, id);
        struct command c = kit_action(COMMAND_JOB_MOVE, &id);
        ROW(job_state_name((enum job_state)s));
        c.jobs.queue = str_from_z(target);
        assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
        struct job j = kit_job(k, id);
        expect_str(j.queue, str_from_z(target));
        assert_int_equal(j.attempt, before.attempt);
        assert_int_equal(j.scheduled_at.ns, before.scheduled_at.ns);
        assert_int_equal(j.lease_expires_at.ns, before.lease_expires_at.ns);
        expect_str(j.worker_id, before.worker_id);
        struct store_event e = kit_last_event(k, id);
        expect_str(e.text, before.queue);
        expect_str(e.text2, str_from_z(target));
        expect_str(e.queue, str_from_z(target));
        const char *old = kit_text(k, STR_FMT, STR_ARG(before.queue)).ptr;
        kit_expect_count(k, old, (enum job_state)s, 0);
        kit_expect_count(k, target, (enum job_state)s, 1);
        /* Its timers continue in the new queue. */
        kit_reopen(k);
        kit_expect_count(k, target, (enum job_state)s, 1);
        if (s == JOB_ACTIVE) {
            kit_tick(k, JOB_LEASE_MS + 1);
            assert_true(id_eq(kit_claim(k, target), id));
        } else if (s == JOB_RETRYING) {
            kit_tick(k, JOB_RETRY_BASE_MS);
            assert_true(id_eq(kit_claim(k, target), id));
        }
    }
}

static void move__goes_to_the_tail_and_may_reset_attempts(void **state)
{
    struct kit *k = *state;
    const char *target = kit_name(k);
    struct id there = kit_enqueue(k, target, "{}");
    struct id id = kit_job_in(k, JOB_ACTIVE);
    kit_tick(k, JOB_LEASE_MS + 1); /* pending again, after one attempt */
    struct command c = kit_action(COMMAND_JOB_MOVE, &id);
    c.jobs.queue = str_from_z(target);
    c.jobs.reset_attempts = true;
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_int_equal(kit_job(k, id).attempt, 0);
    assert_true(id_eq(kit_claim(k, target), there));
    assert_true(id_eq(kit_claim(k, target), id));
}

/* A job that is moved keeps its key. */
static void move__takes_the_unique_lock_along(void **state)
{
    struct kit *k = *state;
    const char *from = kit_name(k);
    const char *to = kit_name(k);
    struct job t = kit_template(from, "{}");
    struct job other = kit_template(to, "{}");
    t.unique_key = other.unique_key = STR("a");
    struct id id = kit_enqueue_job(k, &t);
    struct command c = kit_action(COMMAND_JOB_MOVE, &id);
    c.jobs.queue = str_from_z(to);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_true(id_eq(kit_enqueue_job(k, &other), id)); /* a duplicate in the new queue */
    struct id free = kit_enqueue_job(k, &t);
    assert_false(id_eq(free, id)); /* and the key is free in the old queue */
    /* Moving to the same queue changes nothing. */
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_true(id_eq(kit_enqueue_job(k, &other), id));
    /* If another job holds the key in the new queue, that job keeps it. */
    c = kit_action(COMMAND_JOB_MOVE, &free);
    c.jobs.queue = str_from_z(to);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_true(id_eq(kit_enqueue_job(k, &other), id));
    assert_false(id_eq(kit_enqueue_job(k, &t), free));
    kit_reopen(k);
    assert_true(id_eq(kit_enqueue_job(k, &other), id));
    /* The lock still expires at its original time. */
    kit_pass_ms(k, JOB_UNIQUE_PERIOD_S * 1000LL);
    assert_false(id_eq(kit_enqueue_job(k, &other), id));
}

static void priority__reorders_what_waits(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id first = kit_enqueue(k, queue, "{}");
    struct id second = kit_enqueue(k, queue, "{}");
    struct command c = kit_action(COMMAND_JOB_CHANGE_PRIORITY, &second);
    c.jobs.priority = JOB_PRIORITY_CRITICAL;
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_int_equal(kit_job(k, second).priority, JOB_PRIORITY_CRITICAL);
    kit_reopen(k);
    assert_true(id_eq(kit_claim(k, queue), second));
    assert_true(id_eq(kit_claim(k, queue), first));
}

static void priority__that_is_the_same_keeps_the_place(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id first = kit_enqueue(k, queue, "{}");
    struct id second = kit_enqueue(k, queue, "{}");
    struct command c = kit_action(COMMAND_JOB_CHANGE_PRIORITY, &first);
    c.jobs.priority = JOB_PRIORITY_NORMAL;
    assert_int_equal(kit_apply(k, &c)->affected, 1);
    kit_expect_events(k, first, "enqueued");
    kit_reopen(k);
    assert_true(id_eq(kit_claim(k, queue), first));
    assert_true(id_eq(kit_claim(k, queue), second));
}

static void delete__leaves_nothing_behind(void **state)
{
    struct kit *k = *state;
    uint64_t clean = 0;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        struct id id = kit_job_in(k, (enum job_state)s);
        (void)kit_do(k, COMMAND_JOB_DELETE, id);
        assert_false(kit_has(k, id));
        kit_expect_errors(k, id, "");
        struct command c = kit_action(COMMAND_JOB_DELETE, &id);
        kit_refuses(k, &c, ERR_NOT_FOUND, "job \"{id}\" not found", id);
        assert_int_equal(kit_beat(k, id), RESULT_UNKNOWN);
        clean = machine_live_count(k->machine);
    }
    kit_reopen(k);
    assert_int_equal(machine_live_count(k->machine), clean);
}

/* Otherwise the job would expire again at once. */
static void retry__of_an_expired_job_clears_when_it_expires(void **state)
{
    struct kit *k = *state;
    static const enum command_job_action actions[] = {COMMAND_JOB_RETRY, COMMAND_JOB_REQUEUE};
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        const char *queue = kit_name(k);
        struct command_new new = {.job = kit_template(queue, "{}"), .expire_after_ms = 1000};
        struct command c = kit_enqueue_command(&new, 1);
        struct id id = kit_apply(k, &c)->items[0].id;
        kit_tick(k, 1001);
        kit_expect_state(k, id, JOB_DEAD);
        (void)kit_do(k, actions[i], id);
        assert_int_equal(kit_job(k, id).expire_at.ns, 0);
        kit_tick(k, 1001);
        assert_true(id_eq(kit_claim(k, queue), id));
    }
}

TEST_GROUP_FIXTURE(apply_jobs, kit_setup, kit_teardown,
                   cmocka_unit_test(retry__of_an_expired_job_clears_when_it_expires),
                   cmocka_unit_test(grid__meets_every_state_with_every_action),
                   cmocka_unit_test(missing__jobs_are_not_found),
                   cmocka_unit_test(filter__is_looked_at_once_more_by_every_action),
                   cmocka_unit_test(filter__spares_a_job_that_was_retried_meanwhile),
                   cmocka_unit_test(bulk__does_what_it_can),
                   cmocka_unit_test(retry__begins_again_and_keeps_the_history),
                   cmocka_unit_test(retry__of_a_cancelled_and_a_scheduled_job),
                   cmocka_unit_test(requeue__keeps_the_attempt),
                   cmocka_unit_test(cancel__frees_the_worker_and_the_place),
                   cmocka_unit_test(hold__and_approve_take_out_of_line_and_back),
                   cmocka_unit_test(reject__is_a_death_with_an_error_entry),
                   cmocka_unit_test(move__takes_everything_along),
                   cmocka_unit_test(move__goes_to_the_tail_and_may_reset_attempts),
                   cmocka_unit_test(move__takes_the_unique_lock_along),
                   cmocka_unit_test(priority__reorders_what_waits),
                   cmocka_unit_test(priority__that_is_the_same_keeps_the_place),
                   cmocka_unit_test(delete__leaves_nothing_behind));
