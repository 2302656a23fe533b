#include "json/json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { NUMBER_TEXT_MAX = 128, REPLACEMENT = 0xfffd };

/* The text between the quotes. */
static struct str body_of(struct json_value value)
{
    CHECK(value.type == JSON_TYPE_STRING);
    CHECK(value.text.len >= 2);
    return str_from(value.text.ptr + 1, value.text.len - 2);
}

static uint32_t hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0');
    }
    return (uint32_t)((c | 0x20) - 'a' + 10);
}

/* The four digits of the \u escape at p. */
static uint32_t hex_unit(const char *p)
{
    return hex_digit(p[2]) << 12 | hex_digit(p[3]) << 8 | hex_digit(p[4]) << 4 | hex_digit(p[5]);
}

static size_t put_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Decode the \u escape at *at, and the second one of a pair, to out. Moves *at past it. */
static size_t decode_unit(const char **at, const char *end, char *out)
{
    const char *p = *at;
    uint32_t code = hex_unit(p);

    p += 6;
    if (code >= 0xd800 && code <= 0xdfff) {
        uint32_t low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex_unit(p) : 0;
        if (code > 0xdbff || low < 0xdc00 || low > 0xdfff) {
            code = REPLACEMENT;
        } else {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        }
    }
    *at = p;
    return put_utf8(code, out);
}

/* The next decoded piece of a body: the text before the next backslash, or one escape, which is
 * decoded to scratch. */
static struct str next_piece(const char **at, const char *end, char scratch[static 4])
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char *p = *at;

    if (*p != '\\') {
        const char *stop = memchr(p, '\\', (size_t)(end - p));
        *at = stop == NULL ? end : stop;
        return str_from(p, (size_t)(*at - p));
    }
    if (p[1] == 'u') {
        return str_from(scratch, decode_unit(at, end, scratch));
    }
    const char *found = strchr(from, p[1]);
    CHECK(found != NULL);
    scratch[0] = to[found - from];
    *at = p + 2;
    return str_from(scratch, 1);
}

enum err_code json_value_text(struct json_value value, struct arena *arena, struct str *out,
                              struct err *err)
{
    struct str body = body_of(value);
    if (!value.escaped) {
        *out = body;
        return ERR_OK;
    }
    /* Decoding never makes a text longer. */
    char *copy = arena_alloc(arena, body.len, 1);
    if (copy == NULL) {
        return err_set_default(err, ERR_TOO_LARGE);
    }
    const char *at = body.ptr, *end = body.ptr + body.len;
    char scratch[4];
    size_t len = 0;
    while (at < end) {
        struct str piece = next_piece(&at, end, scratch);
        memcpy(copy + len, piece.ptr, piece.len);
        len += piece.len;
    }
    *out = str_from(copy, len);
    return ERR_OK;
}

void json_value_text_buf(struct json_value value, struct buf *out)
{
    struct str body = body_of(value);
    const char *at = body.ptr, *end = body.ptr + body.len;
    char scratch[4];

    while (at < end) {
        buf_add_str(out, next_piece(&at, end, scratch));
    }
}

size_t json_value_text_len(struct json_value value)
{
    struct str body = body_of(value);
    const char *at = body.ptr, *end = body.ptr + body.len;
    char scratch[4];
    size_t len = 0;

    if (!value.escaped) {
        return body.len;
    }
    while (at < end) {
        len += next_piece(&at, end, scratch).len;
    }
    return len;
}

bool json_value_text_eq(struct json_value value, struct str text)
{
    struct str body = body_of(value);
    if (!value.escaped) {
        return str_eq(body, text);
    }
    const char *at = body.ptr, *end = body.ptr + body.len;
    char scratch[4];
    while (at < end) {
        struct str piece = next_piece(&at, end, scratch);
        if (!str_starts_with(text, piece)) {
            return false;
        }
        text = str_from_offset(text, piece.len);
    }
    return text.len == 0;
}

bool json_value_i64(struct json_value value, int64_t *out)
{
    return value.type == JSON_TYPE_NUMBER && str_to_i64(value.text, out);
}

/* Fast path for most numbers: few digits, no exponent. The digits and the power of ten are exact
 * as doubles, so their quotient is the nearest double: the same result as strtod, ten times
 * faster. */
static bool short_decimal(struct str text, double *out)
{
    enum { DIGITS_MAX = 15 };
    static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t digits = 0;
    size_t behind = 0; /* digits after the point */
    bool point = false;
    size_t i = text.ptr[0] == '-' ? 1 : 0;
    if (text.len - i > DIGITS_MAX) {
        return false;
    }
    for (; i < text.len; i++) {
        char c = text.ptr[i];
        if (c >= '0' && c <= '9') {
            digits = digits * 10 + (uint64_t)(c - '0');
            behind += point ? 1 : 0;
        } else if (c == '.') {
            point = true;
        } else {
            return false;
        }
    }
    double v = (double)digits / powers[behind];
    *out = text.ptr[0] == '-' ? -v : v;
    return true;
}

bool json_value_f64(struct json_value value, double *out)
{
    char text[NUMBER_TEXT_MAX + 1];
    if (value.type != JSON_TYPE_NUMBER || value.text.len > NUMBER_TEXT_MAX) {
        return false;
    }
    if (short_decimal(value.text, out)) {
        return true;
    }
    memcpy(text, value.text.ptr, value.text.len);
    text[value.text.len] = '\0';
    /* The grammar was checked, and no locale is set, so the decimal point is a point. */
    double v = strtod(text, NULL);
    if (!isfinite(v)) {
        return false;
    }
    *out = v;
    return true;
}

bool json_value_bool(struct json_value value, bool *out)
{
    if (value.type != JSON_TYPE_BOOL) {
        return false;
    }
    *out = value.text.ptr[0] == 't';
    return true;
}

const char *json_value_type_name(enum json_type type)
{
    static const char *const names[JSON_TYPE_COUNT] = {
        [JSON_TYPE_NULL] = "null",       [JSON_TYPE_BOOL] = "a boolean",
        [JSON_TYPE_NUMBER] = "a number", [JSON_TYPE_STRING] = "a string",
        [JSON_TYPE_ARRAY] = "an array",  [JSON_TYPE_OBJECT] = "an object",
    };
    CHECK(type < JSON_TYPE_COUNT);
    return names[type];
}
