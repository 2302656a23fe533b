/*
 * Queues: settings, clear and delete (http-api.md 5.2, 5.4, 12).
 */
#include "base/limits.h"
#include "lib/machine_kit.h"

static bool queue_exists(struct kit *k, const char *name)
{
    struct machine_queue q;
    return machine_queue_find(k->machine, str_from_z(name), &q);
}

static void set_throttle(struct kit *k, const char *queue, uint32_t rate, int64_t window_ms)
{
    (void)kit_queue_with(k, &(struct command_queue){.action = COMMAND_QUEUE_THROTTLE,
                                                    .name = str_from_z(queue),
                                                    .rate = rate,
                                                    .window_ms = window_ms});
}

static void actions__create_the_queue_and_are_idempotent(void **state)
{
    struct kit *k = *state;
    static const struct {
        const char *name;
        enum command_queue_action action;
        const char *events;
    } rows[] = {
        {"pause", COMMAND_QUEUE_PAUSE, "queue.paused"}, {"resume", COMMAND_QUEUE_RESUME, ""},
        {"concurrency", COMMAND_QUEUE_CONCURRENCY, ""}, {"throttle", COMMAND_QUEUE_THROTTLE, ""},
        {"unthrottle", COMMAND_QUEUE_UNTHROTTLE, ""},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const char *queue = kit_name(k);
        struct command_queue c = {.action = rows[i].action,
                                  .name = str_from_z(queue),
                                  .max = 3,
                                  .rate = 4,
                                  .window_ms = 5};
        ROW(rows[i].name);
        (void)kit_queue_with(k, &c);
        assert_true(queue_exists(k, queue));
        uint64_t digest = kit_digest(k);
        (void)kit_queue_with(k, &c);
        assert_int_equal(kit_digest(k), digest);
        kit_expect_queue_events(k, queue, rows[i].events);
    }
}

static void settings__are_kept_and_removed(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, queue);
    (void)kit_queue_with(k, &(struct command_queue){.action = COMMAND_QUEUE_CONCURRENCY,
                                                    .name = str_from_z(queue),
                                                    .max = 3});
    set_throttle(k, queue, 4, 5000);
    kit_reopen(k);
    struct machine_queue q = kit_queue_info(k, queue);
    assert_true(q.paused);
    assert_int_equal(q.max_concurrency, 3);
    assert_int_equal(q.throttle_rate, 4);
    assert_int_equal(q.throttle_window_ms, 5000);
    (void)kit_queue(k, COMMAND_QUEUE_RESUME, queue);
    (void)kit_queue(k, COMMAND_QUEUE_CONCURRENCY, queue);
    (void)kit_queue(k, COMMAND_QUEUE_UNTHROTTLE, queue);
    q = kit_queue_info(k, queue);
    assert_false(q.paused);
    assert_int_equal(q.max_concurrency, 0);
    assert_int_equal(q.throttle_rate, 0);
    assert_int_equal(q.throttle_window_ms, 0);
    kit_expect_queue_events(k, queue, "queue.paused queue.resumed");
}

/* A job in each state, all in one queue. */
static void fill(struct kit *k, const char *queue, struct id ids[JOB_STATE_COUNT])
{
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        ids[s] = kit_job_in(k, (enum job_state)s);
        struct command c = kit_action(COMMAND_JOB_MOVE, &ids[s]);
        c.jobs.queue = str_from_z(queue);
        assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    }
}

static void clear__removes_pending_and_scheduled_jobs(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ids[JOB_STATE_COUNT];
    struct id elsewhere = kit_enqueue(k, kit_name(k), "{}");
    fill(k, queue, ids);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_CLEAR, queue), 2);
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        bool gone = s == JOB_PENDING || s == JOB_SCHEDULED;
        assert_int_equal(kit_has(k, ids[s]), !gone);
        kit_expect_count(k, queue, (enum job_state)s, gone ? 0 : 1);
    }
    assert_true(kit_has(k, elsewhere));
    assert_true(id_is_none(kit_claim(k, queue)));
    kit_expect_events(k, ids[JOB_PENDING], "enqueued moved deleted");
    kit_expect_queue_events(k, queue, "queue.cleared");
    /* An unknown queue is created, as by every other action. */
    const char *unknown = kit_name(k);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_CLEAR, unknown), 0);
    assert_true(queue_exists(k, unknown));
}

static void clear__removes_every_priority(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    for (uint8_t p = 0; p <= JOB_PRIORITY_NORMAL; p++) {
        struct job t = kit_template(queue, "{}");
        t.priority = p;
        (void)kit_enqueue_job(k, &t);
    }
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_CLEAR, queue), 3);
    assert_true(id_is_none(kit_claim(k, queue)));
}

static void delete__removes_everything(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ids[JOB_STATE_COUNT];
    fill(k, queue, ids);
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, queue);
    set_throttle(k, queue, 5, 60000);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, queue), JOB_STATE_COUNT);
    assert_false(queue_exists(k, queue));
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        assert_false(kit_has(k, ids[s]));
        assert_int_equal(kit_beat(k, ids[s]), RESULT_UNKNOWN); /* its worker learns of it */
    }
    kit_expect_queue_events(k, queue, "queue.paused queue.deleted");
    /* If the name is used again, the queue is new, without the old settings. */
    kit_pass_ms(k, 5);
    struct id fresh = kit_enqueue(k, queue, "{}");
    assert_int_equal(kit_queue_info(k, queue).created_at.ns, k->now.ns);
    assert_true(id_eq(kit_claim(k, queue), fresh));
    kit_reopen(k);
    assert_true(queue_exists(k, queue));
}

static void delete__of_an_unknown_queue_is_fine(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    uint64_t digest = kit_digest(k);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, queue), 0);
    assert_int_equal(kit_digest(k), digest);
    assert_false(queue_exists(k, queue));
}

static void delete__releases_locks_and_counts_batch_members(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    const char *callback = kit_name(k);
    struct command_new news[2] = {{.job = kit_template(queue, "{}")},
                                  {.job = kit_template(queue, "{}")}};
    news[0].job.unique_key = STR("a");
    struct command c = kit_enqueue_command(news, 2);
    c.enqueue.has_batch = true;
    c.enqueue.callback_queue = str_from_z(callback);
    (void)kit_apply(k, &c);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, queue), 2);
    kit_expect_count(k, callback, JOB_PENDING, 1);
    assert_true(id_is_none(kit_job(k, kit_claim(k, callback)).batch_id)); /* not a member */
    struct job t = news[0].job;
    struct id id = kit_enqueue_job(k, &t);
    assert_true(id_eq(kit_claim(k, queue), id));
}

/* A queue is deleted in steps. Jobs that are added in between are kept. */
static void steps__are_bounded_and_spare_what_came_later(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    enum { JOBS = LIMIT_TICK_JOBS + 200 };
    struct command_new *news = calloc(JOBS, sizeof *news);
    for (unsigned i = 0; i < JOBS; i++) {
        news[i].job = kit_template(queue, "{}");
    }
    struct command c = kit_enqueue_command(news, JOBS);
    (void)kit_apply(k, &c);
    free(news);
    struct command_queue step = {.action = COMMAND_QUEUE_DELETE, .name = str_from_z(queue)};
    const struct result *r = kit_queue_with(k, &step);
    assert_int_equal(r->affected, LIMIT_TICK_JOBS);
    assert_true(r->more);
    step.cursor = r->cursor;
    step.until = r->until;
    step.in_done = r->in_done;
    assert_false(step.in_done);
    struct id late = kit_enqueue(k, queue, "{}"); /* after the first step, so it is kept */
    r = kit_queue_with(k, &step);
    assert_int_equal(r->affected, JOBS - LIMIT_TICK_JOBS);
    assert_true(r->more); /* next are the finished jobs */
    step.cursor = r->cursor;
    step.in_done = r->in_done;
    assert_true(step.in_done);
    r = kit_queue_with(k, &step);
    assert_false(r->more);
    assert_true(kit_has(k, late));
    assert_true(queue_exists(k, queue));
    kit_expect_count(k, queue, JOB_PENDING, 1);
}

/* The rest of a paused queue is not claimed between the steps. Before version 11 it was. */
static void delete__of_a_paused_queue_runs_none_of_its_jobs(void **state)
{
    struct kit *k = *state;
    for (unsigned i = 0; i < 2; i++) {
        const char *queue = kit_name(k);
        k->entry_version = i == 0 ? COMMAND_ENTRY_PUT : COMMAND_ENTRY_VERSION;
        struct command_new *news = calloc(LIMIT_TICK_JOBS + 1, sizeof *news);
        for (unsigned n = 0; n <= LIMIT_TICK_JOBS; n++) {
            news[n].job = kit_template(queue, "{}");
        }
        struct command c = kit_enqueue_command(news, LIMIT_TICK_JOBS + 1);
        (void)kit_apply(k, &c);
        free(news);
        (void)kit_queue(k, COMMAND_QUEUE_PAUSE, queue);
        struct command_queue step = {.action = COMMAND_QUEUE_DELETE, .name = str_from_z(queue)};
        assert_true(kit_queue_with(k, &step)->more);
        assert_int_equal(id_is_none(kit_claim(k, queue)), i == 1);
        assert_int_equal(kit_queue_info(k, queue).paused, i == 1);
    }
}

/* A throttle that is set between two steps is removed, too, so that the next start succeeds. */
static void delete__takes_a_throttle_that_came_between(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    (void)kit_enqueue(k, queue, "{}");
    struct command_queue step = {.action = COMMAND_QUEUE_DELETE, .name = str_from_z(queue)};
    const struct result *r = kit_queue_with(k, &step);
    assert_true(r->more);
    step.cursor = r->cursor;
    step.until = r->until;
    step.in_done = r->in_done;
    set_throttle(k, queue, 2, 60000);
    struct id late = kit_enqueue(k, queue, "{}");
    assert_true(id_eq(kit_claim(k, queue), late)); /* counted in the window */
    (void)kit_do(k, COMMAND_JOB_DELETE, late);
    assert_false(kit_queue_with(k, &step)->more);
    assert_false(queue_exists(k, queue));
    kit_reopen(k);
    (void)kit_enqueue(k, queue, "{}");
    assert_int_equal(kit_queue_info(k, queue).throttle_rate, 0);
}

static void delete__and_enqueue_in_one_entry_make_a_new_queue(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, queue);
    struct command_queue step = {.action = COMMAND_QUEUE_DELETE, .name = str_from_z(queue)};
    const struct result *r = kit_queue_with(k, &step);
    struct command_new new = {.job = kit_template(queue, "{}")};
    struct command both[] = {
        {.type = COMMAND_QUEUE,
         .queue = {.action = COMMAND_QUEUE_DELETE,
                   .name = str_from_z(queue),
                   .until = r->until,
                   .in_done = true}},
        kit_enqueue_command(&new, 1),
    };
    struct id id = kit_apply_all(k, both, 2)[1].items[0].id;
    kit_reopen(k);
    assert_true(id_eq(kit_claim(k, queue), id));
}

/* A job that is revived in the entry of the step is no longer finished. */
static void delete__spares_what_comes_back_in_the_same_entry(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    (void)kit_ack(k, id);
    struct command_queue step = {.action = COMMAND_QUEUE_DELETE, .name = str_from_z(queue)};
    const struct result *r = kit_queue_with(k, &step);
    step.until = r->until;
    step.in_done = true;
    struct command both[] = {kit_action(COMMAND_JOB_RETRY, &id),
                             {.type = COMMAND_QUEUE, .queue = step}};
    r = kit_apply_all(k, both, 2);
    assert_int_equal(r[1].affected, 0);
    assert_true(id_eq(kit_claim(k, queue), id));
}

static void counts__follow_the_jobs(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ids[JOB_STATE_COUNT];
    fill(k, queue, ids);
    for (unsigned pass = 0; pass < 2; pass++) {
        struct machine_queue q = kit_queue_info(k, queue);
        for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
            assert_int_equal(q.count[s], 1);
        }
        assert_true(id_eq(q.oldest_pending, ids[JOB_PENDING]));
        kit_reopen(k);
    }
}

static void expect_oldest(struct kit *k, const char *queue, struct id id)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        assert_true(id_eq(kit_queue_info(k, queue).oldest_pending, id));
        kit_reopen(k);
    }
}

/* A job that is revived is at the end of the line, but can still be the oldest. */
static void oldest__is_by_creation_and_not_by_place_in_line(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ids[5];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = kit_enqueue(k, queue, "{}");
    }
    expect_oldest(k, queue, ids[0]);
    for (size_t i = 0; i < 3; i++) {
        (void)kit_do(k, COMMAND_JOB_HOLD, ids[i]);
        expect_oldest(k, queue, ids[i + 1]);
    }
    (void)kit_do(k, COMMAND_JOB_APPROVE, ids[2]);
    expect_oldest(k, queue, ids[2]);
    (void)kit_do(k, COMMAND_JOB_APPROVE, ids[0]);
    (void)kit_do(k, COMMAND_JOB_APPROVE, ids[1]);
    expect_oldest(k, queue, ids[0]);
    const size_t line[] = {3, 4, 2, 0, 1};
    const size_t oldest[] = {0, 0, 0, 1};
    for (size_t i = 0; i < COUNT_OF(line); i++) {
        assert_true(id_eq(kit_claim(k, queue), ids[line[i]]));
        expect_oldest(k, queue, i < COUNT_OF(oldest) ? ids[oldest[i]] : ID_NONE);
    }
}

static void oldest__may_wait_for_another_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id first = kit_active(k, kit_name(k));
    struct job waiting = kit_template(queue, "{}");
    waiting.waits_for = str_from(first.b, ID_BYTES);
    struct id child = kit_enqueue_job(k, &waiting);
    expect_oldest(k, queue, child);
    (void)kit_enqueue(k, queue, "{}");
    expect_oldest(k, queue, child);
    (void)kit_ack(k, first);
    expect_oldest(k, queue, child);
    (void)kit_do(k, COMMAND_JOB_DELETE, child);
    assert_false(id_eq(kit_queue_info(k, queue).oldest_pending, child));
}

TEST_GROUP_FIXTURE(apply_queue, kit_setup, kit_teardown,
                   cmocka_unit_test(actions__create_the_queue_and_are_idempotent),
                   cmocka_unit_test(settings__are_kept_and_removed),
                   cmocka_unit_test(clear__removes_pending_and_scheduled_jobs),
                   cmocka_unit_test(clear__removes_every_priority),
                   cmocka_unit_test(delete__removes_everything),
                   cmocka_unit_test(delete__of_an_unknown_queue_is_fine),
                   cmocka_unit_test(delete__releases_locks_and_counts_batch_members),
                   cmocka_unit_test(steps__are_bounded_and_spare_what_came_later),
                   cmocka_unit_test(delete__of_a_paused_queue_runs_none_of_its_jobs),
                   cmocka_unit_test(delete__takes_a_throttle_that_came_between),
                   cmocka_unit_test(delete__and_enqueue_in_one_entry_make_a_new_queue),
                   cmocka_unit_test(delete__spares_what_comes_back_in_the_same_entry),
                   cmocka_unit_test(oldest__is_by_creation_and_not_by_place_in_line),
                   cmocka_unit_test(oldest__may_wait_for_another_job),
                   cmocka_unit_test(counts__follow_the_jobs));
