#include "core/zone_rule.h"

#include "base/check.h"
#include "core/civil.h"

enum { YEARS_AROUND = 4, CHANGES = 2 * YEARS_AROUND, OFFSET_HOURS_MAX = 24, TIME_HOURS_MAX = 167 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool take_char(struct str *s, char c)
{
    if (s->len == 0 || s->ptr[0] != c) {
        return false;
    }
    *s = str_from_offset(*s, 1);
    return true;
}

/* Remove a number from 0 to max from the front of s. */
static bool take_number(struct str *s, int max, int *out)
{
    size_t n = 0;
    int value = 0;
    while (n < s->len && is_digit(s->ptr[n]) && value <= max) {
        value = value * 10 + (s->ptr[n] - '0');
        n++;
    }
    if (n == 0 || value > max) {
        return false;
    }
    *s = str_from_offset(*s, n);
    *out = value;
    return true;
}

/* Remove "CET" or "<+01>" from the front of s. */
static bool take_name(struct str *s)
{
    bool quoted = take_char(s, '<');
    size_t n = 0;
    while (n < s->len && (is_letter(s->ptr[n]) || (quoted && s->ptr[n] != '>'))) {
        n++;
    }
    *s = str_from_offset(*s, n);
    return n >= 3 && (!quoted || take_char(s, '>'));
}

/* Remove "2", "-2:30" or "+2:30:00" from the front of s. */
static bool take_time(struct str *s, int hours_max, int *out_s)
{
    bool minus = take_char(s, '-');
    int hours, minutes = 0, seconds = 0;
    if (!minus) {
        (void)take_char(s, '+');
    }
    if (!take_number(s, hours_max, &hours)) {
        return false;
    }
    if (take_char(s, ':')) {
        if (!take_number(s, 59, &minutes)) {
            return false;
        }
        if (take_char(s, ':') && !take_number(s, 59, &seconds)) {
            return false;
        }
    }
    int time_s = hours * 3600 + minutes * 60 + seconds;
    *out_s = minus ? -time_s : time_s;
    return true;
}

/* Remove ",M3.5.0/2", ",J60" or ",59" from the front of s. */
static bool take_day(struct str *s, struct zone_rule_day *out)
{
    struct zone_rule_day d = {.kind = ZONE_RULE_DAY, .time_s = 2 * 3600};
    bool known = false;

    if (!take_char(s, ',')) {
        return false;
    }
    if (take_char(s, 'M')) {
        d.kind = ZONE_RULE_WEEKDAY;
        known = take_number(s, 12, &d.month) && take_char(s, '.') && take_number(s, 5, &d.week) &&
                take_char(s, '.') && take_number(s, 6, &d.day) && d.month > 0 && d.week > 0;
    } else if (take_char(s, 'J')) {
        d.kind = ZONE_RULE_JULIAN;
        known = take_number(s, 365, &d.day) && d.day > 0;
    } else {
        known = take_number(s, 365, &d.day);
    }
    if (!known || (take_char(s, '/') && !take_time(s, TIME_HOURS_MAX, &d.time_s))) {
        return false;
    }
    *out = d;
    return true;
}

bool zone_rule_parse(struct str text, struct zone_rule *out)
{
    struct zone_rule rule = {0};
    int west_s;

    if (!take_name(&text) || !take_time(&text, OFFSET_HOURS_MAX, &west_s)) {
        return false;
    }
    rule.offset_s = -west_s;
    if (text.len > 0) {
        rule.has_dst = true;
        rule.dst_offset_s = rule.offset_s + 3600;
        if (!take_name(&text)) {
            return false;
        }
        if (text.len > 0 && text.ptr[0] != ',') {
            if (!take_time(&text, OFFSET_HOURS_MAX, &west_s)) {
                return false;
            }
            rule.dst_offset_s = -west_s;
        }
        if (!take_day(&text, &rule.start) || !take_day(&text, &rule.end) || text.len > 0) {
            return false;
        }
    }
    *out = rule;
    return true;
}

/* Return the local time of the change in that year. */
static int64_t change_local_s(const struct zone_rule_day *d, int year)
{
    const bool leap = civil_days_in_month(year, 2) == 29;
    int64_t days = 0;

    switch (d->kind) {
    case ZONE_RULE_JULIAN: /* day 60 is always the first of March */
        days = civil_to_days(year, 1, 1) + d->day - 1 + (leap && d->day >= 60 ? 1 : 0);
        break;
    case ZONE_RULE_DAY:
        days = civil_to_days(year, 1, 1) + d->day;
        break;
    case ZONE_RULE_WEEKDAY: {
        int64_t first = civil_to_days(year, d->month, 1);
        int day = (d->day - civil_weekday(first) + 7) % 7 + (d->week - 1) * 7;
        days = first + (day < civil_days_in_month(year, d->month) ? day : day - 7);
        break;
    }
    default:
        UNREACHABLE("a rule has one of these forms");
    }
    return days * CIVIL_DAY_S + d->time_s;
}

struct change {
    int64_t at_s;
    int64_t offset_s; /* from this change on */
};

static void insert(struct change *changes, size_t count, struct change c)
{
    size_t i = count;
    while (i > 0 && changes[i - 1].at_s > c.at_s) {
        changes[i] = changes[i - 1];
        i--;
    }
    changes[i] = c;
}

/* Collect all changes of the years around an instant, in order. Of two at the same instant, the
 * change of the later year is last: rules for "all year round" rely on this. */
static void changes_around(const struct zone_rule *rule, int64_t instant_s,
                           struct change out[static CHANGES])
{
    int year = civil_from_s(instant_s).year - YEARS_AROUND / 2;
    size_t count = 0;
    CHECK(year >= 0);
    for (int i = 0; i < YEARS_AROUND; i++, year++) {
        struct change start = {.at_s = change_local_s(&rule->start, year) - rule->offset_s,
                               .offset_s = rule->dst_offset_s};
        struct change end = {.at_s = change_local_s(&rule->end, year) - rule->dst_offset_s,
                             .offset_s = rule->offset_s};
        insert(out, count++, start);
        insert(out, count++, end);
    }
}

int64_t zone_rule_offset_s(const struct zone_rule *rule, int64_t instant_s)
{
    struct change changes[CHANGES];
    if (!rule->has_dst) {
        return rule->offset_s;
    }
    changes_around(rule, instant_s, changes);
    size_t i = CHANGES;
    while (i > 1 && changes[i - 1].at_s > instant_s) {
        i--;
    }
    return changes[i - 1].offset_s;
}

int64_t zone_rule_next_change_s(const struct zone_rule *rule, int64_t instant_s)
{
    struct change changes[CHANGES];
    if (!rule->has_dst) {
        return INT64_MAX;
    }
    changes_around(rule, instant_s, changes);
    for (size_t i = 0; i < CHANGES; i++) {
        if (changes[i].at_s > instant_s) {
            return changes[i].at_s;
        }
    }
    UNREACHABLE("every year has a change");
}
