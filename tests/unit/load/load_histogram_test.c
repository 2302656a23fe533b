#include "load/load_histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "lib/test.h"

static struct load_histogram *fresh(void)
{
    struct load_histogram *h = calloc(1, sizeof *h);
    assert_non_null(h);
    return h;
}

static void expect_near(double is, double wanted)
{
    if (fabs(is - wanted) > 1e-9 * (1 + fabs(wanted))) {
        print_error("%.12f is not %.12f\n", is, wanted);
    }
    assert_true(fabs(is - wanted) <= 1e-9 * (1 + fabs(wanted)));
}

static void histogram__an_empty_one_says_nothing(void **state)
{
    (void)state;
    struct load_histogram *h = fresh();
    assert_int_equal(load_histogram_at(h, 0.5), 0);
    expect_near(load_histogram_stddev(h), 0);
    expect_near(load_histogram_cv_pct(h), 0);
    free(h);
}

static void histogram__small_values_are_exact(void **state)
{
    (void)state;
    struct load_histogram *h = fresh();
    for (int i = 1; i <= 100; i++) {
        load_histogram_add(h, i, 1);
    }
    static const struct {
        double share;
        int64_t value;
    } rows[] = {{0, 1}, {0.01, 1}, {0.5, 50}, {0.501, 51}, {0.9, 90}, {0.99, 99}, {1, 100}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(load_histogram_at(h, rows[i].share), rows[i].value);
    }
    assert_int_equal(h->min, 1);
    assert_int_equal(h->max, 100);
    expect_near(h->mean, 50.5);
    expect_near(load_histogram_stddev(h), sqrt((100.0 * 100 - 1) / 12));
    free(h);
}

/* Test every order of magnitude, and the values on both sides of each power of two. */
static void histogram__a_value_is_known_to_one_in_the_number_of_parts(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 63; bit++) {
        for (int64_t around = -1; around <= 1; around++) {
            struct load_histogram *h = fresh();
            int64_t value = (int64_t)(1ull << bit) + around;
            load_histogram_add(h, 0, 1);
            load_histogram_add(h, value, 1);
            load_histogram_add(h, INT64_MAX, 1);
            int64_t found = load_histogram_at(h, 0.6);
            assert_true(found >= value);
            assert_true((double)(found - value) <= (double)value / LOAD_HISTOGRAM_PARTS);
            assert_int_equal(load_histogram_at(h, 1), INT64_MAX);
            free(h);
        }
    }
}

static void histogram__less_than_nothing_is_nothing(void **state)
{
    (void)state;
    struct load_histogram *h = fresh();
    load_histogram_add(h, -5, 2);
    load_histogram_add(h, 7, 0);
    assert_int_equal(h->count, 2);
    assert_int_equal(h->min, 0);
    assert_int_equal(h->max, 0);
    free(h);
}

static void histogram__merged_is_the_same_as_added_to_one(void **state)
{
    (void)state;
    struct load_histogram *one = fresh();
    struct load_histogram *parts[3] = {fresh(), fresh(), fresh()};
    struct load_histogram *sum = fresh();
    for (int i = 0; i < 3000; i++) {
        int64_t value = (int64_t)i * i * 37 % 1000003;
        load_histogram_add(one, value, (uint64_t)(1 + i % 4));
        load_histogram_add(parts[i % 2], value, (uint64_t)(1 + i % 4)); /* the third stays empty */
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        load_histogram_merge(sum, parts[i]);
        free(parts[i]);
    }
    assert_int_equal(sum->count, one->count);
    assert_int_equal(sum->min, one->min);
    assert_int_equal(sum->max, one->max);
    assert_memory_equal(sum->bucket, one->bucket, sizeof one->bucket);
    expect_near(sum->mean, one->mean);
    expect_near(load_histogram_stddev(sum), load_histogram_stddev(one));
    expect_near(load_histogram_cv_pct(sum), 100 * load_histogram_stddev(one) / one->mean);
    free(one);
    free(sum);
}

TEST_GROUP(load_histogram, cmocka_unit_test(histogram__an_empty_one_says_nothing),
           cmocka_unit_test(histogram__small_values_are_exact),
           cmocka_unit_test(histogram__a_value_is_known_to_one_in_the_number_of_parts),
           cmocka_unit_test(histogram__less_than_nothing_is_nothing),
           cmocka_unit_test(histogram__merged_is_the_same_as_added_to_one));
