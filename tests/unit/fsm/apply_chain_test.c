/*
 * Chains: the end of a step creates the next step (http-api.md 6.8).
 */
#include "lib/machine_kit.h"

enum { STEPS = 3 };

struct chain {
    const char *queues[STEPS];
    const char *on_exit;
    struct id first;
};

/* Start a chain of three steps. on_failure is the handler as JSON, or NULL. */
static struct chain start_with(struct kit *k, const char *on_failure, bool on_exit)
{
    struct chain c = {.on_exit = kit_name(k)};
    struct command_new new = {.starts_chain = true};
    struct str exit_part = STR("");
    struct str failure_part = STR("");
    for (unsigned i = 0; i < STEPS; i++) {
        c.queues[i] = kit_name(k);
    }
    if (on_exit) {
        exit_part =
            kit_text(k, ",\"on_exit\":{\"queue\":\"%s\",\"payload\":{\"bye\":2}}", c.on_exit);
    }
    if (on_failure != NULL) {
        failure_part = kit_text(k, ",\"on_failure\":%s", on_failure);
    }
    new.job = kit_template(c.queues[0], "{}");
    new.job.max_retries = 1;
    new.job.chain_config =
        kit_text(k,
                 "{\"steps\":[{\"queue\":\"%s\"},{\"queue\":\"%s\",\"payload\":{\"own\":1}},"
                 "{\"queue\":\"%s\",\"payload\":[9]}]%s%s}",
                 c.queues[0], c.queues[1], c.queues[2], exit_part.ptr, failure_part.ptr);
    struct command enqueue = kit_enqueue_command(&new, 1);
    const struct result *r = kit_apply(k, &enqueue);
    assert_int_equal(r->code, ERR_OK);
    c.first = r->items[0].id;
    return c;
}

static struct chain start(struct kit *k)
{
    return start_with(k, NULL, false);
}

/* Complete the job that is pending in the queue, with or without a result. Returns its id. */
static struct id complete(struct kit *k, const char *queue, const char *result)
{
    struct id id = kit_claim(k, queue);
    assert_false(id_is_none(id));
    (void)kit_ack_item(k, (struct command_ack_item){.id = id,
                                                    .has_result = result != NULL,
                                                    .result = str_from_z(result)});
    return id;
}

static uint64_t waiting(struct kit *k, const char *queue)
{
    struct machine_queue q;
    return machine_queue_find(k->machine, str_from_z(queue), &q) ? q.count[JOB_PENDING] : 0;
}

static void steps__follow_each_other(void **state)
{
    struct kit *k = *state;
    struct chain c = start(k);
    struct job zero = kit_job(k, c.first);
    (void)complete(k, c.queues[0], "{\"n\":5}");
    assert_int_equal(waiting(k, c.queues[1]), 1);
    struct id second = kit_claim(k, c.queues[1]);
    struct job one = kit_job(k, second);
    assert_int_equal(one.chain_step, 1);
    assert_true(one.has_chain_step);
    expect_str(one.chain_id, zero.chain_id);
    expect_str(one.chain_config, zero.chain_config);
    expect_str(one.payload, kit_text(k,
                                     "{\"previous_job_id\":\"" STR_FMT
                                     "\",\"previous_result\":{\"n\":5},\"own\":1}",
                                     STR_ARG(kit_id_text(k, c.first, ID_JOB))));
    assert_int_equal(one.priority, JOB_PRIORITY_NORMAL);
    assert_int_equal(one.max_retries, 3);
    assert_int_equal(one.backoff, JOB_BACKOFF_EXPONENTIAL);
    assert_int_equal(one.retry_base_ms, 5000);
    assert_int_equal(one.retry_max_ms, 600000);
    expect_str(one.tags, STR_EMPTY);
    expect_str(one.parent_id, STR_EMPTY);
    kit_expect_events(k, second, "enqueued started");
    /* It was created by the entry that completed the previous step. */
    assert_int_equal(one.created_at.ns, kit_job(k, c.first).completed_at.ns);

    (void)kit_ack(k, second);
    struct id third = kit_claim(k, c.queues[2]);
    struct job two = kit_job(k, third);
    assert_int_equal(two.chain_step, 2);
    /* No result was sent, and a payload that is not an object is ignored. */
    expect_str(two.payload, kit_text(k, "{\"previous_job_id\":\"" STR_FMT "\"}",
                                     STR_ARG(kit_id_text(k, second, ID_JOB))));
    uint64_t live = machine_live_count(k->machine);
    (void)kit_ack(k, third);
    assert_int_equal(machine_live_count(k->machine), live - 1); /* the chain ends: no new job */
}

static void result__of_null_counts_and_own_keys_override(void **state)
{
    struct kit *k = *state;
    const char *queues[] = {kit_name(k), kit_name(k)};
    struct command_new new = {.job = kit_template(queues[0], "{}"), .starts_chain = true};
    new.job.chain_config = kit_text(k,
                                    "{\"steps\":[{\"queue\":\"%s\"},{\"queue\":\"%s\","
                                    "\"payload\":{\"previous_job_id\":\"mine\",\"z\":0}}]}",
                                    queues[0], queues[1]);
    struct command c = kit_enqueue_command(&new, 1);
    (void)kit_apply(k, &c);
    (void)complete(k, queues[0], "null");
    expect_str(kit_job(k, kit_claim(k, queues[1])).payload,
               STR("{\"previous_job_id\":\"mine\",\"previous_result\":null,\"z\":0}"));
}

static void last_step__and_exit_lead_to_on_exit(void **state)
{
    struct kit *k = *state;
    struct chain c = start_with(k, NULL, true);
    (void)complete(k, c.queues[0], NULL);
    (void)complete(k, c.queues[1], NULL);
    assert_int_equal(waiting(k, c.on_exit), 0);
    struct id last = complete(k, c.queues[2], "3");
    struct id id = kit_claim(k, c.on_exit);
    struct job j = kit_job(k, id);
    assert_int_equal(j.chain_step, -1);
    expect_str(j.payload,
               kit_text(k, "{\"previous_job_id\":\"" STR_FMT "\",\"previous_result\":3,\"bye\":2}",
                        STR_ARG(kit_id_text(k, last, ID_JOB))));
    (void)kit_ack(k, id); /* a handler creates no further job */
    assert_int_equal(waiting(k, c.on_exit), 0);

    c = start_with(k, NULL, true);
    id = kit_claim(k, c.queues[0]);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id,
                                                    .step_status = COMMAND_STEP_EXIT,
                                                    .exit_reason = STR("say \"no\"")});
    assert_int_equal(waiting(k, c.queues[1]), 0);
    expect_str(kit_job(k, kit_claim(k, c.on_exit)).payload,
               kit_text(k,
                        "{\"previous_job_id\":\"" STR_FMT
                        "\",\"exit_reason\":\"say \\\"no\\\"\",\"bye\":2}",
                        STR_ARG(kit_id_text(k, id, ID_JOB))));
}

static void exit__without_on_exit_ends_the_chain(void **state)
{
    struct kit *k = *state;
    struct chain c = start(k);
    uint64_t live = machine_live_count(k->machine);
    struct id id = kit_claim(k, c.queues[0]);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id, .step_status = COMMAND_STEP_EXIT});
    assert_int_equal(machine_live_count(k->machine), live - 1);
    /* An explicit "continue" is the default. */
    c = start(k);
    id = kit_claim(k, c.queues[0]);
    (void)kit_ack_item(k,
                       (struct command_ack_item){.id = id, .step_status = COMMAND_STEP_CONTINUE});
    assert_int_equal(waiting(k, c.queues[1]), 1);
}

/* End the first step of a chain as dead. */
enum death { BY_FAIL, BY_REJECT };

static void kill_step(struct kit *k, const struct chain *c, enum death how)
{
    if (how == BY_FAIL) {
        (void)kit_claim(k, c->queues[0]);
        (void)kit_fail(k, c->first, "it \"broke\"");
    } else {
        (void)kit_do(k, COMMAND_JOB_HOLD, c->first);
        (void)kit_do(k, COMMAND_JOB_REJECT, c->first);
    }
    kit_expect_state(k, c->first, JOB_DEAD);
}

static void death__calls_on_failure(void **state)
{
    struct kit *k = *state;
    static const struct {
        enum death how;
        const char *error;
    } rows[] = {{BY_FAIL, "it \\\"broke\\\""}, {BY_REJECT, "rejected"}};
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const char *handler = kit_name(k);
        struct chain c = start_with(
            k,
            kit_text(k, "{\"queue\":\"%s\",\"payload\":{\"a\":1,\"failed_step\":\"x\"}}", handler)
                .ptr,
            true);
        kill_step(k, &c, rows[i].how);
        struct id id = kit_claim(k, handler);
        struct job j = kit_job(k, id);
        assert_int_equal(j.chain_step, -2);
        expect_str(j.chain_id, kit_job(k, c.first).chain_id);
        expect_str(j.payload, kit_text(k,
                                       "{\"failed_job_id\":\"" STR_FMT
                                       "\",\"failed_step\":\"x\",\"error\":\"%s\",\"a\":1}",
                                       STR_ARG(kit_id_text(k, c.first, ID_JOB)), rows[i].error));
        /* Handlers do not start further jobs. */
        uint64_t live = machine_live_count(k->machine);
        for (unsigned attempt = 0; attempt < 3; attempt++) {
            (void)kit_fail(k, id, "again");
            kit_tick(k, JOB_RETRY_MAX_MS);
            (void)kit_claim(k, handler);
        }
        kit_expect_state(k, id, JOB_DEAD);
        assert_int_equal(machine_live_count(k->machine), live - 1);
    }
}

static void expiry__of_a_step_calls_on_failure_too(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    const char *handler = kit_name(k);
    struct command_new new = {
        .job = kit_template(queue, "{}"), .starts_chain = true, .expire_after_ms = 10};
    new.job.chain_config =
        kit_text(k,
                 "{\"steps\":[{\"queue\":\"%s\"},{\"queue\":\"x\"}],\"on_failure\":{\"queue\":"
                 "\"%s\"}}",
                 queue, handler);
    struct command c = kit_enqueue_command(&new, 1);
    struct id id = kit_apply(k, &c)->items[0].id;
    kit_tick(k, 11);
    expect_str(kit_job(k, kit_claim(k, handler)).payload,
               kit_text(k,
                        "{\"failed_job_id\":\"" STR_FMT
                        "\",\"failed_step\":0,\"error\":\"job expired\"}",
                        STR_ARG(kit_id_text(k, id, ID_JOB))));
}

static void death__without_a_handler_ends_the_chain(void **state)
{
    struct kit *k = *state;
    static const char *const handlers[] = {
        NULL, "null", "\"stop\"", "{}", "{\"queue\":\"\"}", "{\"queue\":7}", "[]"};
    for (unsigned i = 0; i < COUNT_OF(handlers); i++) {
        ROW(handlers[i] == NULL ? "none" : handlers[i]);
        struct chain c = start_with(k, handlers[i], false);
        uint64_t live = machine_live_count(k->machine);
        kill_step(k, &c, BY_FAIL);
        assert_int_equal(machine_live_count(k->machine), live - 1);
    }
}

static void retries__come_before_the_death_of_a_step(void **state)
{
    struct kit *k = *state;
    const char *handler = kit_name(k);
    struct chain c = start_with(k, kit_text(k, "{\"queue\":\"%s\"}", handler).ptr, false);
    (void)complete(k, c.queues[0], NULL);
    struct id second = kit_claim(k, c.queues[1]); /* it has three attempts */
    (void)kit_fail(k, second, "x");
    kit_expect_state(k, second, JOB_RETRYING);
    assert_int_equal(waiting(k, handler), 0);
}

static void on_failure__continue_goes_on_with_the_next_step(void **state)
{
    struct kit *k = *state;
    struct chain c = start_with(k, "\"continue\"", false);
    kill_step(k, &c, BY_FAIL);
    struct job j = kit_job(k, kit_claim(k, c.queues[1]));
    assert_int_equal(j.chain_step, 1);
    expect_str(j.payload, kit_text(k,
                                   "{\"failed_job_id\":\"" STR_FMT
                                   "\",\"failed_step\":0,\"error\":\"it \\\"broke\\\"\",\"own\":1}",
                                   STR_ARG(kit_id_text(k, c.first, ID_JOB))));
}

static void on_failure__continue_at_the_last_step_ends_the_chain(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.chain_config =
        kit_text(k, "{\"steps\":[{\"queue\":\"%s\"}],\"on_failure\":\"continue\"}", queue);
    t.has_chain_step = true;
    t.max_retries = 1;
    struct id id = kit_enqueue_job(k, &t);
    uint64_t live = machine_live_count(k->machine);
    (void)kit_claim(k, queue);
    (void)kit_fail(k, id, "x");
    assert_int_equal(machine_live_count(k->machine), live - 1);
}

/* A client may set the members of a chain itself, in any form. */
static void odd__definitions_do_nothing(void **state)
{
    struct kit *k = *state;
    static const struct {
        const char *name;
        const char *config;
        int32_t step;
    } rows[] = {
        {"no steps", "{}", 0},
        {"steps are no array", "{\"steps\":{}}", 0},
        {"no step behind", "{\"steps\":[{\"queue\":\"a\"}]}", 0},
        {"far behind the last", "{\"steps\":[{\"queue\":\"a\"}]}", 77},
        {"the largest number", "{\"steps\":[{\"queue\":\"a\"}]}", INT32_MAX},
        {"a step without a queue", "{\"steps\":[{},{}]}", 0},
        {"a step that is no object", "{\"steps\":[1,2]}", 0},
        {"a queue with a control character", "{\"steps\":[1,{\"queue\":\"a\\u0001\"}]}", 0},
        {"no object", "[1]", 0},
        {"a handler's step", "{\"steps\":[{\"queue\":\"a\"},{\"queue\":\"b\"}]}", -1},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const char *queue = kit_name(k);
        struct job t = kit_template(queue, "{}");
        ROW(rows[i].name);
        t.chain_id = STR("chn_mine");
        t.chain_config = str_from_z(rows[i].config);
        t.chain_step = rows[i].step;
        t.has_chain_step = true;
        t.max_retries = 1;
        struct id id = kit_enqueue_job(k, &t);
        uint64_t live = machine_live_count(k->machine);
        (void)kit_claim(k, queue);
        (void)kit_ack(k, id);
        assert_int_equal(machine_live_count(k->machine), live - 1);
        (void)kit_do(k, COMMAND_JOB_RETRY, id);
        (void)kit_claim(k, queue);
        (void)kit_fail(k, id, "x");
        assert_int_equal(machine_live_count(k->machine), live - 1);
    }
}

/* Members set by a client work like a chain if they are valid. */
static void own__chain_members_are_honoured(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    const char *next = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.chain_id = STR("chn_mine");
    t.chain_config = kit_text(k, "{\"steps\":[1,2,3,4,{\"queue\":\"%s\"}]}", next);
    t.chain_step = 3;
    t.has_chain_step = true;
    (void)kit_enqueue_job(k, &t);
    (void)complete(k, queue, NULL);
    struct job j = kit_job(k, kit_claim(k, next));
    assert_int_equal(j.chain_step, 4);
    expect_str(j.chain_id, STR("chn_mine"));
}

TEST_GROUP_FIXTURE(apply_chain, kit_setup, kit_teardown, cmocka_unit_test(steps__follow_each_other),
                   cmocka_unit_test(result__of_null_counts_and_own_keys_override),
                   cmocka_unit_test(last_step__and_exit_lead_to_on_exit),
                   cmocka_unit_test(exit__without_on_exit_ends_the_chain),
                   cmocka_unit_test(death__calls_on_failure),
                   cmocka_unit_test(expiry__of_a_step_calls_on_failure_too),
                   cmocka_unit_test(death__without_a_handler_ends_the_chain),
                   cmocka_unit_test(retries__come_before_the_death_of_a_step),
                   cmocka_unit_test(on_failure__continue_goes_on_with_the_next_step),
                   cmocka_unit_test(on_failure__continue_at_the_last_step_ends_the_chain),
                   cmocka_unit_test(odd__definitions_do_nothing),
                   cmocka_unit_test(own__chain_members_are_honoured));
