#include "store/store_history.h"

#include "lib/rng.h"
#include "unit/store/store_fixture.h"

static void add(struct store_history_times *t, const int64_t *ms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        store_history_time_add(t, ms[i]);
    }
}

static void buckets__begin_at_their_bounds(void **state)
{
    (void)state;
    for (unsigned i = 0; i < STORE_HISTORY_BUCKETS; i++) {
        struct store_history_times t = {0};
        int64_t bound = (int64_t)store_history_bound_ms(i);
        store_history_time_add(&t, bound);
        assert_int_equal(t.bucket[i], 1);
        if (i > 0) {
            store_history_time_add(&t, bound - 1);
            assert_int_equal(t.bucket[i - 1], 1);
        }
    }
    struct store_history_times t = {0};
    store_history_time_add(&t, -5); /* a clock that stepped back */
    store_history_time_add(&t, INT64_MAX);
    assert_int_equal(t.bucket[0], 1);
    assert_int_equal(t.bucket[STORE_HISTORY_BUCKETS - 1], 1);
}

static void quantiles__are_upper_bounds(void **state)
{
    static const int64_t ms[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1000};
    struct store_history_times t = {0};
    (void)state;
    assert_int_equal(store_history_quantile_ms(&t, 500), 0);
    add(&t, ms, COUNT_OF(ms));
    assert_int_equal(store_history_quantile_ms(&t, 0), 1);
    assert_int_equal(store_history_quantile_ms(&t, 500), 1);
    assert_int_equal(store_history_quantile_ms(&t, 900), 1);
    assert_int_equal(store_history_quantile_ms(&t, 990), 1000); /* at most the largest value */
    assert_int_equal(store_history_quantile_ms(&t, 1000), 1000);
}

static struct store_history sample(struct rng *r)
{
    struct store_history h = {.depth = rng_below(r, 100), .workers = rng_below(r, 5)};
    h.depth_max = h.depth + rng_below(r, 10);
    h.oldest_at_ms = rng_below(r, 2) == 0 ? 0 : 1700000000000 + rng_below(r, 100000);
    h.oldest_max_ms = rng_below(r, 2) == 0 ? 0 : rng_below(r, 1ULL << 40);
    for (unsigned i = 0; i < STORE_HISTORY_COUNTS; i++) {
        h.count[i] = rng_below(r, 3) == 0 ? 0 : rng_below(r, 1000000);
    }
    for (uint64_t i = rng_below(r, 200); i > 0; i--) {
        store_history_time_add(&h.wait, (int64_t)rng_below(r, 1ULL << rng_below(r, 40)));
        store_history_time_add(&h.run, (int64_t)rng_below(r, 5000));
    }
    return h;
}

static void cells__come_back_as_they_were(void **state)
{
    struct rng r = rng_from(7);
    (void)state;
    for (unsigned n = 0; n < 200; n++) {
        struct store_history want = sample(&r);
        struct store_history got;
        struct buf b;
        buf_init(&b, 1 << 16);
        bool oldest = n % 2 == 0;
        if (!oldest) {
            want.oldest_at_ms = want.oldest_max_ms = 0;
        }
        store_history_encode(&want, oldest, &b);
        assert_true(store_history_decode(buf_str(&b), &got));
        assert_memory_equal(&got, &want, sizeof got);
        /* Shorter and longer bytes are refused. */
        assert_false(store_history_decode(str_from(b.ptr, b.len - 1), &got));
        buf_add_char(&b, 0);
        assert_false(store_history_decode(buf_str(&b), &got));
        buf_deinit(&b);
    }
}

static void sums__are_those_of_everything_at_once(void **state)
{
    struct store_history parts[3] = {0};
    struct store_history whole = {0};
    struct store_history sum = {0};
    struct rng r = rng_from(11);
    (void)state;
    for (unsigned n = 0; n < 3000; n++) {
        int64_t ms = (int64_t)rng_below(&r, 1ULL << rng_below(&r, 33));
        store_history_time_add(&parts[n % 3].wait, ms);
        store_history_time_add(&whole.wait, ms);
        parts[n % 3].count[STORE_HISTORY_DEAD]++;
        whole.count[STORE_HISTORY_DEAD]++;
    }
    for (unsigned n = 0; n < 3; n++) {
        store_history_merge(&sum, &parts[n]);
    }
    assert_memory_equal(&sum, &whole, sizeof sum);
}

static void oldest__is_that_of_the_later_part_and_goes_on_ageing(void **state)
{
    struct store_history first = {.oldest_at_ms = 1000, .oldest_max_ms = 700};
    struct store_history second = {.oldest_at_ms = 1500, .oldest_max_ms = 300};
    (void)state;
    store_history_merge(&first, &second);
    assert_int_equal(first.oldest_at_ms, 1500);
    assert_int_equal(first.oldest_max_ms, 700);
    assert_int_equal(store_history_age_ms(&first, 61500), 60000);
    assert_int_equal(store_history_age_ms(&first, 1499), 0); /* an id from the future */
    assert_int_equal(store_history_age_ms(&(struct store_history){0}, 61500), 0);
}

TEST_GROUP(store_history, cmocka_unit_test(buckets__begin_at_their_bounds),
           cmocka_unit_test(quantiles__are_upper_bounds),
           cmocka_unit_test(cells__come_back_as_they_were),
           cmocka_unit_test(sums__are_those_of_everything_at_once),
           cmocka_unit_test(oldest__is_that_of_the_later_part_and_goes_on_ageing));
