/*
 * Civil: dates and times of day as people write them, and the seconds they stand for.
 *
 * The proleptic Gregorian calendar from year 0 to year 9999, days of 86400 seconds, no zone: the
 * seconds count from 1970-01-01T00:00:00 on the same clock. Zones are zone.h's.
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

/* Is it a date and a time of day of the calendar? Leap seconds are not. */
bool civil_is_valid(struct civil c);

int civil_days_in_month(int year, int month);

/* Days from 1970-01-01 to that date, which is valid. */
int64_t civil_to_days(int year, int month, int day);

/* Seconds from 1970-01-01T00:00:00; and back. The result must be in the calendar. */
int64_t civil_to_s(struct civil c);
struct civil civil_from_s(int64_t s);

/* 0 is Sunday. */
int civil_weekday(int64_t days);
