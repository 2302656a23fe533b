/*
 * What the files of json/ share: how far text is plain.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* In the top bit of each byte: the byte cannot stand in a string as it is (a quote, a backslash, a
 * control character) or is not ASCII. Subtracting sets the top bit of a byte that was 0, or below a
 * space. It borrows from the next byte, so one above a marked one may be marked wrongly; the lowest
 * mark is always right. */
static inline uint64_t json__special(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t quote = word ^ (ones * '"');
    uint64_t backslash = word ^ (ones * '\\');
    return ((quote - ones) | (backslash - ones) | (word - ones * ' ') | word) & (ones * 0x80);
}

/* Whether all of these bytes are plain, four to eight: the two halves may overlap. */
static inline bool json__is_plain(const char *p, const char *end)
{
    uint32_t first, last;
    memcpy(&first, p, sizeof first);
    memcpy(&last, end - sizeof last, sizeof last);
    return json__special((uint64_t)first << 32 | last) == 0;
}

/* The first byte from p on that json__special would mark; end when there is none. */
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
    while (p < end && (unsigned char)*p >= ' ' && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\') {
        p++;
    }
    return p;
}
