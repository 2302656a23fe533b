/*
 * Restoring parts of a backup (http-api.md 20.4): which objects are restored, and which are not
 * changed.
 */
#include "base/limits.h"
#include "lib/machine_kit.h"

/* An old id, as made by another server. */
static struct id old_id(unsigned number)
{
    return id_make((struct wall){.ns = 1500000000 * NS_PER_S}, 5, number);
}

static struct command_restore_item job_item(struct kit *k, struct id id, enum job_state state)
{
    struct job j = kit_template(kit_name(k), "{\"x\":1}");
    j.id = id;
    j.state = state;
    j.created_at = (struct wall){.ns = 1500000000 * NS_PER_S + 17};
    j.attempt = 2;
    j.scheduled_at =
        state == JOB_SCHEDULED || state == JOB_RETRYING ? wall_add_ms(k->now, 5000) : WALL_NONE;
    if (state == JOB_ACTIVE) {
        j.started_at = k->now;
        j.lease_expires_at = wall_add_ms(k->now, 5000);
        j.lease_token = 1000;
    }
    return (struct command_restore_item){.kind = COMMAND_RESTORE_JOB, .id = id, .job = j};
}

static const struct result *restore(struct kit *k, struct command_restore_item *items, size_t count)
{
    const struct result *r = kit_apply(
        k, &(struct command){.type = COMMAND_RESTORE, .restore = {.items = items, .count = count}});
    assert_int_equal(r->code, ERR_OK);
    return r;
}

static void states__come_back_and_count_in_their_queue(void **state)
{
    struct kit *k = *state;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        struct command_restore_item it = job_item(k, old_id(100 + s), (enum job_state)s);
        ROW(job_state_name((enum job_state)s));
        assert_int_equal(restore(k, &it, 1)->affected, 1);
        struct job j = kit_job(k, it.id);
        assert_int_equal(j.state, s);
        assert_int_equal(j.attempt, 2);
        assert_int_equal(j.created_at.ns, it.job.created_at.ns);
        kit_expect_count(k, it.job.queue.ptr, (enum job_state)s, 1);
        kit_reopen(k);
        kit_expect_count(k, it.job.queue.ptr, (enum job_state)s, 1);
    }
    /* Due times are kept: scheduled, retrying and leased jobs become pending when due. */
    kit_tick(k, 6000);
    kit_expect_state(k, old_id(100 + JOB_SCHEDULED), JOB_PENDING);
    kit_expect_state(k, old_id(100 + JOB_RETRYING), JOB_PENDING);
    kit_expect_state(k, old_id(100 + JOB_ACTIVE), JOB_PENDING);
}

/* A backup may have unusual values: a claimed job without an attempt, an agent without an
 * iteration. */
static void odd__numbers_are_lived_with(void **state)
{
    struct kit *k = *state;
    struct command_restore_item untried = job_item(k, old_id(900), JOB_ACTIVE);
    struct command_restore_item agent = job_item(k, old_id(901), JOB_ACTIVE);
    struct command_restore_item last = job_item(k, old_id(902), JOB_ACTIVE);
    untried.job.attempt = 0;
    agent.job.is_agent = last.job.is_agent = true;
    last.job.agent.iteration = INT64_MAX;
    struct command_restore_item items[] = {untried, agent, last};
    assert_int_equal(restore(k, items, COUNT_OF(items))->affected, COUNT_OF(items));
    assert_int_equal(kit_fail(k, old_id(900), "broken")->state, JOB_RETRYING);
    for (unsigned i = 901; i <= 902; i++) {
        (void)kit_ack_item(
            k, (struct command_ack_item){.id = old_id(i), .agent_status = COMMAND_AGENT_CONTINUE});
        kit_expect_state(k, old_id(i), JOB_PENDING);
    }
}

/* A lease may end at the end of the time range. */
static void lease__without_an_end_holds(void **state)
{
    struct kit *k = *state;
    struct command_restore_item it = job_item(k, old_id(910), JOB_ACTIVE);
    it.job.lease_expires_at.ns = INT64_MAX;
    assert_int_equal(restore(k, &it, 1)->affected, 1);
    kit_tick(k, 60000);
    kit_expect_state(k, it.id, JOB_ACTIVE);
}

/* Ids of another log, with larger indexes. The oldest job of a queue is the same before and after a
 * restart, whatever has changed since. */
static void oldest__is_by_time_whatever_log_its_id_is_from(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id old[3];
    for (unsigned i = 0; i < COUNT_OF(old); i++) {
        old[i] = id_make((struct wall){.ns = (1500000000 + i) * NS_PER_S}, 1000000 + i, 0);
        struct command_restore_item it = job_item(k, old[i], JOB_PENDING);
        it.job.queue = str_from_z(queue);
        assert_int_equal(restore(k, &it, 1)->affected, 1);
    }
    struct id new[] = {kit_enqueue(k, queue, "{}"), kit_enqueue(k, queue, "{}")};
    (void)kit_do(k, COMMAND_JOB_HOLD, old[0]);
    (void)kit_do(k, COMMAND_JOB_HOLD, new[0]);
    (void)kit_do(k, COMMAND_JOB_HOLD, new[1]);
    (void)kit_do(k, COMMAND_JOB_APPROVE, old[0]);
    (void)kit_do(k, COMMAND_JOB_APPROVE, new[0]);
    for (unsigned reopened = 0; reopened < 2; reopened++) {
        assert_true(id_eq(kit_queue_info(k, queue).oldest_pending, old[0]));
        kit_reopen(k);
    }
}

static void existing__jobs_are_left_as_they_are(void **state)
{
    struct kit *k = *state;
    struct id id = kit_enqueue(k, kit_name(k), "{\"mine\":1}");
    struct command_restore_item it = job_item(k, id, JOB_DEAD);
    struct command_restore_item row = {
        .kind = COMMAND_RESTORE_ERROR, .id = id, .error = {.error = STR("not mine")}};
    struct command_restore_item both[] = {it, row};
    uint64_t digest = kit_digest(k);
    const struct result *r = restore(k, both, 2);
    assert_int_equal(r->affected, 0);
    assert_int_equal(r->missing, 1);
    assert_int_equal(kit_digest(k), digest);
    kit_expect_errors(k, id, "");
}

static void future__ids_are_passed_over(void **state)
{
    struct kit *k = *state;
    struct command_restore_item it =
        job_item(k, id_make(wall_add_ms(k->now, 10000), 1, 0), JOB_PENDING);
    assert_int_equal(restore(k, &it, 1)->missing, 1);
    assert_false(kit_has(k, it.id));
}

static void future__ids_are_kept_when_the_item_says_so(void **state)
{
    struct kit *k = *state;
    struct id id = id_make(wall_add_ms(k->now, 1000 * 86400 * 365LL), 1, 0);
    struct command_restore_item it = job_item(k, id, JOB_DEAD);
    it.any_id = true;
    assert_int_equal(restore(k, &it, 1)->affected, 1);
    assert_int_equal(restore(k, &it, 1)->missing, 1);
    kit_reopen(k);
    kit_expect_state(k, id, JOB_DEAD);
}

static void new__ids_pass_over_those_that_were_restored(void **state)
{
    struct kit *k = *state;
    for (unsigned reopened = 0; reopened < 2; reopened++) {
        /* The id that the enqueue after the restore would assign. */
        uint64_t next = machine_applied_index(k->machine) + 2;
        struct id id = id_make(k->now, next, 0);
        struct command_restore_item it = job_item(k, id, JOB_COMPLETED);
        it.any_id = true;
        assert_int_equal(restore(k, &it, 1)->affected, 1);
        if (reopened != 0) {
            kit_reopen(k);
        }
        struct id made = kit_enqueue(k, kit_name(k), "{}");
        assert_int_equal(machine_applied_index(k->machine), next);
        assert_true(id_eq(made, id_make(k->now, next, 1)));
        kit_expect_state(k, id, JOB_COMPLETED);
        kit_expect_state(k, made, JOB_PENDING);
    }
}

static void line__is_the_order_of_the_pieces(void **state)
{
    struct kit *k = *state;
    struct command_restore_item items[] = {job_item(k, old_id(203), JOB_PENDING),
                                           job_item(k, old_id(201), JOB_PENDING),
                                           job_item(k, old_id(202), JOB_PENDING)};
    items[1].job.queue = items[2].job.queue = items[0].job.queue;
    assert_int_equal(restore(k, items, 3)->affected, 3);
    kit_reopen(k);
    for (size_t i = 0; i < 3; i++) {
        assert_true(id_eq(kit_claim(k, items[0].job.queue.ptr), items[i].id));
    }
}

static void tokens__go_on_above_those_that_came(void **state)
{
    struct kit *k = *state;
    struct command_restore_item it = job_item(k, old_id(300), JOB_ACTIVE);
    it.job.lease_token = 5000000;
    (void)restore(k, &it, 1);
    struct id next = kit_active(k, kit_name(k));
    assert_true(kit_job(k, next).lease_token > 5000000);
    (void)kit_ack_item(k, (struct command_ack_item){.id = it.id, .lease_token = 5000000});
    kit_expect_state(k, it.id, JOB_COMPLETED);
}

static void unique_key__is_held_as_long_as_before(void **state)
{
    struct kit *k = *state;
    struct command_restore_item it = job_item(k, old_id(400), JOB_PENDING);
    it.job.unique_key = STR("k");
    it.unique_until = wall_add_ms(k->now, 60000);
    (void)restore(k, &it, 1);
    struct job again = kit_template(it.job.queue.ptr, "{}");
    again.unique_key = STR("k");
    assert_true(id_eq(kit_enqueue_job(k, &again), it.id));
    kit_pass_ms(k, 60001);
    assert_false(id_eq(kit_enqueue_job(k, &again), it.id));
}

static void dependencies__are_settled_against_what_is_here(void **state)
{
    struct kit *k = *state;
    struct id parents[] = {kit_active(k, kit_name(k)), kit_active(k, kit_name(k))};
    (void)kit_ack(k, parents[0]);
    struct command_restore_item it = job_item(k, old_id(500), JOB_PENDING);
    it.job.waits_for = str_from(parents, sizeof parents);
    (void)restore(k, &it, 1);
    assert_true(id_is_none(kit_claim(k, it.job.queue.ptr)));
    (void)kit_ack(k, parents[1]);
    assert_true(id_eq(kit_claim(k, it.job.queue.ptr), it.id));
}

static void rows__stand_where_they_stood(void **state)
{
    struct kit *k = *state;
    struct command_restore_item job = job_item(k, old_id(600), JOB_DEAD);
    job.job.error_count = 2;
    job.job.usage_count = 1;
    struct command_restore_item items[] = {
        job,
        {.kind = COMMAND_RESTORE_ERROR, .id = job.id, .place = 1, .error = {.error = STR("b")}},
        {.kind = COMMAND_RESTORE_ERROR, .id = job.id, .place = 0, .error = {.error = STR("a")}},
        {.kind = COMMAND_RESTORE_ERROR, .id = job.id, .place = 2, .error = {.error = STR("c")}},
        {.kind = COMMAND_RESTORE_USAGE,
         .id = job.id,
         .usage = {.phase = STORE_PHASE_ACK, .tokens = {.input = 1}}},
        {.kind = COMMAND_RESTORE_USAGE, .id = old_id(601), .usage = {.phase = STORE_PHASE_ACK}},
    };
    (void)restore(k, items, COUNT_OF(items));
    kit_expect_errors(k, job.id, "a|b"); /* the document has no third error */
    uint64_t digest = kit_digest(k);
    (void)restore(k, items, COUNT_OF(items)); /* again */
    assert_int_equal(kit_digest(k), digest);
    /* The errors are removed with the job. */
    (void)kit_do(k, COMMAND_JOB_DELETE, job.id);
    kit_expect_errors(k, job.id, "");
}

static void queue__has_its_settings_again(void **state)
{
    struct kit *k = *state;
    const char *name = kit_name(k);
    struct command_restore_item it = {.kind = COMMAND_RESTORE_QUEUE,
                                      .name = str_from_z(name),
                                      .queue = {.paused = true,
                                                .max_concurrency = 3,
                                                .throttle_rate = 2,
                                                .throttle_window_ms = 1000,
                                                .created_at = {.ns = 1500000000 * NS_PER_S},
                                                .failures = 9,
                                                .completed = 77}};
    for (unsigned round = 0; round < 2; round++) {
        (void)restore(k, &it, 1);
        struct machine_queue q = kit_queue_info(k, name);
        assert_true(q.paused);
        assert_int_equal(q.max_concurrency, 3);
        assert_int_equal(q.throttle_rate, 2);
        assert_int_equal(q.throttle_window_ms, 1000);
        assert_int_equal(q.created_at.ns, 1500000000 * NS_PER_S);
        assert_int_equal(q.failures, 9);
        assert_int_equal(q.count[JOB_COMPLETED], 0); /* counted, not restored */
        kit_reopen(k);
    }
}

static void batch__goes_on_counting(void **state)
{
    struct kit *k = *state;
    struct id batch = old_id(700);
    const char *back = kit_name(k);
    struct command_restore_item job = job_item(k, old_id(701), JOB_PENDING);
    job.job.batch_id = batch;
    struct command_restore_item items[] = {{.kind = COMMAND_RESTORE_BATCH,
                                            .id = batch,
                                            .batch = {.total = 3,
                                                      .pending = 1,
                                                      .succeeded = 2,
                                                      .sealed = true,
                                                      .callback_queue = str_from_z(back)}},
                                           job};
    (void)restore(k, items, 2);
    kit_reopen(k);
    assert_true(id_is_none(kit_claim(k, back)));
    (void)kit_ack(k, kit_claim(k, job.job.queue.ptr));
    assert_false(id_is_none(kit_claim(k, back)));
}

static void schedule__comes_back_once(void **state)
{
    struct kit *k = *state;
    struct command_restore_item it = {.kind = COMMAND_RESTORE_SCHEDULE,
                                      .id = old_id(800),
                                      .schedule = {.name = STR("restored"),
                                                   .queue = STR("q"),
                                                   .cron = STR("@daily"),
                                                   .payload = STR("{}"),
                                                   .enabled = true,
                                                   .next_run = {.ns = 1}}};
    struct machine_due_schedule due;
    (void)restore(k, &it, 1);
    assert_true(machine_next_schedule(k->machine, &due));
    assert_true(id_eq(due.id, it.id));
    uint64_t digest = kit_digest(k);
    (void)restore(k, &it, 1);
    assert_int_equal(restore(k, &it, 1)->remaining, 0); /* it exists already */
    it.id = old_id(801);                                /* the name is in use */
    assert_int_equal(restore(k, &it, 1)->remaining, 1);
    assert_int_equal(kit_digest(k), digest);
    k->entry_version = COMMAND_ENTRY_PUT;
    assert_int_equal(restore(k, &it, 1)->remaining, 0); /* not reported before version 11 */
    assert_int_equal(kit_digest(k), digest);
    k->entry_version = COMMAND_ENTRY_VERSION;
}

static void webhook__begins_behind_the_newest_event(void **state)
{
    struct kit *k = *state;
    struct command_restore_item it = {.kind = COMMAND_RESTORE_WEBHOOK,
                                      .name = STR("restored-hook"),
                                      .webhook = {.url = STR("http://x"),
                                                  .secret = STR("s"),
                                                  .retry_limit = 2,
                                                  .enabled = true,
                                                  .created_at = {.ns = 7},
                                                  .position = 1,
                                                  .last_status = 500}};
    struct store_webhook rec;
    struct buf value;
    (void)kit_enqueue(k, kit_name(k), "{}");
    uint64_t next = machine_store(k->machine)->meta.next_event;
    (void)restore(k, &it, 1);
    buf_init(&value, 1 << 16);
    assert_true(store_get(machine_store(k->machine), STORE_KIND_WEBHOOK, it.name, &value));
    assert_true(store_record_decode_webhook(buf_str(&value), &rec));
    assert_int_equal(rec.position, next - 1);
    assert_int_equal(rec.last_status, 0);
    assert_int_equal(rec.created_at.ns, 7);
    expect_str(rec.secret, STR("s"));
    buf_deinit(&value);
    uint64_t digest = kit_digest(k);
    it.webhook.url = STR("http://other");
    (void)restore(k, &it, 1); /* an existing webhook is not changed */
    assert_int_equal(kit_digest(k), digest);
}

static void webhooks__above_the_limit_are_counted(void **state)
{
    struct kit *k = *state;
    struct command_restore_item it = {.kind = COMMAND_RESTORE_WEBHOOK,
                                      .webhook = {.url = STR("http://x"), .retry_limit = 2}};
    uint32_t left_out = 0;
    char name[32];
    for (unsigned i = 0; i < LIMIT_WEBHOOKS + 1; i++) {
        int n = snprintf(name, sizeof name, "many-hooks-%u", i);
        it.name = str_from(name, (size_t)n);
        left_out += restore(k, &it, 1)->attempt;
    }
    assert_true(left_out > 0); /* webhooks of other tests count, too */
    k->entry_version = COMMAND_ENTRY_PUT;
    assert_int_equal(restore(k, &it, 1)->attempt, 0);
    k->entry_version = COMMAND_ENTRY_VERSION;
}

static void budget__comes_back_unless_there_is_one(void **state)
{
    struct kit *k = *state;
    struct store_budget rec = {.id = STR("budget_1"), .has_daily = true, .daily_nusd = 5};
    struct command_restore_item it = {
        .kind = COMMAND_RESTORE_BUDGET,
        .name = str_from("g\0*", 3),
        .budget = {.created_at = {.ns = 7}},
    };
    struct store_access_frame frame;
    struct buf value;
    struct buf body;
    buf_init(&body, 1 << 10);
    store_access_encode_budget(&rec, &body);
    it.budget.body = buf_str(&body);
    (void)restore(k, &it, 1);
    buf_init(&value, 1 << 10);
    assert_true(
        store_get(machine_store(k->machine), STORE_KIND_ACCESS, str_from("bg\0*", 4), &value));
    assert_true(store_access_decode_frame(buf_str(&value), &frame));
    assert_int_equal(frame.created_at.ns, 7);
    expect_str(frame.body, buf_str(&body));
    assert_true(machine_over_budget(k->machine, STR("any"), k->now) == false);
    buf_deinit(&value);
    uint64_t digest = kit_digest(k);
    rec.daily_nusd = 6;
    buf_clear(&body);
    store_access_encode_budget(&rec, &body);
    it.budget.body = buf_str(&body);
    (void)restore(k, &it, 1); /* an existing budget is not changed */
    assert_int_equal(kit_digest(k), digest);
    buf_deinit(&body);
}

TEST_GROUP_FIXTURE(apply_restore, kit_setup, kit_teardown,
                   cmocka_unit_test(states__come_back_and_count_in_their_queue),
                   cmocka_unit_test(odd__numbers_are_lived_with),
                   cmocka_unit_test(lease__without_an_end_holds),
                   cmocka_unit_test(oldest__is_by_time_whatever_log_its_id_is_from),
                   cmocka_unit_test(existing__jobs_are_left_as_they_are),
                   cmocka_unit_test(future__ids_are_passed_over),
                   cmocka_unit_test(future__ids_are_kept_when_the_item_says_so),
                   cmocka_unit_test(new__ids_pass_over_those_that_were_restored),
                   cmocka_unit_test(line__is_the_order_of_the_pieces),
                   cmocka_unit_test(tokens__go_on_above_those_that_came),
                   cmocka_unit_test(unique_key__is_held_as_long_as_before),
                   cmocka_unit_test(dependencies__are_settled_against_what_is_here),
                   cmocka_unit_test(rows__stand_where_they_stood),
                   cmocka_unit_test(budget__comes_back_unless_there_is_one),
                   cmocka_unit_test(queue__has_its_settings_again),
                   cmocka_unit_test(batch__goes_on_counting),
                   cmocka_unit_test(schedule__comes_back_once),
                   cmocka_unit_test(webhook__begins_behind_the_newest_event),
                   cmocka_unit_test(webhooks__above_the_limit_are_counted));
