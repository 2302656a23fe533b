#include "core/timestamp.h"

#include "base/check.h"
#include "core/civil.h"

enum { SHOWN_MAX = 40, FRACTION_DIGITS = 9 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Remove c from the front of s. False if s begins with something else. */
static bool take_char(struct str *s, char c)
{
    if (s->len == 0 || s->ptr[0] != c) {
        return false;
    }
    *s = str_from_offset(*s, 1);
    return true;
}

/* Remove a number of exactly that many digits from the front of s. */
static bool take_number(struct str *s, size_t digits, int *out)
{
    int value = 0;
    if (s->len < digits) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        if (!is_digit(s->ptr[i])) {
            return false;
        }
        value = value * 10 + (s->ptr[i] - '0');
    }
    *s = str_from_offset(*s, digits);
    *out = value;
    return true;
}

/* Remove the digits after a point, at least one, from the front of s. */
static bool take_fraction(struct str *s, int *out_ns)
{
    int ns = 0;
    size_t n = 0;
    for (; n < s->len && is_digit(s->ptr[n]); n++) {
        ns = n < FRACTION_DIGITS ? ns * 10 + (s->ptr[n] - '0') : ns;
    }
    for (size_t i = n; i < FRACTION_DIGITS; i++) {
        ns *= 10;
    }
    *s = str_from_offset(*s, n);
    *out_ns = ns;
    return n > 0;
}

/* Remove "Z" or "+01:00" from the front of s. */
static bool take_zone(struct str *s, int *out_offset_s)
{
    int hours, minutes;
    if (take_char(s, 'Z') || take_char(s, 'z')) {
        *out_offset_s = 0;
        return true;
    }
    bool west = take_char(s, '-');
    if ((!west && !take_char(s, '+')) || !take_number(s, 2, &hours) || !take_char(s, ':') ||
        !take_number(s, 2, &minutes) || hours > 23 || minutes > 59) {
        return false;
    }
    int offset_s = hours * 3600 + minutes * 60;
    *out_offset_s = west ? -offset_s : offset_s;
    return true;
}

/* A parsed text: `at` on a clock that is offset_s ahead of UTC, plus ns. */
struct parts {
    struct civil at;
    int ns;
    int offset_s;
};

static bool take_date(struct str *s, struct civil *c)
{
    return take_number(s, 4, &c->year) && take_char(s, '-') && take_number(s, 2, &c->month) &&
           take_char(s, '-') && take_number(s, 2, &c->day);
}

static bool take_time(struct str *s, struct parts *p)
{
    if (!take_number(s, 2, &p->at.hour) || !take_char(s, ':') ||
        !take_number(s, 2, &p->at.minute)) {
        return false;
    }
    if (s->len == 0) {
        return true;
    }
    if (!take_char(s, ':') || !take_number(s, 2, &p->at.second)) {
        return false;
    }
    if (take_char(s, '.') && !take_fraction(s, &p->ns)) {
        return false;
    }
    return s->len == 0 || take_zone(s, &p->offset_s);
}

static enum err_code read_parts(struct str text, struct parts *out, struct err *err)
{
    struct parts p = {0};
    struct str rest = text;
    bool whole = take_date(&rest, &p.at);

    if (whole && rest.len > 0) {
        whole = (take_char(&rest, 'T') || take_char(&rest, 't')) && take_time(&rest, &p);
    }
    if (!whole || rest.len > 0 || !civil_is_valid(p.at)) {
        text.len = text.len > SHOWN_MAX ? SHOWN_MAX : text.len;
        return err_set(err, ERR_VALIDATION, "'" STR_FMT "' is not a time", STR_ARG(text));
    }
    *out = p;
    return ERR_OK;
}

/* Sets *out_late if the time was too late and was limited to the end of the range. */
static enum err_code parse(struct str text, struct wall *out, bool *out_late, struct err *err)
{
    struct parts p;
    if (read_parts(text, &p, err) != ERR_OK) {
        return err->code;
    }
    int64_t s = civil_to_s(p.at) - p.offset_s;
    int64_t ns;
    if (s < 0 || (s == 0 && p.ns == 0)) {
        ns = 1;
    } else if (__builtin_mul_overflow(s, NS_PER_S, &ns) || __builtin_add_overflow(ns, p.ns, &ns)) {
        ns = INT64_MAX;
        *out_late = true;
    }
    out->ns = ns;
    return ERR_OK;
}

enum err_code timestamp_parse(struct str text, struct wall *out, struct err *err)
{
    bool late = false;
    return parse(text, out, &late, err);
}

enum err_code timestamp_parse_kept(struct str text, struct wall *out, struct err *err)
{
    bool late = false;
    if (parse(text, out, &late, err) != ERR_OK) {
        return err->code;
    }
    return late ? err_set(err, ERR_VALIDATION,
                          "'" STR_FMT "' is too late: the latest time is 2262-04-11T23:47:16Z",
                          STR_ARG(text))
                : ERR_OK;
}

enum err_code timestamp_parse_s(struct str text, int64_t *out_s, struct err *err)
{
    struct parts p;
    if (read_parts(text, &p, err) != ERR_OK) {
        return err->code;
    }
    *out_s = civil_to_s(p.at) - p.offset_s;
    return ERR_OK;
}

/* Write the lowest digits of value to out, and the character `behind`; returns the length. */
static size_t put(char *out, int value, size_t digits, char behind)
{
    for (size_t i = digits; i > 0; i--) {
        out[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
    out[digits] = behind;
    return digits + 1;
}

size_t timestamp_format(struct wall at, char *out)
{
    int64_t s = at.ns / NS_PER_S;
    int ns = (int)(at.ns % NS_PER_S);
    if (ns < 0) {
        ns += (int)NS_PER_S;
        s--;
    }
    struct civil c = civil_from_s(s);
    size_t len = put(out, c.year, 4, '-');
    len += put(out + len, c.month, 2, '-');
    len += put(out + len, c.day, 2, 'T');
    len += put(out + len, c.hour, 2, ':');
    len += put(out + len, c.minute, 2, ':');
    len += put(out + len, c.second, 2, 'Z');
    if (ns > 0) {
        out[len - 1] = '.';
        len += put(out + len, ns, FRACTION_DIGITS, '0');
        while (out[len - 1] == '0') {
            len--;
        }
        out[len++] = 'Z';
    }
    CHECK(len <= TIMESTAMP_TEXT_MAX);
    return len;
}
