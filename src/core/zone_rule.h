/*
 * Zone_rule: when clocks change in every year to come, as a POSIX TZ text says it.
 *
 *     CET-1CEST,M3.5.0,M10.5.0/3
 *
 * Signs in it are the other way round: west of Greenwich is positive. Times may be 167 hours to
 * either side of midnight (RFC 8536, 3.3.1).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

/* One day of each year and a time on it. */
struct zone_rule_day {
    enum {
        ZONE_RULE_JULIAN, /* day 1 to 365, the leap day is not counted */
        ZONE_RULE_DAY,    /* day 0 to 365, the leap day is counted */
        ZONE_RULE_WEEKDAY /* the nth weekday of a month, the 5th is the last */
    } kind;
    int day; /* or the weekday, 0 is Sunday */
    int week;
    int month;
    int time_s; /* from midnight, on the clock as it was before the change */
};

struct zone_rule {
    int64_t offset_s;     /* seconds east of UTC, in standard time */
    int64_t dst_offset_s; /* and in the other */
    bool has_dst;
    struct zone_rule_day start; /* of the other time */
    struct zone_rule_day end;
};

/* False when text is not such a rule. */
ATTR_NODISCARD bool zone_rule_parse(struct str text, struct zone_rule *out);

int64_t zone_rule_offset_s(const struct zone_rule *rule, int64_t instant_s);

/* The first change strictly after an instant: when it is. INT64_MAX when there is none. */
int64_t zone_rule_next_change_s(const struct zone_rule *rule, int64_t instant_s);
