/*
 * Purge: removal of jobs that ended long ago (http-api.md 5.2, 6.2).
 */
#include "base/limits.h"
#include "lib/machine_kit.h"

enum { RETENTION_MS = 60000 };

static const struct result *purge_once(struct kit *k)
{
    struct command c = {.type = COMMAND_PURGE, .purge = {.retention_ms = RETENTION_MS}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    return r;
}

static uint32_t purge(struct kit *k)
{
    uint32_t removed = 0;
    bool more = true;
    while (more) {
        const struct result *r = purge_once(k);
        removed += r->affected;
        more = r->more;
    }
    return removed;
}

static void purge__removes_terminal_jobs_only(void **state)
{
    struct kit *k = *state;
    struct id ids[JOB_STATE_COUNT];
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        ids[s] = kit_job_in(k, (enum job_state)s);
    }
    kit_pass_ms(k, RETENTION_MS + 1);
    assert_int_equal(purge(k), 3);
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        bool over = job_state_is_terminal((enum job_state)s);
        assert_int_equal(kit_has(k, ids[s]), !over);
    }
    kit_expect_events(k, ids[JOB_COMPLETED], "enqueued started completed"); /* without an event */
    kit_expect_errors(k, ids[JOB_DEAD], "");
}

/* The retention period begins at the end of the job, not at its creation. */
static void purge__counts_from_the_end_of_the_job(void **state)
{
    struct kit *k = *state;
    static const struct {
        const char *name;
        enum job_state state;
    } rows[] = {
        {"completed_at", JOB_COMPLETED}, {"failed_at", JOB_DEAD}, {"cancelled_at", JOB_CANCELLED}};
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const char *queue = kit_name(k);
        struct job t = kit_template(queue, "{}");
        ROW(rows[i].name);
        t.max_retries = 1;
        struct id id = kit_enqueue_job(k, &t);
        kit_pass_ms(k, 2 * RETENTION_MS);
        if (rows[i].state != JOB_CANCELLED) {
            (void)kit_claim(k, queue);
        }
        if (rows[i].state == JOB_COMPLETED) {
            (void)kit_ack(k, id);
        } else if (rows[i].state == JOB_DEAD) {
            (void)kit_fail(k, id, "x");
        } else {
            (void)kit_do(k, COMMAND_JOB_CANCEL, id);
        }
        kit_pass_ms(k, RETENTION_MS);
        (void)purge(k);
        assert_true(kit_has(k, id)); /* the job must be strictly older */
        kit_pass_ms(k, 1);
        (void)purge(k);
        assert_false(kit_has(k, id));
        kit_expect_count(k, queue, rows[i].state, 0);
    }
}

static void purge__leaves_jobs_that_came_back(void **state)
{
    struct kit *k = *state;
    struct id id = kit_job_in(k, JOB_COMPLETED);
    (void)kit_do(k, COMMAND_JOB_RETRY, id);
    kit_pass_ms(k, RETENTION_MS + 1);
    (void)purge(k);
    assert_true(kit_has(k, id));
    /* Also if it is revived in the same entry. */
    struct id dead = kit_job_in(k, JOB_DEAD);
    kit_pass_ms(k, RETENTION_MS + 1);
    struct command both[] = {
        kit_action(COMMAND_JOB_RETRY, &dead),
        {.type = COMMAND_PURGE, .purge = {.retention_ms = RETENTION_MS}},
    };
    (void)kit_apply_all(k, both, 2);
    kit_expect_state(k, dead, JOB_PENDING);
}

static void purge__goes_in_steps_from_where_it_stopped(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    enum { JOBS = LIMIT_TICK_JOBS + 50, CHUNK = 500 };
    struct command_new *news = calloc(JOBS, sizeof *news);
    struct id *ids = calloc(JOBS, sizeof *ids);
    kit_pass_ms(k, 2 * RETENTION_MS);
    (void)purge(k); /* jobs of other tests */
    for (unsigned i = 0; i < JOBS; i++) {
        news[i].job = kit_template(queue, "{}");
    }
    struct command c = kit_enqueue_command(news, JOBS);
    const struct result *r = kit_apply(k, &c);
    for (unsigned i = 0; i < JOBS; i++) {
        ids[i] = r->items[i].id;
    }
    for (unsigned at = 0; at < JOBS; at += CHUNK) {
        struct command cancel = {.type = COMMAND_JOBS,
                                 .jobs = {.action = COMMAND_JOB_CANCEL,
                                          .lenient = true,
                                          .ids = ids + at,
                                          .count = at + CHUNK < JOBS ? CHUNK : JOBS - at}};
        (void)kit_apply(k, &cancel);
    }
    kit_pass_ms(k, RETENTION_MS + 1);
    r = purge_once(k);
    assert_int_equal(r->affected, LIMIT_TICK_JOBS);
    assert_true(r->more);
    kit_reopen(k); /* the position is stored on disk */
    r = purge_once(k);
    assert_int_equal(r->affected, 50);
    assert_false(r->more);
    kit_expect_count(k, queue, JOB_CANCELLED, 0);
    free(news);
    free(ids);
}

static void purge__removes_finished_batches(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = {.job = kit_template(queue, "{}")};
    struct command c = kit_enqueue_command(&new, 1);
    struct buf record;
    c.enqueue.has_batch = true;
    buf_init(&record, 1 << 16);
    struct id finished = kit_apply(k, &c)->id;
    struct id running = kit_apply(k, &c)->id;
    (void)kit_ack(k, kit_claim(k, queue));
    kit_pass_ms(k, RETENTION_MS + 1);
    (void)purge(k);
    struct store *s = machine_store(k->machine);
    assert_false(store_get(s, STORE_KIND_BATCH, str_from(finished.b, ID_BYTES), &record));
    assert_true(store_get(s, STORE_KIND_BATCH, str_from(running.b, ID_BYTES), &record));
    buf_deinit(&record);
}

/* Batches are purged in steps, no matter how many there are, and how many unfinished ones are
 * before them. */
static void purge__removes_batches_in_steps(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command open = {.type = COMMAND_BATCH_OPEN};
    struct command_new new = {.job = kit_template(queue, "{}")};
    struct command c = kit_enqueue_command(&new, 1);
    struct buf record;
    c.enqueue.has_batch = true;
    buf_init(&record, 1 << 16);
    for (unsigned i = 0; i <= LIMIT_STEP_DOCS; i++) {
        assert_int_equal(kit_apply(k, &open)->code, ERR_OK);
    }
    struct id finished = kit_apply(k, &c)->id;
    (void)kit_ack(k, kit_claim(k, queue));
    kit_pass_ms(k, RETENTION_MS + 1);
    assert_true(purge_once(k)->more);
    (void)purge(k);
    assert_false(store_get(machine_store(k->machine), STORE_KIND_BATCH,
                           str_from(finished.b, ID_BYTES), &record));
    buf_deinit(&record);
}

static void purge__with_a_retention_beyond_all_time_does_nothing(void **state)
{
    struct kit *k = *state;
    struct id id = kit_job_in(k, JOB_COMPLETED);
    kit_pass_ms(k, 2 * RETENTION_MS);
    struct command c = {.type = COMMAND_PURGE, .purge = {.retention_ms = INT64_MAX}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->affected, 0);
    assert_false(r->more);
    assert_true(kit_has(k, id));
}

TEST_GROUP_FIXTURE(apply_purge, kit_setup, kit_teardown,
                   cmocka_unit_test(purge__removes_terminal_jobs_only),
                   cmocka_unit_test(purge__counts_from_the_end_of_the_job),
                   cmocka_unit_test(purge__leaves_jobs_that_came_back),
                   cmocka_unit_test(purge__goes_in_steps_from_where_it_stopped),
                   cmocka_unit_test(purge__removes_finished_batches),
                   cmocka_unit_test(purge__removes_batches_in_steps),
                   cmocka_unit_test(purge__with_a_retention_beyond_all_time_does_nothing));
