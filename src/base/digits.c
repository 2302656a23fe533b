#include "base/digits.h"

#include <endian.h>
#include <string.h>

char *digits_put(char *at, uint64_t n)
{
    unsigned width = 1;
    for (uint64_t left = n; left >= 10; left /= 10) {
        width++;
    }
    return digits_put_padded(at, n, width);
}

/* Eight digits of hex, the highest first. Halves move apart until each digit has a byte of its own;
 * adding six lets those from ten on reach the bit that says to use a letter. */
static inline void put_hex_word(char *at, uint32_t n)
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
    put_hex_word(at, (uint32_t)(n >> 32));
    if (width > 8) {
        put_hex_word(at + 8, (uint32_t)n);
    }
    return at + width;
}

char *digits_put_padded(char *at, uint64_t n, unsigned width)
{
    for (unsigned i = width; i-- > 0; n /= 10) {
        at[i] = (char)('0' + n % 10);
    }
    return at + width;
}
