/*
 * Cron: computes when a schedule is due (http-api.md 13.3).
 *
 *     [second] minute hour day-of-month month day-of-week
 *
 * Each field: "*" or "?", a value, a range, or a list of those; a step can follow any of them
 * ("5/15" is "5-59/15"). Months and weekdays can be written with three letters; Sunday is 0 and 7.
 * If both day fields are restricted, a day matches if either field does; "*" with a step above 1 is
 * a restriction. Also @yearly @annually @monthly @weekly @daily @midnight @hourly, and "@every
 * 90s".
 *
 * A parsed expression is a value: bitmaps, no pointers. Finding the next match is pure. If the
 * clocks of a zone skip a time, it is due at the instant of the change. A time that occurs twice is
 * due once, the first time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "core/civil.h"
#include "core/zone.h"

struct cron {
    int64_t every_ms; /* for @every; the other members are then unused */
    uint64_t seconds; /* bit n: second n matches; same for the others */
    uint64_t minutes;
    uint64_t hours;
    uint64_t days;
    uint64_t months;
    uint64_t weekdays; /* bit 0 is Sunday */
    bool any_day;      /* the field is "*" */
    bool any_weekday;
};

/* ERR_VALIDATION if text is not a valid expression. An expression that never matches, such as
 * February 30, is valid: its next match does not exist. */
ATTR_NODISCARD enum err_code cron_parse(struct str text, struct cron *out, struct err *err);

/* The first match strictly after a calendar time, on a clock that never jumps. False if there is
 * none up to the end of the fifth following year, or for an @every. */
ATTR_NODISCARD bool cron_next_civil(const struct cron *c, struct civil after, struct civil *out);

/* The same on the clocks of a zone, matching every occurrence: a time that the clocks skip is not
 * due, a time that occurs twice is due twice (scheduler.md 3). */
ATTR_NODISCARD bool cron_next_pass(const struct cron *c, const struct zone *zone, struct wall after,
                                   struct wall *out);

/* The first time strictly after `after` at which the schedule is due. An @every counts from
 * `created` and needs no zone. False if there is none within five years. */
ATTR_NODISCARD bool cron_next(const struct cron *c, const struct zone *zone, struct wall created,
                              struct wall after, struct wall *out);
