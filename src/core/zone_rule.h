/*
 * Zone_rule: the yearly changes of a time zone, given as a POSIX TZ string.
 *
 *     CET-1CEST,M3.5.0,M10.5.0/3
 *
 * Its signs are reversed: west of Greenwich is positive. Times may be up to 167 hours before or
 * after midnight (RFC 8536, 3.3.1).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

/* One day of each year, and a time. */
struct zone_rule_day {
    enum {
        ZONE_RULE_JULIAN, /* day 1 to 365, the leap day is not counted */
        ZONE_RULE_DAY,    /* day 0 to 365, the leap day is counted */
        ZONE_RULE_WEEKDAY /* the nth weekday of a month, the 5th is the last */
    } kind;
    int day; /* for WEEKDAY: 0 is Sunday */
    int week;
    int month;
    int time_s; /* since midnight, on the clock before the change */
};

struct zone_rule {
    int64_t offset_s;     /* seconds east of UTC, in standard time */
    int64_t dst_offset_s; /* the same, in daylight saving time */
    bool has_dst;
    struct zone_rule_day start; /* of daylight saving time */
    struct zone_rule_day end;
};

/* False if text is not a valid rule. */
ATTR_NODISCARD bool zone_rule_parse(struct str text, struct zone_rule *out);

int64_t zone_rule_offset_s(const struct zone_rule *rule, int64_t instant_s);

/* Return the first change strictly after an instant; INT64_MAX if there is none. */
int64_t zone_rule_next_change_s(const struct zone_rule *rule, int64_t instant_s);
