#include "http/http_field.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

enum { FIELD_TOKEN = 1, FIELD_VALUE = 2, FIELD_TARGET = 4 };

/* clang-format off */
#define V  FIELD_VALUE
#define A  (FIELD_VALUE | FIELD_TARGET)
#define H  (FIELD_VALUE | FIELD_TOKEN)
#define T  (FIELD_VALUE | FIELD_TARGET | FIELD_TOKEN)
#define A8 A, A, A, A, A, A, A, A
static const uint8_t field_class[256] = {
    /* 00 */ 0, 0, 0, 0, 0, 0, 0, 0,   0, V, 0, 0, 0, 0, 0, 0,
    /* 10 */ 0, 0, 0, 0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0,
    /* 20 */ V, T, A, H, T, T, T, T,   A, A, T, T, A, T, T, A,
    /* 30 */ T, T, T, T, T, T, T, T,   T, T, A, A, A, A, A, A,
    /* 40 */ A, T, T, T, T, T, T, T,   T, T, T, T, T, T, T, T,
    /* 50 */ T, T, T, T, T, T, T, T,   T, T, T, A, A, A, T, T,
    /* 60 */ T, T, T, T, T, T, T, T,   T, T, T, T, T, T, T, T,
    /* 70 */ T, T, T, T, T, T, T, T,   T, T, T, A, T, A, T, 0,
    /* 80 */ A8, A8, A8, A8, A8, A8, A8, A8,
    /* c0 */ A8, A8, A8, A8, A8, A8, A8, A8,
};
#undef V
#undef A
#undef H
#undef T
#undef A8
/* clang-format on */

static size_t class_len(struct str s, uint8_t want)
{
    size_t i = 0;
    while (i < s.len && (field_class[(uint8_t)s.ptr[i]] & want) != 0) {
        i++;
    }
    return i;
}

/* In the top bit of each of eight bytes: the byte is a control byte, the tab included. Without
 * their top bits, bytes can be added to without a carry: one more makes it set in DEL, and 0x60
 * more in everything from the space on. */
static uint64_t control_marks(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t low = word & (ones * 0x7f);
    return ((low + ones) | ~(low + ones * 0x60)) & ~word & (ones * 0x80);
}

/* And those that a target cannot have besides: blanks and number signs. */
static uint64_t target_marks(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t low = word & (ones * 0x7f);
    uint64_t others = ((low ^ ones * ' ') + ones * 0x7f) & ((low ^ ones * '#') + ones * 0x7f);
    return control_marks(word) | (~others & ~word & (ones * 0x80));
}

/* What is neither a letter nor a dash: names have little else. */
static uint64_t name_marks(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t low = word & (ones * 0x7f);
    uint64_t small = low | ones * 0x20;
    uint64_t letters = (small + ones * (0x80 - 'a')) & ~(small + ones * (0x7f - 'z'));
    uint64_t others = (low ^ ones * '-') + ones * 0x7f;
    return ((~letters & others) | word) & (ones * 0x80);
}

/* How many bytes at the start of s are of a class. Bytes that are not marked are; of those that are
 * marked some may be, and the table knows. */
static inline size_t words_len(struct str s, uint64_t (*marks_of)(uint64_t word), uint8_t want)
{
    uint64_t word;
    if (s.len < sizeof word) {
        return class_len(s, want);
    }
    size_t i = 0;
    while (i < s.len) {
        /* The last word has bytes that were looked at before, unless it fits. */
        i = i < s.len - sizeof word ? i : s.len - sizeof word;
        memcpy(&word, s.ptr + i, sizeof word);
        uint64_t marks = marks_of(le64toh(word));
        if (marks != 0) {
            i += (size_t)__builtin_ctzll(marks) / 8;
            return i + class_len(str_from_offset(s, i), want);
        }
        i += sizeof word;
    }
    return s.len;
}

size_t http_field_token_len(struct str s)
{
    return words_len(s, name_marks, FIELD_TOKEN);
}

size_t http_field_value_len(struct str s)
{
    return words_len(s, control_marks, FIELD_VALUE);
}

size_t http_field_target_len(struct str s)
{
    return words_len(s, target_marks, FIELD_TARGET);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str http_field_trim(struct str s)
{
    while (s.len > 0 && is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.ptr[s.len - 1])) {
        s.len--;
    }
    return s;
}

/* A letter becomes small by one bit, which digits and dashes have. No other byte of a token becomes
 * one of these by it. */
static bool same_word(const char *name, const char *lower)
{
    uint64_t words[2];
    memcpy(&words[0], name, sizeof words[0]);
    memcpy(&words[1], lower, sizeof words[1]);
    return (words[0] | 0x2020202020202020U) == words[1];
}

bool http_field_is(struct str name, struct str lower)
{
    const size_t word = sizeof(uint64_t);
    if (name.len != lower.len) {
        return false;
    }
    if (name.len < word) {
        return str_same_nocase(name.ptr, lower.ptr, name.len);
    }
    for (size_t i = 0; i < name.len - word; i += word) {
        if (!same_word(name.ptr + i, lower.ptr + i)) {
            return false;
        }
    }
    return same_word(name.ptr + name.len - word, lower.ptr + name.len - word);
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
    switch (name.len) {
    case 7:
        return str_eq_nocase(name, STR("upgrade"));
    case 10:
        return str_eq_nocase(name, STR("connection")) || str_eq_nocase(name, STR("keep-alive"));
    case 14:
        return str_eq_nocase(name, STR("content-length"));
    case 16:
        return str_eq_nocase(name, STR("proxy-connection"));
    case 17:
        return str_eq_nocase(name, STR("transfer-encoding"));
    default:
        return false;
    }
}

void http_field_copy_value(char *out, struct str value)
{
    uint64_t word;
    size_t i = 0;
    while (i < value.len && value.len >= sizeof word) {
        size_t at = i < value.len - sizeof word ? i : value.len - sizeof word;
        memcpy(&word, value.ptr + at, sizeof word);
        if (control_marks(word) != 0) {
            break; /* it may be a tab */
        }
        memcpy(out + at, &word, sizeof word);
        i = at + sizeof word;
    }
    for (; i < value.len; i++) {
        bool fine = (field_class[(uint8_t)value.ptr[i]] & FIELD_VALUE) != 0;
        out[i] = (char)(fine ? value.ptr[i] : ' ');
    }
}
