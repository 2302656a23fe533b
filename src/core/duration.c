#include "core/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

#define NS_PER_MIN  (60 * NS_PER_S)
#define NS_PER_HOUR (60 * NS_PER_MIN)
#define NS_PER_DAY  (24 * NS_PER_HOUR)

enum { FRACTION_DIGITS_MAX = 22, SHOWN_MAX = 32 };

static const struct {
    struct str name;
    int64_t ns;
} units[] = {
    {{"ns", 2}, 1},
    {{"us", 2}, NS_PER_US},
    {{"\u00b5s", 3}, NS_PER_US}, /* the micro sign */
    {{"\u03bcs", 3}, NS_PER_US}, /* the Greek letter */
    {{"ms", 2}, NS_PER_MS},
    {{"s", 1}, NS_PER_S},
    {{"m", 1}, NS_PER_MIN},
    {{"h", 1}, NS_PER_HOUR},
    {{"d", 1}, NS_PER_DAY},
    {{"w", 1}, 7 * NS_PER_DAY},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Remove the leading digits from s and return them. */
static struct str take_digits(struct str *s)
{
    size_t n = 0;
    while (n < s->len && is_digit(s->ptr[n])) {
        n++;
    }
    struct str digits = str_from(s->ptr, n);
    *s = str_from_offset(*s, n);
    return digits;
}

/* Remove the unit, everything up to the next number, from s. Returns 0 if it is unknown. */
static int64_t take_unit(struct str *s)
{
    size_t n = 0;
    while (n < s->len && !is_digit(s->ptr[n]) && s->ptr[n] != '.') {
        n++;
    }
    struct str name = str_from(s->ptr, n);
    *s = str_from_offset(*s, n);
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (str_eq(units[i].name, name)) {
            return units[i].ns;
        }
    }
    return 0;
}

/* Return the part of unit_ns for the digits after the point, rounded down. Digits after the 22nd
 * have no effect: a week multiplied by 22 digits just fits into 128 bits. */
static int64_t fraction_of(struct str digits, int64_t unit_ns)
{
    unsigned __int128 value = 0;
    unsigned __int128 scale = 1;
    for (size_t i = 0; i < digits.len && i < FRACTION_DIGITS_MAX; i++) {
        value = value * 10 + (unsigned)(digits.ptr[i] - '0');
        scale *= 10;
    }
    return (int64_t)(value * (uint64_t)unit_ns / scale);
}

enum part { PART_OK, PART_NOT_VALID, PART_TOO_LONG };

/* Remove one number with its unit from s, and add it to *ns. */
static enum part take_part(struct str *s, int64_t *ns)
{
    int64_t whole = 0, part;
    struct str digits = take_digits(s);
    struct str fraction = STR_EMPTY;

    if (digits.len == 0) {
        return PART_NOT_VALID;
    }
    if (s->len > 0 && s->ptr[0] == '.') {
        *s = str_from_offset(*s, 1);
        fraction = take_digits(s);
        if (fraction.len == 0) {
            return PART_NOT_VALID;
        }
    }
    int64_t unit_ns = take_unit(s);
    if (unit_ns == 0) {
        return PART_NOT_VALID;
    }
    if (!str_to_i64(digits, &whole) || __builtin_mul_overflow(whole, unit_ns, &part) ||
        __builtin_add_overflow(part, fraction_of(fraction, unit_ns), &part) ||
        __builtin_add_overflow(*ns, part, ns)) {
        return PART_TOO_LONG;
    }
    return PART_OK;
}

static enum err_code refuse(struct err *err, struct str text, const char *why)
{
    text.len = text.len > SHOWN_MAX ? SHOWN_MAX : text.len;
    return err_set(err, ERR_VALIDATION, "'" STR_FMT "' %s", STR_ARG(text), why);
}

enum err_code duration_parse_ns(struct str text, int64_t *out_ns, struct err *err)
{
    struct str rest = text;
    bool negative = text.len > 0 && text.ptr[0] == '-';
    int64_t ns = 0;
    enum part part = PART_OK;

    if (negative || (text.len > 0 && text.ptr[0] == '+')) {
        rest = str_from_offset(text, 1);
    }
    if (str_eq(rest, STR("0"))) {
        *out_ns = 0;
        return ERR_OK;
    }
    do {
        part = take_part(&rest, &ns);
    } while (part == PART_OK && rest.len > 0);

    if (part == PART_NOT_VALID) {
        return refuse(err, text, "is not a duration");
    }
    if (part == PART_TOO_LONG) {
        return refuse(err, text, "is too long");
    }
    if (negative && ns > 0) {
        return refuse(err, text, "is negative");
    }
    *out_ns = ns;
    return ERR_OK;
}

enum err_code duration_parse(struct str text, int64_t *out_ms, struct err *err)
{
    int64_t ns;
    if (duration_parse_ns(text, &ns, err) != ERR_OK) {
        return err->code;
    }
    *out_ms = ns / NS_PER_MS;
    return ERR_OK;
}

/* Format value in units of unit_ns, without trailing zeros in the fraction: "1.5ms". */
static size_t format_part(uint64_t value, uint64_t unit_ns, struct str unit, char *out)
{
    int n = snprintf(out, DURATION_TEXT_MAX, "%" PRIu64, value / unit_ns);
    CHECK(n > 0);
    size_t len = (size_t)n;
    uint64_t rest = value % unit_ns;
    if (rest > 0) {
        out[len++] = '.';
        /* Units are powers of ten: when unit_ns reaches 1, no rest is left. */
        while (rest > 0 && unit_ns >= 10) {
            unit_ns /= 10;
            /* cppcheck-suppress zerodivcond ; it was 10 at least */
            out[len++] = (char)('0' + rest / unit_ns);
            rest %= unit_ns;
        }
    }
    memcpy(out + len, unit.ptr, unit.len);
    return len + unit.len;
}

size_t duration_format(int64_t ns, char *out)
{
    uint64_t left = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    size_t len = 0;

    if (ns < 0) {
        out[len++] = '-';
    }
    if (left > 0 && left < NS_PER_US) {
        return len + format_part(left, 1, STR("ns"), out + len);
    }
    if (left > 0 && left < NS_PER_MS) {
        return len + format_part(left, NS_PER_US, STR("\u00b5s"), out + len);
    }
    if (left > 0 && left < NS_PER_S) {
        return len + format_part(left, NS_PER_MS, STR("ms"), out + len);
    }
    uint64_t hours = left / NS_PER_HOUR;
    uint64_t minutes = left / NS_PER_MIN % 60;
    if (hours > 0) {
        len += format_part(hours, 1, STR("h"), out + len);
    }
    if (hours > 0 || minutes > 0) {
        len += format_part(minutes, 1, STR("m"), out + len);
    }
    len += format_part(left % NS_PER_MIN, NS_PER_S, STR("s"), out + len);
    CHECK(len <= DURATION_TEXT_MAX);
    return len;
}
