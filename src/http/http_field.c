#include "http/http_field.h"

#include <stdint.h>

#include "base/attr.h"

enum { FIELD_TOKEN = 1, FIELD_VALUE = 2 };

/* clang-format off */
#define T  (FIELD_TOKEN | FIELD_VALUE)
#define V  FIELD_VALUE
#define V8 V, V, V, V, V, V, V, V
static const uint8_t field_class[256] = {
    /* 00 */ 0, 0, 0, 0, 0, 0, 0, 0,   0, V, 0, 0, 0, 0, 0, 0,
    /* 10 */ 0, 0, 0, 0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0,
    /* 20 */ V, T, V, T, T, T, T, T,   V, V, T, T, V, T, T, V,
    /* 30 */ T, T, T, T, T, T, T, T,   T, T, V, V, V, V, V, V,
    /* 40 */ V, T, T, T, T, T, T, T,   T, T, T, T, T, T, T, T,
    /* 50 */ T, T, T, T, T, T, T, T,   T, T, T, V, V, V, T, T,
    /* 60 */ T, T, T, T, T, T, T, T,   T, T, T, T, T, T, T, T,
    /* 70 */ T, T, T, T, T, T, T, T,   T, T, T, V, T, V, T, 0,
    /* 80 */ V8, V8, V8, V8, V8, V8, V8, V8,
    /* c0 */ V8, V8, V8, V8, V8, V8, V8, V8,
};
#undef T
#undef V
#undef V8
/* clang-format on */

static size_t class_len(struct str s, uint8_t want)
{
    size_t i = 0;
    while (i < s.len && (field_class[(uint8_t)s.ptr[i]] & want) != 0) {
        i++;
    }
    return i;
}

size_t http_field_token_len(struct str s)
{
    return class_len(s, FIELD_TOKEN);
}

size_t http_field_value_len(struct str s)
{
    return class_len(s, FIELD_VALUE);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str http_field_trim(struct str s)
{
    while (s.len > 0 && is_blank(s.ptr[0])) {
        s = str_from_offset(s, 1);
    }
    while (s.len > 0 && is_blank(s.ptr[s.len - 1])) {
        s.len--;
    }
    return s;
}

bool http_field_list_has(struct str list, struct str word)
{
    while (list.len > 0) {
        if (str_eq_nocase(http_field_trim(str_cut(&list, ',')), word)) {
            return true;
        }
    }
    return false;
}

bool http_field_is_connections(struct str name)
{
    static const struct str names[] = {
        {"connection", 10}, {"content-length", 14},   {"transfer-encoding", 17},
        {"keep-alive", 10}, {"proxy-connection", 16}, {"upgrade", 7},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_eq_nocase(name, names[i])) {
            return true;
        }
    }
    return false;
}

void http_field_copy_value(char *out, struct str value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        out[i] = (char)((field_class[(uint8_t)c] & FIELD_VALUE) != 0 ? c : ' ');
    }
}
