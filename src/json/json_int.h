/*
 * What the files of json/ share: how far text is plain.
 */
#pragma once

#include <endian.h>
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
    while (p < end && (unsigned char)*p >= ' ' && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\') {
        p++;
    }
    return p;
}
