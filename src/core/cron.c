#include "core/cron.h"

#include "base/check.h"
#include "core/duration.h"

enum { YEARS_AHEAD = 5, FIELDS_MAX = 6, EVERY_MS_MIN = 1000, SHOWN_MAX = 32 };

static const struct str month_names[] = {
    {"jan", 3}, {"feb", 3}, {"mar", 3}, {"apr", 3}, {"may", 3}, {"jun", 3},
    {"jul", 3}, {"aug", 3}, {"sep", 3}, {"oct", 3}, {"nov", 3}, {"dec", 3},
};
static const struct str weekday_names[] = {
    {"sun", 3}, {"mon", 3}, {"tue", 3}, {"wed", 3}, {"thu", 3}, {"fri", 3}, {"sat", 3},
};

/* A field of an expression, in the order of the text. */
static const struct field {
    const char *name;
    int min;
    int max;
    int last;                /* end of "*" and "5/2"; 7 for Sunday must be written */
    const struct str *names; /* names of the values from min on */
    size_t name_count;
} fields[FIELDS_MAX] = {
    {"second", 0, 59, 59, NULL, 0},
    {"minute", 0, 59, 59, NULL, 0},
    {"hour", 0, 23, 23, NULL, 0},
    {"day of month", 1, 31, 31, NULL, 0},
    {"month", 1, 12, 12, month_names, COUNT_OF(month_names)},
    {"day of week", 0, 7, 6, weekday_names, COUNT_OF(weekday_names)},
};

static const struct {
    struct str name;
    struct str expression;
} macros[] = {
    {{"@yearly", 7}, {"0 0 1 1 *", 9}},  {{"@annually", 9}, {"0 0 1 1 *", 9}},
    {{"@monthly", 8}, {"0 0 1 * *", 9}}, {{"@weekly", 7}, {"0 0 * * 0", 9}},
    {{"@daily", 6}, {"0 0 * * *", 9}},   {{"@midnight", 9}, {"0 0 * * *", 9}},
    {{"@hourly", 7}, {"0 * * * *", 9}},
};

/* Cut off the part of s before the first `mark`, and the mark. Without a mark, all of s. */
static struct str take_until(struct str *s, char mark, bool *out_found)
{
    size_t n = 0;
    while (n < s->len && s->ptr[n] != mark) {
        n++;
    }
    struct str part = str_from(s->ptr, n);
    *out_found = n < s->len;
    *s = str_from_offset(*s, *out_found ? n + 1 : n);
    return part;
}

/* Parse a value of the field: a number or a name. False if invalid. */
static bool read_value(const struct field *f, struct str text, int *out)
{
    int64_t number;
    for (size_t i = 0; i < f->name_count; i++) {
        if (str_eq_nocase(text, f->names[i])) {
            *out = f->min + (int)i;
            return true;
        }
    }
    if (!str_to_i64(text, &number) || text.ptr[0] == '-' || number < f->min || number > f->max) {
        return false;
    }
    *out = (int)number;
    return true;
}

/* Parse one item of a list: its bits, and whether it covers everything. */
static bool read_item(const struct field *f, struct str text, uint64_t *bits, bool *any)
{
    bool stepped, ranged;
    struct str base = take_until(&text, '/', &stepped);
    const struct str step_text = text;
    struct str high_text = base;
    struct str low_text = take_until(&high_text, '-', &ranged);
    int64_t step = 1;
    int low = f->min, high = f->last;

    if (stepped && (!str_to_i64(step_text, &step) || step < 1)) {
        return false;
    }
    bool star = str_eq(base, STR("*")) || str_eq(base, STR("?"));
    if (!star) {
        if (!read_value(f, low_text, &low)) {
            return false;
        }
        if (ranged && !read_value(f, high_text, &high)) {
            return false;
        }
        if (!ranged && !stepped) {
            high = low;
        }
    }
    if (low > high) {
        return false;
    }
    step = step > f->max ? f->max + 1 : step;
    for (int v = low; v <= high; v += (int)step) {
        *bits |= 1ULL << v;
    }
    *any = *any || (star && step == 1);
    return true;
}

static enum err_code read_field(const struct field *f, struct str text, uint64_t *out_bits,
                                bool *out_any, struct err *err)
{
    uint64_t bits = 0;
    bool any = false, more;
    struct str rest = text;
    do {
        struct str item = take_until(&rest, ',', &more);
        if (!read_item(f, item, &bits, &any)) {
            item.len = item.len > SHOWN_MAX ? SHOWN_MAX : item.len;
            return err_set(err, ERR_VALIDATION, "cron: '" STR_FMT "' is not a %s (%d to %d)",
                           STR_ARG(item), f->name, f->min, f->max);
        }
    } while (more);
    *out_bits = bits;
    *out_any = any;
    return ERR_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Split text into words; returns FIELDS_MAX + 1 if there are more. */
static size_t split(struct str text, struct str words[static FIELDS_MAX])
{
    size_t count = 0, at = 0;
    while (at < text.len) {
        size_t end = at;
        while (end < text.len && !is_space(text.ptr[end])) {
            end++;
        }
        if (end > at) {
            if (count == FIELDS_MAX) {
                return FIELDS_MAX + 1;
            }
            words[count++] = str_from(text.ptr + at, end - at);
        }
        at = end + 1;
    }
    return count;
}

static enum err_code parse_fields(struct str text, struct cron *out, struct err *err)
{
    struct str words[FIELDS_MAX];
    size_t count = split(text, words);
    if (count != FIELDS_MAX && count != FIELDS_MAX - 1) {
        return err_set(err, ERR_VALIDATION, "cron: expected 5 or 6 fields");
    }
    struct cron c = {.seconds = 1};
    uint64_t *const bits[FIELDS_MAX] = {&c.seconds, &c.minutes, &c.hours,
                                        &c.days,    &c.months,  &c.weekdays};
    bool any[FIELDS_MAX] = {false};
    const size_t left_out = FIELDS_MAX - count;
    for (size_t i = left_out; i < FIELDS_MAX; i++) {
        if (read_field(&fields[i], words[i - left_out], bits[i], &any[i], err) != ERR_OK) {
            return err->code;
        }
    }
    c.weekdays |= c.weekdays >> 7 & 1; /* 7 is Sunday too */
    c.any_day = any[3];
    c.any_weekday = any[5];
    *out = c;
    return ERR_OK;
}

static enum err_code parse_every(struct str text, struct cron *out, struct err *err)
{
    int64_t ms;
    if (duration_parse(str_trim(text), &ms, err) != ERR_OK) {
        return err_wrap(err, "cron: @every");
    }
    if (ms < EVERY_MS_MIN) {
        return err_set(err, ERR_VALIDATION, "cron: @every: the duration must be at least 1s");
    }
    *out = (struct cron){.every_ms = ms};
    return ERR_OK;
}

enum err_code cron_parse(struct str text, struct cron *out, struct err *err)
{
    const struct str every = STR("@every ");
    text = str_trim(text);
    if (str_starts_with(text, every)) {
        return parse_every(str_from_offset(text, every.len), out, err);
    }
    for (size_t i = 0; i < COUNT_OF(macros); i++) {
        if (str_eq(text, macros[i].name)) {
            return parse_fields(macros[i].expression, out, err);
        }
    }
    if (text.len > 0 && text.ptr[0] == '@') {
        text.len = text.len > SHOWN_MAX ? SHOWN_MAX : text.len;
        return err_set(err, ERR_VALIDATION,
                       "cron: '" STR_FMT "' is not known; expected @hourly, @daily, @midnight, "
                       "@weekly, @monthly, @yearly, @annually or @every with a duration",
                       STR_ARG(text));
    }
    return parse_fields(text, out, err);
}

/* The lowest bit from `from` on, or -1. */
static int next_bit(uint64_t bits, int from)
{
    uint64_t rest = from > 63 ? 0 : bits >> from << from;
    return rest == 0 ? -1 : __builtin_ctzll(rest);
}

/* Move t to the first matching time of its day that is not before it. False if there is none. */
static bool match_time(const struct cron *c, struct civil *t)
{
    int hour = next_bit(c->hours, t->hour);
    int minute = hour == t->hour ? next_bit(c->minutes, t->minute) : next_bit(c->minutes, 0);
    int second = hour == t->hour && minute == t->minute ? next_bit(c->seconds, t->second)
                                                        : next_bit(c->seconds, 0);
    if (hour >= 0 && minute >= 0 && second < 0) {
        /* No match is left in the minute. */
        minute = next_bit(c->minutes, minute + 1);
        second = next_bit(c->seconds, 0);
    }
    if (hour >= 0 && minute < 0) {
        /* No match is left in the hour. */
        hour = next_bit(c->hours, hour + 1);
        minute = next_bit(c->minutes, 0);
        second = next_bit(c->seconds, 0);
    }
    if (hour < 0) {
        return false;
    }
    CHECK(hour < 24);
    CHECK(minute >= 0 && minute < 60);
    CHECK(second >= 0 && second < 60);
    t->hour = hour;
    t->minute = minute;
    t->second = second;
    return true;
}

static bool match_day(const struct cron *c, struct civil t)
{
    int weekday = civil_weekday(civil_to_days(t.year, t.month, t.day));
    bool day = (c->days >> t.day & 1) != 0;
    bool of_week = (c->weekdays >> weekday & 1) != 0;
    bool either = !c->any_day && !c->any_weekday;
    return either ? day || of_week : day && of_week;
}

static struct civil next_day(struct civil t)
{
    struct civil n = {.year = t.year, .month = t.month, .day = t.day + 1};
    if (n.day > civil_days_in_month(t.year, t.month)) {
        n.day = 1;
        n.month = t.month % 12 + 1;
        n.year += t.month == 12 ? 1 : 0;
    }
    return n;
}

bool cron_next_civil(const struct cron *c, struct civil after, struct civil *out)
{
    if (c->every_ms != 0) {
        return false;
    }
    struct civil t = civil_from_s(civil_to_s(after) + 1);
    const int year_last = after.year + YEARS_AHEAD;
    while (t.year <= year_last) {
        if ((c->months >> t.month & 1) == 0) {
            t.day = civil_days_in_month(t.year, t.month);
        } else if (match_day(c, t) && match_time(c, &t)) {
            CHECK(civil_to_s(t) > civil_to_s(after));
            *out = t;
            return true;
        }
        t = next_day(t);
    }
    return false;
}

/* The first time after `after` among the multiples of every_ms from `created` on. */
static bool next_every(const struct cron *c, struct wall created, struct wall after,
                       struct wall *out)
{
    int64_t every_ns, since, next;
    if (__builtin_mul_overflow(c->every_ms, NS_PER_MS, &every_ns) ||
        __builtin_sub_overflow(after.ns, created.ns, &since)) {
        return false;
    }
    int64_t turns = since < 0 ? 1 : since / every_ns + 1;
    if (__builtin_mul_overflow(turns, every_ns, &next) ||
        __builtin_add_overflow(created.ns, next, &next)) {
        return false;
    }
    CHECK(next > after.ns);
    out->ns = next;
    return true;
}

bool cron_next(const struct cron *c, const struct zone *zone, struct wall created,
               struct wall after, struct wall *out)
{
    if (c->every_ms != 0) {
        return next_every(c, created, after, out);
    }
    const int64_t after_s = after.ns / NS_PER_S - (after.ns % NS_PER_S < 0 ? 1 : 0);
    struct civil local = civil_from_s(after_s + zone_offset_s(zone, after_s));
    int64_t at_s;
    /* After clocks are set back, local times are repeated: skip those that were due before. */
    do {
        if (!cron_next_civil(c, local, &local)) {
            return false;
        }
        at_s = zone_first_instant(zone, civil_to_s(local));
    } while (at_s <= after_s);
    int64_t at_ns;
    if (__builtin_mul_overflow(at_s, NS_PER_S, &at_ns)) {
        return false;
    }
    CHECK(at_ns > after.ns);
    out->ns = at_ns;
    return true;
}

bool cron_next_pass(const struct cron *c, const struct zone *zone, struct wall after,
                    struct wall *out)
{
    enum { CHANGES_MAX = 64 }; /* five years have ten changes */
    int64_t from_s = after.ns / NS_PER_S - (after.ns % NS_PER_S < 0 ? 1 : 0);
    int64_t offset = zone_offset_s(zone, from_s);
    int64_t end_s = zone_next_change_s(zone, from_s);
    /* Between two changes, the zone's clocks never jump. */
    for (unsigned i = 0; i < CHANGES_MAX; i++) {
        struct civil local;
        if (!cron_next_civil(c, civil_from_s(from_s + offset), &local)) {
            return false;
        }
        int64_t at_s = civil_to_s(local) - offset;
        if (at_s < end_s) {
            return !__builtin_mul_overflow(at_s, NS_PER_S, &out->ns);
        }
        from_s = end_s - 1; /* the first second after the change may be a match */
        offset = zone_offset_s(zone, end_s);
        end_s = zone_next_change_s(zone, end_s);
    }
    return false;
}
