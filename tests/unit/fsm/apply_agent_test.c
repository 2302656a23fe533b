/*
 * Agents: iterations, guardrails, replay (http-api.md 6.12, 6.14).
 */
#include "lib/machine_kit.h"
#include "store/store_rows.h"

static struct id agent_job(struct kit *k, const char *queue, int64_t max_iterations,
                           int64_t max_cost_nusd)
{
    struct job t = kit_template(queue, "{\"goal\":1}");
    t.is_agent = true;
    t.agent.max_iterations = max_iterations;
    t.agent.max_cost_nusd = max_cost_nusd;
    t.tags = STR("{\"t\":\"v\"}");
    t.priority = JOB_PRIORITY_HIGH;
    return kit_enqueue_job(k, &t);
}

static void ack_with(struct kit *k, struct id id, enum command_agent_status status)
{
    (void)kit_ack_item(k, (struct command_ack_item){.id = id, .agent_status = status});
}

/* The statuses of the job's iteration rows, as the letters c, d and h, and the newest row. */
struct rows {
    struct kit *kit;
    char statuses[32];
    size_t count;
    struct store_iteration last;
};

static void note_row(void *data, const struct store_iteration *it)
{
    struct rows *r = data;
    r->statuses[r->count++] = it->status == STORE_ITERATION_CONTINUE ? 'c'
                              : it->status == STORE_ITERATION_DONE   ? 'd'
                                                                     : 'h';
    r->last = *it;
    r->last.checkpoint = arena_str(r->kit->arena, it->checkpoint);
    r->last.hold_reason = arena_str(r->kit->arena, it->hold_reason);
    r->last.result = arena_str(r->kit->arena, it->result);
}

static struct rows rows_of(struct kit *k, struct id id)
{
    struct rows r = {.kit = k};
    store_rows_each_iteration(machine_store(k->machine), id, note_row, &r);
    return r;
}

static void continue__starts_the_next_iteration_at_the_tail(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = agent_job(k, queue, 0, 0);
    struct id other = agent_job(k, queue, 0, 0);
    assert_true(id_eq(kit_claim(k, queue), id));
    (void)kit_ack_item(k, (struct command_ack_item){.id = id,
                                                    .agent_status = COMMAND_AGENT_CONTINUE,
                                                    .checkpoint = STR("{\"page\":2}"),
                                                    .has_result = true,
                                                    .result = STR("7"),
                                                    .usage = {.cost_nusd = 30, .input = 9}});
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_PENDING);
    assert_int_equal(j.agent.iteration, 2);
    assert_int_equal(j.agent.total_cost_nusd, 30);
    assert_int_equal(j.attempt, 0); /* retries count per iteration */
    assert_int_equal(j.completed_at.ns, 0);
    expect_str(j.checkpoint, STR("{\"page\":2}"));
    expect_str(j.result, STR("7"));
    expect_str(j.worker_id, STR_EMPTY);
    assert_int_equal(j.lease_expires_at.ns, 0);
    kit_expect_events(k, id, "enqueued started continued");
    struct rows r = rows_of(k, id);
    assert_string_equal(r.statuses, "c");
    assert_int_equal(r.last.iteration, 1); /* the iteration that just ran */
    expect_str(r.last.checkpoint, STR("{\"page\":2}"));
    expect_str(r.last.result, STR("7"));
    assert_int_equal(r.last.tokens.cost_nusd, 30);
    assert_int_equal(r.last.tokens.input, 9);
    assert_int_equal(j.usage_count, 1);
    assert_true(id_eq(kit_claim(k, queue), other));
    assert_true(id_eq(kit_claim(k, queue), id));
}

static void done__and_no_status_complete(void **state)
{
    struct kit *k = *state;
    static const enum command_agent_status statuses[] = {COMMAND_AGENT_NONE, COMMAND_AGENT_DONE};
    for (unsigned i = 0; i < COUNT_OF(statuses); i++) {
        const char *queue = kit_name(k);
        struct id id = agent_job(k, queue, 1, 1);
        (void)kit_claim(k, queue);
        (void)kit_ack_item(k, (struct command_ack_item){.id = id,
                                                        .agent_status = statuses[i],
                                                        .usage = {.cost_nusd = 50}});
        struct job j = kit_job(k, id);
        assert_int_equal(j.state, JOB_COMPLETED);
        assert_int_equal(j.agent.iteration, 1);
        assert_int_equal(j.agent.total_cost_nusd, 50);
        assert_string_equal(rows_of(k, id).statuses, "d");
    }
}

static void hold__waits_for_a_human_in_the_same_iteration(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = agent_job(k, queue, 0, 0);
    (void)kit_claim(k, queue);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id,
                                                    .agent_status = COMMAND_AGENT_HOLD,
                                                    .hold_reason = STR("may I?"),
                                                    .usage = {.cost_nusd = 3}});
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_HELD);
    assert_int_equal(j.agent.iteration, 1);
    assert_int_equal(j.agent.total_cost_nusd, 3);
    expect_str(j.hold_reason, STR("may I?"));
    expect_str(j.worker_id, STR_EMPTY);
    kit_expect_events(k, id, "enqueued started held");
    expect_str(kit_last_event(k, id).text, STR("may I?"));
    struct rows r = rows_of(k, id);
    assert_string_equal(r.statuses, "h");
    expect_str(r.last.hold_reason, STR("may I?"));
    assert_true(id_is_none(kit_claim(k, queue)));
    (void)kit_do(k, COMMAND_JOB_APPROVE, id);
    assert_true(id_eq(kit_claim(k, queue), id));
    expect_str(kit_job(k, id).hold_reason, STR_EMPTY);
    ack_with(k, id, COMMAND_AGENT_DONE);
    assert_string_equal(rows_of(k, id).statuses, "hd");
}

static void guardrail__of_iterations_holds_again_and_again(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = agent_job(k, queue, 2, 0);
    (void)kit_claim(k, queue);
    ack_with(k, id, COMMAND_AGENT_CONTINUE);
    kit_expect_state(k, id, JOB_PENDING);
    for (int64_t iteration = 3; iteration < 6; iteration++) {
        (void)kit_claim(k, queue);
        ack_with(k, id, COMMAND_AGENT_CONTINUE);
        struct job j = kit_job(k, id);
        assert_int_equal(j.state, JOB_HELD);
        assert_int_equal(j.agent.iteration, iteration);
        assert_int_equal(j.attempt, 1); /* unchanged until the next iteration begins */
        expect_str(j.hold_reason, STR("max_iterations exceeded (2)"));
        (void)kit_do(k, COMMAND_JOB_APPROVE, id);
        assert_int_equal(kit_job(k, id).attempt, 0);
    }
    struct rows r = rows_of(k, id);
    assert_string_equal(r.statuses, "chhh");
    expect_str(r.last.hold_reason, STR("max_iterations exceeded (2)"));
    kit_expect_events(k, id,
                      "enqueued started continued started held approved started held approved "
                      "started held approved");
}

static void guardrail__of_cost_holds(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = agent_job(k, queue, 0, 100000000);
    struct command_ack_item item = {
        .id = id, .agent_status = COMMAND_AGENT_CONTINUE, .usage = {.cost_nusd = 60000000}};
    (void)kit_claim(k, queue);
    (void)kit_ack_item(k, item);
    kit_expect_state(k, id, JOB_PENDING);
    (void)kit_claim(k, queue);
    (void)kit_ack_item(k, item);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_HELD);
    expect_str(j.hold_reason, STR("max_cost_usd exceeded (0.1200 > 0.1000)"));
    /* Costs reported by heartbeats do not count towards this limit. */
    struct id other = agent_job(k, queue, 0, 100000000);
    (void)kit_claim(k, queue);
    (void)kit_beat_item(
        k, (struct command_heartbeat_item){.id = other, .usage = {.cost_nusd = 999999999}});
    assert_int_equal(kit_job(k, other).agent.total_cost_nusd, 0);
}

static void lock__is_kept_over_iterations_and_holds(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.is_agent = true;
    t.unique_key = STR("a");
    struct id id = kit_enqueue_job(k, &t);
    (void)kit_claim(k, queue);
    ack_with(k, id, COMMAND_AGENT_CONTINUE);
    assert_true(id_eq(kit_enqueue_job(k, &t), id)); /* a duplicate */
    (void)kit_claim(k, queue);
    ack_with(k, id, COMMAND_AGENT_HOLD);
    assert_true(id_eq(kit_enqueue_job(k, &t), id));
}

static void ack__in_another_state_is_refused_for_agents_too(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = agent_job(k, queue, 0, 0);
    for (unsigned s = COMMAND_AGENT_NONE; s <= COMMAND_AGENT_HOLD_ANY; s++) {
        struct command_ack_item item = {.id = id, .agent_status = (enum command_agent_status)s};
        struct command c = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
        kit_refuses(k, &c, ERR_ACK, "job {id} is not active", id);
    }
}

/* The timeout of an iteration counts from its claim, regardless of the lease. */
static void timeout__fails_the_iteration(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.is_agent = true;
    t.agent.timeout_ms = 90000;
    t.max_retries = 2;
    t.backoff = JOB_BACKOFF_FIXED;
    struct id id = kit_enqueue_job(k, &t);
    (void)kit_claim(k, queue);
    kit_tick(k, 50000);
    (void)kit_beat(k, id); /* the lease now ends after the timeout */
    kit_tick(k, 39999);
    kit_expect_state(k, id, JOB_ACTIVE);
    kit_reopen(k);
    kit_tick(k, 1);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_RETRYING);
    assert_int_equal(j.scheduled_at.ns, wall_add_ms(k->now, 5000).ns);
    kit_expect_errors(k, id, "iteration timeout");
    kit_expect_events(k, id, "enqueued started failed retrying");
    assert_int_equal(kit_beat(k, id), RESULT_CANCEL);
    kit_tick(k, 5000);
    assert_true(id_eq(kit_claim(k, queue), id));
    kit_tick(k, 59999);
    (void)kit_beat(k, id);
    kit_tick(k, 30001);
    kit_expect_state(k, id, JOB_DEAD);
    assert_int_equal(kit_queue_info(k, queue).failures, 2);
}

static void timeout__later_than_the_lease_lets_it_be_reclaimed(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct job t = kit_template(queue, "{}");
    t.is_agent = true;
    t.agent.timeout_ms = 900000;
    struct id id = kit_enqueue_job(k, &t);
    (void)kit_claim(k, queue);
    kit_tick(k, JOB_LEASE_MS + 1);
    kit_expect_state(k, id, JOB_PENDING);
    kit_expect_events(k, id, "enqueued started reclaimed");
}

/* Replay */

static struct command replay(struct id id, int64_t from)
{
    return (struct command){.type = COMMAND_REPLAY, .replay = {.id = id, .from = from}};
}

static void replay__makes_a_new_job_from_an_iteration(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = agent_job(k, queue, 9, 8);
    (void)kit_claim(k, queue);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id,
                                                    .agent_status = COMMAND_AGENT_CONTINUE,
                                                    .checkpoint = STR("{ \"big\": 1e400 }"),
                                                    .usage = {.cost_nusd = 1}});
    (void)kit_claim(k, queue);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id, .checkpoint = STR("2")});
    struct job before = kit_job(k, id);
    struct command c = replay(id, 1);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    struct id fresh = r->id;
    assert_false(id_eq(fresh, id));
    struct job j = kit_job(k, fresh);
    assert_int_equal(j.state, JOB_PENDING);
    expect_str(j.queue, before.queue);
    expect_str(j.payload, before.payload);
    expect_str(j.tags, before.tags);
    assert_int_equal(j.priority, before.priority);
    expect_str(j.checkpoint, STR("{ \"big\": 1e400 }"));
    assert_true(j.is_agent);
    assert_int_equal(j.agent.iteration, 1);
    assert_int_equal(j.agent.total_cost_nusd, 0);
    assert_int_equal(j.agent.max_iterations, 9);
    assert_int_equal(j.agent.max_cost_nusd, 8);
    assert_int_equal(j.iteration_count, 0);
    kit_expect_events(k, fresh, "enqueued");
    /* The source is not changed. */
    assert_int_equal(kit_job(k, id).version, before.version);
}

static void replay__without_a_checkpoint_begins_without(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = agent_job(k, queue, 0, 0);
    (void)kit_claim(k, queue);
    ack_with(k, id, COMMAND_AGENT_DONE);
    struct command c = replay(id, 1);
    expect_str(kit_job(k, kit_apply(k, &c)->id).checkpoint, STR_EMPTY);
}

static void replay__is_refused_without_agent_row_or_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id plain = kit_enqueue(k, queue, "{}");
    struct id id = agent_job(k, kit_name(k), 0, 0);
    struct id missing = id_make(k->now, 7777777, 3);
    struct command c = replay(plain, 1);
    kit_refuses(k, &c, ERR_REPLAY, "job {id} is not an agent job", plain);
    c = replay(id, 1);
    kit_refuses(k, &c, ERR_REPLAY, "job {id} has no iteration 1", id);
    c = replay(missing, 1);
    kit_refuses(k, &c, ERR_NOT_FOUND, "job \"{id}\" not found", missing);
}

TEST_GROUP_FIXTURE(apply_agent, kit_setup, kit_teardown,
                   cmocka_unit_test(continue__starts_the_next_iteration_at_the_tail),
                   cmocka_unit_test(done__and_no_status_complete),
                   cmocka_unit_test(hold__waits_for_a_human_in_the_same_iteration),
                   cmocka_unit_test(guardrail__of_iterations_holds_again_and_again),
                   cmocka_unit_test(guardrail__of_cost_holds),
                   cmocka_unit_test(lock__is_kept_over_iterations_and_holds),
                   cmocka_unit_test(ack__in_another_state_is_refused_for_agents_too),
                   cmocka_unit_test(timeout__fails_the_iteration),
                   cmocka_unit_test(timeout__later_than_the_lease_lets_it_be_reclaimed),
                   cmocka_unit_test(replay__makes_a_new_job_from_an_iteration),
                   cmocka_unit_test(replay__without_a_checkpoint_begins_without),
                   cmocka_unit_test(replay__is_refused_without_agent_row_or_job));
