#include "engine/engine_times.h"

#include "base/clock.h"
#include "lib/expect.h"
#include "lib/test.h"

static void engine_times__puts_a_time_into_the_bucket_that_it_does_not_exceed(void **state)
{
    static const struct {
        const char *name;
        int64_t ns;
        unsigned bucket;
    } rows[] = {
        {"nothing", 0, 0},
        {"a clock that stepped back", -5, 0},
        {"at the first bound", 50 * NS_PER_US, 0},
        {"above it", 50 * NS_PER_US + 1, 1},
        {"1 ms", 1 * NS_PER_MS, 4},
        {"1 s", 1 * NS_PER_S, 13},
        {"longer than every bound", 1 * NS_PER_S + 1, 14},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct engine_times t = {0};
        ROW(rows[i].name);
        engine_times_add(&t, rows[i].ns);
        assert_int_equal(t.count[rows[i].bucket], 1);
        assert_int_equal(engine_times_count(&t), 1);
        assert_int_equal(t.sum_ns, rows[i].ns > 0 ? rows[i].ns : 0);
    }
}

static void engine_times__says_the_bound_that_holds_a_rank(void **state)
{
    struct engine_times t = {0};
    (void)state;
    for (unsigned i = 0; i < 90; i++) {
        engine_times_add(&t, 60 * NS_PER_US);
    }
    for (unsigned i = 0; i < 9; i++) {
        engine_times_add(&t, 3 * NS_PER_MS);
    }
    engine_times_add(&t, 60 * NS_PER_S);
    assert_int_equal(engine_times_rank_ns(&t, 1), 100 * NS_PER_US);
    assert_int_equal(engine_times_rank_ns(&t, 90), 100 * NS_PER_US);
    assert_int_equal(engine_times_rank_ns(&t, 91), 5 * NS_PER_MS);
    assert_int_equal(engine_times_rank_ns(&t, 99), 5 * NS_PER_MS);
    assert_int_equal(engine_times_rank_ns(&t, 100), NS_PER_S);
}

static void engine_times__names_its_bounds_twice(void **state)
{
    (void)state;
    expect_str(str_from_z(engine_times_bound_text(0)), STR("50µs"));
    expect_str(str_from_z(engine_times_bound_seconds(0)), STR("0.00005"));
    expect_str(str_from_z(engine_times_bound_text(ENGINE_TIMES_BUCKETS - 1)), STR("+Inf"));
    expect_str(str_from_z(engine_times_bound_seconds(ENGINE_TIMES_BUCKETS - 1)), STR("+Inf"));
}

TEST_GROUP(engine_times,
           cmocka_unit_test(engine_times__puts_a_time_into_the_bucket_that_it_does_not_exceed),
           cmocka_unit_test(engine_times__says_the_bound_that_holds_a_rank),
           cmocka_unit_test(engine_times__names_its_bounds_twice));
