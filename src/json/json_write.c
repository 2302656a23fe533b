#include "json/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/digits.h"
#include "json/json_int.h"

struct json_write json_write_to(struct buf *out)
{
    return (struct json_write){.out = out};
}

static bool in_object(const struct json_write *w)
{
    return w->depth > 0 && (w->objects >> (w->depth - 1) & 1) != 0;
}

/* Before a value: add its comma, unless its key has done so. */
static void begin_value(struct json_write *w)
{
    CHECK(!w->done);
    CHECK(w->keyed == in_object(w));
    if (w->comma && !w->keyed) {
        buf_add_char(w->out, ',');
    }
    w->keyed = false;
}

static void end_value(struct json_write *w)
{
    w->comma = true;
    w->done = w->depth == 0;
}

static void open_container(struct json_write *w, bool object)
{
    begin_value(w);
    CHECK(w->depth < JSON_WRITE_DEPTH_MAX);
    uint32_t bit = 1U << w->depth;
    w->objects = object ? w->objects | bit : w->objects & ~bit;
    w->depth++;
    w->comma = false;
    buf_add_char(w->out, object ? '{' : '[');
}

void json_write_object(struct json_write *w)
{
    open_container(w, true);
}

void json_write_array(struct json_write *w)
{
    open_container(w, false);
}

void json_write_end(struct json_write *w)
{
    CHECK(w->depth > 0);
    CHECK(!w->keyed);
    buf_add_char(w->out, in_object(w) ? '}' : ']');
    w->depth--;
    end_value(w);
}

/* Add one byte that must be escaped. */
static void add_escape(struct buf *out, unsigned char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letter[] = "\"\\bfnrt";
    const char *found = c == '\0' ? NULL : strchr(plain, c);
    if (found != NULL) {
        char pair[2] = {'\\', letter[found - plain]};
        buf_add(out, pair, sizeof pair);
    } else {
        buf_printf(out, "\\u%04x", c);
    }
}

/* Add a string with bytes that must be escaped. Not inlined, so that plain text, the common case,
 * is fast. */
ATTR_NOINLINE static void add_escaped(struct buf *out, bool comma, struct str text, bool colon)
{
    const char *p = text.ptr, *end = p + text.len;
    buf_add_str(out, comma ? STR(",\"") : STR("\""));
    while (p < end) {
        const char *stop = json__plain_end(p, end);
        buf_add(out, p, (size_t)(stop - p));
        p = stop;
        if (p == end) {
            break;
        }
        unsigned char c = (unsigned char)*p;
        size_t len = str_utf8_len(str_from(p, (size_t)(end - p)));
        if (c < 0x80) {
            add_escape(out, c);
        } else if (len > 0) {
            buf_add(out, p, len);
        } else {
            buf_add_str(out, STR("\xef\xbf\xbd"));
            len = 1;
        }
        p += len;
    }
    buf_add_str(out, colon ? STR("\":") : STR("\""));
}

/* Add a string, with a comma before it or a colon after it where required. */
static void add_string(struct buf *out, bool comma, struct str text, bool colon)
{
    const size_t size = text.len + 2 + (comma ? 1 : 0) + (colon ? 1 : 0);
    char *at = buf_reserve(out, size);
    if (at == NULL) {
        return;
    }
    if (comma) {
        *at++ = ',';
    }
    *at++ = '"';
    if (!json__copy_plain(at, text)) {
        add_escaped(out, comma, text, colon);
        return;
    }
    at[text.len] = '"';
    if (colon) {
        at[text.len + 1] = ':';
    }
    out->len += size;
}

void json_write_key(struct json_write *w, struct str key)
{
    CHECK(in_object(w));
    CHECK(!w->keyed);
    add_string(w->out, w->comma, key, true);
    w->keyed = true;
}

void json_write_str(struct json_write *w, struct str text)
{
    begin_value(w);
    add_string(w->out, false, text, false);
    end_value(w);
}

void json_write_raw(struct json_write *w, struct str value)
{
    CHECK(value.len > 0);
    begin_value(w);
    buf_add_str(w->out, value);
    end_value(w);
}

static void add_digits(struct buf *out, uint64_t v)
{
    char digits[DIGITS_MAX];
    if (out->cap - out->len >= sizeof digits && !out->overflow) {
        char *at = out->ptr + out->len;
        out->len += (size_t)(digits_put(at, v) - at);
    } else {
        buf_add(out, digits, (size_t)(digits_put(digits, v) - digits));
    }
}

void json_write_i64(struct json_write *w, int64_t v)
{
    begin_value(w);
    if (v < 0) {
        buf_add_char(w->out, '-');
    }
    add_digits(w->out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    end_value(w);
}

void json_write_u64(struct json_write *w, uint64_t v)
{
    begin_value(w);
    add_digits(w->out, v);
    end_value(w);
}

void json_write_bool(struct json_write *w, bool v)
{
    json_write_raw(w, v ? STR("true") : STR("false"));
}

void json_write_null(struct json_write *w)
{
    json_write_raw(w, STR("null"));
}

enum { F64_DIGITS_MAX = 17, F64_TEXT_MAX = 32, F64_PLAIN_MIN = -6, F64_PLAIN_MAX = 20 };

/* A number as d.ddd… times ten to some power. */
struct decimal {
    char digits[F64_TEXT_MAX];
    size_t count;  /* without trailing zeros, but at least one */
    int magnitude; /* the power of ten of the first digit */
};

static bool is_same(double a, double b)
{
    uint64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1];
}

/* Convert v, which is positive or zero, to the fewest digits that read back as v. */
static struct decimal to_decimal(double v)
{
    struct decimal d = {.count = 0};
    char text[F64_TEXT_MAX] = "";
    double back;

    /* Fifteen digits are always unambiguous, and seventeen always sufficient. */
    int precision = 14;
    do {
        precision++;
        CHECK(precision <= F64_DIGITS_MAX);
        (void)snprintf(text, sizeof text, "%.*e", precision - 1, v);
        back = strtod(text, NULL);
    } while (!is_same(back, v));
    const char *exponent = strchr(text, 'e');
    CHECK(exponent != NULL);
    for (const char *p = text; p < exponent; p++) {
        if (*p != '.') {
            d.digits[d.count++] = *p;
        }
    }
    while (d.count > 1 && d.digits[d.count - 1] == '0') {
        d.count--;
    }
    int64_t magnitude = 0;
    struct str power = str_from_z(exponent + (exponent[1] == '+' ? 2 : 1));
    CHECK(str_to_i64(power, &magnitude));
    d.magnitude = (int)magnitude;
    return d;
}

static void add_zeros(struct buf *out, int count)
{
    for (int i = 0; i < count; i++) {
        buf_add_char(out, '0');
    }
}

static void add_decimal(struct buf *out, const struct decimal *d)
{
    const int count = (int)d->count;
    const bool plain = d->magnitude >= F64_PLAIN_MIN && d->magnitude <= F64_PLAIN_MAX;
    /* The number of digits before the point in the chosen form. */
    int whole = plain ? d->magnitude + 1 : 1;

    if (whole <= 0) {
        buf_add_str(out, STR("0."));
        add_zeros(out, -whole);
        buf_add(out, d->digits, d->count);
    } else if (whole >= count) {
        buf_add(out, d->digits, d->count);
        add_zeros(out, whole - count);
    } else {
        buf_add(out, d->digits, (size_t)whole);
        buf_add_char(out, '.');
        buf_add(out, d->digits + whole, (size_t)(count - whole));
    }
    if (!plain) {
        buf_printf(out, "e%+d", d->magnitude);
    }
}

void json_write_f64(struct json_write *w, double v)
{
    if (!isfinite(v)) {
        json_write_null(w);
        return;
    }
    begin_value(w);
    if (signbit(v)) {
        buf_add_char(w->out, '-');
    }
    struct decimal d = to_decimal(fabs(v));
    add_decimal(w->out, &d);
    end_value(w);
}

void json_write_finish(const struct json_write *w)
{
    CHECK(w->done);
}
