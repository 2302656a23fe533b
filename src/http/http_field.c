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

/* Sixteen bytes are checked at once. A comparison sets all bits of the bytes for which it holds. */
enum { BLOCK_BYTES = 16 };
typedef unsigned char block __attribute__((vector_size(BLOCK_BYTES)));

static block block_at(const char *at)
{
    block b;
    memcpy(&b, at, sizeof b);
    return b;
}

/* Control bytes, including the tab. */
static block control_marks(block b)
{
    return (block)((b < 0x20) | (b == 0x7f));
}

/* Bytes that a target cannot have: control bytes, spaces and number signs. */
static block target_marks(block b)
{
    return (block)((b <= ' ') | (b == 0x7f) | (b == '#'));
}

/* Bytes that are neither letters nor dashes: names have few others. */
static block name_marks(block b)
{
    return (block)((((b | 0x20) - 'a') > 'z' - 'a') & (b != '-'));
}

/* The position of the first marked byte; BLOCK_BYTES if none is marked. */
static size_t first_mark(block marks)
{
    uint64_t half[2];
    memcpy(half, &marks, sizeof half);
    if (half[0] != 0) {
        return (size_t)__builtin_ctzll(le64toh(half[0])) / 8;
    }
    return half[1] != 0 ? 8 + (size_t)__builtin_ctzll(le64toh(half[1])) / 8 : BLOCK_BYTES;
}

/* Count the bytes at the start of s that belong to a class. Unmarked bytes do; for marked ones the
 * table decides. */
static inline size_t blocks_len(struct str s, block (*marks_of)(block b), uint8_t want)
{
    size_t i = 0;
    while (s.len - i >= BLOCK_BYTES) {
        size_t mark = first_mark(marks_of(block_at(s.ptr + i)));
        i += mark;
        if (mark < BLOCK_BYTES) {
            break;
        }
    }
    return i + class_len(str_from_offset(s, i), want);
}

size_t http_field_token_len(struct str s)
{
    return blocks_len(s, name_marks, FIELD_TOKEN);
}

size_t http_field_value_len(struct str s)
{
    return blocks_len(s, control_marks, FIELD_VALUE);
}

size_t http_field_target_len(struct str s)
{
    return blocks_len(s, target_marks, FIELD_TARGET);
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

/* Setting one bit turns a letter into lower case. Digits and dashes have this bit already, and
 * no other byte of a token becomes one of these. */
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
    size_t i = 0;
    while (i < value.len && value.len >= BLOCK_BYTES) {
        size_t at = i < value.len - BLOCK_BYTES ? i : value.len - BLOCK_BYTES;
        block b = block_at(value.ptr + at);
        if (first_mark(control_marks(b)) < BLOCK_BYTES) {
            break; /* it may be a tab */
        }
        memcpy(out + at, &b, sizeof b);
        i = at + BLOCK_BYTES;
    }
    if (value.len > 0 && value.len < BLOCK_BYTES) { /* check in a block padded with spaces */
        char room[BLOCK_BYTES];
        memset(room, ' ', sizeof room);
        memcpy(room, value.ptr, value.len);
        if (first_mark(control_marks(block_at(room))) == BLOCK_BYTES) {
            memcpy(out, room, value.len);
            return;
        }
    }
    for (; i < value.len; i++) {
        bool fine = (field_class[(uint8_t)value.ptr[i]] & FIELD_VALUE) != 0;
        out[i] = (char)(fine ? value.ptr[i] : ' ');
    }
}
