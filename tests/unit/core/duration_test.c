#include "core/duration.h"

#include "base/clock.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"

static void parse__reads_every_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {
        {"0", 0},
        {"+0", 0},
        {"-0", 0},
        {"0s", 0},
        {"-0s", 0},
        {"999999ns", 0},
        {"1000000ns", 1},
        {"1500us", 1},
        {"1500\u00b5s", 1},
        {"1500\u03bcs", 1},
        {"7ms", 7},
        {"5s", 5000},
        {"+5s", 5000},
        {"1m", 60000},
        {"1h", 3600000},
        {"1d", 86400000},
        {"7d", 604800000},
        {"1w", 604800000},
        {"30d", 2592000000},
        {"1h30m", 5400000},
        {"1h0m0s", 3600000},
        {"1.5h", 5400000},
        {"0.5s", 500},
        {"0.0019s", 1},
        {"1.9999999999999999999999999s", 1999},
        {"0.25d", 21600000},
        {"0.000000011574074074075d", 1}, /* slightly more than a millisecond */
        {"1s500ms", 1500},
        {"1m1m", 120000},
        {"0005s", 5000},
        {"9223372036854775807ns", 9223372036854},
        {"106751d23h47m16.854775807s", 9223372036854},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        int64_t ms = -1;
        struct err err;
        assert_int_equal(duration_parse(str_from_z(rows[i].text), &ms, &err), ERR_OK);
        assert_int_equal(ms, rows[i].ms);
    }
}

static void parse__refuses_everything_else(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        const char *message;
    } rows[] = {
        {{"", 0}, "'' is not a duration"},
        {{NULL, 0}, "'' is not a duration"},
        {{"5", 1}, "'5' is not a duration"},
        {{"00", 2}, "'00' is not a duration"},
        {{"s", 1}, "'s' is not a duration"},
        {{"-", 1}, "'-' is not a duration"},
        {{"+-5s", 4}, "'+-5s' is not a duration"},
        {{"5 s", 3}, "'5 s' is not a duration"},
        {{" 5s", 3}, "' 5s' is not a duration"},
        {{"5s ", 3}, "'5s ' is not a duration"},
        {{"5S", 2}, "'5S' is not a duration"},
        {{"5y", 2}, "'5y' is not a duration"},
        {{".5s", 3}, "'.5s' is not a duration"},
        {{"5.s", 3}, "'5.s' is not a duration"},
        {{"1.2.3s", 6}, "'1.2.3s' is not a duration"},
        {{"5s3", 3}, "'5s3' is not a duration"},
        {{"1e3s", 4}, "'1e3s' is not a duration"},
        {{"5s\0", 3}, NULL},
        {{"-5s", 3}, "'-5s' is negative"},
        {{"-1ns", 4}, "'-1ns' is negative"},
        {{"9223372036854775808ns", 21}, "'9223372036854775808ns' is too long"},
        {{"106752d", 7}, "'106752d' is too long"},
        {{"99999999999999999999h", 21}, "'99999999999999999999h' is too long"},
        {{"9223372036.854775808s", 21}, "'9223372036.854775808s' is too long"},
        {{"100000d100000d", 14}, "'100000d100000d' is too long"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text.len == 0 ? "" : rows[i].text.ptr);
        int64_t ms = 77;
        struct err err;
        assert_int_equal(duration_parse(rows[i].text, &ms, &err), ERR_VALIDATION);
        assert_int_equal(ms, 77);
        if (rows[i].message != NULL) {
            assert_string_equal(err.msg, rows[i].message);
        }
    }
}

static void format__is_what_go_prints(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        {0, "0s"},
        {1, "1ns"},
        {999, "999ns"},
        {1000, "1\u00b5s"},
        {1100, "1.1\u00b5s"},
        {100 * NS_PER_US, "100\u00b5s"},
        {1500 * NS_PER_US, "1.5ms"},
        {8 * NS_PER_MS, "8ms"},
        {NS_PER_S - 1, "999.999999ms"},
        {NS_PER_S, "1s"},
        {1500 * NS_PER_MS, "1.5s"},
        {60 * NS_PER_S, "1m0s"},
        {120 * NS_PER_S, "2m0s"},
        {3600 * NS_PER_S, "1h0m0s"},
        {5400 * NS_PER_S, "1h30m0s"},
        {86400 * NS_PER_S, "24h0m0s"},
        {3661 * NS_PER_S + 1, "1h1m1.000000001s"},
        {-1500 * NS_PER_MS, "-1.5s"},
        {INT64_MAX, "2562047h47m16.854775807s"},
        {INT64_MIN, "-2562047h47m16.854775808s"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        char out[DURATION_TEXT_MAX];
        size_t len = duration_format(rows[i].ns, out);
        expect_str(str_from(out, len), str_from_z(rows[i].text));
    }
}

static void format__reads_back(void **state)
{
    (void)state;
    struct rng rng = rng_from(2);
    for (unsigned i = 0; i < 5000; i++) {
        int64_t ns = (int64_t)(rng_next(&rng) >> 1 >> rng_below(&rng, 63));
        char out[DURATION_TEXT_MAX];
        int64_t ms;
        struct err err;
        size_t len = duration_format(ns, out);
        assert_int_equal(duration_parse(str_from(out, len), &ms, &err), ERR_OK);
        assert_int_equal(ms, ns / NS_PER_MS);
    }
}

static void parse_ns__keeps_what_is_shorter_than_a_millisecond(void **state)
{
    int64_t ns = 0;
    struct err err;
    (void)state;
    assert_int_equal(duration_parse_ns(STR("1ms100us"), &ns, &err), ERR_OK);
    assert_int_equal(ns, 1100000);
    assert_int_equal(duration_parse_ns(STR("0"), &ns, &err), ERR_OK);
    assert_int_equal(ns, 0);
    assert_int_equal(duration_parse_ns(STR("soon"), &ns, &err), ERR_VALIDATION);
}

TEST_GROUP(duration, cmocka_unit_test(parse__reads_every_unit),
           cmocka_unit_test(parse__refuses_everything_else),
           cmocka_unit_test(format__is_what_go_prints), cmocka_unit_test(format__reads_back),
           cmocka_unit_test(parse_ns__keeps_what_is_shorter_than_a_millisecond));
