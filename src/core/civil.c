#include "core/civil.h"

#include "base/check.h"

/* Days from 0000-01-01 to 1970-01-01. */
enum { EPOCH_DAYS = 719528, DAYS_PER_400_YEARS = 146097, EPOCH_WEEKDAY = 4 };

/* Days of the year before each month, in a year without and with a leap day. */
static const int days_before_month[2][13] = {
    {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
    {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366},
};

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 0000-01-01 to the first day of that year. Year 0 is a leap year. */
static int64_t days_before_year(int year)
{
    int64_t before = year - 1;
    return year == 0 ? 0 : 366 + before * 365 + before / 4 - before / 100 + before / 400;
}

int civil_days_in_month(int year, int month)
{
    CHECK(month >= 1 && month <= 12);
    const int *before = days_before_month[is_leap(year)];
    return before[month] - before[month - 1];
}

bool civil_is_valid(struct civil c)
{
    return c.year >= 0 && c.year <= CIVIL_YEAR_MAX && c.month >= 1 && c.month <= 12 && c.day >= 1 &&
           c.day <= civil_days_in_month(c.year, c.month) && c.hour >= 0 && c.hour <= 23 &&
           c.minute >= 0 && c.minute <= 59 && c.second >= 0 && c.second <= 59;
}

int64_t civil_to_days(int year, int month, int day)
{
    CHECK(year >= 0);
    CHECK(month >= 1 && month <= 12);
    return days_before_year(year) + days_before_month[is_leap(year)][month - 1] + (day - 1) -
           EPOCH_DAYS;
}

int64_t civil_to_s(struct civil c)
{
    int of_day = c.hour * 3600 + c.minute * 60 + c.second;
    return civil_to_days(c.year, c.month, c.day) * CIVIL_DAY_S + of_day;
}

struct civil civil_from_s(int64_t s)
{
    int64_t days = s / CIVIL_DAY_S;
    int64_t rest = s % CIVIL_DAY_S;
    if (rest < 0) {
        rest += CIVIL_DAY_S;
        days--;
    }
    days += EPOCH_DAYS;
    CHECK(days >= 0);
    /* The average year length may give a year that is off by one. */
    int year = (int)(days * 400 / DAYS_PER_400_YEARS);
    if (days < days_before_year(year)) {
        year--;
    } else if (days >= days_before_year(year + 1)) {
        year++;
    }
    CHECK(year <= CIVIL_YEAR_MAX);
    int day = (int)(days - days_before_year(year));
    const int *before = days_before_month[is_leap(year)];
    int month = day / 31 + 1; /* months have at most 31 days, so it may be one too early */
    if (day >= before[month]) {
        month++;
    }
    return (struct civil){
        .year = year,
        .month = month,
        .day = day - before[month - 1] + 1,
        .hour = (int)(rest / 3600),
        .minute = (int)(rest / 60 % 60),
        .second = (int)(rest % 60),
    };
}

int civil_weekday(int64_t days)
{
    int day = (int)((days + EPOCH_WEEKDAY) % 7);
    return day < 0 ? day + 7 : day;
}
