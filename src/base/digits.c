#include "base/digits.h"

#include <endian.h>
#include <string.h>

/* Digits are produced in pairs, from the last one on: one division for two digits. */
static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                            "34353637383940414243444546474849505152535455565758596061626364656667"
                            "6869707172737475767778798081828384858687888990919293949596979899";

char *digits_put(char *at, uint64_t n)
{
    char room[DIGITS_MAX];
    char *begin = room + sizeof room;
    for (; n > UINT32_MAX; n /= 100) {
        begin -= 2;
        memcpy(begin, pairs + 2 * (n % 100), 2);
    }
    uint32_t small = (uint32_t)n; /* 32-bit divisions are faster */
    for (; small >= 100; small /= 100) {
        begin -= 2;
        memcpy(begin, pairs + (size_t)2 * (small % 100), 2);
    }
    if (small >= 10) {
        begin -= 2;
        memcpy(begin, pairs + (size_t)2 * small, 2);
    } else {
        *--begin = (char)('0' + small);
    }
    size_t width = (size_t)(room + sizeof room - begin);
    memcpy(at, begin, width);
    return at + width;
}

/* Write eight hex digits, the highest first. Halves are moved apart until each digit has a separate
 * byte; adding six makes digits from ten on set the bit that selects a letter. */
void digits_put_hex_word(char *at, uint32_t n)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t digits = n;
    digits = (digits | digits << 16) & 0x0000ffff0000ffffU;
    digits = (digits | digits << 8) & 0x00ff00ff00ff00ffU;
    digits = (digits | digits << 4) & (ones * 0x0f);
    uint64_t letters = (digits + ones * 6) >> 4 & ones;
    uint64_t text = htobe64(digits + ones * '0' + letters * ('a' - '0' - 10));
    memcpy(at, &text, sizeof text);
}

char *digits_put_hex(char *at, uint64_t n)
{
    unsigned width = n == 0 ? 1 : (67 - (unsigned)__builtin_clzll(n)) / 4;
    n <<= 64 - 4 * width;
    digits_put_hex_word(at, (uint32_t)(n >> 32));
    if (width > 8) {
        digits_put_hex_word(at + 8, (uint32_t)n);
    }
    return at + width;
}

char *digits_put_padded(char *at, uint64_t n, unsigned width)
{
    unsigned i = width;
    for (; i >= 2; n /= 100) {
        i -= 2;
        memcpy(at + i, pairs + 2 * (n % 100), 2);
    }
    if (i == 1) {
        at[0] = (char)('0' + n % 10);
    }
    return at + width;
}
