/*
 * Effects of time that occur without any request.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "lib/engine_kit.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "os/os_clock.h"

#define MINUTE_MS (60 * 1000LL)

static int setup(void **state)
{
    *state = engine_kit_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    engine_kit_close(*state);
    return 0;
}

static struct wall in_ms(int64_t ms)
{
    return wall_add_ms(os_clock_wall(), ms);
}

static void engine_timers__a_scheduled_job_becomes_pending(void **state)
{
    struct engine_kit *k = *state;
    struct command_new job = engine_kit_new_job("q");
    job.job.scheduled_at = in_ms(60);
    struct id later = engine_kit_put(k, job);
    job.job.scheduled_at = in_ms(20); /* due before the time that the timer was set for */
    struct id sooner = engine_kit_put(k, job);
    engine_kit_wait_state(k, later, JOB_PENDING);
    assert_int_equal(engine_kit_state(k, sooner), JOB_PENDING);
    assert_true(id_eq(engine_kit_claim(k, "q"), sooner));
}

static void engine_timers__a_failed_job_comes_back(void **state)
{
    struct engine_kit *k = *state;
    struct command_new job = engine_kit_new_job("q");
    job.job.retry_base_ms = 20;
    struct id id = engine_kit_put(k, job);
    assert_true(id_eq(engine_kit_claim(k, "q"), id));
    engine_kit_fail(k, id);
    engine_kit_wait_state(k, id, JOB_PENDING);
}

static void engine_timers__a_lease_runs_out(void **state)
{
    struct engine_kit *k = *state;
    struct str queue = STR("q");
    struct command c = engine_kit_claim_command(&queue, 1);
    struct id id = engine_kit_enqueue(k, "q");
    c.claim.lease_ms = 20;
    assert_int_equal(engine_kit_do(k, &c)->count, 1);
    engine_kit_wait_state(k, id, JOB_PENDING);
}

static void engine_timers__a_job_expires(void **state)
{
    struct engine_kit *k = *state;
    struct command_new job = engine_kit_new_job("q");
    job.expire_after_ms = 20;
    struct id id = engine_kit_put(k, job);
    engine_kit_wait_state(k, id, JOB_DEAD);
}

static void engine_timers__more_than_one_tick_can_move_is_moved(void **state)
{
    struct engine_kit *k = *state;
    enum { COUNT = 2500 };
    struct command_new *jobs = calloc(COUNT, sizeof *jobs);
    assert_non_null(jobs);
    for (size_t i = 0; i < COUNT; i++) {
        jobs[i] = engine_kit_new_job("q");
        jobs[i].job.scheduled_at = in_ms(1);
    }
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = COUNT}};
    struct id last = engine_kit_do(k, &c)->items[COUNT - 1].id;
    engine_kit_wait_state(k, last, JOB_PENDING);
    free(jobs);
}

/* A job becomes due while the engine is stopped, and is processed after the start without a
 * request. The test only polls the store, because a message would wake the core thread. */
static void engine_timers__makes_up_for_the_time_it_was_stopped(void **state)
{
    struct engine_kit *k = *state;
    struct err err;
    struct command_new job = engine_kit_new_job("q");
    job.job.scheduled_at = in_ms(40);
    struct id id = engine_kit_put(k, job);
    engine_kit_stop_engine(k);
    while (os_clock_wall().ns < job.job.scheduled_at.ns) {
        /* only the clock must advance */
    }
    assert_int_equal(engine_open(&k->config, &k->engine, &err), ERR_OK);
    struct wall end = in_ms(20000);
    while (engine_kit_state(k, id) != JOB_PENDING && os_clock_wall().ns < end.ns) {
    }
    assert_int_equal(engine_kit_state(k, id), JOB_PENDING);
    engine_close(k->engine);
    k->engine = NULL;
}

/* Schedules */

static struct store_schedule schedule_of(const char *name, struct wall next_run)
{
    return (struct store_schedule){.name = str_from_z(name),
                                   .queue = str_from_z(name),
                                   .cron = STR("@every 1h"),
                                   .timezone = STR("UTC"),
                                   .payload = STR("{}"),
                                   .priority = JOB_PRIORITY_NORMAL,
                                   .enabled = true,
                                   .next_run = next_run};
}

static struct id put_schedule(struct engine_kit *k, const struct store_schedule *s)
{
    struct command c = {.type = COMMAND_SCHEDULE_PUT, .schedule_put = {.schedule = *s}};
    const struct result *r = engine_kit_do(k, &c);
    assert_int_equal(r->code, ERR_OK);
    return r->id;
}

/* Wait for the schedule's job with a claim, because nothing else reports a new job. */
static struct id wait_for_job(struct engine_kit *k, const char *queue)
{
    struct str name = str_from_z(queue);
    struct command c = engine_kit_claim_command(&name, 1);
    struct engine_kit_op o;
    engine_kit_op_init(&o, k);
    engine_kit_start(&o, &c, 60000);
    engine_kit_wait(&o);
    assert_int_equal(o.op.err.code, ERR_OK);
    assert_int_equal(o.result.count, 1);
    struct id id = o.result.items[0].id;
    engine_kit_op_deinit(&o);
    return id;
}

static struct store_schedule read_schedule(struct engine_kit *k, struct id id, struct buf *bytes)
{
    struct store_schedule rec;
    buf_clear(bytes);
    assert_true(
        store_get(engine_store(k->engine), STORE_KIND_SCHEDULE, str_from(id.b, ID_BYTES), bytes));
    assert_true(store_record_decode_schedule(buf_str(bytes), &rec));
    return rec;
}

static void engine_timers__a_schedule_fires_once_per_time(void **state)
{
    struct engine_kit *k = *state;
    struct buf bytes;
    struct store_schedule s = schedule_of("hourly", in_ms(20));
    struct id id = put_schedule(k, &s);
    buf_init(&bytes, 4096);
    (void)wait_for_job(k, "hourly");
    struct store_schedule rec = read_schedule(k, id, &bytes);
    assert_int_equal(rec.last_run.ns, s.next_run.ns);
    assert_true(rec.next_run.ns > in_ms(59 * MINUTE_MS).ns);
    assert_true(rec.next_run.ns <= in_ms(60 * MINUTE_MS).ns);
    assert_true(id_is_none(engine_kit_claim(k, "hourly")));
    assert_int_equal(engine_kit_status(k).live_jobs, 1);
    buf_deinit(&bytes);
}

static void engine_timers__a_schedule_fires_again(void **state)
{
    struct engine_kit *k = *state;
    struct store_schedule s = schedule_of("often", in_ms(1));
    s.cron = STR("@every 1s");
    (void)put_schedule(k, &s);
    struct id first = wait_for_job(k, "often");
    struct id second = wait_for_job(k, "often");
    assert_false(id_eq(first, second));
    assert_int_equal(engine_kit_status(k).live_jobs, 2);
}

/* Schedules that are due at the same time share a few entries. */
static void engine_timers__schedules_of_one_moment_share_entries(void **state)
{
    struct engine_kit *k = *state;
    enum { COUNT = 3000 };
    struct command_restore_item *items = calloc(COUNT, sizeof *items);
    static char names[COUNT][16];
    assert_non_null(items);
    for (unsigned i = 0; i < COUNT; i++) {
        (void)snprintf(names[i], sizeof names[i], "s%u", i);
        items[i] = (struct command_restore_item){.kind = COMMAND_RESTORE_SCHEDULE,
                                                 .id = id_make((struct wall){.ns = NS_PER_S}, 1, i),
                                                 .schedule = schedule_of(names[i], in_ms(-1))};
        items[i].schedule.queue = STR("q");
    }
    uint64_t before = engine_kit_status(k).entries;
    for (unsigned from = 0; from < COUNT; from += LIMIT_RESTORE_CHUNK_ITEMS) {
        struct command c = {.type = COMMAND_RESTORE,
                            .restore = {.items = items + from, .count = LIMIT_RESTORE_CHUNK_ITEMS}};
        assert_int_equal(engine_kit_do(k, &c)->code, ERR_OK);
    }
    struct str queue = STR("q");
    struct command claim = engine_kit_claim_command(&queue, LIMIT_CLAIM_COUNT);
    unsigned claims = 0;
    for (uint32_t got = 0; got < COUNT; claims++) {
        struct engine_kit_op o;
        engine_kit_op_init(&o, k);
        engine_kit_start(&o, &claim, 60000);
        engine_kit_wait(&o);
        assert_int_equal(o.op.err.code, ERR_OK);
        got += o.result.count;
        engine_kit_op_deinit(&o);
    }
    assert_true(engine_kit_status(k).entries - before < 30 + 3 * claims);
    free(items);
}

/* The first run was set before the record was created. The next run must be counted from the first
 * run, not from the creation. */
static void engine_timers__every_counts_from_the_run_before(void **state)
{
    struct engine_kit *k = *state;
    struct store_schedule s = schedule_of("steady", in_ms(1));
    struct buf bytes;
    buf_init(&bytes, 4096);
    struct id id = put_schedule(k, &s);
    (void)wait_for_job(k, "steady");
    struct store_schedule after = read_schedule(k, id, &bytes);
    assert_int_equal(after.last_run.ns, s.next_run.ns);
    assert_int_equal(after.next_run.ns, wall_add_ms(s.next_run, 3600000).ns);
    assert_int_not_equal(after.created_at.ns, s.next_run.ns);
    buf_deinit(&bytes);
}

/* The time zone's file may have been removed since the schedule was created, or never have existed
 * on this node. */
static void engine_timers__a_schedule_without_its_zone_does_not_stop_the_others(void **state)
{
    struct engine_kit *k = *state;
    struct store_schedule lost = schedule_of("lost", in_ms(1));
    struct store_schedule sound = schedule_of("sound", in_ms(2));
    struct store_schedule broken = schedule_of("broken", in_ms(1));
    struct buf bytes;
    buf_init(&bytes, 4096);
    lost.timezone = STR("Atlantis/Capital");
    lost.cron = STR("0 0 1 1 *");
    broken.cron = STR("no expression");
    struct id lost_id = put_schedule(k, &lost);
    struct id broken_id = put_schedule(k, &broken);
    (void)put_schedule(k, &sound);
    (void)wait_for_job(k, "sound");
    (void)wait_for_job(k, "lost");
    (void)wait_for_job(k, "broken");
    assert_true(read_schedule(k, lost_id, &bytes).next_run.ns > os_clock_wall().ns);
    assert_int_equal(read_schedule(k, broken_id, &bytes).next_run.ns, 0);
    buf_deinit(&bytes);
}

/* Retention */

static void short_retention(struct engine_config *config)
{
    config->retention_ms = 20;
    config->retention_interval_ms = 10;
}

static int setup_short_retention(void **state)
{
    *state = engine_kit_open(short_retention);
    return 0;
}

static void engine_timers__what_is_over_for_long_is_removed(void **state)
{
    struct engine_kit *k = *state;
    struct id stays = engine_kit_enqueue(k, "q");
    struct id goes = engine_kit_enqueue(k, "q");
    engine_kit_job(k, COMMAND_JOB_CANCEL, goes);
    engine_kit_wait_state(k, goes, JOB_STATE_COUNT);
    assert_int_equal(engine_kit_state(k, stays), JOB_PENDING);
}

TEST_GROUP(engine_timers,
           cmocka_unit_test_setup_teardown(engine_timers__a_scheduled_job_becomes_pending, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(engine_timers__a_failed_job_comes_back, setup, teardown),
           cmocka_unit_test_setup_teardown(engine_timers__a_lease_runs_out, setup, teardown),
           cmocka_unit_test_setup_teardown(engine_timers__a_job_expires, setup, teardown),
           cmocka_unit_test_setup_teardown(engine_timers__more_than_one_tick_can_move_is_moved,
                                           setup, teardown),
           cmocka_unit_test_setup_teardown(engine_timers__makes_up_for_the_time_it_was_stopped,
                                           setup, teardown),
           cmocka_unit_test_setup_teardown(engine_timers__a_schedule_fires_once_per_time, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(engine_timers__a_schedule_fires_again, setup, teardown),
           cmocka_unit_test_setup_teardown(engine_timers__schedules_of_one_moment_share_entries,
                                           setup, teardown),
           cmocka_unit_test_setup_teardown(engine_timers__every_counts_from_the_run_before, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(
               engine_timers__a_schedule_without_its_zone_does_not_stop_the_others, setup,
               teardown),
           cmocka_unit_test_setup_teardown(engine_timers__what_is_over_for_long_is_removed,
                                           setup_short_retention, teardown));
