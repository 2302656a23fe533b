#include "core/job.h"

#include "lib/expect.h"
#include "lib/test.h"

static void names__are_the_words_of_the_contract(void **state)
{
    (void)state;
    static const char *const states[JOB_STATE_COUNT] = {
        [JOB_SCHEDULED] = "scheduled", [JOB_PENDING] = "pending",     [JOB_ACTIVE] = "active",
        [JOB_RETRYING] = "retrying",   [JOB_HELD] = "held",           [JOB_COMPLETED] = "completed",
        [JOB_DEAD] = "dead",           [JOB_CANCELLED] = "cancelled",
    };
    static const char *const backoffs[] = {"none", "fixed", "linear", "exponential"};
    for (unsigned i = 0; i < JOB_STATE_COUNT; i++) {
        enum job_state back = JOB_STATE_COUNT;
        ROW(states[i]);
        assert_string_equal(job_state_name((enum job_state)i), states[i]);
        assert_true(job_state_parse(str_from_z(states[i]), &back));
        assert_int_equal(back, i);
    }
    for (unsigned i = 0; i < COUNT_OF(backoffs); i++) {
        enum job_backoff back = JOB_BACKOFF_NONE;
        ROW(backoffs[i]);
        assert_string_equal(job_backoff_name((enum job_backoff)i), backoffs[i]);
        assert_true(job_backoff_parse(str_from_z(backoffs[i]), &back));
        assert_int_equal(back, i);
    }
}

static void parse__refuses_other_words_and_leaves_the_output(void **state)
{
    (void)state;
    static const char *const words[] = {"", "Pending", "pending ", "pend", "None", "fix", "0"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        enum job_state s = JOB_HELD;
        enum job_backoff b = JOB_BACKOFF_LINEAR;
        ROW(words[i]);
        assert_false(job_state_parse(str_from_z(words[i]), &s));
        assert_false(job_backoff_parse(str_from_z(words[i]), &b));
        assert_int_equal(s, JOB_HELD);
        assert_int_equal(b, JOB_BACKOFF_LINEAR);
    }
}

/* The numbers are stored in documents on disk. */
static void numbers__stay_what_they_are(void **state)
{
    (void)state;
    assert_int_equal(JOB_SCHEDULED, 0);
    assert_int_equal(JOB_PENDING, 1);
    assert_int_equal(JOB_ACTIVE, 2);
    assert_int_equal(JOB_RETRYING, 3);
    assert_int_equal(JOB_HELD, 4);
    assert_int_equal(JOB_COMPLETED, 5);
    assert_int_equal(JOB_DEAD, 6);
    assert_int_equal(JOB_CANCELLED, 7);
    assert_int_equal(JOB_BACKOFF_NONE, 0);
    assert_int_equal(JOB_BACKOFF_FIXED, 1);
    assert_int_equal(JOB_BACKOFF_LINEAR, 2);
    assert_int_equal(JOB_BACKOFF_EXPONENTIAL, 3);
}

static void terminal__are_completed_dead_and_cancelled(void **state)
{
    (void)state;
    for (unsigned i = 0; i < JOB_STATE_COUNT; i++) {
        bool over = i == JOB_COMPLETED || i == JOB_DEAD || i == JOB_CANCELLED;
        assert_int_equal(job_state_is_terminal((enum job_state)i), over);
    }
}

static void backoff__follows_the_table_and_saturates(void **state)
{
    (void)state;
    static const struct {
        enum job_backoff backoff;
        int64_t base_ms, max_ms;
        uint32_t attempt;
        int64_t delay_ms;
    } rows[] = {
        {JOB_BACKOFF_NONE, 5000, 600000, 1, 0},
        {JOB_BACKOFF_NONE, 5000, 0, 9, 0},
        {JOB_BACKOFF_FIXED, 5000, 600000, 1, 5000},
        {JOB_BACKOFF_LINEAR, 5000, 600000, 0, 5000}, /* a backup may contain attempt 0 */
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, 0, 5000},
        {JOB_BACKOFF_FIXED, 5000, 600000, 77, 5000},
        {JOB_BACKOFF_FIXED, 700000, 600000, 1, 600000},
        {JOB_BACKOFF_LINEAR, 5000, 600000, 1, 5000},
        {JOB_BACKOFF_LINEAR, 5000, 600000, 3, 15000},
        {JOB_BACKOFF_LINEAR, 5000, 600000, 120, 600000},
        {JOB_BACKOFF_LINEAR, 5000, 600000, 121, 600000},
        {JOB_BACKOFF_LINEAR, 5000, 0, 121, 605000},
        {JOB_BACKOFF_LINEAR, INT64_MAX / 2, 0, 3, INT64_MAX},
        {JOB_BACKOFF_LINEAR, INT64_MAX, 600000, UINT32_MAX, 600000},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, 1, 5000},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, 2, 10000},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, 3, 20000},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, 4, 40000},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, 7, 320000},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, 8, 600000},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, 10, 600000},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 0, 10, 2560000},
        {JOB_BACKOFF_EXPONENTIAL, 0, 0, UINT32_MAX, 0},
        {JOB_BACKOFF_EXPONENTIAL, 1, 0, 63, INT64_C(1) << 62},
        {JOB_BACKOFF_EXPONENTIAL, 1, 0, 64, INT64_MAX},
        {JOB_BACKOFF_EXPONENTIAL, 1, 0, 65, INT64_MAX},
        {JOB_BACKOFF_EXPONENTIAL, 1, 0, UINT32_MAX, INT64_MAX},
        {JOB_BACKOFF_EXPONENTIAL, INT64_MAX, 0, 1, INT64_MAX},
        {JOB_BACKOFF_EXPONENTIAL, INT64_MAX, 0, 2, INT64_MAX},
        {JOB_BACKOFF_EXPONENTIAL, 5000, 600000, UINT32_MAX, 600000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct job j = {.backoff = rows[i].backoff,
                              .retry_base_ms = rows[i].base_ms,
                              .retry_max_ms = rows[i].max_ms};
        int64_t delay = job_backoff_delay_ms(&j, rows[i].attempt);
        if (delay != rows[i].delay_ms) {
            fail_msg("row %zu: got %lld, want %lld", i, (long long)delay,
                     (long long)rows[i].delay_ms);
        }
    }
}

/* max_retries is the number of attempts. There is always at least one. */
static void remaining__counts_attempts_down_to_zero(void **state)
{
    (void)state;
    static const struct {
        uint32_t max_retries, attempt, remaining;
    } rows[] = {
        {0, 1, 0}, {1, 1, 0}, {2, 1, 1}, {3, 1, 2}, {3, 2, 1}, {3, 3, 0}, {3, 4, 0}, {3, 0, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct job j = {.max_retries = rows[i].max_retries, .attempt = rows[i].attempt};
        assert_int_equal(job_attempts_remaining(&j), rows[i].remaining);
    }
}

/* The failure of the last attempt is shown until the next attempt begins. */
static void last_failure__lasts_until_the_next_try(void **state)
{
    (void)state;
    static const struct {
        enum job_state state;
        uint32_t attempt;
        enum job_outcome outcome, failure;
    } rows[] = {
        {JOB_RETRYING, 1, JOB_OUTCOME_FAILED, JOB_OUTCOME_FAILED},
        {JOB_RETRYING, 1, JOB_OUTCOME_TIMEOUT, JOB_OUTCOME_TIMEOUT},
        {JOB_RETRYING, 1, JOB_OUTCOME_NONE, JOB_OUTCOME_FAILED}, /* the job had a worker */
        {JOB_DEAD, 3, JOB_OUTCOME_FAILED, JOB_OUTCOME_FAILED},
        {JOB_DEAD, 3, JOB_OUTCOME_TIMEOUT, JOB_OUTCOME_TIMEOUT},
        {JOB_PENDING, 1, JOB_OUTCOME_FAILED, JOB_OUTCOME_FAILED},
        {JOB_PENDING, 1, JOB_OUTCOME_TIMEOUT, JOB_OUTCOME_TIMEOUT},
        {JOB_PENDING, 0, JOB_OUTCOME_FAILED, JOB_OUTCOME_NONE},    /* a new run of the job */
        {JOB_PENDING, 1, JOB_OUTCOME_CANCELLED, JOB_OUTCOME_NONE}, /* held and approved */
        {JOB_PENDING, 1, JOB_OUTCOME_NONE, JOB_OUTCOME_NONE},
        {JOB_ACTIVE, 2, JOB_OUTCOME_FAILED, JOB_OUTCOME_NONE},
        {JOB_HELD, 1, JOB_OUTCOME_FAILED, JOB_OUTCOME_NONE},
        {JOB_SCHEDULED, 0, JOB_OUTCOME_FAILED, JOB_OUTCOME_NONE},
        {JOB_COMPLETED, 1, JOB_OUTCOME_COMPLETED, JOB_OUTCOME_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct job j = {
            .state = rows[i].state, .attempt = rows[i].attempt, .outcome = rows[i].outcome};
        assert_int_equal(job_last_failure(&j), rows[i].failure);
    }
}

TEST_GROUP(job, cmocka_unit_test(names__are_the_words_of_the_contract),
           cmocka_unit_test(parse__refuses_other_words_and_leaves_the_output),
           cmocka_unit_test(numbers__stay_what_they_are),
           cmocka_unit_test(terminal__are_completed_dead_and_cancelled),
           cmocka_unit_test(backoff__follows_the_table_and_saturates),
           cmocka_unit_test(remaining__counts_attempts_down_to_zero),
           cmocka_unit_test(last_failure__lasts_until_the_next_try));
