#include "base/str.h"

#include <stdio.h>

#include "base/check.h"

int str_cmp(struct str a, struct str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0) {
        return order;
    }
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts_with(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_from(s.ptr, prefix.len), prefix);
}

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        c = (char)(c - 'A' + 'a');
    }
    return c;
}

bool str_same_nocase(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (a[i] != b[i] && lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.len > 0 && is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && is_space(s.ptr[s.len - 1])) {
        s.len--;
    }
    return s;
}

struct str str_at_most(struct str s, size_t max)
{
    if (s.len > max) {
        s.len = max;
        /* Continuation bytes of a character begin with the bits 10. */
        while (s.len > 0 && ((unsigned char)s.ptr[s.len] & 0xc0) == 0x80) {
            s.len--;
        }
    }
    return s;
}

struct str str_cut(struct str *rest, char at)
{
    const char *end = rest->len == 0 ? NULL : memchr(rest->ptr, at, rest->len);
    struct str piece = end == NULL ? *rest : str_from(rest->ptr, (size_t)(end - rest->ptr));
    *rest = str_from_offset(*rest, end == NULL ? piece.len : piece.len + 1);
    return piece;
}

bool str_to_i64(struct str s, int64_t *out)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    int64_t value = 0;
    size_t i = negative ? 1 : 0;

    const size_t safe = i + 18 < s.len ? i + 18 : s.len; /* this many digits cannot overflow */

    if (i == s.len) {
        return false;
    }
    for (; i < safe; i++) {
        unsigned digit = (unsigned char)s.ptr[i] - (unsigned)'0';
        if (digit > 9) {
            return false;
        }
        value = value * 10 + digit;
    }
    value = negative ? -value : value;
    for (; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') {
            return false;
        }
        int64_t digit = s.ptr[i] - '0';
        /* Negative numbers are accumulated downwards, so that INT64_MIN fits. */
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

size_t str_utf8_len(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    static const struct {
        unsigned char lead_min, lead_max, second_min, second_max, len;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    if (s.len == 0 || p[0] < 0x80) {
        return s.len == 0 ? 0 : 1;
    }
    for (size_t f = 0; f < COUNT_OF(forms); f++) {
        if (p[0] < forms[f].lead_min || p[0] > forms[f].lead_max) {
            continue;
        }
        if (s.len < forms[f].len || p[1] < forms[f].second_min || p[1] > forms[f].second_max) {
            return 0;
        }
        for (size_t i = 2; i < forms[f].len; i++) {
            if ((p[i] & 0xc0) != 0x80) {
                return 0;
            }
        }
        return forms[f].len;
    }
    return 0;
}

bool str_is_utf8(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = 0;

    while (i < s.len) {
        uint64_t word;
        /* Eight ASCII bytes at a time: the common case. */
        while (i + sizeof word <= s.len) {
            memcpy(&word, p + i, sizeof word);
            if ((word & 0x8080808080808080U) != 0) {
                break;
            }
            i += sizeof word;
        }
        while (i < s.len && p[i] < 0x80) {
            i++;
        }
        if (i == s.len) {
            break;
        }
        size_t len = str_utf8_len(str_from(p + i, s.len - i));
        if (len == 0) {
            return false;
        }
        i += len;
    }
    return true;
}

bool str_has_control(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c == 0x7f) {
            return true;
        }
    }
    return false;
}

const char *str_choices(const char *words, char *out, size_t size)
{
    size_t used = 0;
    struct str left = str_from_z(words);
    CHECK(size > 0);
    out[0] = '\0';
    while (left.len > 0 && used < size) {
        struct str word = str_cut(&left, ' ');
        const char *before = used == 0 ? "" : left.len > 0 ? ", " : " or ";
        int n = snprintf(out + used, size - used, "%s" STR_FMT, before, STR_ARG(word));
        CHECK(n >= 0);
        used += (size_t)n;
    }
    return out;
}
