#include "base/base64url.h"

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '-'             ? 62
           : c == '_'             ? 63
                                  : -1;
}

bool base64url_decode(struct str text, uint8_t *out, size_t *out_len)
{
    uint32_t bits = 0;
    unsigned count = 0;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = digit_of(text.ptr[i]);
        if (digit < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)digit;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[len++] = (uint8_t)(bits >> count);
        }
    }
    *out_len = len;
    return text.len % 4 != 1 && (bits & ((1U << count) - 1)) == 0;
}

struct str base64url_encode(struct str bytes, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    unsigned count = 0;
    size_t len = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        bits = bits << 8 | (uint8_t)bytes.ptr[i];
        for (count += 8; count >= 6; count -= 6) {
            out[len++] = digits[bits >> (count - 6) & 63];
        }
    }
    if (count > 0) {
        out[len++] = digits[bits << (6 - count) & 63];
    }
    return str_from(out, len);
}
