/*
 * Json_int: shared by the files of json/: finding plain text, and scanning a value of known type.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/str.h"
#include "json/json_scan.h"

/* json_scan_value, for a value whose type json_scan_peek has just returned. */
ATTR_NODISCARD bool json_scan__peeked(struct json_scan *s, enum json_type type,
                                      struct json_value *out);

/* The same for a value that is stored: at most LIMIT_JSON_VALUE_DEPTH deep. */
ATTR_NODISCARD bool json_scan__stored(struct json_scan *s, enum json_type type,
                                      struct json_value *out);
/* Is the problem that a value is nested too deeply? */
ATTR_NODISCARD bool json_scan__too_deep(const struct json_scan *s);

/* Is this the key of the member of that name? Inline, because keys with escapes are rare and a key
 * is compared with many names. */
static inline bool json__key_is(const struct json_value *key, struct str name)
{
    return key->escaped ? json_value_text_eq(*key, name)
                        : key->text.len - 2 == name.len &&
                              memcmp(key->text.ptr + 1, name.ptr, name.len) == 0;
}

/* Mark, in its top bit, each byte that cannot be in a string unescaped (a quote, a backslash, a
 * control character) or is not ASCII. Subtracting sets the top bit of a byte that was 0, or below a
 * space. It borrows from the next byte, so a byte above a marked one may be marked wrongly; the
 * lowest mark is always right. */
static inline uint64_t json__special(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t quote = word ^ (ones * '"');
    uint64_t backslash = word ^ (ones * '\\');
    return ((quote - ones) | (backslash - ones) | (word - ones * ' ') | word) & (ones * 0x80);
}

static inline bool json__is_plain_byte(char c)
{
    return (unsigned char)c >= ' ' && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* Are all of these bytes plain? Four to eight bytes: the two halves may overlap. */
static inline bool json__is_plain(const char *p, const char *end)
{
    uint32_t first, last;
    memcpy(&first, p, sizeof first);
    memcpy(&last, end - sizeof last, sizeof last);
    return json__special((uint64_t)first << 32 | last) == 0;
}

/* Copy text to out, which has room for it. False if part of it is not plain. The last two words
 * may overlap, so that single bytes are handled only if there are fewer than four. */
static inline bool json__copy_plain(char *out, struct str text)
{
    uint64_t word;
    uint64_t marks = 0;
    if (text.len >= sizeof word) {
        const size_t last = text.len - sizeof word;
        for (size_t i = 0; i < last; i += sizeof word) {
            memcpy(&word, text.ptr + i, sizeof word);
            memcpy(out + i, &word, sizeof word);
            marks |= json__special(word);
        }
        memcpy(&word, text.ptr + last, sizeof word);
        memcpy(out + last, &word, sizeof word);
        return (marks | json__special(word)) == 0;
    }
    if (text.len >= sizeof word / 2) {
        const size_t last = text.len - sizeof word / 2;
        uint32_t first_half, last_half;
        memcpy(&first_half, text.ptr, sizeof first_half);
        memcpy(&last_half, text.ptr + last, sizeof last_half);
        memcpy(out, &first_half, sizeof first_half);
        memcpy(out + last, &last_half, sizeof last_half);
        return json__special((uint64_t)first_half << 32 | last_half) == 0;
    }
    bool plain = true;
    for (size_t i = 0; i < text.len; i++) {
        out[i] = text.ptr[i];
        plain = plain && json__is_plain_byte(text.ptr[i]);
    }
    return plain;
}

/* Return the first byte from p on that json__special marks; end if there is none. */
static inline const char *json__plain_end(const char *p, const char *end)
{
    uint64_t word;
    for (; (size_t)(end - p) >= sizeof word; p += sizeof word) {
        memcpy(&word, p, sizeof word);
        uint64_t marks = json__special(le64toh(word));
        if (marks != 0) {
            return p + __builtin_ctzll(marks) / 8;
        }
    }
    if (end - p >= 4 && json__is_plain(p, end)) {
        return end;
    }
    while (p < end && json__is_plain_byte(*p)) {
        p++;
    }
    return p;
}
