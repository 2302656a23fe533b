#include "core/agent.h"

#include "lib/expect.h"
#include "lib/test.h"

static void cost__adds_up_and_saturates(void **state)
{
    (void)state;
    struct job_agent a = {.total_cost_nusd = 5};
    agent_add_cost(&a, 0);
    assert_int_equal(a.total_cost_nusd, 5);
    agent_add_cost(&a, 7);
    assert_int_equal(a.total_cost_nusd, 12);
    agent_add_cost(&a, INT64_MAX);
    assert_int_equal(a.total_cost_nusd, INT64_MAX);
    agent_add_cost(&a, 1);
    assert_int_equal(a.total_cost_nusd, INT64_MAX);
}

static void next__goes_on_and_says_which_guardrail_stops_it(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t iteration, max_iterations, total_nusd, max_nusd;
        const char *reason;
    } rows[] = {
        {"no limits", 1, 0, 900 * JOB_NUSD_PER_USD, 0, ""},
        {"below both", 1, 3, 5, 10, ""},
        {"the last iteration is allowed", 2, 3, 0, 0, ""},
        {"one past the last", 3, 3, 0, 0, "max_iterations exceeded (3)"},
        {"far past it, after an approval", 9, 3, 0, 0, "max_iterations exceeded (3)"},
        {"exactly the cost", 1, 0, 10, 10, ""},
        {"cost", 1, 0, 1500000000, 1000000000, "max_cost_usd exceeded (1.5000 > 1.0000)"},
        {"cost is rounded to four decimals", 1, 0, 123456789, 100050000,
         "max_cost_usd exceeded (0.1235 > 0.1001)"},
        {"a cost that rounds down to nothing", 1, 0, 2, 1,
         "max_cost_usd exceeded (0.0000 > 0.0000)"},
        {"rounding carries over the point", 1, 0, 999950000, 1,
         "max_cost_usd exceeded (1.0000 > 0.0000)"},
        {"the largest cost", 1, 0, INT64_MAX, 1,
         "max_cost_usd exceeded (9223372036.8548 > 0.0000)"},
        {"iterations are looked at first", 3, 3, 11, 10, "max_iterations exceeded (3)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct job_agent a = {.iteration = rows[i].iteration,
                              .max_iterations = rows[i].max_iterations,
                              .total_cost_nusd = rows[i].total_nusd,
                              .max_cost_nusd = rows[i].max_nusd};
        struct buf reason;
        ROW(rows[i].name);
        buf_init(&reason, 256);
        agent_next_iteration(&a, &reason);
        expect_str(buf_str(&reason), str_from_z(rows[i].reason));
        /* It counts even if the job is held, so that the next approval does not start again. */
        assert_int_equal(a.iteration, rows[i].iteration + 1);
        assert_int_equal(a.total_cost_nusd, rows[i].total_nusd);
        buf_deinit(&reason);
    }
}

/* Numbers in a backup may be arbitrary. */
static void next__of_any_number_is_one_that_can_follow(void **state)
{
    (void)state;
    static const int64_t rows[][2] = {
        {0, 2}, {-5, 2}, {1, 2}, {INT64_MAX - 1, INT64_MAX}, {INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct job_agent a = {.iteration = rows[i][0], .total_cost_nusd = 7};
        struct buf reason;
        buf_init(&reason, 256);
        agent_next_iteration(&a, &reason);
        agent_add_cost(&a, -3);
        assert_int_equal(a.iteration, rows[i][1]);
        assert_int_equal(a.total_cost_nusd, 7);
        buf_deinit(&reason);
    }
}

TEST_GROUP(agent, cmocka_unit_test(next__of_any_number_is_one_that_can_follow),
           cmocka_unit_test(cost__adds_up_and_saturates),
           cmocka_unit_test(next__goes_on_and_says_which_guardrail_stops_it));
