/*
 * The engine as a whole: opening, durability, stopping under load.
 */
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "lib/engine_kit.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "log/log.h"
#include "os/os_clock.h"

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

/* Digest and hash of the state, read on the core thread. */
struct look {
    struct engine_call call;
    uint64_t digest, hash;
    uv_sem_t done;
};

static void run_look(struct engine_call *call, struct machine *m)
{
    struct look *l = CONTAINER_OF(call, struct look, call);
    l->digest = machine_digest(m);
    l->hash = machine_state_hash(m);
}

static void look_done(struct engine_call *call)
{
    uv_sem_post(&CONTAINER_OF(call, struct look, call)->done);
}

static struct look look_at(struct engine_kit *k)
{
    struct look l = {.call = {.run = run_look, .done = look_done, .reply_to = &k->box}};
    CHECK(uv_sem_init(&l.done, 0) == 0);
    bool runs = engine_run(k->engine, &l.call);
    assert_true(runs);
    uv_sem_wait(&l.done);
    uv_sem_destroy(&l.done);
    return l;
}

static void expect_same_state(const struct look *before, const struct look *after)
{
    assert_true(before->hash == after->hash);
    assert_true(before->digest == after->digest);
}

/* Create jobs in several states, with several kinds of commands. */
static void make_some_state(struct engine_kit *k, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct command_new job = engine_kit_new_job("q");
        job.job.unique_key = i % 3 == 0 ? STR("only one") : STR_EMPTY;
        job.job.scheduled_at =
            i % 5 == 0 ? wall_add_ms(os_clock_wall(), 3600000) : (struct wall){0};
        struct id id = engine_kit_put(k, job);
        if (i % 4 == 0 && !id_is_none(engine_kit_claim(k, "q")) && i % 8 == 0) {
            engine_kit_job(k, COMMAND_JOB_CANCEL, id);
        }
    }
}

/* Opening */

static void engine__refuses_a_folder_that_it_cannot_use(void **state)
{
    struct tmpdir dir = tmpdir_new();
    struct os_file_path file = tmpdir_path(&dir, "file");
    char long_path[OS_FILE_PATH_MAX + 1];
    const struct {
        const char *name;
        const char *data_dir;
    } rows[] = {
        {"a file", file.z},
        {"a path that is too long", long_path},
    };
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    tmpdir_write(file.z, STR("not a folder"));
    memset(long_path, 'x', OS_FILE_PATH_MAX);
    long_path[OS_FILE_PATH_MAX] = '\0';
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct engine_config config = engine_config_default();
        struct engine *e = NULL;
        struct err err = {0};
        config.data_dir = rows[i].data_dir;
        assert_int_not_equal(engine_open(&config, &e, &err), ERR_OK);
        assert_true(strlen(err.msg) > 0);
        assert_null(e);
    }
    tmpdir_remove(&dir);
}

static void engine__refuses_a_folder_that_another_one_uses(void **state)
{
    struct engine_kit *k = *state;
    struct engine *second = NULL;
    struct err err = {0};
    assert_int_not_equal(engine_open(&k->config, &second, &err), ERR_OK);
    assert_true(strlen(err.msg) > 0);
    (void)engine_kit_enqueue(k, "q"); /* the first engine is not affected */
}

/* Durability */

static void engine__goes_on_after_a_restart(void **state)
{
    struct engine_kit *k = *state;
    struct id waiting = engine_kit_enqueue(k, "other");
    make_some_state(k, 40);
    struct look before = look_at(k);
    engine_kit_stop_engine(k);
    engine_kit_start_engine(k);
    struct look after = look_at(k);
    expect_same_state(&before, &after);
    assert_true(id_eq(engine_kit_claim(k, "other"), waiting));
}

static void engine__removes_what_a_crash_in_a_restore_left(void **state)
{
    struct engine_kit *k = *state;
    static const char *const names[] = {"state.old", "state.staging"};
    struct id id = engine_kit_enqueue(k, "mail");
    engine_kit_stop_engine(k);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct os_file_path folder = tmpdir_path(&k->dir, names[i]);
        struct os_file_path file = os_file_join(folder.z, "000007.sst");
        struct err err;
        assert_int_equal(os_file_make_dirs(folder.z, &err), ERR_OK);
        tmpdir_write(file.z, STR("a table"));
    }
    engine_kit_start_engine(k);
    (void)engine_kit_enqueue(k, "mail"); /* the engine has started when this has a result */
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_int_equal(tmpdir_count(k->config.data_dir, names[i]), 0);
    }
    assert_int_equal(engine_kit_state(k, id), JOB_PENDING);
}

static void engine__the_log_alone_gives_the_same_state(void **state)
{
    struct engine_kit *k = *state;
    struct err err;
    make_some_state(k, 40);
    struct look before = look_at(k);
    engine_kit_stop_engine(k);
    assert_int_equal(os_file_remove_tree(tmpdir_path(&k->dir, "state").z, &err), ERR_OK);
    engine_kit_start_engine(k);
    struct look after = look_at(k);
    expect_same_state(&before, &after);
}

static void small_snapshots(struct engine_config *config)
{
    config->node.segment_bytes = 16 << 10;
    config->node.snapshot_log_bytes = 8 << 10;
}

static int setup_small_snapshots(void **state)
{
    *state = engine_kit_open(small_snapshots);
    return 0;
}

/* By then the beginning of the log has been removed. The state is restored from the snapshot and
 * the entries after it. */
static void engine__a_lost_state_comes_back_from_the_snapshot(void **state)
{
    struct engine_kit *k = *state;
    struct err err;
    while (engine_kit_status(k).node.snapshot_count < 2) {
        make_some_state(k, 40);
    }
    struct look before = look_at(k);
    engine_kit_stop_engine(k);
    assert_int_equal(os_file_remove_tree(tmpdir_path(&k->dir, "state").z, &err), ERR_OK);
    engine_kit_start_engine(k);
    assert_true(engine_kit_status(k).node.snapshot_index > 1);
    struct look after = look_at(k);
    expect_same_state(&before, &after);
}

/* Stopping */

enum { LOAD_THREADS = 4, LOAD_OPS = 300 };

struct load {
    struct engine_kit *kit;
    uv_thread_t thread;
    struct engine_kit_op ops[LOAD_OPS];
};

/* Every third command is a claim that parks. */
static void run_load(void *data)
{
    struct load *l = data;
    struct str nowhere = STR("nowhere");
    struct command_new job = engine_kit_new_job("q");
    struct command enqueue = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
    struct command claim = engine_kit_claim_command(&nowhere, 1);
    for (size_t i = 0; i < LOAD_OPS; i++) {
        engine_kit_op_init(&l->ops[i], l->kit);
        engine_kit_start(&l->ops[i], i % 3 == 0 ? &claim : &enqueue, i % 3 == 0 ? 600000 : 0);
    }
}

static uint64_t count_made(struct load *l)
{
    uint64_t made = 0;
    for (size_t i = 0; i < LOAD_OPS; i++) {
        struct engine_kit_op *o = &l->ops[i];
        engine_kit_wait(o);
        if (o->op.type == COMMAND_ENQUEUE && o->op.err.code == ERR_OK) {
            made++;
        } else if (o->op.err.code == ERR_OK) {
            assert_int_equal(o->result.count, 0);
        } else {
            assert_int_equal(o->op.err.code, ERR_STOPPING);
        }
    }
    return made;
}

/* The engine stops in the middle of the load. Jobs whose enqueue succeeded exist, all others do
 * not. */
static void engine__a_stop_answers_everything_once(void **state)
{
    struct engine_kit *k = *state;
    struct load *loads = calloc(LOAD_THREADS, sizeof *loads);
    uint64_t made = 0;
    assert_non_null(loads);
    for (size_t i = 0; i < LOAD_THREADS; i++) {
        loads[i].kit = k;
        CHECK(uv_thread_create(&loads[i].thread, run_load, &loads[i]) == 0);
    }
    for (size_t i = 0; i < LOAD_THREADS; i++) {
        CHECK(uv_thread_join(&loads[i].thread) == 0);
    }
    engine_kit_stop_engine(k);
    for (size_t i = 0; i < LOAD_THREADS; i++) {
        made += count_made(&loads[i]);
    }
    engine_kit_start_engine(k);
    assert_int_equal(engine_kit_status(k).live_jobs, made);
    for (size_t i = 0; i < LOAD_THREADS; i++) {
        for (size_t n = 0; n < LOAD_OPS; n++) {
            assert_int_equal(loads[i].ops[n].done_count, 1);
            engine_kit_op_deinit(&loads[i].ops[n]);
        }
    }
    free(loads);
}

TEST_GROUP(engine, cmocka_unit_test(engine__refuses_a_folder_that_it_cannot_use),
           cmocka_unit_test_setup_teardown(engine__refuses_a_folder_that_another_one_uses, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(engine__goes_on_after_a_restart, setup, teardown),
           cmocka_unit_test_setup_teardown(engine__removes_what_a_crash_in_a_restore_left, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(engine__the_log_alone_gives_the_same_state, setup,
                                           teardown),
           cmocka_unit_test_setup_teardown(engine__a_lost_state_comes_back_from_the_snapshot,
                                           setup_small_snapshots, teardown),
           cmocka_unit_test_setup_teardown(engine__a_stop_answers_everything_once, setup,
                                           teardown));
