/*
 * Which commands are accepted while the disk, or the memory for the log, runs out.
 */
#include "engine/engine_space.h"

#include "base/check.h"
#include "base/fault.h"
#include "lib/engine_kit.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "log/log.h"

enum { MIB = 1 << 20, MIN_BYTES = 64 * MIB, ENTRY_BYTES = 4096 };

/* --- the rules --- */

static void level__follows_from_what_was_seen(void **state)
{
    const struct {
        const char *name;
        struct engine_space_seen seen;
        enum engine_space_level before, after;
    } rows[] = {
        {"plenty", {.free_bytes = 100, .min_bytes = 64}, ENGINE_SPACE_FINE, ENGINE_SPACE_FINE},
        {"just enough", {.free_bytes = 64, .min_bytes = 64}, ENGINE_SPACE_FINE, ENGINE_SPACE_FINE},
        {"low", {.free_bytes = 63, .min_bytes = 64}, ENGINE_SPACE_FINE, ENGINE_SPACE_LOW},
        {"low stays low at the mark",
         {.free_bytes = 64, .min_bytes = 64},
         ENGINE_SPACE_LOW,
         ENGINE_SPACE_LOW},
        {"and ends above it",
         {.free_bytes = 68, .min_bytes = 64},
         ENGINE_SPACE_LOW,
         ENGINE_SPACE_FINE},
        {"full", {.free_bytes = 15, .min_bytes = 64}, ENGINE_SPACE_LOW, ENGINE_SPACE_FULL},
        {"full stays full",
         {.free_bytes = 16, .min_bytes = 64},
         ENGINE_SPACE_FULL,
         ENGINE_SPACE_FULL},
        {"full ends", {.free_bytes = 20, .min_bytes = 64}, ENGINE_SPACE_FULL, ENGINE_SPACE_LOW},
        {"what is in memory needs space",
         {.free_bytes = 100, .min_bytes = 64, .unwritten_bytes = 40},
         ENGINE_SPACE_FINE,
         ENGINE_SPACE_LOW},
        {"and more of it",
         {.free_bytes = 100, .min_bytes = 64, .unwritten_bytes = 90},
         ENGINE_SPACE_FINE,
         ENGINE_SPACE_FULL},
        {"no minimum", {.free_bytes = 1}, ENGINE_SPACE_FINE, ENGINE_SPACE_FINE},
        {"no minimum, but a flush to come",
         {.free_bytes = 1, .unwritten_bytes = 2},
         ENGINE_SPACE_FINE,
         ENGINE_SPACE_FULL},
        {"the disk says no",
         {.free_bytes = 100, .refused = true},
         ENGINE_SPACE_FINE,
         ENGINE_SPACE_FULL},
        {"a long log",
         {.free_bytes = 100, .log_bytes = 51, .log_bytes_max = 100},
         ENGINE_SPACE_FINE,
         ENGINE_SPACE_LOW},
        {"a longer log",
         {.free_bytes = 100, .log_bytes = 76, .log_bytes_max = 100},
         ENGINE_SPACE_LOW,
         ENGINE_SPACE_FULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        assert_int_equal(engine_space_judge(&rows[i].seen, rows[i].before), rows[i].after);
    }
}

static void compactions__begin_when_they_fit(void **state)
{
    (void)state;
    static const struct {
        uint64_t free_bytes, compaction_bytes;
        bool paused, may;
    } rows[] = {
        {1600, 500, false, true}, {1599, 500, false, false}, {1600, 500, true, false},
        {1725, 500, true, true},  {1100, 0, false, true},    {0, 0, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_space_seen seen = {.free_bytes = rows[i].free_bytes,
                                         .min_bytes = 1000,
                                         .unwritten_bytes = 100,
                                         .compaction_bytes = rows[i].compaction_bytes};
        assert_int_equal(engine_space_has_room_to_compact(&seen, rows[i].paused), rows[i].may);
    }
}

static void commands__are_refused_by_what_they_do(void **state)
{
    const struct {
        const char *name;
        struct command command;
        bool low, full; /* accepted at this level */
    } rows[] = {
        {"enqueue", {.type = COMMAND_ENQUEUE}, false, false},
        {"restore", {.type = COMMAND_RESTORE}, false, false},
        {"claim", {.type = COMMAND_CLAIM}, true, false},
        {"ack", {.type = COMMAND_ACK}, true, false},
        {"fail", {.type = COMMAND_FAIL}, true, false},
        {"heartbeat", {.type = COMMAND_HEARTBEAT}, true, false},
        {"retry", {.type = COMMAND_JOBS, .jobs = {.action = COMMAND_JOB_RETRY}}, true, false},
        {"delete", {.type = COMMAND_JOBS, .jobs = {.action = COMMAND_JOB_DELETE}}, true, true},
        {"bulk delete",
         {.type = COMMAND_BULK_PUT, .bulk_put = {.action = COMMAND_JOB_DELETE}},
         true,
         true},
        {"pause", {.type = COMMAND_QUEUE, .queue = {.action = COMMAND_QUEUE_PAUSE}}, true, false},
        {"clear", {.type = COMMAND_QUEUE, .queue = {.action = COMMAND_QUEUE_CLEAR}}, true, true},
        {"purge", {.type = COMMAND_PURGE}, true, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        enum engine_space_use use = engine_space_use(&rows[i].command);
        assert_true(engine_space_allows(ENGINE_SPACE_FINE, use));
        assert_int_equal(engine_space_allows(ENGINE_SPACE_LOW, use), rows[i].low);
        assert_int_equal(engine_space_allows(ENGINE_SPACE_FULL, use), rows[i].full);
    }
}

/* --- the engine --- */

static void configure(struct engine_config *config)
{
    config->free_bytes_min = MIN_BYTES;
    config->node.snapshot_log_bytes = 8 * MIB;
}

static int setup(void **state)
{
    log_configure(LOG_ERROR, LOG_TEXT);
    fault_arm_value(FAULT_DISK_SPACE_LOW, (uint64_t)1 << 40);
    *state = engine_kit_open(configure);
    return 0;
}

static int teardown(void **state)
{
    fault_reset();
    engine_kit_close(*state);
    return 0;
}

static struct engine_space_status space_of(struct engine_kit *k)
{
    struct engine_status s;
    engine_status(k->engine, &s);
    return s.space;
}

/* Simulate this much free disk space, and wait until the engine has measured it. */
static void set_free(struct engine_kit *k, uint64_t bytes, enum engine_space_level level)
{
    fault_arm_value(FAULT_DISK_SPACE_LOW, bytes);
    struct engine_space_status s = space_of(k);
    while (s.level != level || s.seen.free_bytes != bytes) {
        s = space_of(k); /* waits for the core thread */
    }
}

static enum err_code try_enqueue(struct engine_kit *k, struct err *err)
{
    struct engine_kit_op o;
    struct command_new job = engine_kit_new_job("q");
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
    engine_kit_op_init(&o, k);
    engine_kit_start(&o, &c, 0);
    engine_kit_wait(&o);
    *err = o.op.err;
    engine_kit_op_deinit(&o);
    return err->code;
}

static enum err_code try_claim(struct engine_kit *k)
{
    struct engine_kit_op o;
    struct str queue = STR("q");
    struct command c = {.type = COMMAND_CLAIM,
                        .claim = {.queues = &queue,
                                  .queue_count = 1,
                                  .worker_id = STR("w"),
                                  .lease_ms = 60000,
                                  .count = 1}};
    engine_kit_op_init(&o, k);
    engine_kit_start(&o, &c, 0);
    engine_kit_wait(&o);
    enum err_code code = o.op.err.code;
    engine_kit_op_deinit(&o);
    return code;
}

static enum err_code try_clear(struct engine_kit *k)
{
    struct engine_kit_op o;
    struct command c = {.type = COMMAND_QUEUE,
                        .queue = {.action = COMMAND_QUEUE_CLEAR, .name = STR("q")}};
    engine_kit_op_init(&o, k);
    engine_kit_start(&o, &c, 0);
    engine_kit_wait(&o);
    enum err_code code = o.op.err.code;
    engine_kit_op_deinit(&o);
    return code;
}

static void low_space__refuses_new_jobs_only(void **state)
{
    struct engine_kit *k = *state;
    struct err err;
    (void)engine_kit_enqueue(k, "q");
    (void)engine_kit_enqueue(k, "q");
    set_free(k, MIN_BYTES - MIB, ENGINE_SPACE_LOW);
    assert_int_equal(try_enqueue(k, &err), ERR_NO_SPACE);
    assert_non_null(strstr(err.msg, "63 MiB are free"));
    assert_int_equal(try_claim(k), ERR_OK);
    set_free(k, MIB, ENGINE_SPACE_FULL);
    assert_int_equal(try_claim(k), ERR_NO_SPACE);
    assert_int_equal(try_clear(k), ERR_OK);
    set_free(k, 2 * (uint64_t)MIN_BYTES, ENGINE_SPACE_FINE);
    assert_int_equal(try_enqueue(k, &err), ERR_OK); /* without other measures */
}

static bool reserve_is_there(struct engine_kit *k)
{
    struct os_file_info info;
    struct err err;
    struct os_file_path path = tmpdir_path(&k->dir, "reserve");
    return os_file_stat(path.z, &info, &err) == ERR_OK && info.size > 0;
}

static void reserve__is_given_up_and_made_again(void **state)
{
    struct engine_kit *k = *state;
    assert_true(space_of(k).reserve_bytes[ENGINE_SPACE_TO_RUN] == MIN_BYTES / 4);
    assert_true(reserve_is_there(k));
    set_free(k, MIN_BYTES - MIB, ENGINE_SPACE_LOW);
    assert_true(reserve_is_there(k)); /* not yet */
    set_free(k, MIN_BYTES / 2 - MIB, ENGINE_SPACE_LOW);
    assert_false(reserve_is_there(k));
    assert_true(space_of(k).reserve_bytes[ENGINE_SPACE_TO_RUN] == 0);
    set_free(k, MIN_BYTES + 8 * MIB, ENGINE_SPACE_FINE);
    assert_false(reserve_is_there(k)); /* it would make space low again */
    set_free(k, 2 * (uint64_t)MIN_BYTES, ENGINE_SPACE_FINE);
    assert_true(reserve_is_there(k));
}

static void start__gives_the_reserve_up_when_it_has_no_space(void **state)
{
    struct engine_kit *k = *state;
    struct id id = engine_kit_enqueue(k, "q");
    engine_kit_stop_engine(k);
    assert_true(reserve_is_there(k));
    fault_arm_value(FAULT_DISK_SPACE_LOW, MIB);
    engine_kit_start_engine(k);
    assert_false(reserve_is_there(k));
    assert_int_equal(space_of(k).level, ENGINE_SPACE_FULL);
    engine_kit_job(k, COMMAND_JOB_DELETE, id);
}

struct heard {
    uv_mutex_t lock;
    unsigned calls;
    bool low;
};

static void hear(void *data, bool low)
{
    struct heard *h = data;
    uv_mutex_lock(&h->lock);
    h->calls++;
    h->low = low;
    uv_mutex_unlock(&h->lock);
}

static void subscriber__hears_of_it_now_and_at_each_change(void **state)
{
    struct engine_kit *k = *state;
    struct heard h = {0};
    CHECK(uv_mutex_init(&h.lock) == 0);
    engine_on_space(k->engine, hear, &h);
    assert_int_equal(h.calls, 1);
    assert_false(h.low);
    set_free(k, MIN_BYTES - MIB, ENGINE_SPACE_LOW);
    uv_mutex_lock(&h.lock);
    assert_int_equal(h.calls, 2);
    assert_true(h.low);
    uv_mutex_unlock(&h.lock);
    engine_on_space(k->engine, NULL, NULL);
    set_free(k, 2 * (uint64_t)MIN_BYTES, ENGINE_SPACE_FINE);
    assert_int_equal(h.calls, 2);
    uv_mutex_destroy(&h.lock);
}

/* The space of deleted jobs is released: by the state, and by the snapshots that share its files.
 */
static void deleted_jobs__are_not_kept_by_snapshots(void **state)
{
    struct engine_kit *k = *state;
    enum { MANY = 300, BYTES = 100000 };
    struct engine_status s;
    char *text = malloc(BYTES);
    struct rng rng = rng_from(1);
    assert_non_null(text);
    text[0] = text[BYTES - 1] = '"';
    for (size_t i = 1; i < BYTES - 1; i++) {
        text[i] = (char)('a' + rng_below(&rng, 26));
    }
    for (unsigned i = 0; i < MANY; i++) {
        struct command_new job = engine_kit_new_job("q");
        job.job.payload = str_from(text, BYTES);
        (void)engine_kit_put(k, job);
    }
    do {
        engine_status(k->engine, &s);
    } while (s.node.snapshot_bytes < MANY * (uint64_t)BYTES / 4);
    assert_int_equal(try_clear(k), ERR_OK);
    set_free(k, MIN_BYTES - MIB, ENGINE_SPACE_LOW);
    uint64_t many = s.node.snapshot_bytes;
    while (s.node.snapshot_bytes > many / 4) {
        engine_status(k->engine, &s);
    }
    free(text);
}

/* --- the log in memory --- */

static void configure_log(struct engine_config *config)
{
    config->node.snapshot_log_bytes = 64 << 10;
    config->node.log_memory_max = 256 << 10;
}

static void log_in_memory__is_bounded_while_snapshots_fail(void **state)
{
    struct engine_kit *k = engine_kit_open(configure_log);
    struct err err = {.code = ERR_OK};
    struct engine_status s;
    (void)state;
    log_configure(LOG_LEVEL_COUNT, LOG_TEXT); /* hide the log messages of failures */
    fault_arm(FAULT_KV_CHECKPOINT, 1);
    for (unsigned i = 0; i < 100000 && err.code == ERR_OK; i++) {
        (void)try_enqueue(k, &err);
    }
    assert_int_equal(err.code, ERR_NO_SPACE);
    do { /* the first snapshot may still be on its way */
        engine_status(k->engine, &s);
        assert_true(s.node.log_bytes_memory <= s.node.log_memory_max + ENTRY_BYTES);
    } while (s.node.snapshot_failures == 0);
    assert_non_null(strstr(s.node.snapshot_error, "checkpoint"));
    fault_reset();
    do { /* the next snapshot succeeds, and enqueuing works again */
        (void)try_enqueue(k, &err);
    } while (err.code == ERR_NO_SPACE);
    assert_int_equal(err.code, ERR_OK);
    engine_status(k->engine, &s);
    assert_true(s.node.snapshot_failures == 0);
    engine_kit_close(k);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

TEST_GROUP(engine_space, cmocka_unit_test(level__follows_from_what_was_seen),
           cmocka_unit_test(compactions__begin_when_they_fit),
           cmocka_unit_test(commands__are_refused_by_what_they_do),
           TEST(low_space__refuses_new_jobs_only), TEST(reserve__is_given_up_and_made_again),
           TEST(start__gives_the_reserve_up_when_it_has_no_space),
           TEST(subscriber__hears_of_it_now_and_at_each_change),
           TEST(deleted_jobs__are_not_kept_by_snapshots),
           cmocka_unit_test(log_in_memory__is_bounded_while_snapshots_fail));
