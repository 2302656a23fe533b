/*
 * Effects of time (http-api.md 5.2, 5.3, 6.2, 6.10, 15.1).
 */
#include "base/limits.h"
#include "lib/machine_kit.h"

/* Enqueue a job with a due time. */
static struct id scheduled_in(struct kit *k, const char *queue, int64_t ms)
{
    struct job t = kit_template(queue, "{}");
    t.scheduled_at = wall_add_ms(k->now, ms);
    return kit_enqueue_job(k, &t);
}

static struct id expiring_in(struct kit *k, const struct job *t, int64_t ms)
{
    struct command_new new = {.job = *t, .expire_after_ms = ms};
    struct command c = kit_enqueue_command(&new, 1);
    return kit_apply(k, &c)->items[0].id;
}

static void promote__comes_at_the_due_time(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = scheduled_in(k, queue, 1000);
    kit_tick(k, 999);
    kit_expect_state(k, id, JOB_SCHEDULED);
    kit_reopen(k);
    kit_tick(k, 1);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_PENDING);
    assert_int_equal(j.scheduled_at.ns, 0);
    kit_expect_events(k, id, "enqueued promoted");
    expect_str(buf_str(&k->ready), kit_text(k, "%s ", queue));
    assert_true(id_eq(kit_claim(k, queue), id));
}

static void promote__puts_at_the_tail_in_order_of_due_time(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id late = scheduled_in(k, queue, 2000);
    struct id early = scheduled_in(k, queue, 1000);
    struct id waiting = kit_enqueue(k, queue, "{}");
    kit_tick(k, 5000);
    assert_true(id_eq(kit_claim(k, queue), waiting));
    assert_true(id_eq(kit_claim(k, queue), early));
    assert_true(id_eq(kit_claim(k, queue), late));
}

static void promote__of_a_failed_job_keeps_its_attempt(void **state)
{
    struct kit *k = *state;
    struct id id = kit_job_in(k, JOB_RETRYING);
    kit_tick(k, JOB_RETRY_BASE_MS - 1);
    kit_expect_state(k, id, JOB_RETRYING);
    kit_tick(k, 1);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_PENDING);
    assert_int_equal(j.attempt, 1);
    assert_int_equal(j.scheduled_at.ns, 0);
    assert_true(j.failed_at.ns != 0);
    kit_expect_events(k, id, "enqueued started failed retrying promoted");
}

static void reclaim__comes_after_the_lease(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_enqueue(k, queue, "{}");
    (void)kit_claim(k, queue);
    (void)kit_beat_item(k, (struct command_heartbeat_item){.id = id, .checkpoint = STR("[1]")});
    struct id other = kit_enqueue(k, queue, "{}");
    kit_tick(k, JOB_LEASE_MS); /* the lease includes its end */
    kit_expect_state(k, id, JOB_ACTIVE);
    kit_reopen(k);
    kit_tick(k, 1);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_PENDING);
    assert_int_equal(j.attempt, 1); /* the attempt counts */
    expect_str(j.worker_id, STR_EMPTY);
    expect_str(j.hostname, STR_EMPTY);
    assert_int_equal(j.lease_expires_at.ns, 0);
    expect_str(j.checkpoint, STR("[1]"));
    kit_expect_events(k, id, "enqueued started reclaimed");
    assert_true(id_eq(kit_claim(k, queue), other)); /* it is at the end of the line */
    assert_true(id_eq(kit_claim(k, queue), id));
}

static void expire__is_for_jobs_that_are_not_active_and_not_over(void **state)
{
    struct kit *k = *state;
    static const struct {
        enum job_state state;
        bool expires;
    } rows[] = {
        {JOB_SCHEDULED, true}, {JOB_PENDING, true},    {JOB_ACTIVE, false},    {JOB_RETRYING, true},
        {JOB_HELD, true},      {JOB_COMPLETED, false}, {JOB_CANCELLED, false},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const char *queue = kit_name(k);
        struct job t = kit_template(queue, "{}");
        enum job_state s = rows[i].state;
        ROW(job_state_name(s));
        t.retry_base_ms = 3600000;
        t.retry_max_ms = 0;
        t.scheduled_at = s == JOB_SCHEDULED ? wall_add_ms(k->now, 3600000) : (struct wall){0};
        struct id id = expiring_in(k, &t, 1000);
        if (s == JOB_ACTIVE || s == JOB_RETRYING || s == JOB_COMPLETED) {
            (void)kit_claim(k, queue);
        }
        if (s == JOB_RETRYING) {
            (void)kit_fail(k, id, "x");
        } else if (s == JOB_COMPLETED) {
            (void)kit_ack(k, id);
        } else if (s == JOB_HELD) {
            (void)kit_do(k, COMMAND_JOB_HOLD, id);
        } else if (s == JOB_CANCELLED) {
            (void)kit_do(k, COMMAND_JOB_CANCEL, id);
        }
        kit_tick(k, 1000); /* it expires only after this time */
        kit_expect_state(k, id, s);
        if (i % 2 == 0) {
            kit_reopen(k);
        }
        kit_tick(k, 1);
        kit_expect_state(k, id, rows[i].expires ? JOB_DEAD : s);
    }
}

static void expire__is_a_death_with_its_own_error(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.unique_key = STR("a");
    struct id id = expiring_in(k, &t, 1000);
    kit_tick(k, 1001);
    struct job j = kit_job(k, id);
    assert_int_equal(j.failed_at.ns, k->now.ns);
    assert_int_equal(j.attempt, 0);
    kit_expect_errors(k, id, "job expired");
    kit_expect_events(k, id, "enqueued expired dead");
    assert_int_equal(kit_queue_info(k, queue).failures, 0); /* an expired job has not failed */
    kit_expect_count(k, queue, JOB_DEAD, 1);
    assert_true(id_eq(kit_enqueue_job(k, &t), id)); /* its lock remains */
}

static void reclaimed__job_past_its_time_expires(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    struct id id = expiring_in(k, &t, 1000);
    (void)kit_claim(k, queue);
    kit_tick(k, JOB_LEASE_MS + 1);
    kit_expect_state(k, id, JOB_DEAD);
    kit_expect_events(k, id, "enqueued started reclaimed expired dead");
}

static void tick__moves_a_bounded_number_and_says_so(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    enum { JOBS = LIMIT_TICK_JOBS + 10 };
    struct command tick = {.type = COMMAND_TICK};
    struct command_new *news = calloc(JOBS, sizeof *news);
    kit_tick(k, 7200000); /* so that nothing of other tests is left */
    for (unsigned i = 0; i < JOBS; i++) {
        news[i].job = kit_template(queue, "{}");
        news[i].job.scheduled_at = wall_add_ms(k->now, 1);
    }
    struct command c = kit_enqueue_command(news, JOBS);
    (void)kit_apply(k, &c);
    free(news);
    assert_int_equal(machine_next_tick(k->machine).ns, wall_add_ms(k->now, 1).ns);
    const struct result *r = kit_apply(k, &tick); /* too early */
    assert_int_equal(r->affected, 0);
    assert_false(r->more);
    kit_pass_ms(k, 1);
    r = kit_apply(k, &tick);
    assert_int_equal(r->affected, LIMIT_TICK_JOBS);
    assert_true(r->more);
    r = kit_apply(k, &tick);
    assert_int_equal(r->affected, 10);
    assert_false(r->more);
    kit_expect_count(k, queue, JOB_PENDING, JOBS);
    (void)kit_empty(k, COMMAND_QUEUE_DELETE, queue);
}

static void next_tick__is_the_earliest_of_all_clocks(void **state)
{
    struct kit *k = *state;
    int64_t day_ms = 24 * 3600 * 1000;
    /* Everything of other tests ends, including the rows of workers. */
    kit_tick(k, 3 * day_ms);
    kit_tick(k, 3 * day_ms);
    assert_int_equal(machine_next_tick(k->machine).ns, INT64_MAX);
    struct wall start = k->now;

    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    (void)kit_claim_with(k, &(struct command_claim){.queues = &name,
                                                    .queue_count = 1,
                                                    .worker_id = STR("w.tick"),
                                                    .lease_ms = 1,
                                                    .count = 1});
    assert_int_equal(machine_next_tick(k->machine).ns, wall_add_ms(start, day_ms).ns + 1);
    struct job t = kit_template(queue, "{}");
    t.unique_key = STR("a");
    t.unique_period_s = 500;
    (void)kit_enqueue_job(k, &t);
    assert_int_equal(machine_next_tick(k->machine).ns, wall_add_ms(start, 500000).ns);
    (void)kit_claim(k, queue);
    assert_int_equal(machine_next_tick(k->machine).ns, wall_add_ms(start, JOB_LEASE_MS).ns + 1);
    t = kit_template(queue, "{}");
    (void)expiring_in(k, &t, 30000);
    assert_int_equal(machine_next_tick(k->machine).ns, wall_add_ms(start, 30000).ns + 1);
    (void)scheduled_in(k, queue, 20000);
    assert_int_equal(machine_next_tick(k->machine).ns, wall_add_ms(start, 20000).ns);
    kit_reopen(k);
    assert_int_equal(machine_next_tick(k->machine).ns, wall_add_ms(start, 20000).ns);
}

static void locks__that_have_run_out_are_removed(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    struct buf key;
    struct buf value;
    t.unique_key = STR("a");
    t.unique_period_s = 10;
    (void)kit_enqueue_job(k, &t);
    buf_init(&key, 256);
    buf_init(&value, 256);
    buf_add_str(&key, str_from_z(queue));
    buf_add_str(&key, STR("\0a"));
    struct store *s = machine_store(k->machine);
    kit_tick(k, 9999);
    assert_true(store_get(s, STORE_KIND_LOCK, buf_str(&key), &value));
    kit_tick(k, 1);
    assert_false(store_get(s, STORE_KIND_LOCK, buf_str(&key), &value));
    buf_deinit(&key);
    buf_deinit(&value);
}

/* The event log */

static bool note_first(void *data, const struct store_event *e)
{
    struct store_event *first = data;
    *first = *e;
    return false;
}

static struct store_event first_event(struct kit *k)
{
    struct store_event first = {0};
    store_event_read(machine_store(k->machine), 0, note_first, &first);
    return first;
}

/* No tick is needed: any entry removes them. */
static void events__older_than_a_day_go(void **state)
{
    struct kit *k = *state;
    int64_t hour_ms = 3600 * 1000;
    kit_pass_ms(k, 48 * hour_ms);
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, kit_name(k)); /* everything before is removed */
    struct wall start = k->now;
    assert_int_equal(first_event(k).at.ns, start.ns);
    uint64_t seq = first_event(k).seq;
    for (unsigned hour = 1; hour <= 24; hour++) {
        kit_pass_ms(k, hour_ms);
        (void)kit_queue(k, COMMAND_QUEUE_PAUSE, kit_name(k));
        assert_int_equal(first_event(k).at.ns, start.ns); /* exactly a day is kept */
        if (hour == 12) {
            kit_reopen(k);
        }
    }
    kit_pass_ms(k, LIMIT_EVENTS_TRIM_MS);
    (void)kit_queue(k, COMMAND_QUEUE_PAUSE, kit_name(k));
    assert_int_equal(first_event(k).at.ns, wall_add_ms(start, hour_ms).ns);
    assert_int_equal(first_event(k).seq, seq + 1); /* numbers continue */
    kit_pass_ms(k, 2 * hour_ms);
    kit_tick(k, 0); /* an entry without events */
    assert_int_equal(first_event(k).at.ns, wall_add_ms(start, 3 * hour_ms).ns);
}

TEST_GROUP_FIXTURE(apply_tick, kit_setup, kit_teardown,
                   cmocka_unit_test(promote__comes_at_the_due_time),
                   cmocka_unit_test(promote__puts_at_the_tail_in_order_of_due_time),
                   cmocka_unit_test(promote__of_a_failed_job_keeps_its_attempt),
                   cmocka_unit_test(reclaim__comes_after_the_lease),
                   cmocka_unit_test(expire__is_for_jobs_that_are_not_active_and_not_over),
                   cmocka_unit_test(expire__is_a_death_with_its_own_error),
                   cmocka_unit_test(reclaimed__job_past_its_time_expires),
                   cmocka_unit_test(tick__moves_a_bounded_number_and_says_so),
                   cmocka_unit_test(next_tick__is_the_earliest_of_all_clocks),
                   cmocka_unit_test(locks__that_have_run_out_are_removed),
                   cmocka_unit_test(events__older_than_a_day_go));
