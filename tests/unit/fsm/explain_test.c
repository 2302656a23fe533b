/*
 * Explanations of a job and its queue: place in line, holders, workers, also after a restart.
 */
#include "fsm/explain.h"

#include "lib/machine_kit.h"

static struct explain_job look_at(struct kit *k, struct id id)
{
    struct explain_job x;
    explain_job(k->machine, id, k->now, k->arena, &x);
    return x;
}

static struct explain_queue look_at_queue(struct kit *k, const char *queue)
{
    struct explain_queue q;
    explain_queue(k->machine, str_from_z(queue), k->now, k->arena, &q);
    return q;
}

static struct id enqueue_with(struct kit *k, const char *queue, uint8_t priority)
{
    struct job j = kit_template(queue, "{}");
    j.priority = priority;
    return kit_enqueue_job(k, &j);
}

static void place__counts_higher_classes_and_earlier_jobs(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id normal = enqueue_with(k, queue, JOB_PRIORITY_NORMAL);
    struct id last = enqueue_with(k, queue, JOB_PRIORITY_NORMAL);
    struct id first = enqueue_with(k, queue, JOB_PRIORITY_CRITICAL);
    for (unsigned round = 0; round < 2; round++) {
        assert_true(look_at(k, first).in_line);
        assert_int_equal(look_at(k, first).ahead, 0);
        assert_int_equal(look_at(k, normal).ahead, 1);
        assert_int_equal(look_at(k, last).ahead, 2);
        assert_false(look_at(k, last).ahead_is_least);
        assert_int_equal(look_at_queue(k, queue).waiting, 3);
        kit_reopen(k);
    }
}

static void holders__are_the_active_jobs(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    (void)kit_queue_with(k, &(struct command_queue){.action = COMMAND_QUEUE_CONCURRENCY,
                                                    .name = str_from_z(queue),
                                                    .max = 1});
    for (unsigned round = 0; round < 2; round++) {
        struct explain_queue q = look_at_queue(k, queue);
        assert_true(q.at_limit);
        assert_int_equal(q.holder_count, 1);
        assert_true(id_eq(q.holders[0], id));
        struct explain_job x = look_at(k, id);
        assert_true(x.found);
        assert_false(x.in_line);
        expect_str(x.job.worker_id, STR("worker"));
        kit_reopen(k);
    }
    /* An active job that is moved is a holder in its new queue. */
    const char *other = kit_name(k);
    struct command move = kit_action(COMMAND_JOB_MOVE, &id);
    move.jobs.queue = str_from_z(other);
    (void)kit_apply(k, &move);
    assert_int_equal(look_at_queue(k, queue).holder_count, 0);
    assert_int_equal(look_at_queue(k, other).holder_count, 1);
    (void)kit_ack(k, id);
    assert_int_equal(look_at_queue(k, other).holder_count, 0);
}

static void holders__are_bounded(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    for (unsigned i = 0; i < EXPLAIN_HOLDERS_MAX + 3; i++) {
        (void)kit_active(k, queue);
    }
    struct explain_queue q = look_at_queue(k, queue);
    assert_int_equal(q.holder_count, EXPLAIN_HOLDERS_MAX);
    assert_int_equal(q.settings.count[JOB_ACTIVE], EXPLAIN_HOLDERS_MAX + 3);
    assert_false(q.at_limit);
}

static void workers__are_those_that_ask_for_the_queue_newest_first(void **state)
{
    struct kit *k = *state;
    struct str queue = str_from_z(kit_name(k));
    enum { ASKING = EXPLAIN_WORKERS_MAX + 2 };
    for (unsigned i = 0; i < ASKING; i++) {
        kit_pass_ms(k, 10);
        (void)kit_claim_with(k, &(struct command_claim){.queues = &queue,
                                                        .queue_count = 1,
                                                        .worker_id = kit_text(k, "asks-%u", i),
                                                        .hostname = STR("host"),
                                                        .lease_ms = 1000,
                                                        .count = 1});
    }
    (void)kit_enqueue(k, queue.ptr, "{}");
    struct explain_queue q = look_at_queue(k, queue.ptr);
    assert_int_equal(q.workers_total, ASKING);
    assert_int_equal(q.worker_count, EXPLAIN_WORKERS_MAX);
    for (unsigned i = 0; i < EXPLAIN_WORKERS_MAX; i++) {
        expect_str(q.workers[i].id, kit_text(k, "asks-%u", ASKING - 1 - i));
        expect_str(q.workers[i].hostname, STR("host"));
    }
    /* A worker of another queue whose name contains this one is not counted. */
    struct str longer = kit_text(k, "%s.more", queue.ptr);
    (void)kit_enqueue(k, longer.ptr, "{}");
    assert_int_equal(look_at_queue(k, longer.ptr).workers_total, 0);
}

static void throttle__says_until_when(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    (void)kit_queue_with(k, &(struct command_queue){.action = COMMAND_QUEUE_THROTTLE,
                                                    .name = str_from_z(queue),
                                                    .rate = 1,
                                                    .window_ms = 60000});
    assert_int_equal(look_at_queue(k, queue).throttled_until.ns, 0);
    (void)kit_active(k, queue);
    assert_int_equal(look_at_queue(k, queue).throttled_until.ns, wall_add_ms(k->now, 60000).ns);
    kit_pass_ms(k, 60000);
    assert_int_equal(look_at_queue(k, queue).throttled_until.ns, 0);
}

static void unknown__is_not_found(void **state)
{
    struct kit *k = *state;
    assert_false(look_at(k, id_make(k->now, 7777777, 1)).found);
    assert_false(look_at_queue(k, "no such queue").known);
}

TEST_GROUP_FIXTURE(explain, kit_setup, kit_teardown,
                   cmocka_unit_test(place__counts_higher_classes_and_earlier_jobs),
                   cmocka_unit_test(holders__are_the_active_jobs),
                   cmocka_unit_test(holders__are_bounded),
                   cmocka_unit_test(workers__are_those_that_ask_for_the_queue_newest_first),
                   cmocka_unit_test(throttle__says_until_when),
                   cmocka_unit_test(unknown__is_not_found));
