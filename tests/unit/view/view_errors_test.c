#include "view/view_errors.h"

#include "base/buf.h"
#include "base/limits.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "view_kit.h"

static void patterns__have_no_numbers_ids_addresses_and_paths(void **state)
{
    static const struct {
        const char *error, *pattern;
    } rows[] = {
        {"timeout after 30s", "timeout after #s"},
        {"timeout after 31.5s\n  at send (mail.js:42)", "timeout after #s"},
        {"user 4711 not found", "user # not found"},
        {"job job_01jcz0v5h8e9rk7w2n4m6p8q0s failed", "job <id> failed"},
        {"order 550e8400-e29b-41d4-a716-446655440000: gone", "order <id>: gone"},
        {"open /var/lib/app/7.db: no such file", "open <path>: no such file"},
        {"connect 10.0.0.7:5432: refused", "connect <address>: refused"},
        {"mailbox \"ada@example.org\" is full", "mailbox \"<address>\" is full"},
        {"GET https://api.example.org/v1/x?y=2: 502", "GET <url>?y=#: #"},
        {"feedback", "feedback"}, /* hexadecimal digits, but a word */
        {"deadbeef01", "<id>"},
        {"café 12 closed", "café # closed"},
        {"Ошибка в строке 7", "Ошибка в строке #"},
        {"  \n", ""},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        ROW(rows[i].error);
        buf_init(&b, VIEW_ERRORS_PATTERN_MAX);
        (void)view_errors_mark(str_from_z(rows[i].error), &b);
        expect_str(buf_str(&b), str_from_z(rows[i].pattern));
        buf_deinit(&b);
    }
}

static void fingerprints__are_those_of_the_patterns(void **state)
{
    char text[VIEW_ERRORS_MARK_TEXT];
    int64_t mark = view_errors_mark(STR("user 1 not found"), NULL);
    int64_t back = 0;
    (void)state;
    assert_true(mark == view_errors_mark(STR("user 22 not found"), NULL));
    assert_true(mark != view_errors_mark(STR("user 1 not here"), NULL));
    view_errors_format(mark, text);
    assert_true(view_errors_parse(str_from(text, sizeof text), &back));
    assert_true(back == mark);
    assert_false(view_errors_parse(STR("0123"), &back));
    assert_false(view_errors_parse(STR("0123456789abcdeg"), &back));
    /* A text that is longer than any pattern. */
    char *large = malloc(1 << 20);
    assert_non_null(large);
    memset(large, 'x', 1 << 20);
    (void)view_errors_mark(str_from(large, 1 << 20), NULL);
    free(large);
}

static void run_errors(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)(view_errors_run(r, data, k->arena, &k->err) == ERR_OK);
}

/* Return the only group of the failures since `from`. If there are no failures, it is empty. */
static struct view_errors_group group_since(struct view_kit *k, struct wall from)
{
    struct view_errors e = {.from = from, .to = {.ns = INT64_MAX}, .limit = 10};
    view_kit_ask(k, false, run_errors, &e);
    assert_int_equal(k->err.code, ERR_OK);
    assert_true(e.count <= 1);
    struct view_errors_group none = {0};
    struct view_errors_group group = e.count == 0 ? none : e.groups[0];
    assert_int_equal(e.total, group.count);
    view_kit_forget(k);
    return group;
}

static void fail_again(struct view_kit *k, struct id id, struct str error)
{
    engine_kit_job(k->engine, COMMAND_JOB_RETRY, id);
    assert_true(id_eq(engine_kit_claim(k->engine, "q"), id));
    struct command fail = {.type = COMMAND_FAIL, .fail = {.id = id, .error = error}};
    (void)engine_kit_do(k->engine, &fail);
}

static struct id put_dead(struct view_kit *k)
{
    struct command_new job = engine_kit_new_job("q");
    job.job.max_retries = 1;
    struct id id = engine_kit_put(k->engine, job);
    assert_true(id_eq(engine_kit_claim(k->engine, "q"), id));
    engine_kit_fail(k->engine, id);
    return id;
}

static void groups__count_each_job_once(void **state)
{
    struct view_kit *k = view_kit_open(NULL);
    struct wall never = {.ns = 0};
    (void)state;
    struct id a = put_dead(k);
    struct id b = put_dead(k);
    fail_again(k, a, STR("no"));
    struct view_errors_group g = group_since(k, never);
    assert_int_equal(g.count, 3);
    assert_int_equal(g.jobs, 2);
    assert_int_equal(g.dead, 2);
    /* Only the later one of two errors is in the range. */
    g = group_since(k, g.last_seen);
    assert_int_equal(g.count, 1);
    assert_int_equal(g.jobs, 1);
    assert_int_equal(g.dead, 1);
    /* A job that is no longer dead still counts as failed. */
    engine_kit_job(k->engine, COMMAND_JOB_RETRY, a);
    g = group_since(k, never);
    assert_int_equal(g.jobs, 2);
    assert_int_equal(g.dead, 1);
    engine_kit_job(k->engine, COMMAND_JOB_DELETE, b);
    g = group_since(k, never);
    assert_int_equal(g.count, 2);
    assert_int_equal(g.jobs, 1);
    assert_int_equal(g.dead, 0);
    view_kit_check(k);
    view_kit_close(k);
}

/* The oldest errors of a job are dropped. An error that followed a dropped one is then the
 * first. */
static void groups__count_jobs_whose_first_errors_are_gone(void **state)
{
    struct view_kit *k = view_kit_open(NULL);
    struct wall never = {.ns = 0};
    (void)state;
    struct id id = put_dead(k);
    for (unsigned i = 0; i < LIMIT_JOB_ERRORS - 2; i++) {
        fail_again(k, id, STR("no"));
    }
    assert_int_equal(group_since(k, never).count, LIMIT_JOB_ERRORS - 1);
    for (unsigned i = 0; i < 3; i++) {
        fail_again(k, id, STR("no"));
        struct view_errors_group g = group_since(k, never);
        assert_int_equal(g.count, LIMIT_JOB_ERRORS);
        assert_int_equal(g.jobs, 1);
        assert_int_equal(g.dead, 1);
        view_kit_check(k);
    }
    view_kit_close(k);
}

TEST_GROUP(view_errors, cmocka_unit_test(groups__count_each_job_once),
           cmocka_unit_test(groups__count_jobs_whose_first_errors_are_gone),
           cmocka_unit_test(patterns__have_no_numbers_ids_addresses_and_paths),
           cmocka_unit_test(fingerprints__are_those_of_the_patterns));
