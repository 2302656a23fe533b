/*
 * Civil: converts between calendar dates with times of day, and seconds.
 *
 * The proleptic Gregorian calendar from year 0 to year 9999, days of 86400 seconds, no time zone:
 * the seconds count from 1970-01-01T00:00:00 on the same clock. For time zones see zone.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CIVIL_DAY_S = 86400, CIVIL_YEAR_MAX = 9999 };

struct civil {
    int year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
    int hour;
    int minute;
    int second;
};

/* Is it a valid date and time of day? Leap seconds are not. */
bool civil_is_valid(struct civil c);

int civil_days_in_month(int year, int month);

/* Days from 1970-01-01 to a valid date. */
int64_t civil_to_days(int year, int month, int day);

/* Convert to and from seconds since 1970-01-01T00:00:00. The result must be in the calendar. */
int64_t civil_to_s(struct civil c);
struct civil civil_from_s(int64_t s);

/* 0 is Sunday. */
int civil_weekday(int64_t days);
