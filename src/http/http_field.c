#include "http/http_field.h"

#include <stdint.h>
#include <string.h>

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

/* Are these eight bytes of a value? Each top bit: a byte below a space, or DEL. A byte that is next
 * to such a one may be marked wrongly, and a tab is marked too: the table decides about those. */
static bool is_value_word(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t del = word ^ (ones * 0x7f);
    uint64_t marks = ((word - ones * ' ') & ~word) | ((del - ones) & ~del);
    return (marks & (ones * 0x80)) == 0;
}

size_t http_field_value_len(struct str s)
{
    size_t i = 0;
    for (uint64_t word; s.len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, s.ptr + i, sizeof word);
        if (!is_value_word(word)) {
            break;
        }
    }
    return i + class_len(str_from_offset(s, i), FIELD_VALUE);
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
    while (value.len > 0) {
        size_t good = http_field_value_len(value);
        memcpy(out, value.ptr, good);
        if (good == value.len) {
            break;
        }
        out[good] = ' ';
        out += good + 1;
        value = str_from_offset(value, good + 1);
    }
}
