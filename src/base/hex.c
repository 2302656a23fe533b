#include "base/hex.h"

#include <stdint.h>

char *hex_write(char *out, const void *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *from = bytes;
    for (size_t i = 0; i < n; i++) {
        *out++ = digits[from[i] >> 4];
        *out++ = digits[from[i] & 15];
    }
    return out;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hex_read(struct str text, void *out, size_t n)
{
    uint8_t *to = out;
    if (text.len % 2 != 0 || text.len / 2 != n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        int high = digit(text.ptr[2 * i]);
        int low = digit(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        to[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
