#include "json/json_scan.h"

#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "json/json_int.h"

struct json_scan json_scan_from(struct str text)
{
    const char *begin = text.len == 0 ? "" : text.ptr;
    return (struct json_scan){
        .begin = begin, .at = begin, .end = begin + text.len, .depth_max = LIMIT_JSON_DEPTH};
}

static const char too_deep[] = "nested too deeply";

/* The pass functions skip something at a position and return the position after it, or NULL on a
 * problem. This keeps the position in a register, which makes them fast. */

ATTR_COLD static const char *fail(struct json_scan *s, const char *at, const char *problem)
{
    if (s->problem == NULL) {
        s->at = at;
        s->problem = at == s->end ? "unexpected end of the text" : problem;
    }
    return NULL;
}

/* The byte at p; at the end of the text, a byte that is valid only inside of strings. */
static inline char byte_at(const struct json_scan *s, const char *p)
{
    if (p == s->end) {
        return '\0';
    }
    return *p;
}

static inline const char *pass_space(const struct json_scan *s, const char *p)
{
    while (p < s->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
        p++;
    }
    return p;
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The length of the escape at p, which is a backslash; 0 if it is invalid. */
static size_t escape_len(const char *p, const char *end)
{
    if (end - p < 2) {
        return 0;
    }
    if (p[1] != 'u') {
        return p[1] != '\0' && strchr("\"\\/bfnrt", p[1]) != NULL ? 2 : 0;
    }
    bool whole = end - p >= 6 && is_hex(p[2]) && is_hex(p[3]) && is_hex(p[4]) && is_hex(p[5]);
    return whole ? 6 : 0;
}

/* Pass bytes that cannot be passed eight at a time: an escape or a non-ASCII character. */
static const char *pass_special(struct json_scan *s, const char *p)
{
    if (p == s->end) {
        return fail(s, p, "");
    }
    if ((unsigned char)*p < ' ') {
        return fail(s, p, "unescaped control character in a string");
    }
    if (*p == '\\') {
        size_t len = escape_len(p, s->end);
        return len > 0 ? p + len : fail(s, p, "invalid escape sequence");
    }
    size_t len = str_utf8_len(str_from(p, (size_t)(s->end - p)));
    return len > 0 ? p + len : fail(s, p, "not UTF-8");
}

/* The rest of a string, from the first byte that is not plain. Not inlined, so that plain
 * strings, the common case, need not save registers. */
ATTR_NOINLINE static const char *pass_specials(struct json_scan *s, const char *p,
                                               bool *out_escaped)
{
    bool escaped = false;

    while (byte_at(s, p) != '"') {
        escaped = escaped || byte_at(s, p) == '\\';
        p = pass_special(s, p);
        if (p == NULL) {
            return NULL;
        }
        p = json__plain_end(p, s->end);
    }
    *out_escaped = escaped;
    return p + 1;
}

/* The string whose opening quote is at p. */
static inline const char *pass_string(struct json_scan *s, const char *p, bool *out_escaped)
{
    p = json__plain_end(p + 1, s->end);
    if (byte_at(s, p) != '"') {
        return pass_specials(s, p, out_escaped);
    }
    *out_escaped = false;
    return p + 1;
}

/* One digit or more. */
static const char *pass_digits(struct json_scan *s, const char *p)
{
    const char *first = p;
    while (p < s->end && is_digit(*p)) {
        p++;
    }
    return p > first ? p : fail(s, p, "expected a digit");
}

static const char *pass_number(struct json_scan *s, const char *p)
{
    p += *p == '-' ? 1 : 0;
    p = byte_at(s, p) == '0' ? p + 1 : pass_digits(s, p);
    if (p != NULL && byte_at(s, p) == '.') {
        p = pass_digits(s, p + 1);
    }
    if (p != NULL && (byte_at(s, p) | 0x20) == 'e') {
        p++;
        p += byte_at(s, p) == '+' || byte_at(s, p) == '-' ? 1 : 0;
        p = pass_digits(s, p);
    }
    return p;
}

static const char *pass_word(struct json_scan *s, const char *p, struct str word)
{
    struct str text = str_from(p, (size_t)(s->end - p));
    return str_starts_with(text, word) ? p + word.len : fail(s, p, "expected a value");
}

/* The type of a value that begins with the byte c. */
static inline enum json_type type_of(char c)
{
    switch (c) {
    case '{':
        return JSON_TYPE_OBJECT;
    case '[':
        return JSON_TYPE_ARRAY;
    case '"':
        return JSON_TYPE_STRING;
    case 't':
    case 'f':
        return JSON_TYPE_BOOL;
    case 'n':
        return JSON_TYPE_NULL;
    default:
        return c == '-' || is_digit(c) ? JSON_TYPE_NUMBER : JSON_TYPE_COUNT;
    }
}

static inline const char *pass_scalar(struct json_scan *s, const char *p, enum json_type type,
                                      bool *out_escaped)
{
    switch (type) {
    case JSON_TYPE_STRING:
        return pass_string(s, p, out_escaped);
    case JSON_TYPE_NUMBER:
        return pass_number(s, p);
    case JSON_TYPE_BOOL:
        return pass_word(s, p, *p == 't' ? STR("true") : STR("false"));
    case JSON_TYPE_NULL:
        return pass_word(s, p, STR("null"));
    case JSON_TYPE_ARRAY:
    case JSON_TYPE_OBJECT:
    case JSON_TYPE_COUNT:
    default:
        return fail(s, p, "expected a value");
    }
}

/* After a key: pass the colon, up to the value. */
static inline const char *pass_colon(struct json_scan *s, const char *p)
{
    p = pass_space(s, p);
    return byte_at(s, p) == ':' ? pass_space(s, p + 1) : fail(s, p, "':' expected");
}

/* A key with its colon, up to its value. */
static inline const char *pass_key(struct json_scan *s, const char *p)
{
    bool escaped;
    if (byte_at(s, p) != '"') {
        return fail(s, p, "expected a key");
    }
    p = pass_string(s, p, &escaped);
    return p == NULL ? NULL : pass_colon(s, p);
}

/* After a value inside of containers: pass the brackets of the containers that end here. Returns
 * the next value of the container that continues, or the end of the outermost container. */
static inline const char *pass_ends(struct json_scan *s, const char *p, const char *close,
                                    unsigned *depth)
{
    while (*depth > 0) {
        p = pass_space(s, p);
        if (byte_at(s, p) == ',') {
            p = pass_space(s, p + 1);
            return close[*depth] == '}' ? pass_key(s, p) : p;
        }
        if (byte_at(s, p) != close[*depth]) {
            return fail(s, p, close[*depth] == '}' ? "',' or '}' expected" : "',' or ']' expected");
        }
        p++;
        (*depth)--;
    }
    return p;
}

/* Pass the object or array at p, however deeply nested. */
static const char *pass_container(struct json_scan *s, const char *p)
{
    ATTR_UNINITIALIZED char
        close[LIMIT_JSON_DEPTH + 1]; /* by depth, from 1: the bracket that ends it */
    const unsigned depth_max = s->depth_max - s->depth;
    unsigned depth = 0;
    bool escaped;

    /* At the top of each iteration p is where a value must begin. */
    do {
        char c = byte_at(s, p);
        if (c == '"') {
            p = pass_string(s, p, &escaped);
        } else if (c != '{' && c != '[') {
            p = pass_scalar(s, p, type_of(c), &escaped);
        } else if (depth == depth_max) {
            p = fail(s, p, too_deep);
        } else {
            close[++depth] = c == '{' ? '}' : ']';
            p = pass_space(s, p + 1);
            if (byte_at(s, p) != close[depth]) {
                p = c == '{' ? pass_key(s, p) : p;
                continue;
            }
        }
        p = p == NULL ? NULL : pass_ends(s, p, close, &depth);
    } while (p != NULL && depth > 0);
    return p;
}

enum json_type json_scan_peek(struct json_scan *s)
{
    if (s->problem != NULL) {
        return JSON_TYPE_COUNT;
    }
    s->at = pass_space(s, s->at);
    return type_of(byte_at(s, s->at));
}

bool json_scan_value(struct json_scan *s, struct json_value *out)
{
    return json_scan__peeked(s, json_scan_peek(s), out);
}

bool json_scan__peeked(struct json_scan *s, enum json_type type, struct json_value *out)
{
    if (s->problem != NULL) {
        return false;
    }
    const char *begin = s->at;
    bool escaped = false;
    const char *end = type == JSON_TYPE_OBJECT || type == JSON_TYPE_ARRAY
                          ? pass_container(s, begin)
                          : pass_scalar(s, begin, type, &escaped);
    if (end == NULL) {
        return false;
    }
    *out = (struct json_value){
        .type = type, .escaped = escaped, .text = str_from(begin, (size_t)(end - begin))};
    s->at = end;
    s->fresh = false;
    return true;
}

static bool enter(struct json_scan *s, enum json_type type, const char *problem)
{
    if (json_scan_peek(s) != type) {
        return fail(s, s->at, problem) != NULL;
    }
    if (s->depth == s->depth_max) {
        return fail(s, s->at, too_deep) != NULL;
    }
    s->at++;
    s->depth++;
    s->fresh = true;
    return true;
}

bool json_scan__stored(struct json_scan *s, enum json_type type, struct json_value *out)
{
    const unsigned depth_max = s->depth_max;
    CHECK(s->depth + LIMIT_JSON_VALUE_DEPTH <= depth_max);
    s->depth_max = s->depth + LIMIT_JSON_VALUE_DEPTH;
    bool passed = json_scan__peeked(s, type, out);
    s->depth_max = depth_max;
    return passed;
}

bool json_scan__too_deep(const struct json_scan *s)
{
    return s->problem == too_deep;
}

bool json_scan_enter_object(struct json_scan *s)
{
    return enter(s, JSON_TYPE_OBJECT, "expected an object");
}

bool json_scan_enter_array(struct json_scan *s)
{
    return enter(s, JSON_TYPE_ARRAY, "expected an array");
}

/* Pass the comma before the next key or element, if required, and white space. False at the end
 * of the container, which is then left, or on a problem. */
static bool next_item(struct json_scan *s, char close, const char *problem)
{
    CHECK(s->problem != NULL || s->depth > 0);
    if (s->problem != NULL) {
        return false;
    }
    s->at = pass_space(s, s->at);
    char c = byte_at(s, s->at);
    bool fresh = s->fresh;
    s->fresh = false;
    if (c == close) {
        s->at++;
        s->depth--;
        return false;
    }
    if (!fresh) {
        if (c != ',') {
            return fail(s, s->at, problem) != NULL;
        }
        s->at = pass_space(s, s->at + 1);
    }
    return true;
}

bool json_scan_next_element(struct json_scan *s)
{
    return next_item(s, ']', "',' or ']' expected");
}

bool json_scan_next_key(struct json_scan *s, struct json_value *out_key)
{
    if (!next_item(s, '}', "',' or '}' expected")) {
        return false;
    }
    const char *begin = s->at;
    bool escaped;
    if (byte_at(s, begin) != '"') {
        return fail(s, begin, "expected a key") != NULL;
    }
    const char *end = pass_string(s, begin, &escaped);
    const char *value = end == NULL ? NULL : pass_colon(s, end);
    if (value == NULL) {
        return false;
    }
    *out_key = (struct json_value){.type = JSON_TYPE_STRING,
                                   .escaped = escaped,
                                   .text = str_from(begin, (size_t)(end - begin))};
    s->at = value;
    return true;
}

bool json_scan_done(struct json_scan *s)
{
    if (s->problem != NULL) {
        return false;
    }
    s->at = pass_space(s, s->at);
    if (s->at < s->end || s->depth > 0) {
        return fail(s, s->at, "unexpected text after the value") != NULL;
    }
    return true;
}

enum err_code json_scan_err(const struct json_scan *s, struct err *err)
{
    CHECK(s->problem != NULL);
    return err_set(err, ERR_PARSE, "invalid JSON at byte %zu: %s", (size_t)(s->at - s->begin),
                   s->problem);
}

enum err_code json_scan_check(struct str text, struct err *err)
{
    struct json_scan s = json_scan_from(text);
    struct json_value value;
    if (!json_scan_value(&s, &value) || !json_scan_done(&s)) {
        return json_scan_err(&s, err);
    }
    return ERR_OK;
}

enum err_code json_scan_check_value(struct str text, struct err *err)
{
    struct json_scan s = json_scan_from(text);
    struct json_value value;
    s.depth_max = LIMIT_JSON_VALUE_DEPTH;
    if (json_scan_value(&s, &value) && json_scan_done(&s)) {
        return ERR_OK;
    }
    return json_scan__too_deep(&s)
               ? err_set(err, ERR_VALIDATION, "nested more than %d deep", LIMIT_JSON_VALUE_DEPTH)
               : json_scan_err(&s, err);
}

enum err_code json_scan_first(struct str text, struct json_value *out, struct err *err)
{
    struct json_scan s = json_scan_from(text);
    return json_scan_value(&s, out) ? ERR_OK : json_scan_err(&s, err);
}

bool json_scan_member(struct str object, struct str name, struct json_value *out)
{
    struct json_scan s = json_scan_from(object);
    struct json_value key, value, found;
    bool any = false;

    if (!json_scan_enter_object(&s)) {
        return false;
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        if (json_value_text_eq(key, name)) {
            found = value;
            any = true;
        }
    }
    if (!any || s.problem != NULL) {
        return false;
    }
    *out = found;
    return true;
}

/* The index of the key in names; count if it is not there. */
static size_t name_of(const struct json_value *key, const struct str *names, size_t count)
{
    size_t i = 0;
    while (i < count && !json__key_is(key, names[i])) {
        i++;
    }
    return i;
}

static bool take_members(struct json_scan *s, const struct str *names, size_t count,
                         struct json_value *out)
{
    struct json_value key, value;

    for (size_t i = 0; i < count; i++) {
        out[i] = (struct json_value){.type = JSON_TYPE_NULL, .text = STR("null")};
    }
    if (!json_scan_enter_object(s)) {
        return false;
    }
    while (json_scan_next_key(s, &key) && json_scan_value(s, &value)) {
        size_t i = name_of(&key, names, count);
        if (i < count) {
            out[i] = value;
        }
    }
    return s->problem == NULL;
}

bool json_scan_members(struct str object, const struct str *names, size_t count,
                       struct json_value *out)
{
    struct json_scan s = json_scan_from(object);
    return take_members(&s, names, count, out);
}

bool json_scan_whole_members(struct str text, const struct str *names, size_t count,
                             struct json_value *out)
{
    struct json_scan s = json_scan_from(text);
    return take_members(&s, names, count, out) && json_scan_done(&s);
}
