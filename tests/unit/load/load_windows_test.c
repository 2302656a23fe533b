#include "load/load_windows.h"

#include <math.h>

#include "base/clock.h"
#include "lib/test.h"

static void windows__spread_is_over_whole_seconds(void **state)
{
    (void)state;
    struct load_windows w = {0};
    load_windows_add(&w, 0, 60);
    load_windows_add(&w, NS_PER_S - 1, 40);
    load_windows_add(&w, NS_PER_S, 200);
    /* nothing in the third second, and the fourth is incomplete */
    load_windows_add(&w, 3 * NS_PER_S + 5, 1000);
    struct load_spread s = load_windows_spread(&w, 3 * NS_PER_S + NS_PER_S / 2);
    assert_int_equal(s.windows, 3);
    assert_true(fabs(s.mean - 100) < 1e-9);
    assert_true(fabs(s.stddev - sqrt(20000.0 / 3)) < 1e-9);
    assert_true(fabs(s.cv_pct - s.stddev) < 1e-9);
    load_windows_deinit(&w);
}

static void windows__a_short_run_has_no_spread(void **state)
{
    (void)state;
    struct load_windows w = {0};
    load_windows_add(&w, 5, 10);
    assert_int_equal(load_windows_spread(&w, 2 * NS_PER_S - 1).windows, 0);
    load_windows_deinit(&w);
}

static void windows__seconds_without_work_at_the_end_count(void **state)
{
    (void)state;
    struct load_windows w = {0};
    load_windows_add(&w, 5, 10);
    struct load_spread s = load_windows_spread(&w, 2 * NS_PER_S);
    assert_int_equal(s.windows, 2);
    assert_true(fabs(s.mean - 5) < 1e-9 && fabs(s.cv_pct - 100) < 1e-9);
    load_windows_deinit(&w);
}

static void windows__merge_adds_second_by_second(void **state)
{
    (void)state;
    struct load_windows a = {0};
    struct load_windows b = {0};
    struct load_windows none = {0};
    load_windows_add(&a, 0, 1);
    load_windows_add(&b, 200 * NS_PER_S, 7);
    load_windows_add(&b, 0, 2);
    load_windows_merge(&a, &b);
    load_windows_merge(&a, &none);
    assert_int_equal(a.count, 201);
    assert_int_equal(a.done[0], 3);
    assert_int_equal(a.done[100], 0);
    assert_int_equal(a.done[200], 7);
    load_windows_add(&a, -1, 1); /* before the start */
    load_windows_add(&a, INT64_MAX, 1);
    assert_int_equal(a.done[0], 4);
    assert_int_equal(a.count, LOAD_WINDOWS_MAX);
    load_windows_deinit(&a);
    load_windows_deinit(&b);
}

TEST_GROUP(load_windows, cmocka_unit_test(windows__spread_is_over_whole_seconds),
           cmocka_unit_test(windows__a_short_run_has_no_spread),
           cmocka_unit_test(windows__seconds_without_work_at_the_end_count),
           cmocka_unit_test(windows__merge_adds_second_by_second));
