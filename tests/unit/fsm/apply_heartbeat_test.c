/*
 * Heartbeats (http-api.md 5.2, 5.3, 5.4, 6.3, 6.13, 8.6).
 */
#include "lib/machine_kit.h"
#include "store/store_record.h"
#include "store/store_rows.h"

static void beat__renews_the_lease_by_a_minute(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    struct id id = kit_enqueue(k, queue, "{}");
    (void)kit_claim_with(k, &(struct command_claim){.queues = &name,
                                                    .queue_count = 1,
                                                    .lease_ms = 3600000, /* longer than a minute */
                                                    .count = 1});
    struct job before = kit_job(k, id);
    kit_pass_ms(k, 500);
    struct command_heartbeat_item item = {.id = id};
    struct command c = {.type = COMMAND_HEARTBEAT, .heartbeat = {.items = &item, .count = 1}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->items[0].status, RESULT_OK);
    assert_int_equal(r->at.ns, wall_add_ms(k->now, 60000).ns);
    struct job j = kit_job(k, id);
    assert_int_equal(j.lease_expires_at.ns, wall_add_ms(k->now, 60000).ns);
    assert_int_equal(j.state, JOB_ACTIVE);
    assert_int_equal(j.attempt, 1);
    assert_int_equal(j.lease_token, before.lease_token);
    assert_int_equal(j.started_at.ns, before.started_at.ns);
    kit_expect_events(k, id, "enqueued started"); /* a heartbeat is no event */
    kit_tick(k, 60000);
    kit_expect_state(k, id, JOB_ACTIVE);
    kit_tick(k, 1);
    kit_expect_state(k, id, JOB_PENDING);
}

static void beat__replaces_progress_and_checkpoint_when_given(void **state)
{
    struct kit *k = *state;
    struct id id = kit_active(k, kit_name(k));
    (void)kit_beat_item(k, (struct command_heartbeat_item){
                               .id = id, .progress = STR("{\"p\":1}"), .checkpoint = STR("[1]")});
    struct job j = kit_job(k, id);
    expect_str(j.progress, STR("{\"p\":1}"));
    expect_str(j.checkpoint, STR("[1]"));
    kit_expect_events(k, id, "enqueued started progress");
    expect_str(kit_last_event(k, id).text, STR("{\"p\":1}"));
    (void)kit_beat(k, id);
    (void)kit_beat_item(k, (struct command_heartbeat_item){.id = id, .checkpoint = STR("[2]")});
    j = kit_job(k, id);
    expect_str(j.progress, STR("{\"p\":1}"));
    expect_str(j.checkpoint, STR("[2]"));
    kit_expect_events(k, id, "enqueued started progress");
}

static void checkpoint__survives_failure_and_the_next_claim(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    (void)kit_beat_item(k, (struct command_heartbeat_item){.id = id, .checkpoint = STR("[3]")});
    (void)kit_fail(k, id, "x");
    kit_tick(k, 5000);
    assert_true(id_eq(kit_claim(k, queue), id));
    expect_str(kit_job(k, id).checkpoint, STR("[3]"));
}

static void beat__tells_to_stop_in_every_other_state(void **state)
{
    struct kit *k = *state;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        if (s == JOB_ACTIVE) {
            continue;
        }
        ROW(job_state_name((enum job_state)s));
        struct id id = kit_job_in(k, (enum job_state)s);
        uint64_t digest = kit_digest(k);
        const struct result *r = kit_beat_item(
            k, (struct command_heartbeat_item){
                   .id = id, .progress = STR("1"), .checkpoint = STR("1"), .usage = {.input = 1}});
        assert_int_equal(r->items[0].status, RESULT_CANCEL);
        assert_int_equal(kit_digest(k), digest); /* its usage report is ignored, too */
    }
    assert_int_equal(kit_beat(k, id_make(k->now, 7777777, 4)), RESULT_UNKNOWN);
}

static void lease_token__of_an_earlier_claim_is_told_to_stop(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = kit_active(k, queue);
    uint64_t stale = kit_job(k, id).lease_token;
    kit_tick(k, JOB_LEASE_MS + 1);
    (void)kit_claim(k, queue);
    uint64_t digest = kit_digest(k);
    struct command_heartbeat_item item = {.id = id, .lease_token = stale};
    assert_int_equal(kit_beat_item(k, item)->items[0].status, RESULT_CANCEL);
    assert_int_equal(kit_digest(k), digest);
    item.lease_token = kit_job(k, id).lease_token;
    assert_int_equal(kit_beat_item(k, item)->items[0].status, RESULT_OK);
}

static void beats__are_answered_in_their_order(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_heartbeat_item items[] = {
        {.id = kit_active(k, queue)},
        {.id = id_make(k->now, 7777777, 5)},
        {.id = kit_job_in(k, JOB_CANCELLED)},
        {.id = kit_active(k, queue)},
    };
    static const enum result_status want[] = {RESULT_OK, RESULT_UNKNOWN, RESULT_CANCEL, RESULT_OK};
    struct command c = {.type = COMMAND_HEARTBEAT,
                        .heartbeat = {.items = items, .count = COUNT_OF(items)}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->count, COUNT_OF(items));
    for (unsigned i = 0; i < COUNT_OF(items); i++) {
        assert_true(id_eq(r->items[i].id, items[i].id));
        assert_int_equal(r->items[i].status, want[i]);
    }
    c.heartbeat.count = 0; /* an empty heartbeat is allowed */
    assert_int_equal(kit_apply(k, &c)->count, 0);
}

static void usage__is_a_row_of_its_own_phase(void **state)
{
    struct kit *k = *state;
    struct id id = kit_active(k, kit_name(k));
    struct command_heartbeat_item item = {.id = id, .usage = {.output = 3, .cost_nusd = 4}};
    (void)kit_beat_item(k, item);
    (void)kit_beat_item(k, item);
    struct kit_usages seen = kit_usages(k, id);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.last.phase, STORE_PHASE_HEARTBEAT);
    assert_int_equal(seen.last.attempt, 1);
    assert_int_equal(seen.last.tokens.cost_nusd, 4);
}

static void worker__of_the_first_active_job_is_seen(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    struct store_worker w;
    struct buf value;
    struct id id = kit_enqueue(k, queue, "{}");
    (void)kit_claim_with(k, &(struct command_claim){.queues = &name,
                                                    .queue_count = 1,
                                                    .worker_id = STR("beating"),
                                                    .lease_ms = 60000,
                                                    .count = 1});
    kit_pass_ms(k, 20000);
    (void)kit_beat(k, id);
    buf_init(&value, 1 << 16);
    assert_true(store_get(machine_store(k->machine), STORE_KIND_WORKER, STR("beating"), &value));
    assert_true(store_record_decode_worker(buf_str(&value), &w));
    assert_int_equal(w.last_heartbeat.ns, k->now.ns);
    buf_deinit(&value);
}

/* The heartbeat arrives after the ack or fail of its claim. The worker need not stop, and nothing
 * is renewed. */
static void beat__of_a_claim_that_its_worker_ended_is_ok(void **state)
{
    struct kit *k = *state;
    for (unsigned i = 0; i < 2; i++) {
        struct id id = kit_active(k, kit_name(k));
        struct command_heartbeat_item item = {
            .id = id, .lease_token = kit_job(k, id).lease_token, .progress = STR("9")};
        (void)(i == 0 ? kit_ack(k, id) : kit_fail(k, id, "no"));
        uint64_t digest = kit_digest(k);
        assert_int_equal(kit_beat_item(k, item)->items[0].status, RESULT_OK);
        assert_int_equal(kit_digest(k), digest);
        assert_int_equal(kit_beat(k, id), RESULT_CANCEL); /* without a token */
    }
}

TEST_GROUP_FIXTURE(apply_heartbeat, kit_setup, kit_teardown,
                   cmocka_unit_test(beat__of_a_claim_that_its_worker_ended_is_ok),
                   cmocka_unit_test(beat__renews_the_lease_by_a_minute),
                   cmocka_unit_test(beat__replaces_progress_and_checkpoint_when_given),
                   cmocka_unit_test(checkpoint__survives_failure_and_the_next_claim),
                   cmocka_unit_test(beat__tells_to_stop_in_every_other_state),
                   cmocka_unit_test(lease_token__of_an_earlier_claim_is_told_to_stop),
                   cmocka_unit_test(beats__are_answered_in_their_order),
                   cmocka_unit_test(usage__is_a_row_of_its_own_phase),
                   cmocka_unit_test(worker__of_the_first_active_job_is_seen));
