/*
 * Jobs that the server delivers itself (scheduler.md 4, 5, 7, 8), names and capacity (2.3, 10).
 */
#include "lib/machine_kit.h"
#include "lib/rng.h"
#include "store/store_job.h"
#include "store/store_rows.h"

#define TARGET "{\"url\":\"http://a.example/x\",\"timeout_ms\":1000}"

static struct job pushed(const char *queue, const char *url)
{
    struct job j = kit_template(queue, "{}");
    j.push = str_from_z(url);
    j.max_retries = 2;
    j.retry_base_ms = 1000;
    return j;
}

static const struct result *claim(struct kit *k, const char *queue, const char *host,
                                  uint32_t count)
{
    struct command_push_line line = {.queue = str_from_z(queue),
                                     .host = str_from_z(host),
                                     .priority = JOB_PRIORITY_NORMAL,
                                     .count = count};
    return kit_apply(
        k,
        &(struct command){
            .type = COMMAND_PUSH_CLAIM,
            .push_claim = {.node = STR("push:n1"), .lease_ms = 60000, .lines = &line, .count = 1}});
}

static uint32_t finish(struct kit *k, struct id id, enum job_outcome outcome,
                       struct command_push_end end)
{
    end.id = id;
    end.lease_token = end.lease_token != 0 ? end.lease_token : kit_job(k, id).lease_token;
    end.outcome = outcome;
    end.started_at = end.ended_at = k->now;
    return kit_apply(k, &(struct command){.type = COMMAND_PUSH_FINISH,
                                          .push_finish = {.items = &end, .count = 1}})
        ->affected;
}

struct tries {
    char text[256];
    size_t len;
};

static void add_try(void *data, const struct store_try *t)
{
    struct tries *tries = data;
    tries->len += (size_t)snprintf(tries->text + tries->len, sizeof tries->text - tries->len,
                                   "%u:%s ", t->attempt, job_outcome_name(t->outcome));
}

static void expect_tries(struct kit *k, struct id id, const char *want)
{
    struct tries tries = {.len = 0};
    store_rows_each_try(machine_store(k->machine), id, add_try, &tries);
    assert_string_equal(tries.text, want);
}

static void pushed__is_claimed_by_its_line_and_by_no_worker(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job j = pushed(queue, TARGET);
    struct job other = pushed(queue, "{\"url\":\"https://B.example/\"}");
    struct id a = kit_enqueue_job(k, &j);
    struct id b = kit_enqueue_job(k, &other);
    assert_true(id_is_none(kit_claim(k, queue)));
    assert_true(id_eq(kit_queue_info(k, queue).oldest_pending, a));
    assert_int_equal(claim(k, queue, "a.example:443", 5)->count, 0);
    assert_int_equal(claim(k, queue, "b.example:443", 5)->count, 1);
    kit_expect_state(k, b, JOB_ACTIVE);
    kit_reopen(k);
    assert_int_equal(claim(k, queue, "a.example:80", 5)->count, 1);
    struct job got = kit_job(k, a);
    assert_int_equal(got.state, JOB_ACTIVE);
    assert_int_equal(got.attempt, 1);
    assert_int_equal(got.due_at.ns, got.created_at.ns);
    assert_int_equal(got.first_try_at.ns, k->now.ns);
    expect_str(got.worker_id, STR("push:n1"));
    kit_refuses(
        k,
        &(struct command){.type = COMMAND_ACK,
                          .ack = {.items = &(struct command_ack_item){.id = a}, .count = 1}},
        ERR_ACK, "job {id} is delivered by the server", a);
    kit_refuses(k, &(struct command){.type = COMMAND_FAIL, .fail = {.id = a, .error = STR("x")}},
                ERR_FAIL, "job {id} is delivered by the server", a);
}

static void end__completes_retries_and_dies(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job j = pushed(queue, TARGET);
    struct id id = kit_enqueue_job(k, &j);
    (void)claim(k, queue, "a.example:80", 1);
    assert_int_equal(finish(k, id, JOB_OUTCOME_FAILED,
                            (struct command_push_end){.error = STR("webhook returned status 500"),
                                                      .error_type = STORE_TRY_ERROR_HTTP,
                                                      .retry_after_ms = 30000}),
                     1);
    struct job got = kit_job(k, id);
    assert_int_equal(got.state, JOB_RETRYING);
    assert_int_equal(got.scheduled_at.ns, wall_add_ms(k->now, 30000).ns); /* not after a second */
    kit_tick(k, 30000);
    (void)claim(k, queue, "a.example:80", 1);
    assert_int_equal(
        finish(k, id, JOB_OUTCOME_FAILED, (struct command_push_end){.error = STR("x")}), 1);
    kit_expect_state(k, id, JOB_DEAD);
    expect_tries(k, id, "1:failed 2:failed ");
    struct id good = kit_enqueue_job(k, &j);
    (void)claim(k, queue, "a.example:80", 1);
    assert_int_equal(finish(k, good, JOB_OUTCOME_COMPLETED,
                            (struct command_push_end){.result = STR("{\"status\":200}")}),
                     1);
    kit_expect_state(k, good, JOB_COMPLETED);
    expect_str(kit_job(k, good).result, STR("{\"status\":200}"));
    /* G2: a finished job is neither ended again nor claimed. */
    assert_int_equal(finish(k, good, JOB_OUTCOME_FAILED, (struct command_push_end){0}), 0);
    assert_int_equal(claim(k, queue, "a.example:80", 5)->count, 0);
    kit_expect_state(k, good, JOB_COMPLETED);
}

static void end__of_another_claim_is_passed_over(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job j = pushed(queue, TARGET);
    struct id id = kit_enqueue_job(k, &j);
    (void)claim(k, queue, "a.example:80", 1);
    uint64_t token = kit_job(k, id).lease_token;
    kit_tick(k, 70000); /* the lease ends */
    struct job got = kit_job(k, id);
    assert_int_equal(got.state, JOB_RETRYING);
    assert_int_equal(got.outcome, JOB_OUTCOME_TIMEOUT);
    assert_int_equal(kit_queue_info(k, queue).timed_out_waiting, 1);
    assert_int_equal(kit_queue_info(k, queue).pending_again, 0);
    expect_tries(k, id, "1:timeout ");
    kit_tick(k, 1000);
    kit_expect_state(k, id, JOB_PENDING); /* and it still counts as timed out */
    assert_int_equal(kit_queue_info(k, queue).timed_out_waiting, 1);
    assert_int_equal(kit_queue_info(k, queue).pending_again, 1);
    (void)claim(k, queue, "a.example:80", 1);
    assert_int_equal(
        finish(k, id, JOB_OUTCOME_COMPLETED, (struct command_push_end){.lease_token = token}), 0);
    kit_expect_state(k, id, JOB_ACTIVE);
}

static void lease__is_as_long_as_the_call_may_take(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job j = pushed(queue, "{\"url\":\"http://a.example/\",\"timeout_ms\":7200000}");
    struct id id = kit_enqueue_job(k, &j);
    (void)claim(k, queue, "a.example:80", 1);
    assert_true(kit_job(k, id).lease_expires_at.ns > wall_add_ms(k->now, 7200000).ns);
}

static void cancelled__records_the_try_that_was_broken_off(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job j = pushed(queue, TARGET);
    struct id id = kit_enqueue_job(k, &j);
    (void)claim(k, queue, "a.example:80", 1);
    struct command c = kit_action(COMMAND_JOB_CANCEL, &id);
    c.jobs.reason = STR("why");
    assert_int_equal(kit_apply(k, &c)->affected, 1);
    struct job got = kit_job(k, id);
    assert_int_equal(got.state, JOB_CANCELLED);
    expect_str(got.cancel_reason, STR("why"));
    expect_tries(k, id, "1:cancelled ");
    assert_int_equal(finish(k, id, JOB_OUTCOME_COMPLETED, (struct command_push_end){0}), 0);
    kit_expect_state(k, id, JOB_CANCELLED);
}

static void recurring__runs_again_under_the_same_id(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job j = pushed(queue, TARGET);
    j.cron = STR("* * * * *");
    j.cron_until = wall_add_ms(k->now, 100000);
    struct id id = kit_enqueue_job(k, &j);
    struct wall next = wall_add_ms(k->now, 50000);
    (void)claim(k, queue, "a.example:80", 1);
    assert_int_equal(finish(k, id, JOB_OUTCOME_COMPLETED, (struct command_push_end){.next = next}),
                     1);
    struct job got = kit_job(k, id);
    assert_int_equal(got.state, JOB_SCHEDULED);
    assert_int_equal(got.scheduled_at.ns, next.ns);
    assert_int_equal(got.due_at.ns, next.ns);
    assert_int_equal(got.attempt, 0);
    kit_tick(k, 50000);
    /* Its attempts are used up by a failure and a lost lease. It is claimed once more, because its
     * next run can only be computed outside the machine. */
    (void)claim(k, queue, "a.example:80", 1);
    (void)finish(k, id, JOB_OUTCOME_FAILED, (struct command_push_end){.error = STR("x")});
    kit_tick(k, 1000);
    (void)claim(k, queue, "a.example:80", 1);
    kit_tick(k, 70000);
    assert_int_equal(claim(k, queue, "a.example:80", 1)->count, 1);
    assert_int_equal(kit_job(k, id).attempt, 3);
    expect_tries(k, id, "1:completed 1:failed 2:timeout ");
    /* A run at the last date is allowed. After that date the job is removed. */
    assert_int_equal(
        finish(k, id, JOB_OUTCOME_NONE, (struct command_push_end){.next = j.cron_until}), 1);
    kit_expect_state(k, id, JOB_SCHEDULED);
    kit_tick(k, 1);
    (void)claim(k, queue, "a.example:80", 1);
    (void)finish(k, id, JOB_OUTCOME_COMPLETED,
                 (struct command_push_end){.next = wall_add_ms(j.cron_until, 1)});
    assert_false(kit_has(k, id));
    expect_tries(k, id, "");
}

/* Its receiver recognizes a repeated run by the time when it was due. */
static void recurring__that_is_approved_early_is_another_run(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job j = pushed(queue, TARGET);
    j.cron = STR("* * * * *");
    struct id id = kit_enqueue_job(k, &j);
    (void)claim(k, queue, "a.example:80", 1);
    struct wall planned = wall_add_ms(k->now, 50000);
    (void)finish(k, id, JOB_OUTCOME_COMPLETED, (struct command_push_end){.next = planned});
    (void)kit_do(k, COMMAND_JOB_HOLD, id);
    kit_pass_ms(k, 1000);
    (void)kit_do(k, COMMAND_JOB_APPROVE, id);
    assert_int_equal(kit_job(k, id).due_at.ns, k->now.ns);
    (void)claim(k, queue, "a.example:80", 1);
    (void)finish(k, id, JOB_OUTCOME_COMPLETED, (struct command_push_end){.next = planned});
    assert_int_equal(kit_job(k, id).due_at.ns, planned.ns);
}

static const struct result *put(struct kit *k, const char *queue, const char *name,
                                uint64_t definition, uint64_t bytes_max, uint64_t count_max)
{
    static struct command_new new;
    new = (struct command_new){.job = pushed(queue, TARGET)};
    new.job.name = str_from_z(name);
    new.job.definition = definition;
    new.job.counted_bytes = 200;
    new.job.scheduled_at = wall_add_ms(k->now, 3600000);
    return kit_apply(
        k, &(struct command){
               .type = COMMAND_NAMED_PUT,
               .named_put = {.job = &new, .bytes_max = bytes_max, .count_max = count_max}});
}

static void named__is_made_once_and_within_the_capacity(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = put(k, queue, "a", 1, 600, 3)->items[0].id;
    kit_expect_state(k, id, JOB_SCHEDULED);
    const struct result *again = put(k, queue, "a", 1, 600, 3);
    assert_int_equal(again->items[0].status, RESULT_DUPLICATE);
    assert_true(id_eq(again->items[0].id, id));
    assert_int_equal(put(k, queue, "a", 2, 600, 3)->code, ERR_CONFLICT);
    assert_int_equal(put(k, queue, "b", 1, 399, 3)->items[0].status, RESULT_NO_BYTES);
    assert_int_equal(put(k, queue, "b", 1, 400, 3)->items[0].status, RESULT_SCHEDULED);
    const struct result *full = put(k, queue, "c", 1, 600, 2);
    assert_int_equal(full->items[0].status, RESULT_NO_PLACE);
    assert_int_equal(full->items[0].order, 2);
    kit_reopen(k);
    assert_int_equal(kit_queue_info(k, queue).named_count, 2);
    assert_int_equal(kit_queue_info(k, queue).named_bytes, 400);
    /* A finished job is not counted, and keeps its name until it is removed. */
    (void)kit_do(k, COMMAND_JOB_CANCEL, id);
    assert_int_equal(kit_queue_info(k, queue).named_count, 1);
    assert_int_equal(put(k, queue, "a", 1, 600, 3)->items[0].status, RESULT_DUPLICATE);
    (void)kit_do(k, COMMAND_JOB_DELETE, id);
    assert_int_equal(put(k, queue, "a", 2, 600, 3)->items[0].status, RESULT_SCHEDULED);
    assert_int_equal(kit_queue_info(k, queue).named_bytes, 400);
}

static void named__two_in_one_entry_are_one_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = {.job = pushed(queue, TARGET)};
    new.job.name = STR("twice");
    new.job.counted_bytes = 200;
    struct command c = {.type = COMMAND_NAMED_PUT,
                        .named_put = {.job = &new, .bytes_max = 1000, .count_max = 10}};
    struct command both[] = {c, c};
    const struct result *r = kit_apply_all(k, both, 2);
    assert_int_equal(r[1].items[0].status, RESULT_DUPLICATE);
    assert_true(id_eq(r[0].items[0].id, r[1].items[0].id));
}

/* A name that is assigned, released and assigned again in one entry belongs to the last job, in the
 * same entry and later. */
static void named__changes_hands_in_one_entry(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id old = put(k, queue, "x", 1, 1000, 10)->items[0].id;
    struct command_new new = {.job = pushed(queue, TARGET)};
    new.job.name = STR("x");
    new.job.definition = 2;
    new.job.counted_bytes = 200;
    struct command_new other = new;
    other.job.name = STR("y");
    struct command remove = {.type = COMMAND_JOBS,
                             .jobs = {.action = COMMAND_JOB_DELETE, .ids = &old, .count = 1}};
    struct command give = {.type = COMMAND_NAMED_PUT,
                           .named_put = {.job = &new, .bytes_max = 1000, .count_max = 10}};
    struct command give_other = give;
    give_other.named_put.job = &other;
    struct command steps[] = {give_other, remove, give, give, give_other};
    const struct result *r = kit_apply_all(k, steps, COUNT_OF(steps));
    assert_int_equal(r[1].code, ERR_OK);
    struct id first_y = r[0].items[0].id;
    struct id last_x = r[2].items[0].id;
    assert_false(id_eq(last_x, old));
    assert_int_equal(r[3].items[0].status, RESULT_DUPLICATE);
    assert_true(id_eq(r[3].items[0].id, last_x));
    assert_true(id_eq(r[4].items[0].id, first_y));
    kit_reopen(k);
    assert_int_equal(kit_queue_info(k, queue).named_count, 2);
    assert_true(id_eq(put(k, queue, "x", 2, 1000, 10)->items[0].id, last_x));
    assert_true(id_eq(put(k, queue, "y", 2, 1000, 10)->items[0].id, first_y));
}

/* The expected holder of a name, in a simple list that is compared with the machine. */
struct known_name {
    struct id id; /* ID_NONE: the name is free */
    bool counts;  /* its job is unfinished */
};

static void expect_names(struct kit *k, const char *queue, const struct known_name *names,
                         unsigned count)
{
    uint64_t counted = 0;
    for (unsigned i = 0; i < count; i++) {
        counted += names[i].counts ? 1 : 0;
    }
    struct machine_queue q = kit_queue_info(k, queue);
    assert_int_equal(q.named_count, counted);
    assert_int_equal(q.named_bytes, counted * 200);
}

static void named__are_known_after_random_work_and_restarts(void **state)
{
    enum { NAMES = 40, ROUNDS = 4000 };
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct known_name names[NAMES] = {
        {.id = put(k, queue, "name-0", 1, 1000000, 1000)->items[0].id, .counts = true}};
    struct rng rng = rng_from(11);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct known_name *n = &names[rng_below(&rng, NAMES)];
        char name[16];
        (void)snprintf(name, sizeof name, "name-%u", (unsigned)(n - names));
        switch (rng_below(&rng, 6)) {
        case 0:
            if (!id_is_none(n->id)) {
                (void)kit_do(k, COMMAND_JOB_DELETE, n->id);
                *n = (struct known_name){.counts = false};
            }
            break;
        case 1:
            if (n->counts) {
                (void)kit_do(k, COMMAND_JOB_CANCEL, n->id);
                n->counts = false;
            }
            break;
        case 2:
            if (rng_below(&rng, 40) == 0) {
                kit_reopen(k);
            }
            break;
        default: {
            struct id id = put(k, queue, name, 1, 1000000, 1000)->items[0].id;
            if (!id_is_none(n->id)) {
                assert_true(id_eq(id, n->id));
            } else {
                *n = (struct known_name){.id = id, .counts = true};
            }
            break;
        }
        }
        expect_names(k, queue, names, NAMES);
    }
}

/* 21.3: its API reports a held job as pending, so it can be cancelled like a pending one. */
static void named__is_cancelled_while_it_is_held(void **state)
{
    struct kit *k = *state;
    struct id id = put(k, kit_name(k), "held", 1, 1000, 10)->items[0].id;
    struct job plain = pushed(kit_name(k), TARGET);
    struct id other = kit_enqueue_job(k, &plain);
    (void)kit_do(k, COMMAND_JOB_HOLD, id);
    (void)kit_do(k, COMMAND_JOB_HOLD, other);
    (void)kit_do(k, COMMAND_JOB_CANCEL, id);
    struct command refused = kit_action(COMMAND_JOB_CANCEL, &other);
    assert_int_equal(kit_apply(k, &refused)->code, ERR_CANCEL);
    kit_expect_state(k, id, JOB_CANCELLED);
    kit_expect_state(k, other, JOB_HELD);
}

/* 21.6: the id of a job in another queue cannot be used as a name. */
static void named__does_not_take_the_id_of_another_job(void **state)
{
    struct kit *k = *state;
    char name[ID_TEXT_MAX + 1] = "";
    struct id other = kit_enqueue(k, "elsewhere", "{}");
    (void)id_format(other, ID_JOB, name);
    assert_int_equal(put(k, kit_name(k), name, 1, 1000, 10)->code, ERR_CONFLICT);
    assert_int_equal(put(k, "team::jobs", name, 1, 1000, 10)->code, ERR_OK); /* another namespace */
    (void)kit_do(k, COMMAND_JOB_DELETE, other);
    assert_int_equal(put(k, kit_name(k), name, 1, 1000, 10)->code, ERR_OK);
}

/* Jobs are counted by their state in this API, also after a restart. */
static void named__is_counted_by_what_became_of_it(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = put(k, queue, "lost", 1, 1000, 10)->items[0].id;
    for (unsigned i = 0; i < 2; i++) {
        kit_tick(k, 3600000);
        assert_int_equal(claim(k, queue, "a.example:80", 1)->count, 1);
        assert_int_equal(kit_queue_info(k, queue).pending_again, 0);
        kit_tick(k, 70000); /* the lease ends */
        assert_int_equal(kit_queue_info(k, queue).lost_total, i + 1);
    }
    kit_expect_state(k, id, JOB_DEAD);
    struct job j = pushed(queue, TARGET);
    j.cron = STR("* * * * *");
    struct id ended = kit_enqueue_job(k, &j);
    (void)kit_enqueue_job(k, &j);
    (void)kit_do(k, COMMAND_JOB_CANCEL, ended);
    kit_reopen(k);
    assert_int_equal(kit_queue_info(k, queue).timed_out, 1);
    assert_int_equal(kit_queue_info(k, queue).lost_total, 2);
    assert_int_equal(kit_queue_info(k, queue).recurring, 2);
    (void)kit_do(k, COMMAND_JOB_DELETE, id);
    (void)kit_do(k, COMMAND_JOB_DELETE, ended);
    assert_int_equal(kit_queue_info(k, queue).timed_out, 0);
    assert_int_equal(kit_queue_info(k, queue).lost_total, 2); /* a counter never decreases */
    assert_int_equal(kit_queue_info(k, queue).recurring, 1);
}

static void named_purge__removes_what_is_over_for_long(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id old = put(k, queue, "old", 1, 10000, 10)->items[0].id;
    struct id plain = kit_enqueue(k, queue, "{}");
    (void)kit_do(k, COMMAND_JOB_CANCEL, old);
    (void)kit_do(k, COMMAND_JOB_CANCEL, plain);
    kit_pass_ms(k, 5000);
    (void)kit_apply(k, &(struct command){.type = COMMAND_PURGE, .purge = {.retention_ms = 1000}});
    assert_true(kit_has(k, old));
    assert_false(kit_has(k, plain));
    (void)kit_apply(
        k, &(struct command){.type = COMMAND_NAMED_PURGE, .named_purge = {.retention_ms = 1000}});
    assert_false(kit_has(k, old));
    assert_int_equal(put(k, queue, "old", 9, 10000, 10)->items[0].status, RESULT_SCHEDULED);
}

TEST_GROUP_FIXTURE(apply_push, kit_setup, kit_teardown,
                   cmocka_unit_test(pushed__is_claimed_by_its_line_and_by_no_worker),
                   cmocka_unit_test(end__completes_retries_and_dies),
                   cmocka_unit_test(end__of_another_claim_is_passed_over),
                   cmocka_unit_test(lease__is_as_long_as_the_call_may_take),
                   cmocka_unit_test(cancelled__records_the_try_that_was_broken_off),
                   cmocka_unit_test(recurring__runs_again_under_the_same_id),
                   cmocka_unit_test(recurring__that_is_approved_early_is_another_run),
                   cmocka_unit_test(named__is_made_once_and_within_the_capacity),
                   cmocka_unit_test(named__two_in_one_entry_are_one_job),
                   cmocka_unit_test(named__changes_hands_in_one_entry),
                   cmocka_unit_test(named__are_known_after_random_work_and_restarts),
                   cmocka_unit_test(named__is_cancelled_while_it_is_held),
                   cmocka_unit_test(named__does_not_take_the_id_of_another_job),
                   cmocka_unit_test(named__is_counted_by_what_became_of_it),
                   cmocka_unit_test(named_purge__removes_what_is_over_for_long));
