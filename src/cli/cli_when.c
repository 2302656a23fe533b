#include "cli/cli_when.h"

#include <time.h>

#include "core/duration.h"
#include "core/timestamp.h"

/* Minutes since midnight for "9:00" or "21:30". */
static bool parse_clock(struct str text, int *out)
{
    struct str rest = text;
    struct str hour = str_cut(&rest, ':');
    int64_t h = 0;
    int64_t m = 0;
    if (!str_to_i64(hour, &h) || (rest.len != 2 && rest.len != 0) ||
        (rest.len == 2 && !str_to_i64(rest, &m)) || rest.len == 0) {
        return false;
    }
    *out = (int)(h * 60 + m);
    return h >= 0 && h < 24 && m >= 0 && m < 60;
}

/* "tomorrow 9:00": the name of a day, and a time. */
static bool parse_day(struct str text, struct wall now, struct wall *out)
{
    static const struct {
        const char *word;
        int days;
    } rows[] = {{"today", 0}, {"yesterday", -1}, {"tomorrow", 1}};
    struct str rest = text;
    struct str word = str_cut(&rest, ' ');
    int minutes = 0;
    rest = str_trim(rest);
    if (rest.len > 0 && !parse_clock(rest, &minutes)) {
        return false;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (str_eq_nocase(word, str_from_z(rows[i].word))) {
            time_t at = (time_t)(now.ns / NS_PER_S);
            struct tm day;
            if (localtime_r(&at, &day) == NULL) {
                return false;
            }
            day.tm_mday += rows[i].days;
            day.tm_hour = minutes / 60;
            day.tm_min = minutes % 60;
            day.tm_sec = 0;
            day.tm_isdst = -1; /* that day may have another UTC offset */
            at = mktime(&day);
            *out = (struct wall){.ns = (int64_t)at * NS_PER_S};
            return at != (time_t)-1;
        }
    }
    return false;
}

bool cli_when_parse(struct str text, struct wall now, bool ahead, struct wall *out)
{
    struct err err;
    int64_t ms = 0;
    struct str given = str_trim(text);
    if (str_eq_nocase(given, STR("now"))) {
        *out = now;
        return true;
    }
    bool sign = given.len > 1 && (given.ptr[0] == '+' || given.ptr[0] == '-');
    struct str span = sign ? str_from_offset(given, 1) : given;
    if (sign) {
        ahead = given.ptr[0] == '+';
    }
    if (duration_parse(span, &ms, &err) == ERR_OK && ms >= 0) {
        *out = wall_add_ms(now, ahead ? ms : -ms);
        return true;
    }
    return timestamp_parse(given, out, &err) == ERR_OK || parse_day(given, now, out);
}
