/*
 * New jobs (http-api.md 5.3, 6.6, 6.9, 7.1, 7.2).
 */
#include "lib/machine_kit.h"

/* Enqueue the jobs with one command, which must succeed. */
static const struct result *enqueue_all(struct kit *k, struct command_new *jobs, size_t count)
{
    struct command c = kit_enqueue_command(jobs, count);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->count, count);
    return r;
}

static void enqueue__makes_a_pending_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = {.job = kit_template(queue, "{\"a\":1}")};
    const struct result *r = enqueue_all(k, &new, 1);
    struct id id = r->items[0].id;
    assert_int_equal(r->items[0].status, RESULT_PENDING);
    assert_true(id_is_none(r->id)); /* no batch */
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_PENDING);
    assert_int_equal(j.attempt, 0);
    assert_int_equal(j.created_at.ns, k->now.ns);
    assert_int_equal(j.scheduled_at.ns, 0);
    assert_int_equal(j.expire_at.ns, 0);
    assert_int_equal(j.max_retries, 3);
    assert_int_equal(j.version, k->index);
    assert_true(j.order > 0);
    expect_str(j.queue, str_from_z(queue));
    expect_str(j.payload, STR("{\"a\":1}"));
    kit_expect_events(k, id, "enqueued");
    kit_expect_count(k, queue, JOB_PENDING, 1);
    assert_int_equal(kit_queue_info(k, queue).created_at.ns, k->now.ns);
    expect_str(buf_str(&k->ready), kit_text(k, "%s ", queue));
}

static void enqueue__keeps_every_option(void **state)
{
    struct kit *k = *state;
    struct job want = kit_template(kit_name(k), "[1]");
    want.priority = JOB_PRIORITY_CRITICAL;
    want.backoff = JOB_BACKOFF_FIXED;
    want.max_retries = 0;
    want.retry_base_ms = 7;
    want.retry_max_ms = 0;
    want.tags = STR("{\"t\":\"v\"}");
    want.checkpoint = STR("{\"page\":2}");
    want.parent_id = STR("job_parent");
    want.chain_id = STR("chn_mine");
    want.chain_step = 4;
    want.has_chain_step = true;
    want.chain_config = STR("{\"depends_on\":[]}");
    want.unique_key = STR("key");
    want.unique_period_s = 5;
    struct job got = kit_job(k, kit_enqueue_job(k, &want));
    assert_int_equal(got.priority, want.priority);
    assert_int_equal(got.backoff, want.backoff);
    assert_int_equal(got.max_retries, 0);
    assert_int_equal(got.retry_base_ms, 7);
    assert_int_equal(got.retry_max_ms, 0);
    assert_int_equal(got.chain_step, 4);
    assert_true(got.has_chain_step);
    assert_int_equal(got.unique_period_s, 5);
    expect_str(got.tags, want.tags);
    expect_str(got.checkpoint, want.checkpoint);
    expect_str(got.parent_id, want.parent_id);
    expect_str(got.chain_id, want.chain_id);
    expect_str(got.chain_config, want.chain_config);
    expect_str(got.unique_key, want.unique_key);
    assert_false(got.is_agent);
}

static void enqueue__ids_sort_by_creation(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new jobs[3];
    struct id last = ID_NONE;
    for (unsigned i = 0; i < COUNT_OF(jobs); i++) {
        jobs[i] = (struct command_new){.job = kit_template(queue, "{}")};
    }
    for (unsigned round = 0; round < 3; round++) {
        const struct result *r = enqueue_all(k, jobs, COUNT_OF(jobs));
        for (unsigned i = 0; i < COUNT_OF(jobs); i++) {
            assert_true(id_cmp(last, r->items[i].id) < 0);
            last = r->items[i].id;
        }
        kit_pass_ms(k, round); /* including within one millisecond */
    }
}

static void enqueue__with_a_time_makes_a_scheduled_job(void **state)
{
    struct kit *k = *state;
    static const int64_t offsets_ms[] = {3600000, 1, 0, -1000};
    for (unsigned i = 0; i < COUNT_OF(offsets_ms); i++) {
        const char *queue = kit_name(k);
        struct command_new new = {.job = kit_template(queue, "{}")};
        new.job.scheduled_at = wall_add_ms(k->now, offsets_ms[i]);
        const struct result *r = enqueue_all(k, &new, 1);
        struct id id = r->items[0].id;
        assert_int_equal(r->items[0].status, RESULT_SCHEDULED);
        struct job j = kit_job(k, id);
        assert_int_equal(j.state, JOB_SCHEDULED);
        assert_int_equal(j.scheduled_at.ns, new.job.scheduled_at.ns);
        assert_int_equal(j.order, 0);
        assert_true(id_is_none(kit_claim(k, queue)));
    }
}

static void enqueue__counts_expiry_from_now(void **state)
{
    struct kit *k = *state;
    struct command_new new = {.job = kit_template(kit_name(k), "{}"), .expire_after_ms = 1500};
    struct id id = enqueue_all(k, &new, 1)->items[0].id;
    assert_int_equal(kit_job(k, id).expire_at.ns, k->now.ns + 1500 * NS_PER_MS);
    /* An expiry time after the end of the time range never occurs. */
    new.expire_after_ms = INT64_MAX;
    id = enqueue_all(k, &new, 1)->items[0].id;
    assert_int_equal(kit_job(k, id).expire_at.ns, INT64_MAX);
    kit_tick(k, 10000);
    assert_true(machine_next_tick(k->machine).ns > k->now.ns);
    kit_expect_state(k, id, JOB_PENDING);
}

static void enqueue__begins_an_agents_loop_at_one(void **state)
{
    struct kit *k = *state;
    struct job t = kit_template(kit_name(k), "{}");
    t.is_agent = true;
    t.agent = (struct job_agent){.max_iterations = 5,
                                 .max_cost_nusd = 6,
                                 .timeout_ms = 7,
                                 .timeout = STR("7ms"),
                                 .iteration = 99,
                                 .total_cost_nusd = 99};
    struct job j = kit_job(k, kit_enqueue_job(k, &t));
    assert_true(j.is_agent);
    assert_int_equal(j.agent.iteration, 1);
    assert_int_equal(j.agent.total_cost_nusd, 0);
    assert_int_equal(j.agent.max_iterations, 5);
    assert_int_equal(j.agent.max_cost_nusd, 6);
    expect_str(j.agent.timeout, STR("7ms"));
}

static void enqueue__gives_a_chain_its_id(void **state)
{
    struct kit *k = *state;
    struct command_new news[2] = {{.job = kit_template(kit_name(k), "{}"), .starts_chain = true}};
    news[0].job.chain_config = STR("{\"steps\":[]}");
    news[1] = news[0];
    const struct result *r = enqueue_all(k, news, 2);
    struct id first = r->items[0].id;
    struct id second = r->items[1].id;
    struct job a = kit_job(k, first);
    struct job b = kit_job(k, second);
    assert_true(a.has_chain_step);
    assert_int_equal(a.chain_step, 0);
    assert_true(str_starts_with(a.chain_id, STR("chn_")));
    assert_int_equal(a.chain_id.len, 30);
    assert_false(str_eq(a.chain_id, b.chain_id));
}

/* Unique keys */

static struct command_new unique(const char *queue, const char *key, int64_t period_s)
{
    struct command_new new = {.job = kit_template(queue, "{}")};
    new.job.unique_key = str_from_z(key);
    new.job.unique_period_s = period_s;
    return new;
}

/* Enqueue with the key. The id is that of the new job or of the holder. */
static enum result_status try_key(struct kit *k, const char *queue, const char *key,
                                  struct id *out_id)
{
    struct command_new new = unique(queue, key, 60);
    const struct result *r = enqueue_all(k, &new, 1);
    *out_id = r->items[0].id;
    return r->items[0].status;
}

static void unique_key__makes_one_job_and_then_duplicates(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    const char *other_queue = kit_name(k);
    struct id holder;
    struct id id;
    assert_int_equal(try_key(k, queue, "a", &holder), RESULT_PENDING);
    uint64_t digest = kit_digest(k);
    assert_int_equal(try_key(k, queue, "a", &id), RESULT_DUPLICATE);
    assert_true(id_eq(id, holder));
    assert_int_equal(kit_digest(k), digest);
    kit_expect_count(k, queue, JOB_PENDING, 1);
    kit_expect_events(k, holder, "enqueued");
    /* Another key, or the same key in another queue, does not conflict. */
    assert_int_equal(try_key(k, queue, "b", &id), RESULT_PENDING);
    assert_int_equal(try_key(k, other_queue, "a", &id), RESULT_PENDING);
    /* The lock is stored on disk. */
    kit_reopen(k);
    assert_int_equal(try_key(k, queue, "a", &id), RESULT_DUPLICATE);
    assert_true(id_eq(id, holder));
}

static void unique_key__is_free_at_the_end_of_its_period(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id holder;
    struct id id;
    assert_int_equal(try_key(k, queue, "a", &holder), RESULT_PENDING);
    kit_pass_ms(k, 59999);
    assert_int_equal(try_key(k, queue, "a", &id), RESULT_DUPLICATE);
    kit_pass_ms(k, 1);
    assert_int_equal(try_key(k, queue, "a", &id), RESULT_PENDING);
    assert_false(id_eq(id, holder));
    /* The lock of the new holder is not released by the old one. */
    assert_true(id_eq(kit_claim(k, queue), holder));
    (void)kit_ack(k, holder);
    struct id again;
    assert_int_equal(try_key(k, queue, "a", &again), RESULT_DUPLICATE);
    assert_true(id_eq(again, id));
}

static void unique_key__runs_an_hour_when_no_period_is_given(void **state)
{
    struct kit *k = *state;
    static const int64_t periods_s[] = {0, -5};
    for (unsigned i = 0; i < COUNT_OF(periods_s); i++) {
        const char *queue = kit_name(k);
        struct command_new new = unique(queue, "a", periods_s[i]);
        struct id id;
        (void)enqueue_all(k, &new, 1);
        kit_pass_ms(k, 3599999);
        assert_int_equal(try_key(k, queue, "a", &id), RESULT_DUPLICATE);
        kit_pass_ms(k, 1);
        assert_int_equal(try_key(k, queue, "a", &id), RESULT_PENDING);
    }
}

/* A period that ends after the end of the time range is a lock forever, and not expired. */
static void unique_key__may_have_any_period(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = unique(queue, "a", INT64_MAX);
    struct id id;
    (void)enqueue_all(k, &new, 1);
    kit_tick(k, 7200000);
    assert_int_equal(try_key(k, queue, "a", &id), RESULT_DUPLICATE);
}

static void unique_key__is_released_when_the_holder_is_gone(void **state)
{
    struct kit *k = *state;
    static const struct {
        const char *name;
        enum command_job_action action; /* 0: ack */
        bool released;
    } rows[] = {
        {"completed", 0, true},
        {"cancelled", COMMAND_JOB_CANCEL, true},
        {"deleted", COMMAND_JOB_DELETE, true},
        {"held", COMMAND_JOB_HOLD, false},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const char *queue = kit_name(k);
        struct id holder;
        struct id id;
        ROW(rows[i].name);
        assert_int_equal(try_key(k, queue, "a", &holder), RESULT_PENDING);
        if (rows[i].action == 0) {
            (void)kit_claim(k, queue);
            (void)kit_ack(k, holder);
        } else {
            (void)kit_do(k, rows[i].action, holder);
        }
        assert_int_equal(try_key(k, queue, "a", &id),
                         rows[i].released ? RESULT_PENDING : RESULT_DUPLICATE);
    }
}

static void unique_key__stays_on_a_dead_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = unique(queue, "a", 60);
    new.job.max_retries = 1;
    struct id holder = enqueue_all(k, &new, 1)->items[0].id;
    struct id id;
    (void)kit_claim(k, queue);
    (void)kit_fail(k, holder, "broken");
    kit_expect_state(k, holder, JOB_DEAD);
    assert_int_equal(try_key(k, queue, "a", &id), RESULT_DUPLICATE);
    kit_pass_ms(k, 60000);
    assert_int_equal(try_key(k, queue, "a", &id), RESULT_PENDING);
}

static void unique_key__is_honoured_inside_one_command(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new jobs[] = {unique(queue, "a", 60), unique(queue, "b", 60),
                                 unique(queue, "a", 60)};
    struct command c = kit_enqueue_command(jobs, COUNT_OF(jobs));
    c.enqueue.has_batch = true;
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->items[0].status, RESULT_PENDING);
    assert_int_equal(r->items[1].status, RESULT_PENDING);
    assert_int_equal(r->items[2].status, RESULT_DUPLICATE);
    assert_true(id_eq(r->items[0].id, r->items[2].id));
    kit_expect_count(k, queue, JOB_PENDING, 2);
    /* The same with two commands of one entry: only one creates a job. */
    const char *other = kit_name(k);
    struct command_new one = unique(other, "x", 60);
    struct command both[] = {kit_enqueue_command(&one, 1), kit_enqueue_command(&one, 1)};
    r = kit_apply_all(k, both, 2);
    assert_int_equal(r[0].items[0].status, RESULT_PENDING);
    assert_int_equal(r[1].items[0].status, RESULT_DUPLICATE);
    assert_true(id_eq(r[0].items[0].id, r[1].items[0].id));
}

/* All or nothing */

static void refusal__of_one_member_stores_nothing(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id unknown = id_make(k->now, 999999, 7);
    struct command_new jobs[] = {unique(queue, "a", 60), {.job = kit_template(queue, "{}")}};
    jobs[1].job.waits_for = str_from(&unknown, ID_BYTES);
    struct command c = kit_enqueue_command(jobs, COUNT_OF(jobs));
    c.enqueue.has_batch = true;
    c.enqueue.callback_queue = STR("done");
    kit_refuses(k, &c, ERR_VALIDATION, "jobs[1]: depends_on: job \"{id}\" not found", unknown);
    struct machine_queue q;
    assert_false(machine_queue_find(k->machine, str_from_z(queue), &q));
}

static void refusal__of_a_batch_that_is_not_open(void **state)
{
    struct kit *k = *state;
    struct command_new new = {.job = kit_template(kit_name(k), "{}")};
    struct command open = {.type = COMMAND_BATCH_OPEN};
    struct id batch = kit_apply(k, &open)->id;
    struct command seal = {.type = COMMAND_BATCH_SEAL, .batch_seal = {.id = batch}};
    new.job.batch_id = batch;
    struct command c = kit_enqueue_command(&new, 1);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_int_equal(kit_apply(k, &seal)->code, ERR_OK);
    struct str text = kit_id_text(k, batch, ID_BATCH);
    kit_refuses(k, &c, ERR_VALIDATION,
                kit_text(k, "batch_id: batch \"" STR_FMT "\" is not open", STR_ARG(text)).ptr,
                batch);
}

static void events__are_silent_when_the_log_is_off(void **state)
{
    struct kit *k = *state;
    k->events_off = true;
    struct id id = kit_enqueue(k, kit_name(k), "{}");
    k->events_off = false;
    kit_expect_events(k, id, "");
}

TEST_GROUP_FIXTURE(apply_enqueue, kit_setup, kit_teardown,
                   cmocka_unit_test(enqueue__makes_a_pending_job),
                   cmocka_unit_test(enqueue__keeps_every_option),
                   cmocka_unit_test(enqueue__ids_sort_by_creation),
                   cmocka_unit_test(enqueue__with_a_time_makes_a_scheduled_job),
                   cmocka_unit_test(enqueue__counts_expiry_from_now),
                   cmocka_unit_test(enqueue__begins_an_agents_loop_at_one),
                   cmocka_unit_test(enqueue__gives_a_chain_its_id),
                   cmocka_unit_test(unique_key__makes_one_job_and_then_duplicates),
                   cmocka_unit_test(unique_key__is_free_at_the_end_of_its_period),
                   cmocka_unit_test(unique_key__runs_an_hour_when_no_period_is_given),
                   cmocka_unit_test(unique_key__may_have_any_period),
                   cmocka_unit_test(unique_key__is_released_when_the_holder_is_gone),
                   cmocka_unit_test(unique_key__stays_on_a_dead_job),
                   cmocka_unit_test(unique_key__is_honoured_inside_one_command),
                   cmocka_unit_test(refusal__of_one_member_stores_nothing),
                   cmocka_unit_test(refusal__of_a_batch_that_is_not_open),
                   cmocka_unit_test(events__are_silent_when_the_log_is_off));
