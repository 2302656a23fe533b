#include "base/digits.h"

char *digits_put(char *at, uint64_t n)
{
    unsigned width = 1;
    for (uint64_t left = n; left >= 10; left /= 10) {
        width++;
    }
    return digits_put_padded(at, n, width);
}

char *digits_put_hex(char *at, uint64_t n)
{
    unsigned width = n == 0 ? 1 : (67 - (unsigned)__builtin_clzll(n)) / 4;
    for (unsigned i = width; i-- > 0; n >>= 4) {
        at[i] = "0123456789abcdef"[n & 15];
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
