#include "core/timestamp.h"

#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"

#define AT(s, ns) ((s)*NS_PER_S + (ns))

static void parse__reads_the_forms_of_the_contract(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"2026-02-11T10:00:00Z", AT(1770804000, 0)},
        {"2026-02-11T10:00:00.123456789Z", AT(1770804000, 123456789)},
        {"2026-02-11T10:00:00.5Z", AT(1770804000, 500000000)},
        {"2026-02-11T10:00:00.1234567899Z", AT(1770804000, 123456789)},
        {"2026-02-11T11:00:00+01:00", AT(1770804000, 0)},
        {"2026-02-11T04:30:00-05:30", AT(1770804000, 0)},
        {"2026-02-11T10:00:00-00:00", AT(1770804000, 0)},
        {"2026-02-11t10:00:00z", AT(1770804000, 0)},
        {"2026-02-11", AT(1770768000, 0)},
        {"2026-02-11T10:00", AT(1770804000, 0)},
        {"2026-02-11T10:00:07", AT(1770804007, 0)},
        {"2026-02-11T10:00:07.25", AT(1770804007, 250000000)},
        {"2024-02-29T23:59:59Z", AT(1709251199, 0)},
        {"1970-01-01T00:00:00.000000001Z", 1},
        /* times out of the range of struct wall become its limits */
        {"1970-01-01T00:00:00Z", 1},
        {"0001-01-01T00:00:00Z", 1},
        {"1970-01-01T00:30:00+01:00", 1},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX},
        {"2262-04-11T23:47:16.854775808Z", INT64_MAX},
        {"9999-12-31T23:59:59.999999999-23:59", INT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        struct wall at;
        struct err err;
        assert_int_equal(timestamp_parse(str_from_z(rows[i].text), &at, &err), ERR_OK);
        assert_int_equal(at.ns, rows[i].ns);
    }
}

static void parse_s__reads_the_whole_calendar(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t s;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1969-12-31T23:59:59.5Z", -1},
        {"0001-01-01T00:00:00Z", -62135596800},
        {"2026-02-11T11:00:00.75+01:00", 1770804000},
        {"2262-04-11T23:47:17Z", 9223372037},
        {"9999-12-31T23:59:59Z", 253402300799},
    };
    int64_t s;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        assert_int_equal(timestamp_parse_s(str_from_z(rows[i].text), &s, &err), ERR_OK);
        assert_int_equal(s, rows[i].s);
    }
    assert_int_equal(timestamp_parse_s(STR("2026-13-01T00:00:00Z"), &s, &err), ERR_VALIDATION);
}

static void parse_kept__refuses_what_it_would_have_to_move_back(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err_code code;
    } rows[] = {
        {"2262-04-11T23:47:16.854775807Z", ERR_OK},
        {"2262-04-11T23:47:16.854775808Z", ERR_VALIDATION},
        {"9999-01-01T00:00:00Z", ERR_VALIDATION},
        {"0001-01-01T00:00:00Z", ERR_OK}, /* some clients write no time in this way */
        {"tomorrow", ERR_VALIDATION},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        struct wall at;
        struct err err;
        assert_int_equal(timestamp_parse_kept(str_from_z(rows[i].text), &at, &err), rows[i].code);
    }
}

static void parse__refuses_everything_else(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "now",
        "1770804000",
        "2026-2-11",
        "2026-02-11 10:00:00",
        "2026-02-11T",
        "2026-02-11T10",
        "2026-02-11T10:00Z",
        "2026-02-11T10:00:00.Z",
        "2026-02-11T10:00:00,5Z",
        "2026-02-11T10:00:00+0100",
        "2026-02-11T10:00:00+01",
        "2026-02-11T10:00:00+24:00",
        "2026-02-11T10:00:00+01:60",
        "2026-02-11T10:00:00ZZ",
        "2026-02-11T10:00:00Z ",
        " 2026-02-11",
        "2026-02-11Z",
        "2026-13-01",
        "2026-00-01",
        "2026-02-29",
        "2026-02-30T10:00:00Z",
        "2026-02-11T24:00:00Z",
        "2026-02-11T10:60:00Z",
        "2026-02-11T10:00:60Z",
        "2026-02-1aT10:00:00Z",
        "+2026-02-11",
        "12026-02-11",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        struct wall at = {.ns = 77};
        struct err err;
        assert_int_equal(timestamp_parse(str_from_z(rows[i]), &at, &err), ERR_VALIDATION);
        assert_int_equal(at.ns, 77);
        assert_non_null(strstr(err.msg, "is not a time"));
    }
}

static void format__is_utc_without_zeros_at_the_end(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z"},
        {AT(1770804000, 0), "2026-02-11T10:00:00Z"},
        {AT(1770804000, 123456789), "2026-02-11T10:00:00.123456789Z"},
        {AT(1770804000, 120000000), "2026-02-11T10:00:00.12Z"},
        {AT(1770804000, 1), "2026-02-11T10:00:00.000000001Z"},
        {AT(1770804000, 100), "2026-02-11T10:00:00.0000001Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        char out[TIMESTAMP_TEXT_MAX];
        size_t len = timestamp_format((struct wall){.ns = rows[i].ns}, out);
        expect_str(str_from(out, len), str_from_z(rows[i].text));
    }
}

static void format__reads_back(void **state)
{
    (void)state;
    struct rng rng = rng_from(3);
    for (unsigned i = 0; i < 5000; i++) {
        struct wall at = {.ns = (int64_t)(rng_next(&rng) >> 1) | 1}, back;
        char out[TIMESTAMP_TEXT_MAX];
        struct err err;
        size_t len = timestamp_format(at, out);
        assert_int_equal(timestamp_parse(str_from(out, len), &back, &err), ERR_OK);
        assert_int_equal(back.ns, at.ns);
    }
}

TEST_GROUP(timestamp, cmocka_unit_test(parse__reads_the_forms_of_the_contract),
           cmocka_unit_test(parse_s__reads_the_whole_calendar),
           cmocka_unit_test(parse_kept__refuses_what_it_would_have_to_move_back),
           cmocka_unit_test(parse__refuses_everything_else),
           cmocka_unit_test(format__is_utc_without_zeros_at_the_end),
           cmocka_unit_test(format__reads_back));
