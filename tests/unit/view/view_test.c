/*
 * The view as a copy: it follows changes, continues after a stop, and repairs itself.
 */
#include "view/view.h"

#include <fcntl.h>
#include <string.h>

#include "base/check.h"
#include "engine/engine_int.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "os/os_file.h"
#include "view/view_int.h"
#include "view_kit.h"

static int setup(void **state)
{
    *state = view_kit_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    view_kit_close(*state);
    return 0;
}

static struct id put(struct view_kit *k, const char *queue)
{
    struct command_new job = engine_kit_new_job(queue);
    job.job.tags = STR("{\"env\":\"test\"}");
    job.job.retry_base_ms = 3600 * 1000; /* nothing changes by itself during a test */
    job.job.retry_max_ms = 3600 * 1000;
    return engine_kit_put(k->engine, job);
}

static void put_many(struct view_kit *k, unsigned count)
{
    enum { CHUNK = 25 };
    static struct command_new jobs[CHUNK];
    while (count > 0) {
        unsigned n = count < CHUNK ? count : CHUNK;
        for (unsigned i = 0; i < n; i++) {
            jobs[i] = engine_kit_new_job("many");
        }
        struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = n}};
        (void)engine_kit_do(k->engine, &c);
        count -= n;
    }
}

static uint64_t count_state(struct view_kit *k, enum job_state state)
{
    struct view_filter f = {.states = 1U << state};
    uint64_t n = view_kit_count(k, &f);
    view_kit_forget(k);
    return n;
}

static void shows_what_was_answered_before_the_question(void **state)
{
    struct view_kit *k = *state;
    for (unsigned i = 0; i < 50; i++) {
        (void)put(k, "q");
        assert_int_equal(count_state(k, JOB_PENDING), i + 1);
    }
    view_kit_check(k);
}

static void follows_every_change_of_a_job(void **state)
{
    struct view_kit *k = *state;
    struct id a = put(k, "q");
    struct id b = put(k, "q");
    view_kit_check(k);
    assert_true(id_eq(engine_kit_claim(k->engine, "q"), a));
    view_kit_check(k);
    engine_kit_fail(k->engine, a);
    view_kit_check(k);
    assert_true(id_eq(engine_kit_claim(k->engine, "q"), b));
    engine_kit_ack(k->engine, b);
    view_kit_check(k);
    engine_kit_job(k->engine, COMMAND_JOB_RETRY, b);
    view_kit_check(k);
    struct command move = {
        .type = COMMAND_JOBS,
        .jobs = {.action = COMMAND_JOB_MOVE, .ids = &b, .count = 1, .queue = STR("elsewhere")}};
    (void)engine_kit_do(k->engine, &move);
    view_kit_check(k);
    engine_kit_job(k->engine, COMMAND_JOB_DELETE, b);
    view_kit_check(k);
    engine_kit_job(k->engine, COMMAND_JOB_DELETE, a);
    view_kit_check(k);
    assert_int_equal(count_state(k, JOB_PENDING), 0);
}

static void patient(struct view_config *config)
{
    config->linger_ms = 3600 * 1000;
}

static int setup_patient(void **state)
{
    *state = view_kit_open(patient);
    return 0;
}

static void compares_everything_when_too_much_has_changed(void **state)
{
    struct view_kit *k = *state;
    struct id id = put(k, "q");
    assert_int_equal(count_state(k, JOB_PENDING), 1);
    engine_kit_job(k->engine, COMMAND_JOB_CANCEL, id);
    put_many(k, 2 * VIEW_KIT_FEED_IDS); /* without a question, nothing is written */
    assert_int_equal(count_state(k, JOB_PENDING), 2 * VIEW_KIT_FEED_IDS);
    assert_int_equal(count_state(k, JOB_CANCELLED), 1);
    view_kit_check(k);
}

static void usage_goes_with_its_job(void **state)
{
    struct view_kit *k = *state;
    struct id id = put(k, "q");
    (void)engine_kit_claim(k->engine, "q");
    struct command_ack_item item = {
        .id = id, .usage = {.input = 7, .output = 3, .cost_nusd = 12, .model = STR("m")}};
    struct command ack = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
    (void)engine_kit_do(k->engine, &ack);
    view_kit_check(k);
    engine_kit_job(k->engine, COMMAND_JOB_DELETE, id);
    view_kit_check(k);
}

/* Documents of more bytes than are held at once, between documents of the other family. */
static void large_documents_go_in_several_batches(void **state)
{
    enum { LARGE = 24 };
    struct view_kit *k = *state;
    char *text = malloc(LIMIT_RESULT_BYTES);
    assert_non_null(text);
    memset(text, '1', LIMIT_RESULT_BYTES);
    for (unsigned i = 0; i < LARGE; i++) {
        struct command_ack_item item = {
            .id = put(k, "q"), .has_result = true, .result = str_from(text, LIMIT_RESULT_BYTES)};
        struct command ack = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
        (void)put(k, "another");
        (void)engine_kit_claim(k->engine, "q");
        (void)engine_kit_do(k->engine, &ack);
    }
    free(text);
    assert_int_equal(count_state(k, JOB_COMPLETED), LARGE);
    assert_int_equal(count_state(k, JOB_PENDING), LARGE);
    view_kit_check(k);
}

/* Starts */

static void continues_after_a_clean_stop(void **state)
{
    struct view_kit *k = *state;
    put_many(k, VIEW_KIT_FEED_IDS - 100);
    view_kit_stop_view(k); /* at once: the changes in the feed are written first */
    view_kit_start_view(k);
    view_kit_check(k);
    assert_false(view_kit_status(k).rebuilt);
    assert_int_equal(view_kit_status(k).written, 0);
}

static void continues_with_the_engine_started_anew(void **state)
{
    struct view_kit *k = *state;
    put_many(k, 300);
    view_kit_stop_view(k);
    engine_kit_stop_engine(k->engine);
    engine_kit_start_engine(k->engine);
    view_kit_start_view(k);
    view_kit_check(k);
    assert_false(view_kit_status(k).rebuilt);
}

static void finds_what_changed_while_it_was_closed(void **state)
{
    struct view_kit *k = *state;
    struct id stays = put(k, "q");
    struct id goes = put(k, "q");
    struct id ends = put(k, "r");
    put_many(k, 2500);
    view_kit_check(k);
    view_kit_stop_view(k);
    engine_kit_job(k->engine, COMMAND_JOB_DELETE, goes);
    (void)engine_kit_claim(k->engine, "r");
    engine_kit_ack(k->engine, ends);
    put_many(k, 1500);
    view_kit_start_view(k);
    view_kit_check(k);
    assert_false(view_kit_status(k).rebuilt);
    assert_int_equal(count_state(k, JOB_COMPLETED), 1);
    assert_int_equal(engine_kit_state(k->engine, stays), JOB_PENDING);
}

static void catches_up_from_what_a_crash_left(void **state)
{
    struct view_kit *k = *state;
    struct id id = put(k, "q");
    put_many(k, 500);
    view_kit_check(k);
    view_kit_keep_image(k);
    engine_kit_job(k->engine, COMMAND_JOB_DELETE, id);
    put_many(k, 500);
    view_kit_check(k);
    view_kit_stop_view(k);
    view_kit_use_image(k);
    view_kit_start_view(k);
    view_kit_check(k);
}

static void run_count_all(struct view_kit *k, struct view_reader *r, void *data)
{
    struct view_filter all = {0};
    (void)(view_search_count(r, &all, k->arena, data, &k->err) == ERR_OK);
}

/* The file contains 500 of 1,200 jobs, and another connection keeps the writer from adding more. */
static void says_how_late_it_is_while_it_catches_up(void **state)
{
    struct view_kit *k = *state;
    int64_t patience_ms = k->config.wait_ms;
    sqlite3 *other = NULL;
    struct err err;
    uint64_t found = 0;
    put_many(k, 500);
    view_kit_check(k);
    view_kit_keep_image(k);
    put_many(k, 700);
    view_kit_stop_view(k);
    view_kit_use_image(k);
    struct os_file_path path = view_kit_path(k);
    assert_int_equal(view_db__open(path.z, VIEW_DB_WRITE, &other, &err), ERR_OK);
    assert_int_equal(view_sql__exec(other, "BEGIN IMMEDIATE", &err), ERR_OK);
    k->config.wait_ms = 1;
    view_kit_start_view(k);
    assert_true(view_kit_status(k).lag >= 700);
    do {
        view_kit_ask(k, false, run_count_all, &found);
    } while (k->err.code == ERR_UNHEALTHY); /* the file has not been checked yet */
    assert_int_equal(k->err.code, ERR_OK);
    assert_int_equal(found, 500);
    assert_true(k->lag >= 700);
    assert_true(view_kit_status(k).lag >= 700);
    assert_int_equal(view_sql__exec(other, "ROLLBACK", &err), ERR_OK);
    view_db__close(other);
    view_kit_stop_view(k);
    k->config.wait_ms = patience_ms;
    view_kit_start_view(k);
    view_kit_check(k);
    assert_int_equal(view_kit_status(k).lag, 0);
}

/* Nothing is flushed while the file is in use, so it may contain anything after a power failure. */
static void is_made_anew_when_the_machine_stopped(void **state)
{
    struct view_kit *k = *state;
    struct os_file_path mark = os_file_join(k->config.dir, "view.db-boot");
    struct os_file_info info;
    struct err err;
    put_many(k, 200);
    view_kit_check(k);
    assert_int_equal(os_file_stat(mark.z, &info, &err), ERR_OK); /* in use */
    view_kit_stop_view(k);
    assert_int_equal(os_file_stat(mark.z, &info, &err), ERR_NOT_FOUND);
    assert_int_equal(os_file_replace(mark.z, STR("another boot"), &err), ERR_OK);
    view_kit_start_view(k);
    view_kit_check(k);
    assert_true(view_kit_status(k).rebuilt);
    view_kit_stop_view(k);
    view_kit_start_view(k);
    view_kit_check(k);
    assert_false(view_kit_status(k).rebuilt);
}

static void is_made_anew_when_it_is_of_another_history(void **state)
{
    struct view_kit *k = *state;
    put_many(k, 200);
    view_kit_check(k);
    view_kit_stop_view(k);
    engine_kit_stop_engine(k->engine);
    struct os_file_path dirs[] = {os_file_join(k->config.dir, "state"),
                                  os_file_join(k->config.dir, "raft")};
    os_file_discard(dirs[0].z);
    os_file_discard(dirs[1].z);
    engine_kit_start_engine(k->engine);
    (void)put(k, "other");
    view_kit_start_view(k);
    view_kit_check(k);
    assert_true(view_kit_status(k).rebuilt);
    struct view_filter all = {0};
    assert_int_equal(view_kit_count(k, &all), 1);
}

static void exchange_state(struct engine_call *call, struct machine *m)
{
    struct view_kit *k = call->data;
    (void)m;
    engine_feed__replaced(k->engine->engine);
}

static void exchanged(struct engine_call *call)
{
    struct view_kit *k = call->data;
    uv_sem_post(&k->done);
}

static void is_made_anew_when_the_state_was_exchanged(void **state)
{
    struct view_kit *k = *state;
    struct engine_call call = {
        .run = exchange_state, .done = exchanged, .reply_to = &k->engine->box, .data = k};
    put_many(k, 100);
    view_kit_stop_view(k);
    view_kit_start_view(k);
    view_kit_check(k);
    assert_false(view_kit_status(k).rebuilt);
    assert_true(engine_run(k->engine->engine, &call));
    uv_sem_wait(&k->done);
    put_many(k, 1); /* a change that the next question waits for */
    view_kit_check(k);
    assert_true(view_kit_status(k).rebuilt);
}

static void small_log(struct view_config *config)
{
    config->log_bytes = 0;
    config->linger_ms = 0;
}

static void the_log_ends_although_somebody_always_asks(void **state)
{
    struct view_kit *k = view_kit_open(small_log);
    struct os_file_path log = os_file_join(k->config.dir, "view.db-wal");
    struct os_file_info info = {0};
    struct err err;
    uint64_t before = 0;
    bool shrank = false;
    (void)state;
    for (unsigned i = 0; i < 100 && !shrank; i++) { /* far below SQLite's own limit */
        put_many(k, 1);
        (void)count_state(k, JOB_PENDING);
        before = info.size;
        enum err_code code = os_file_stat(log.z, &info, &err);
        assert_int_equal(code, ERR_OK);
        shrank = info.size < before;
    }
    assert_true(shrank);
    view_kit_check(k);
    view_kit_close(k);
}

/* Unusable files */

static void write_over(const struct view_kit *k, const char *bytes, size_t len, uint64_t offset)
{
    struct os_file_path path = view_kit_path(k);
    struct err err;
    int fd = -1;
    enum err_code code = os_file_open(path.z, O_WRONLY | O_CREAT, &fd, &err);
    CHECK(code == ERR_OK);
    struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
    code = os_file_write_at(fd, &iov, 1, offset, &err);
    CHECK(code == ERR_OK);
    os_file_close(fd);
}

static void spoil_head(struct view_kit *k)
{
    static const char garbage[4096] = "this is not a database";
    write_over(k, garbage, sizeof garbage, 0);
}

static void spoil_middle(struct view_kit *k)
{
    static char garbage[64 << 10];
    memset(garbage, 0x5a, sizeof garbage);
    write_over(k, garbage, sizeof garbage, 4096);
}

static void empty_file(struct view_kit *k)
{
    struct os_file_path path = view_kit_path(k);
    struct err err;
    enum err_code code = os_file_replace(path.z, STR_EMPTY, &err);
    CHECK(code == ERR_OK);
}

static void remove_file(struct view_kit *k)
{
    struct os_file_path path = view_kit_path(k);
    os_file_discard(path.z);
}

static void change_schema(struct view_kit *k, const char *sql)
{
    sqlite3 *db = NULL;
    struct err err;
    struct os_file_path path = view_kit_path(k);
    enum err_code code = view_db__open(path.z, VIEW_DB_WRITE, &db, &err);
    CHECK(code == ERR_OK);
    code = view_sql__exec(db, sql, &err);
    CHECK(code == ERR_OK);
    view_db__close(db);
}

static void make_older(struct view_kit *k)
{
    change_schema(k, "PRAGMA user_version = 0");
}

static void lose_a_table(struct view_kit *k)
{
    change_schema(k, "DROP TABLE counts");
}

static void lose_a_column(struct view_kit *k)
{
    change_schema(k, "ALTER TABLE usage RENAME COLUMN model TO modal");
}

static void a_file_of_no_use_is_made_anew_at_start(void **state)
{
    static const struct {
        const char *name;
        void (*spoil)(struct view_kit *k);
    } rows[] = {
        {"removed", remove_file},
        {"empty", empty_file},
        {"not a database", spoil_head},
        {"damaged inside", spoil_middle},
        {"an older version", make_older},
        {"a table is missing", lose_a_table},
        {"a column is missing", lose_a_column},
    };
    struct view_kit *k = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        put_many(k, 300);
        view_kit_check(k);
        view_kit_stop_view(k);
        rows[i].spoil(k);
        put_many(k, 20); /* so that the file must be read */
        view_kit_start_view(k);
        view_kit_check(k);
        assert_true(view_kit_status(k).rebuilt);
        assert_true(view_kit_status(k).rebuild_ok);
    }
}

static void run_part_search(struct view_kit *k, struct view_reader *r, void *data)
{
    struct view_filter f = {.payload_contains = STR("no such text")};
    struct view_search s = {.filter = &f, .limit = 10};
    (void)data;
    (void)(view_search_run(r, &s, k->arena, &k->err) == ERR_OK);
}

static void run_nothing(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)k;
    (void)r;
    (void)data;
}

static void damage_that_a_question_meets_is_repaired(void **state)
{
    struct view_kit *k = *state;
    put_many(k, 5000);
    view_kit_check(k);
    view_kit_stop_view(k); /* moves the log into the file */
    view_kit_start_view(k);
    view_kit_ask(k, false, run_nothing, NULL); /* it has been checked and is good */
    spoil_middle(k);
    view_kit_ask(k, false, run_part_search, NULL);
    assert_int_equal(k->err.code, ERR_SEARCH);
    put_many(k, 1); /* the next question waits for it, and so for the rebuilt file */
    view_kit_check(k);
}

static void is_made_anew_on_request_while_it_serves(void **state)
{
    struct view_kit *k = *state;
    put_many(k, 2000);
    assert_int_equal(view_kit_rebuild(k), ERR_OK);
    view_kit_check(k);
    assert_int_equal(count_state(k, JOB_PENDING), 2000);
    struct view_status s = view_kit_status(k);
    assert_true(s.rebuilt);
    assert_true(s.rebuild_ok);
    assert_false(s.rebuilding);
    put_many(k, 10);
    view_kit_check(k);
}

/* Questions that are refused or cut short */

static void no_time(struct view_config *config)
{
    config->ask_ms = 0;
}

static void a_search_that_takes_too_long_is_cut_short(void **state)
{
    struct view_kit *k = view_kit_open(no_time);
    (void)state;
    put_many(k, 5000);
    view_kit_ask(k, false, run_part_search, NULL);
    assert_int_equal(k->err.code, ERR_SEARCH);
    assert_string_equal(k->err.msg, "search took too long");
    view_kit_close(k);
}

static void no_waiting(struct view_config *config)
{
    config->wait_ms = 0;
    config->linger_ms = 60 * 1000;
}

static void an_answer_that_could_not_wait_says_what_it_missed(void **state)
{
    struct view_kit *k = view_kit_open(no_waiting);
    sqlite3 *db = NULL;
    struct err err;
    (void)state;
    do { /* until there is a file */
        view_kit_ask(k, false, run_nothing, NULL);
    } while (k->err.code == ERR_UNHEALTHY);
    struct os_file_path path = view_kit_path(k);
    enum err_code code = view_db__open(path.z, VIEW_DB_WRITE, &db, &err);
    assert_int_equal(code, ERR_OK);
    code = view_sql__exec(db, "BEGIN IMMEDIATE", &err); /* the writer has to wait */
    assert_int_equal(code, ERR_OK);
    put_many(k, 100);
    view_kit_ask(k, false, run_nothing, NULL);
    assert_int_equal(k->err.code, ERR_OK);
    assert_int_equal(k->lag, 100);
    code = view_sql__exec(db, "COMMIT", &err);
    assert_int_equal(code, ERR_OK);
    view_db__close(db);
    view_kit_close(k);
}

static void few_asks(struct view_config *config)
{
    config->readers = 1;
    config->asks_max = 1;
}

struct gate {
    uv_sem_t inside, go;
};

static void run_gate(struct view_kit *k, struct view_reader *r, void *data)
{
    struct gate *g = data;
    (void)k;
    (void)r;
    uv_sem_post(&g->inside);
    uv_sem_wait(&g->go);
}

struct raw_ask {
    struct view_ask ask;
    struct gate *gate;
    uv_sem_t done;
};

static void run_raw(struct view_ask *ask, struct view_reader *r)
{
    struct raw_ask *a = CONTAINER_OF(ask, struct raw_ask, ask);
    if (a->gate != NULL) {
        run_gate(NULL, r, a->gate);
    }
}

static void raw_done(struct view_ask *ask)
{
    struct raw_ask *a = CONTAINER_OF(ask, struct raw_ask, ask);
    uv_sem_post(&a->done);
}

static void raw_start(struct view_kit *k, struct raw_ask *a, struct gate *gate)
{
    *a = (struct raw_ask){.ask = {.run = run_raw, .done = raw_done, .reply_to = &k->engine->box},
                          .gate = gate};
    CHECK(uv_sem_init(&a->done, 0) == 0);
    view_ask(k->view, &a->ask);
}

static enum err_code raw_end(struct raw_ask *a)
{
    uv_sem_wait(&a->done);
    uv_sem_destroy(&a->done);
    return a->ask.err.code;
}

static void too_many_questions_are_refused(void **state)
{
    struct view_kit *k = view_kit_open(few_asks);
    struct gate gate;
    struct raw_ask running;
    struct raw_ask waiting;
    struct raw_ask refused;
    (void)state;
    CHECK(uv_sem_init(&gate.inside, 0) == 0);
    CHECK(uv_sem_init(&gate.go, 0) == 0);
    raw_start(k, &running, &gate);
    uv_sem_wait(&gate.inside);
    raw_start(k, &waiting, NULL);
    raw_start(k, &refused, NULL);
    assert_int_equal(raw_end(&refused), ERR_OVERLOADED);
    uv_sem_post(&gate.go);
    assert_int_equal(raw_end(&running), ERR_OK);
    assert_int_equal(raw_end(&waiting), ERR_OK);
    uv_sem_destroy(&gate.inside);
    uv_sem_destroy(&gate.go);
    view_kit_close(k);
}

static void close_view(void *data)
{
    view_close(data);
}

static void a_question_that_waits_is_refused_when_the_view_stops(void **state)
{
    struct view_kit *k = view_kit_open(few_asks);
    struct gate gate;
    struct raw_ask running;
    struct raw_ask waiting;
    struct raw_ask probe;
    uv_thread_t closer;
    (void)state;
    CHECK(uv_sem_init(&gate.inside, 0) == 0);
    CHECK(uv_sem_init(&gate.go, 0) == 0);
    raw_start(k, &running, &gate);
    uv_sem_wait(&gate.inside);
    raw_start(k, &waiting, NULL);
    CHECK(uv_thread_create(&closer, close_view, k->view) == 0);
    do { /* until the view is stopping */
        raw_start(k, &probe, NULL);
    } while (raw_end(&probe) != ERR_STOPPING);
    uv_sem_post(&gate.go);
    assert_int_equal(raw_end(&running), ERR_OK);
    assert_int_equal(raw_end(&waiting), ERR_STOPPING);
    CHECK(uv_thread_join(&closer) == 0);
    k->view = NULL;
    uv_sem_destroy(&gate.inside);
    uv_sem_destroy(&gate.go);
    view_kit_close(k);
}

/* Random commands and interruptions */

static void random_command(struct view_kit *k, struct rng *rng, struct id *known, unsigned count)
{
    static const char *const queues[] = {"a", "b", "ns::c", "d.e"};
    static const enum command_job_action actions[] = {
        COMMAND_JOB_RETRY,   COMMAND_JOB_CANCEL, COMMAND_JOB_HOLD,
        COMMAND_JOB_APPROVE, COMMAND_JOB_REJECT, COMMAND_JOB_DELETE,
    };
    const char *queue = queues[rng_below(rng, COUNT_OF(queues))];
    struct id *any = &known[rng_below(rng, count)];
    struct id claimed = ID_NONE;
    struct command c;
    switch (rng_below(rng, 8)) {
    case 0:
    case 1:
    case 2:
        *any = put(k, queue);
        break;
    case 3:
        claimed = engine_kit_claim(k->engine, queue);
        if (!id_is_none(claimed)) {
            engine_kit_ack(k->engine, claimed);
        }
        break;
    case 4:
        claimed = engine_kit_claim(k->engine, queue);
        if (!id_is_none(claimed)) {
            engine_kit_fail(k->engine, claimed);
        }
        break;
    case 5:
        c = (struct command){
            .type = COMMAND_JOBS,
            .jobs = {
                .action = COMMAND_JOB_MOVE, .ids = any, .count = 1, .queue = str_from_z(queue)}};
        (void)engine_kit_do(k->engine, &c); /* it may be refused */
        break;
    default:
        c = (struct command){
            .type = COMMAND_JOBS,
            .jobs = {.action = actions[rng_below(rng, COUNT_OF(actions))], .ids = any, .count = 1}};
        (void)engine_kit_do(k->engine, &c);
        break;
    }
}

static void random_interruption(struct view_kit *k, struct rng *rng)
{
    switch (rng_below(rng, 6)) {
    case 0:
        view_kit_keep_image(k);
        break;
    case 1:
        view_kit_stop_view(k);
        view_kit_use_image(k);
        view_kit_start_view(k);
        break;
    case 2:
        view_kit_stop_view(k);
        engine_kit_stop_engine(k->engine);
        engine_kit_start_engine(k->engine);
        view_kit_start_view(k);
        break;
    case 3:
        view_kit_stop_view(k);
        view_kit_start_view(k);
        break;
    case 4:
        assert_int_equal(view_kit_rebuild(k), ERR_OK);
        break;
    default:
        view_kit_check(k);
        break;
    }
}

static void is_equal_to_its_source_after_anything(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct rng rng = rng_from(seed);
        struct id known[40] = {{{0}}};
        struct view_kit *k = view_kit_open(NULL);
        print_message("    seed: %llu\n", (unsigned long long)seed);
        for (size_t i = 0; i < COUNT_OF(known); i++) {
            known[i] = put(k, "a");
        }
        view_kit_keep_image(k);
        for (unsigned step = 0; step < 600; step++) {
            random_command(k, &rng, known, COUNT_OF(known));
            if (rng_below(&rng, 25) == 0) {
                random_interruption(k, &rng);
            }
        }
        view_kit_check(k);
        view_kit_close(k);
    }
}

#define WITH_KIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

TEST_GROUP(view,
           cmocka_unit_test_setup_teardown(compares_everything_when_too_much_has_changed,
                                           setup_patient, teardown),
           cmocka_unit_test_setup_teardown(large_documents_go_in_several_batches, setup_patient,
                                           teardown),
           WITH_KIT(shows_what_was_answered_before_the_question),
           WITH_KIT(follows_every_change_of_a_job), WITH_KIT(usage_goes_with_its_job),
           WITH_KIT(continues_after_a_clean_stop), WITH_KIT(continues_with_the_engine_started_anew),
           WITH_KIT(finds_what_changed_while_it_was_closed),
           WITH_KIT(catches_up_from_what_a_crash_left),
           WITH_KIT(says_how_late_it_is_while_it_catches_up),
           WITH_KIT(is_made_anew_when_the_machine_stopped),
           WITH_KIT(is_made_anew_when_it_is_of_another_history),
           WITH_KIT(is_made_anew_when_the_state_was_exchanged),
           WITH_KIT(a_file_of_no_use_is_made_anew_at_start),
           WITH_KIT(damage_that_a_question_meets_is_repaired),
           WITH_KIT(is_made_anew_on_request_while_it_serves),
           cmocka_unit_test(a_search_that_takes_too_long_is_cut_short),
           cmocka_unit_test(an_answer_that_could_not_wait_says_what_it_missed),
           cmocka_unit_test(too_many_questions_are_refused),
           cmocka_unit_test(a_question_that_waits_is_refused_when_the_view_stops),
           cmocka_unit_test(the_log_ends_although_somebody_always_asks),
           cmocka_unit_test(is_equal_to_its_source_after_anything));
