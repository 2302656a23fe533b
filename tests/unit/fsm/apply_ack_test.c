/*
 * Acks of plain jobs, single and in bulk (http-api.md 5.2, 5.3, 6.13, 8.3, 8.4). Acks of agents are
 * in apply_agent_test.c.
 */
#include "lib/machine_kit.h"
#include "store/store_rows.h"

static struct command ack_command(struct command_ack_item *item)
{
    return (struct command){.type = COMMAND_ACK, .ack = {.items = item, .count = 1}};
}

static void ack__completes_the_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    kit_pass_ms(k, 10);
    const struct result *r = kit_ack_item(
        k, (struct command_ack_item){
               .id = id, .has_result = true, .result = STR("{\"n\":1}"), .checkpoint = STR("[2]")});
    assert_int_equal(r->affected, 1);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_COMPLETED);
    assert_int_equal(j.completed_at.ns, k->now.ns);
    assert_int_equal(j.attempt, 1);
    expect_str(j.result, STR("{\"n\":1}"));
    expect_str(j.checkpoint, STR("[2]"));
    expect_str(j.worker_id, STR_EMPTY);
    expect_str(j.hostname, STR_EMPTY);
    expect_str(j.hold_reason, STR_EMPTY);
    assert_int_equal(j.lease_expires_at.ns, 0);
    assert_true(j.started_at.ns > 0); /* the time of the claim is kept as history */
    kit_expect_events(k, id, "enqueued started completed");
    kit_expect_count(k, queue, JOB_ACTIVE, 0);
    kit_expect_count(k, queue, JOB_COMPLETED, 1);
}

static void result__is_kept_replaced_or_null(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    (void)kit_ack_item(k,
                       (struct command_ack_item){.id = id, .has_result = true, .result = STR("1")});
    (void)kit_do(k, COMMAND_JOB_RETRY, id);
    expect_str(kit_job(k, id).result, STR("1")); /* kept by a retry */
    (void)kit_claim(k, queue);
    (void)kit_ack(k, id);
    expect_str(kit_job(k, id).result, STR("1")); /* no result sent: the previous one is kept */
    (void)kit_do(k, COMMAND_JOB_RETRY, id);
    (void)kit_claim(k, queue);
    (void)kit_ack_item(
        k, (struct command_ack_item){.id = id, .has_result = true, .result = STR("null")});
    expect_str(kit_job(k, id).result, STR("null"));
}

static void ack__is_refused_in_every_other_state(void **state)
{
    struct kit *k = *state;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        if (s == JOB_ACTIVE) {
            continue;
        }
        ROW(job_state_name((enum job_state)s));
        struct command_ack_item item = {.id = kit_job_in(k, (enum job_state)s),
                                        .has_result = true,
                                        .result = STR("1"),
                                        .usage = {.input = 1}};
        struct command c = ack_command(&item);
        kit_refuses(k, &c, ERR_ACK, "job {id} is not active", item.id);
        kit_expect_state(k, item.id, (enum job_state)s);
    }
}

static void ack__of_a_missing_job_is_not_found(void **state)
{
    struct kit *k = *state;
    struct command_ack_item item = {.id = id_make(k->now, 7777777, 1)};
    struct command c = ack_command(&item);
    kit_refuses(k, &c, ERR_NOT_FOUND, "job \"{id}\" not found", item.id);
}

static void lease_token__of_an_earlier_claim_is_refused(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    uint64_t stale = kit_job(k, id).lease_token;
    kit_tick(k, JOB_LEASE_MS + 1);
    assert_true(id_eq(kit_claim(k, queue), id));
    uint64_t token = kit_job(k, id).lease_token;
    struct command_ack_item item = {.id = id, .lease_token = stale};
    struct command c = ack_command(&item);
    kit_refuses(k, &c, ERR_ACK, "job {id} is not active: its lease was lost", id);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id, .lease_token = token});
    kit_expect_state(k, id, JOB_COMPLETED);
    /* Without a token, any ack is accepted: delivery is at least once. */
    struct id other = kit_active(k, queue);
    kit_tick(k, JOB_LEASE_MS + 1);
    (void)kit_claim(k, queue);
    (void)kit_ack(k, other);
    kit_expect_state(k, other, JOB_COMPLETED);
}

/* The answer to the ack was lost, so the worker sends it again. */
static void ack__repeated_with_its_lease_token_succeeds_and_changes_nothing(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    struct command_ack_item item = {.id = id,
                                    .lease_token = kit_job(k, id).lease_token,
                                    .has_result = true,
                                    .result = STR("1"),
                                    .usage = {.input = 5}};
    assert_int_equal(kit_ack_item(k, item)->code, ERR_OK);
    uint64_t digest = kit_digest(k);
    for (unsigned i = 0; i < 2; i++) {
        struct command c = ack_command(&item);
        c.ack.lenient = i == 1;
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->code, ERR_OK);
        assert_int_equal(r->affected, 1);
        assert_int_equal(kit_digest(k), digest);
        kit_reopen(k);
    }
    kit_expect_events(k, id, "enqueued started completed");
    assert_int_equal(kit_usages(k, id).count, 1);
    /* Without a token the worker is unknown. Another token belongs to another claim. */
    item.lease_token = 0;
    struct command c = ack_command(&item);
    kit_refuses(k, &c, ERR_ACK, "job {id} is not active", id);
    item.lease_token = kit_job(k, id).lease_token + 1;
    kit_refuses(k, &c, ERR_ACK, "job {id} is not active", id);
    /* A fail after an ack of the same claim is not a repetition. */
    struct command fail = {.type = COMMAND_FAIL,
                           .fail = {.id = id, .lease_token = kit_job(k, id).lease_token}};
    kit_refuses(k, &fail, ERR_FAIL, "job {id} is not active (state=completed)", id);
}

/* The claim was ended by the server or an operator, not by its worker. */
/* A job counts once for each request, but again for a repeated one. */
static void ack__of_several_counts_a_job_once(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    uint64_t token = kit_job(k, id).lease_token;
    struct command_ack_item items[] = {
        {.id = id, .lease_token = token + 1}, /* refused */
        {.id = id},
        {.id = id, .lease_token = token},
        {.id = kit_active(k, queue)},
        {.id = id, .lease_token = token},
    };
    struct command c = {
        .type = COMMAND_ACK,
        .ack = {.items = items, .count = COUNT_OF(items), .lenient = true, .any_cost = true}};
    assert_int_equal(kit_apply(k, &c)->affected, 2);
    assert_int_equal(kit_apply(k, &c)->affected, 1);
    k->entry_version = COMMAND_ENTRY_SPARING;
    assert_int_equal(kit_apply(k, &c)->affected, 2);
    k->entry_version = COMMAND_ENTRY_VERSION;
}

static void ack__after_the_lease_ended_or_an_operator_came_is_refused(void **state)
{
    struct kit *k = *state;
    static const enum command_job_action actions[] = {COMMAND_JOB_HOLD, COMMAND_JOB_CANCEL};
    struct id id = kit_active(k, kit_name(k));
    struct command_ack_item item = {.id = id, .lease_token = kit_job(k, id).lease_token};
    struct command c = ack_command(&item);
    kit_tick(k, JOB_LEASE_MS + 1);
    kit_refuses(k, &c, ERR_ACK, "job {id} is not active", id);
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        item.id = kit_active(k, kit_name(k));
        item.lease_token = kit_job(k, item.id).lease_token;
        (void)kit_do(k, actions[i], item.id);
        kit_refuses(k, &c, ERR_ACK, "job {id} is not active", item.id);
    }
    /* A retried job runs again, so the ack of the earlier claim is not repeated. */
    item.id = kit_active(k, kit_name(k));
    item.lease_token = kit_job(k, item.id).lease_token;
    (void)kit_ack_item(k, item);
    (void)kit_do(k, COMMAND_JOB_RETRY, item.id);
    kit_refuses(k, &c, ERR_ACK, "job {id} is not active", item.id);
}

/* An ack in an old log keeps its effect. */
static void ack__of_the_first_version_is_not_remembered(void **state)
{
    struct kit *k = *state;
    struct id id = kit_active(k, kit_name(k));
    struct command_ack_item item = {.id = id, .lease_token = kit_job(k, id).lease_token};
    struct command c = ack_command(&item);
    c.version = 1;
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    assert_int_equal(kit_job(k, id).ended, JOB_ENDED_NOT);
}

static void agent_status__on_a_plain_job_is_refused(void **state)
{
    struct kit *k = *state;
    struct id id = kit_active(k, kit_name(k));
    for (unsigned s = COMMAND_AGENT_DONE; s <= COMMAND_AGENT_HOLD; s++) {
        struct command_ack_item item = {.id = id, .agent_status = (enum command_agent_status)s};
        struct command c = ack_command(&item);
        kit_refuses(k, &c, ERR_ACK, "job {id} is not an agent job", id);
    }
    kit_expect_state(k, id, JOB_ACTIVE);
}

/* http-api.md 26.1: a worker may hold any job. */
static void hold__of_a_plain_job_waits_for_a_person(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    const struct result *r =
        kit_ack_item(k, (struct command_ack_item){.id = id,
                                                  .agent_status = COMMAND_AGENT_HOLD_ANY,
                                                  .hold_reason = STR("look"),
                                                  .checkpoint = STR("[2]"),
                                                  .has_result = true,
                                                  .result = STR("1")});
    assert_int_equal(r->affected, 1);
    struct job j = kit_job(k, id);
    assert_int_equal(j.state, JOB_HELD);
    expect_str(j.hold_reason, STR("look"));
    expect_str(j.checkpoint, STR("[2]"));
    expect_str(j.result, STR("1"));
    expect_str(j.worker_id, STR_EMPTY);
    assert_int_equal(j.attempt, 1);
    assert_int_equal(j.completed_at.ns, 0);
    assert_int_equal(j.lease_expires_at.ns, 0);
    kit_expect_events(k, id, "enqueued started held");
    (void)kit_do(k, COMMAND_JOB_APPROVE, id);
    assert_true(id_eq(kit_claim(k, queue), id));
    (void)kit_ack(k, id);
    kit_expect_state(k, id, JOB_COMPLETED);
    expect_str(kit_job(k, id).hold_reason, STR_EMPTY);
}

static void step_status__on_a_plain_job_is_ignored(void **state)
{
    struct kit *k = *state;
    struct id id = kit_active(k, kit_name(k));
    (void)kit_ack_item(k, (struct command_ack_item){.id = id,
                                                    .step_status = COMMAND_STEP_EXIT,
                                                    .exit_reason = STR("enough")});
    kit_expect_state(k, id, JOB_COMPLETED);
}

/* Usage */

static void usage__is_one_row_with_its_phase(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    (void)kit_ack_item(k, (struct command_ack_item){.id = id, .usage = {.input = 5, .output = 6}});
    struct kit_usages seen = kit_usages(k, id);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last.phase, STORE_PHASE_ACK);
    assert_int_equal(seen.last.attempt, 1);
    assert_int_equal(seen.last.created_at.ns, k->now.ns);
    assert_int_equal(seen.last.tokens.input, 5);
    assert_int_equal(seen.last.tokens.output, 6);
    assert_int_equal(kit_job(k, id).usage_count, 1);
    /* An empty report is not stored. */
    struct id silent = kit_active(k, queue);
    (void)kit_ack(k, silent);
    assert_int_equal(kit_job(k, silent).usage_count, 0);
}

/* Bulk acks */

static void batch__completes_what_is_active_and_skips_the_rest(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id first = kit_active(k, queue);
    struct id second = kit_active(k, queue);
    struct id pending = kit_enqueue(k, queue, "{}");
    struct command_ack_item items[] = {
        {.id = first, .has_result = true, .result = STR("1"), .usage = {.cost_nusd = 4}},
        {.id = id_make(k->now, 8888888, 1)},
        {.id = pending},
        {.id = second, .agent_status = COMMAND_AGENT_CONTINUE}, /* refused: not an agent */
        {.id = second, .checkpoint = STR("{}")},
        {.id = second}, /* second occurrence */
    };
    struct command c = {.type = COMMAND_ACK,
                        .ack = {.lenient = true, .items = items, .count = COUNT_OF(items)}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 2);
    kit_expect_state(k, first, JOB_COMPLETED);
    kit_expect_state(k, second, JOB_COMPLETED);
    kit_expect_state(k, pending, JOB_PENDING);
    assert_int_equal(kit_job(k, first).usage_count, 1);
    kit_expect_events(k, second, "enqueued started completed");
}

static void batch__of_nothing_that_can_be_acked_is_no_error(void **state)
{
    struct kit *k = *state;
    struct command_ack_item item = {.id = id_make(k->now, 9999999, 1)};
    struct command c = ack_command(&item);
    c.ack.lenient = true;
    uint64_t digest = kit_digest(k);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 0);
    assert_int_equal(kit_digest(k), digest);
}

/* A claim of the next jobs of this queue. */
static struct command_claim next_of(struct str *queue, uint32_t count)
{
    return (struct command_claim){.queues = queue,
                                  .queue_count = 1,
                                  .worker_id = STR("worker"),
                                  .hostname = STR("host"),
                                  .lease_ms = 90000,
                                  .count = count};
}

static void next__is_claimed_behind_the_ack(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    struct id first = kit_active(k, queue);
    struct id second = kit_enqueue(k, queue, "[2]");
    struct command_claim next = next_of(&name, 5);
    struct command_ack_item item = {.id = first};
    struct command c = ack_command(&item);
    c.ack.next = &next;
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 1);
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, second));
    assert_true(r->items[0].doc.len > 0);
    kit_expect_state(k, first, JOB_COMPLETED);
    struct job j = kit_job(k, second);
    assert_int_equal(j.state, JOB_ACTIVE);
    assert_int_equal(j.lease_expires_at.ns - k->now.ns, 90 * NS_PER_S);
    kit_expect_events(k, first, "enqueued started completed");
    kit_expect_events(k, second, "enqueued started");
    item.id = second;
    r = kit_apply(k, &c); /* there is no other job */
    assert_int_equal(r->affected, 1);
    assert_int_equal(r->count, 0);
    assert_int_equal(r->next_code, ERR_OK);
}

static void next__of_a_refused_ack_is_not_claimed(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    struct id first = kit_active(k, queue);
    struct id waiting = kit_enqueue(k, queue, "{}");
    struct command_claim next = next_of(&name, 1);
    struct command_ack_item item = {.id = first, .lease_token = 1 << 20};
    struct command c = ack_command(&item);
    c.ack.next = &next;
    assert_int_equal(kit_apply(k, &c)->code, ERR_ACK);
    kit_expect_state(k, first, JOB_ACTIVE);
    kit_expect_state(k, waiting, JOB_PENDING);
    c.ack.lenient = true; /* the item is skipped, and the command is not refused */
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 0);
    assert_int_equal(r->count, 1);
    kit_expect_state(k, first, JOB_ACTIVE);
}

static void next__with_a_name_is_the_same_when_asked_again(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    struct id operation = {.b = {9, 8, 7}};
    struct id first = kit_active(k, queue);
    struct id second = kit_enqueue(k, queue, "{}");
    struct id third = kit_enqueue(k, queue, "{}");
    struct command_claim next = next_of(&name, 1);
    struct command_ack_item item = {.id = first};
    struct command c = ack_command(&item);
    c.ack.next = &next;
    for (unsigned i = 0; i < 2; i++) {
        const struct result *r = kit_apply_named(k, &c, operation, 0);
        assert_int_equal(r->code, ERR_OK);
        assert_int_equal(r->affected, 1);
        assert_int_equal(r->count, 1);
        assert_true(id_eq(r->items[0].id, second));
        assert_true(r->items[0].doc.len > 0);
    }
    kit_expect_state(k, third, JOB_PENDING);
}

TEST_GROUP_FIXTURE(
    apply_ack, kit_setup, kit_teardown, cmocka_unit_test(ack__completes_the_job),
    cmocka_unit_test(result__is_kept_replaced_or_null),
    cmocka_unit_test(ack__is_refused_in_every_other_state),
    cmocka_unit_test(ack__of_a_missing_job_is_not_found),
    cmocka_unit_test(lease_token__of_an_earlier_claim_is_refused),
    cmocka_unit_test(ack__repeated_with_its_lease_token_succeeds_and_changes_nothing),
    cmocka_unit_test(ack__of_several_counts_a_job_once),
    cmocka_unit_test(ack__after_the_lease_ended_or_an_operator_came_is_refused),
    cmocka_unit_test(ack__of_the_first_version_is_not_remembered),
    cmocka_unit_test(agent_status__on_a_plain_job_is_refused),
    cmocka_unit_test(hold__of_a_plain_job_waits_for_a_person),
    cmocka_unit_test(step_status__on_a_plain_job_is_ignored),
    cmocka_unit_test(usage__is_one_row_with_its_phase),
    cmocka_unit_test(batch__completes_what_is_active_and_skips_the_rest),
    cmocka_unit_test(batch__of_nothing_that_can_be_acked_is_no_error),
    cmocka_unit_test(next__is_claimed_behind_the_ack),
    cmocka_unit_test(next__of_a_refused_ack_is_not_claimed),
    cmocka_unit_test(next__with_a_name_is_the_same_when_asked_again));
