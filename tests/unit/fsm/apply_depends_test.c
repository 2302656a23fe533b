/*
 * Dependencies between jobs (http-api.md 6.9).
 */
#include "lib/machine_kit.h"

static struct id waiting_for(struct kit *k, const char *queue, const struct id *ids, size_t count)
{
    struct job t = kit_template(queue, "{}");
    t.waits_for = str_from(ids, count * ID_BYTES);
    return kit_enqueue_job(k, &t);
}

static void complete(struct kit *k, const char *queue, struct id id)
{
    assert_true(id_eq(kit_claim(k, queue), id));
    (void)kit_ack(k, id);
}

static void child__is_pending_but_not_claimable(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id parent = kit_enqueue(k, parents, "{}");
    struct id child = waiting_for(k, children, &parent, 1);
    struct id behind = kit_enqueue(k, children, "{}");
    kit_expect_state(k, child, JOB_PENDING);
    kit_expect_count(k, children, JOB_PENDING, 2);
    assert_true(id_eq(kit_claim(k, children), behind)); /* it does not block the jobs after it */
    assert_true(id_is_none(kit_claim(k, children)));
    complete(k, parents, parent);
    expect_str(buf_str(&k->ready), kit_text(k, "%s ", children));
    assert_true(id_eq(kit_claim(k, children), child));
    kit_expect_events(k, child, "enqueued started"); /* no event when it becomes claimable */
}

static void child__waits_for_all_of_them(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id ids[3];
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = kit_enqueue(k, parents, "{}");
    }
    struct id child = waiting_for(k, children, ids, COUNT_OF(ids));
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        assert_true(id_is_none(kit_claim(k, children)));
        complete(k, parents, ids[i]);
        kit_reopen(k); /* a satisfied dependency is stored */
    }
    assert_int_equal(kit_job(k, child).waits_for.len, 0);
    assert_true(id_eq(kit_claim(k, children), child));
}

static void completed__parents_are_not_waited_for(void **state)
{
    struct kit *k = *state;
    const char *children = kit_name(k);
    struct id ids[] = {kit_job_in(k, JOB_COMPLETED), kit_job_in(k, JOB_COMPLETED)};
    struct id child = waiting_for(k, children, ids, COUNT_OF(ids));
    assert_int_equal(kit_job(k, child).waits_for.len, 0);
    assert_true(id_eq(kit_claim(k, children), child));
}

static void parents__that_end_otherwise_block(void **state)
{
    struct kit *k = *state;
    static const enum job_state ends[] = {JOB_DEAD, JOB_CANCELLED, JOB_HELD, JOB_RETRYING};
    for (unsigned i = 0; i < COUNT_OF(ends); i++) {
        const char *children = kit_name(k);
        struct id parent = kit_job_in(k, ends[i]);
        (void)waiting_for(k, children, &parent, 1);
        assert_true(id_is_none(kit_claim(k, children)));
    }
    const char *children = kit_name(k);
    struct id parent = kit_job_in(k, JOB_PENDING);
    struct id child = waiting_for(k, children, &parent, 1);
    (void)kit_do(k, COMMAND_JOB_DELETE, parent); /* a missing dependency blocks, too */
    assert_true(id_is_none(kit_claim(k, children)));
    kit_expect_state(k, child, JOB_PENDING);
}

static void parent__that_is_retried_and_completes_frees_the_child(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id parent = kit_enqueue(k, parents, "{}");
    struct id child = waiting_for(k, children, &parent, 1);
    (void)kit_do(k, COMMAND_JOB_CANCEL, parent);
    (void)kit_do(k, COMMAND_JOB_RETRY, parent);
    complete(k, parents, parent);
    assert_true(id_eq(kit_claim(k, children), child));
}

/* A satisfied dependency stays satisfied, whatever happens to the parent later. */
static void met__dependencies_stay_met(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id ids[] = {kit_enqueue(k, parents, "{}"), kit_enqueue(k, parents, "{}")};
    struct id child = waiting_for(k, children, ids, 2);
    complete(k, parents, ids[0]);
    (void)kit_do(k, COMMAND_JOB_DELETE, ids[0]);
    kit_reopen(k);
    complete(k, parents, ids[1]);
    assert_true(id_eq(kit_claim(k, children), child));
}

/* The same if the parent completes while the child is finished, and is removed before the child is
 * revived. */
static void met__while_a_child_is_over_stays_met(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id ids[] = {kit_enqueue(k, parents, "{}"), kit_enqueue(k, parents, "{}"),
                       kit_enqueue(k, parents, "{}")};
    struct id child = waiting_for(k, children, ids, COUNT_OF(ids));
    (void)kit_do(k, COMMAND_JOB_CANCEL, child);
    for (unsigned i = 0; i < 2; i++) {
        complete(k, parents, ids[i]);
        kit_expect_state(k, child, JOB_CANCELLED);
        kit_expect_count(k, children, JOB_CANCELLED, 1);
        assert_int_equal(kit_job(k, child).waits_for.len, (2 - i) * ID_BYTES);
        (void)kit_do(k, COMMAND_JOB_DELETE, ids[i]);
        kit_reopen(k);
    }
    (void)kit_do(k, COMMAND_JOB_RETRY, child);
    assert_true(id_is_none(kit_claim(k, children)));
    complete(k, parents, ids[2]);
    assert_true(id_eq(kit_claim(k, children), child));
}

/* A parent that is removed before it completes blocks its children forever. */
static void gone__parents_block_a_child_that_comes_back(void **state)
{
    struct kit *k = *state;
    const char *children = kit_name(k);
    struct id parent = kit_job_in(k, JOB_PENDING);
    struct id child = waiting_for(k, children, &parent, 1);
    (void)kit_do(k, COMMAND_JOB_CANCEL, child);
    (void)kit_do(k, COMMAND_JOB_DELETE, parent);
    (void)kit_do(k, COMMAND_JOB_RETRY, child);
    kit_expect_state(k, child, JOB_PENDING);
    assert_true(id_is_none(kit_claim(k, children)));
}

/* A child that ended in an entry of an earlier version is not updated, whether or not the machine
 * was restarted since. */
static void children__that_ended_by_old_entries_look_for_themselves(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id ids[] = {kit_enqueue(k, parents, "{}"), kit_enqueue(k, parents, "{}")};
    struct id child = waiting_for(k, children, ids, 2);
    k->entry_version = COMMAND_ENTRY_PUT;
    (void)kit_do(k, COMMAND_JOB_CANCEL, child);
    k->entry_version = COMMAND_ENTRY_VERSION;
    complete(k, parents, ids[0]);
    assert_int_equal(kit_job(k, child).waits_for.len, sizeof ids);
    kit_reopen(k);
    /* After an entry of the current version has written the child, it is updated again. */
    struct command move = kit_action(COMMAND_JOB_MOVE, &child);
    move.jobs.queue = str_from_z(kit_name(k));
    assert_int_equal(kit_apply(k, &move)->affected, 1);
    complete(k, parents, ids[1]);
    assert_int_equal(kit_job(k, child).waits_for.len, ID_BYTES);
    (void)kit_do(k, COMMAND_JOB_DELETE, child);
    kit_reopen(k);
}

static void unknown__parents_are_refused(void **state)
{
    struct kit *k = *state;
    struct id ids[] = {kit_job_in(k, JOB_PENDING), id_make(k->now, 7777777, 6)};
    struct command_new new = {.job = kit_template(kit_name(k), "{}")};
    new.job.waits_for = str_from(ids, sizeof ids);
    struct command c = kit_enqueue_command(&new, 1);
    kit_refuses(k, &c, ERR_VALIDATION, "depends_on: job \"{id}\" not found", ids[1]);
}

/* Scheduled, held and expired children. */
static void child__may_be_scheduled_or_held_meanwhile(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id parent = kit_enqueue(k, parents, "{}");
    struct job t = kit_template(children, "{}");
    t.waits_for = str_from(&parent, ID_BYTES);
    t.scheduled_at = wall_add_ms(k->now, 1000);
    struct id scheduled = kit_enqueue_job(k, &t);
    struct id held = waiting_for(k, children, &parent, 1);
    (void)kit_do(k, COMMAND_JOB_HOLD, held);
    kit_tick(k, 1000);
    kit_expect_state(k, scheduled, JOB_PENDING); /* promoted, but still waiting */
    assert_true(id_is_none(kit_claim(k, children)));
    complete(k, parents, parent);
    assert_true(id_eq(kit_claim(k, children), scheduled));
    kit_expect_state(k, held, JOB_HELD);
    (void)kit_do(k, COMMAND_JOB_APPROVE, held);
    assert_true(id_eq(kit_claim(k, children), held));
}

static void child__that_is_approved_first_still_waits(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id parent = kit_enqueue(k, parents, "{}");
    struct id child = waiting_for(k, children, &parent, 1);
    (void)kit_do(k, COMMAND_JOB_HOLD, child);
    (void)kit_do(k, COMMAND_JOB_APPROVE, child);
    assert_true(id_is_none(kit_claim(k, children)));
    complete(k, parents, parent);
    assert_true(id_eq(kit_claim(k, children), child));
}

/* A child that was finished while its parent completed checks the parent when it is revived, with
 * or without a restart in between. */
static void child__that_comes_back_looks_again(void **state)
{
    struct kit *k = *state;
    for (unsigned restart = 0; restart < 2; restart++) {
        const char *parents = kit_name(k);
        const char *children = kit_name(k);
        struct id ids[] = {kit_enqueue(k, parents, "{}"), kit_enqueue(k, parents, "{}")};
        struct id child = waiting_for(k, children, ids, 2);
        (void)kit_do(k, COMMAND_JOB_CANCEL, child);
        if (restart == 1) {
            kit_reopen(k);
        }
        complete(k, parents, ids[0]);
        (void)kit_do(k, COMMAND_JOB_RETRY, child);
        assert_true(id_is_none(kit_claim(k, children)));
        if (restart == 1) {
            kit_reopen(k);
        }
        complete(k, parents, ids[1]);
        assert_true(id_eq(kit_claim(k, children), child));
    }
}

static void children__of_one_parent_come_in_order_of_their_ids(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *children = kit_name(k);
    struct id parent = kit_enqueue(k, parents, "{}");
    struct id ids[20];
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = waiting_for(k, children, &parent, 1);
        if (i % 3 == 0) {
            (void)kit_do(k, COMMAND_JOB_DELETE, ids[i]); /* skipped when the waiters are updated */
        }
    }
    complete(k, parents, parent);
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        if (i % 3 != 0) {
            assert_true(id_eq(kit_claim(k, children), ids[i]));
        }
    }
    assert_true(id_is_none(kit_claim(k, children)));
}

/* A step of a chain may also have dependencies. */
static void chain__and_dependencies_go_together(void **state)
{
    struct kit *k = *state;
    const char *parents = kit_name(k);
    const char *queues[] = {kit_name(k), kit_name(k)};
    struct id parent = kit_enqueue(k, parents, "{}");
    struct command_new new = {.job = kit_template(queues[0], "{}"), .starts_chain = true};
    new.job.waits_for = str_from(&parent, ID_BYTES);
    new.job.chain_config =
        kit_text(k, "{\"steps\":[{\"queue\":\"%s\"},{\"queue\":\"%s\"}]}", queues[0], queues[1]);
    struct command c = kit_enqueue_command(&new, 1);
    struct id id = kit_apply(k, &c)->items[0].id;
    assert_true(id_is_none(kit_claim(k, queues[0])));
    complete(k, parents, parent);
    complete(k, queues[0], id);
    assert_false(id_is_none(kit_claim(k, queues[1])));
}

TEST_GROUP_FIXTURE(apply_depends, kit_setup, kit_teardown,
                   cmocka_unit_test(child__is_pending_but_not_claimable),
                   cmocka_unit_test(child__waits_for_all_of_them),
                   cmocka_unit_test(completed__parents_are_not_waited_for),
                   cmocka_unit_test(parents__that_end_otherwise_block),
                   cmocka_unit_test(parent__that_is_retried_and_completes_frees_the_child),
                   cmocka_unit_test(met__while_a_child_is_over_stays_met),
                   cmocka_unit_test(gone__parents_block_a_child_that_comes_back),
                   cmocka_unit_test(children__that_ended_by_old_entries_look_for_themselves),
                   cmocka_unit_test(met__dependencies_stay_met),
                   cmocka_unit_test(unknown__parents_are_refused),
                   cmocka_unit_test(child__may_be_scheduled_or_held_meanwhile),
                   cmocka_unit_test(child__that_is_approved_first_still_waits),
                   cmocka_unit_test(child__that_comes_back_looks_again),
                   cmocka_unit_test(children__of_one_parent_come_in_order_of_their_ids),
                   cmocka_unit_test(chain__and_dependencies_go_together));
