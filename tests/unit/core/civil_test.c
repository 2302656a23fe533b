#include "core/civil.h"

#include "lib/test.h"

static const struct {
    const char *name;
    struct civil civil;
    int64_t s;
    int weekday;
} moments[] = {
    {"the epoch", {1970, 1, 1, 0, 0, 0}, 0, 4},
    {"a second before it", {1969, 12, 31, 23, 59, 59}, -1, 3},
    {"a leap day", {2024, 2, 29, 12, 30, 15}, 1709209815, 4},
    {"after it", {2024, 3, 1, 0, 0, 0}, 1709251200, 5},
    {"a century that is a leap year", {2000, 2, 29, 0, 0, 0}, 951782400, 2},
    {"one that is not", {2100, 3, 1, 0, 0, 0}, 4107542400, 1},
    {"the end of a leap year", {2024, 12, 31, 23, 59, 59}, 1735689599, 2},
    {"the last second of 32 bits", {2038, 1, 19, 3, 14, 7}, 2147483647, 2},
    {"the first day of the calendar", {0, 1, 1, 0, 0, 0}, -62167219200, 6},
    {"the last second of it", {9999, 12, 31, 23, 59, 59}, 253402300799, 5},
};

static void civil__and_seconds_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(moments); i++) {
        ROW(moments[i].name);
        struct civil want = moments[i].civil;
        assert_int_equal(civil_to_s(want), moments[i].s);
        struct civil got = civil_from_s(moments[i].s);
        assert_memory_equal(&got, &want, sizeof want);
        assert_true(civil_is_valid(want));
        int64_t days = civil_to_days(want.year, want.month, want.day);
        assert_int_equal(civil_weekday(days), moments[i].weekday);
    }
}

static void civil__counts_every_day_of_the_calendar(void **state)
{
    (void)state;
    int64_t day = civil_to_days(0, 1, 1);
    for (int year = 0; year <= CIVIL_YEAR_MAX; year += year < 1590 || year > 2410 ? 97 : 1) {
        if (day != civil_to_days(year, 1, 1)) {
            day = civil_to_days(year, 1, 1);
        }
        for (int month = 1; month <= 12; month++) {
            for (int d = 1; d <= civil_days_in_month(year, month); d++, day++) {
                struct civil c = civil_from_s(day * CIVIL_DAY_S + 86399);
                assert_true(c.year == year && c.month == month && c.day == d);
                assert_true(civil_to_days(year, month, d) == day);
            }
        }
    }
}

static void valid__knows_the_calendar(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct civil civil;
        bool valid;
    } rows[] = {
        {"a leap day", {2024, 2, 29, 0, 0, 0}, true},
        {"no leap day", {2023, 2, 29, 0, 0, 0}, false},
        {"no leap day in 1900", {1900, 2, 29, 0, 0, 0}, false},
        {"April has 30 days", {2023, 4, 31, 0, 0, 0}, false},
        {"month 0", {2023, 0, 1, 0, 0, 0}, false},
        {"month 13", {2023, 13, 1, 0, 0, 0}, false},
        {"day 0", {2023, 1, 0, 0, 0, 0}, false},
        {"hour 24", {2023, 1, 1, 24, 0, 0}, false},
        {"minute 60", {2023, 1, 1, 0, 60, 0}, false},
        {"leap second", {2016, 12, 31, 23, 59, 60}, false},
        {"year 10000", {10000, 1, 1, 0, 0, 0}, false},
        {"year -1", {-1, 1, 1, 0, 0, 0}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        assert_int_equal(civil_is_valid(rows[i].civil), rows[i].valid);
    }
}

TEST_GROUP(civil, cmocka_unit_test(civil__and_seconds_agree),
           cmocka_unit_test(civil__counts_every_day_of_the_calendar),
           cmocka_unit_test(valid__knows_the_calendar));
