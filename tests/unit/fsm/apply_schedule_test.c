/*
 * Schedules: their records, and runs that fire exactly once (http-api.md 13).
 */
#include "lib/machine_kit.h"
#include "store/store_record.h"

static struct store_schedule schedule_of(struct kit *k, const char *queue, int64_t next_ms)
{
    return (struct store_schedule){.name = kit_text(k, "schedule of %s", queue),
                                   .queue = str_from_z(queue),
                                   .cron = STR("* * * * *"),
                                   .timezone = STR("UTC"),
                                   .payload = STR("{\"p\":1}"),
                                   .max_retries = 7,
                                   .priority = JOB_PRIORITY_HIGH,
                                   .tags = STR("{\"t\":\"v\"}"),
                                   .enabled = true,
                                   .next_run = wall_add_ms(k->now, next_ms)};
}

static struct command put_command(const struct store_schedule *s, struct id id,
                                  struct wall expected)
{
    return (struct command){
        .type = COMMAND_SCHEDULE_PUT,
        .schedule_put = {.id = id, .expected_updated_at = expected, .schedule = *s}};
}

static struct id create(struct kit *k, const struct store_schedule *s)
{
    struct command c = put_command(s, ID_NONE, (struct wall){0});
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    return r->id;
}

static struct store_schedule record_of(struct kit *k, struct id id)
{
    struct store_schedule rec;
    struct buf value;
    buf_init(&value, 1 << 16);
    assert_true(store_get(machine_store(k->machine), STORE_KIND_SCHEDULE, str_from(id.b, ID_BYTES),
                          &value));
    struct str kept = arena_str(k->arena, buf_str(&value));
    buf_deinit(&value);
    assert_true(store_record_decode_schedule(kept, &rec));
    return rec;
}

/* Change the schedule to s, based on its current record. */
static void update(struct kit *k, struct id id, const struct store_schedule *s)
{
    struct command c = put_command(s, id, record_of(k, id).updated_at);
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static struct command fire_command(struct id id, struct wall expected, struct wall next)
{
    return (struct command){.type = COMMAND_SCHEDULE_FIRE,
                            .schedule_fire = {.id = id, .expected_next = expected, .next = next}};
}

static void delete_schedule(struct kit *k, struct id id)
{
    struct command c = {.type = COMMAND_SCHEDULE_DELETE, .schedule_delete = {.id = id}};
    assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
}

static const char *not_found(struct kit *k, struct id id)
{
    return kit_text(k, "schedule \"" STR_FMT "\" not found",
                    STR_ARG(kit_id_text(k, id, ID_SCHEDULE)))
        .ptr;
}

static void create__keeps_the_record(void **state)
{
    struct kit *k = *state;
    struct store_schedule s = schedule_of(k, kit_name(k), 60000);
    s.unique_key = STR("key");
    s.created_at.ns = s.updated_at.ns = s.last_run.ns = 99; /* the machine sets these */
    struct id id = create(k, &s);
    struct store_schedule rec = record_of(k, id);
    expect_str(rec.name, s.name);
    expect_str(rec.queue, s.queue);
    expect_str(rec.cron, s.cron);
    expect_str(rec.timezone, s.timezone);
    expect_str(rec.payload, s.payload);
    expect_str(rec.unique_key, s.unique_key);
    expect_str(rec.tags, s.tags);
    assert_int_equal(rec.max_retries, 7);
    assert_int_equal(rec.priority, JOB_PRIORITY_HIGH);
    assert_true(rec.enabled);
    assert_int_equal(rec.next_run.ns, s.next_run.ns);
    assert_int_equal(rec.created_at.ns, k->now.ns);
    assert_int_equal(rec.updated_at.ns, k->now.ns);
    assert_int_equal(rec.last_run.ns, 0);
    delete_schedule(k, id);
}

static void name__is_unique(void **state)
{
    struct kit *k = *state;
    struct store_schedule a = schedule_of(k, kit_name(k), 60000);
    struct store_schedule b = schedule_of(k, kit_name(k), 60000);
    struct id first = create(k, &a);
    struct id second = create(k, &b);
    struct command c = put_command(&a, ID_NONE, (struct wall){0});
    const char *message =
        kit_text(k, "schedule name '" STR_FMT "' already exists", STR_ARG(a.name)).ptr;
    kit_refuses(k, &c, ERR_CONFLICT, message, first);
    b.name = a.name;
    c = put_command(&b, second, record_of(k, second).updated_at);
    kit_refuses(k, &c, ERR_CONFLICT, message, second);
    update(k, first, &a); /* its own name is no conflict */
    delete_schedule(k, first);
    update(k, second, &b); /* the name is free now */
    kit_reopen(k);
    c = put_command(&a, ID_NONE, (struct wall){0});
    kit_refuses(k, &c, ERR_CONFLICT, message, second);
    delete_schedule(k, second);
}

static void update__is_made_from_the_record_that_is_there(void **state)
{
    struct kit *k = *state;
    struct store_schedule s = schedule_of(k, kit_name(k), 60000);
    struct id id = create(k, &s);
    struct wall first = record_of(k, id).updated_at;
    s.payload = STR("{\"p\":2}");
    update(k, id, &s); /* at the same time */
    struct store_schedule rec = record_of(k, id);
    expect_str(rec.payload, STR("{\"p\":2}"));
    assert_true(rec.updated_at.ns > first.ns);
    assert_int_equal(rec.created_at.ns, first.ns);
    struct command c = put_command(&s, id, first);
    kit_refuses(k, &c, ERR_CONFLICT,
                kit_text(k, "schedule '" STR_FMT "' was changed in the meantime; try again",
                         STR_ARG(s.name))
                    .ptr,
                id);
    struct id unknown = id_make(k->now, 7777777, 8);
    c = put_command(&s, unknown, first);
    kit_refuses(k, &c, ERR_NOT_FOUND, not_found(k, unknown), unknown);
    delete_schedule(k, id);
}

static void delete__removes_it_and_leaves_its_jobs(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct store_schedule s = schedule_of(k, queue, 0);
    struct id id = create(k, &s);
    struct command c = fire_command(id, s.next_run, wall_add_ms(k->now, 60000));
    struct id job = kit_apply(k, &c)->id;
    delete_schedule(k, id);
    assert_true(id_eq(kit_claim(k, queue), job));
    struct command again = {.type = COMMAND_SCHEDULE_DELETE, .schedule_delete = {.id = id}};
    kit_refuses(k, &again, ERR_NOT_FOUND, not_found(k, id), id);
    kit_refuses(k, &c, ERR_NOT_FOUND, not_found(k, id), id);
}

static void fire__enqueues_one_job_and_moves_on(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct store_schedule s = schedule_of(k, queue, 1000);
    struct id id = create(k, &s);
    kit_pass_ms(k, 1500);
    struct wall next = wall_add_ms(k->now, 60000);
    struct command c = fire_command(id, s.next_run, next);
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 1);
    struct id job = r->id;
    struct job j = kit_job(k, job);
    assert_int_equal(j.state, JOB_PENDING);
    expect_str(j.payload, s.payload);
    expect_str(j.tags, s.tags);
    assert_int_equal(j.priority, JOB_PRIORITY_HIGH);
    assert_int_equal(j.max_retries, 7);
    assert_int_equal(j.backoff, JOB_BACKOFF_EXPONENTIAL);
    assert_int_equal(j.retry_base_ms, 5000);
    assert_true(id_eq(j.schedule_id, id));
    kit_expect_events(k, job, "enqueued");
    struct store_schedule rec = record_of(k, id);
    assert_int_equal(rec.last_run.ns, s.next_run.ns); /* the due time of this run */
    assert_int_equal(rec.next_run.ns, next.ns);
    /* The same run again, from a leader that did not know of it, has no effect. */
    uint64_t digest = kit_digest(k);
    r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 0);
    assert_true(id_is_none(r->id));
    assert_int_equal(kit_digest(k), digest);
    kit_reopen(k);
    assert_int_equal(kit_apply(k, &c)->affected, 0);
    delete_schedule(k, id);
}

static void fire__with_a_locked_key_skips_the_job_only(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct store_schedule s = schedule_of(k, queue, 0);
    s.unique_key = STR("a");
    struct id id = create(k, &s);
    struct wall second = wall_add_ms(k->now, 1000);
    struct wall third = wall_add_ms(k->now, 2000);
    struct command c = fire_command(id, s.next_run, second);
    struct id job = kit_apply(k, &c)->id;
    c = fire_command(id, second, third);
    assert_int_equal(kit_apply(k, &c)->affected, 0);
    assert_int_equal(record_of(k, id).next_run.ns, third.ns);
    assert_int_equal(record_of(k, id).last_run.ns, second.ns);
    assert_true(id_eq(kit_claim(k, queue), job));
    (void)kit_ack(k, job);
    c = fire_command(id, third, wall_add_ms(k->now, 3000));
    assert_int_equal(kit_apply(k, &c)->affected, 1);
    delete_schedule(k, id);
}

static void manual__run_moves_nothing(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct store_schedule s = schedule_of(k, queue, 60000);
    s.enabled = false;
    s.next_run = (struct wall){0};
    struct id id = create(k, &s);
    struct command c = {.type = COMMAND_SCHEDULE_FIRE, .schedule_fire = {.id = id, .manual = true}};
    struct id job = kit_apply(k, &c)->id;
    assert_true(id_eq(kit_claim(k, queue), job));
    assert_int_equal(record_of(k, id).next_run.ns, 0);
    assert_int_equal(record_of(k, id).last_run.ns, 0);
    delete_schedule(k, id);
}

/* The same idempotency key gets the first answer: a new job, or the job that holds the unique key.
 */
static void manual__run_is_done_once_per_key(void **state)
{
    struct kit *k = *state;
    struct store_schedule s = schedule_of(k, kit_name(k), 60000);
    s.unique_key = STR("mine");
    struct id id = create(k, &s);
    struct command c = {
        .type = COMMAND_SCHEDULE_FIRE,
        .schedule_fire = {.id = id, .manual = true, .once = {.key = STR("run  1"), .hash = 1}}};
    struct id job = kit_apply(k, &c)->id;
    c.schedule_fire.once.key = STR("run  2");
    for (unsigned i = 0; i < 2; i++) {
        const struct result *r = kit_apply(k, &c);
        assert_true(id_eq(r->id, job));
        assert_int_equal(r->affected, 0);
        if (i == 0) {
            (void)kit_do(k, COMMAND_JOB_CANCEL, job); /* the unique key is free */
        }
        kit_reopen(k);
    }
    c.schedule_fire.once.key = STR("run  1");
    const struct result *r = kit_apply(k, &c);
    assert_true(id_eq(r->id, job));
    assert_int_equal(r->affected, 1);
    c.schedule_fire.once.hash = 2;
    assert_int_equal(kit_apply(k, &c)->code, ERR_KEY_REUSED);
    kit_expect_count(k, kit_text(k, STR_FMT, STR_ARG(s.queue)).ptr, JOB_PENDING, 0);
    delete_schedule(k, id);
}

static void disabled__schedule_does_not_fire(void **state)
{
    struct kit *k = *state;
    struct store_schedule s = schedule_of(k, kit_name(k), 0);
    struct wall due = s.next_run;
    struct id id = create(k, &s);
    s.enabled = false;
    s.next_run = (struct wall){0};
    update(k, id, &s);
    struct command c = fire_command(id, due, wall_add_ms(due, 1000));
    assert_int_equal(kit_apply(k, &c)->affected, 0);
    s.enabled = true;
    s.next_run = wall_add_ms(k->now, 5000);
    update(k, id, &s);
    assert_int_equal(record_of(k, id).next_run.ns, s.next_run.ns);
    c = fire_command(id, s.next_run, wall_add_ms(due, 9000));
    assert_int_equal(kit_apply(k, &c)->affected, 1);
    delete_schedule(k, id);
}

/* A change that was prepared before a run fired must not repeat that run. */
static void update__of_something_else_keeps_the_next_run(void **state)
{
    struct kit *k = *state;
    struct store_schedule s = schedule_of(k, kit_name(k), 0);
    struct wall due = s.next_run;
    struct id id = create(k, &s);
    struct store_schedule change = record_of(k, id); /* as a client has read it */
    struct wall next = wall_add_ms(due, 60000);
    struct command c = fire_command(id, due, next);
    assert_int_equal(kit_apply(k, &c)->affected, 1);
    change.payload = STR("{\"p\":3}");
    update(k, id, &change);
    assert_int_equal(record_of(k, id).next_run.ns, next.ns);
    assert_int_equal(record_of(k, id).last_run.ns, due.ns);
    expect_str(record_of(k, id).payload, STR("{\"p\":3}"));
    assert_int_equal(kit_apply(k, &c)->affected, 0);
    /* A new expression or time zone sets a new next run. */
    change.cron = STR("0 0 * * *");
    change.next_run = wall_add_ms(due, 777);
    update(k, id, &change);
    assert_int_equal(record_of(k, id).next_run.ns, change.next_run.ns);
    change.timezone = STR("Europe/Madrid");
    change.next_run = wall_add_ms(due, 888);
    update(k, id, &change);
    assert_int_equal(record_of(k, id).next_run.ns, change.next_run.ns);
    delete_schedule(k, id);
}

static void next__is_the_earliest_that_is_enabled(void **state)
{
    struct kit *k = *state;
    struct machine_due_schedule due;
    assert_false(machine_next_schedule(k->machine, &due)); /* other tests have deleted theirs */
    struct store_schedule late = schedule_of(k, kit_name(k), 9000);
    struct store_schedule early = schedule_of(k, kit_name(k), 3000);
    struct store_schedule off = schedule_of(k, kit_name(k), 1000);
    off.enabled = false;
    struct id late_id = create(k, &late);
    struct id early_id = create(k, &early);
    struct id off_id = create(k, &off);
    for (unsigned pass = 0; pass < 2; pass++) {
        assert_true(machine_next_schedule(k->machine, &due));
        assert_true(id_eq(due.id, early_id));
        assert_int_equal(due.next_run.ns, early.next_run.ns);
        expect_str(due.cron, early.cron);
        expect_str(due.timezone, early.timezone);
        kit_reopen(k);
    }
    struct command c = fire_command(early_id, early.next_run, wall_add_ms(k->now, 20000));
    (void)kit_apply(k, &c);
    assert_true(machine_next_schedule(k->machine, &due));
    assert_true(id_eq(due.id, late_id));
    /* A schedule without a next run is never due again. */
    c = fire_command(late_id, late.next_run, (struct wall){0});
    (void)kit_apply(k, &c);
    assert_true(machine_next_schedule(k->machine, &due));
    assert_true(id_eq(due.id, early_id));
    delete_schedule(k, early_id);
    assert_false(machine_next_schedule(k->machine, &due));
    delete_schedule(k, late_id);
    delete_schedule(k, off_id);
}

TEST_GROUP_FIXTURE(apply_schedule, kit_setup, kit_teardown,
                   cmocka_unit_test(create__keeps_the_record), cmocka_unit_test(name__is_unique),
                   cmocka_unit_test(update__is_made_from_the_record_that_is_there),
                   cmocka_unit_test(delete__removes_it_and_leaves_its_jobs),
                   cmocka_unit_test(fire__enqueues_one_job_and_moves_on),
                   cmocka_unit_test(fire__with_a_locked_key_skips_the_job_only),
                   cmocka_unit_test(manual__run_is_done_once_per_key),
                   cmocka_unit_test(manual__run_moves_nothing),
                   cmocka_unit_test(disabled__schedule_does_not_fire),
                   cmocka_unit_test(update__of_something_else_keeps_the_next_run),
                   cmocka_unit_test(next__is_the_earliest_that_is_enabled));
