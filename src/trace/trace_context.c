#include "trace/trace_context.h"

#include <string.h>

enum { VERSION_INVALID = 0xff, FLAG_SAMPLED = 1 };
enum { TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53 }; /* offsets in the header's value */

/* Only lower-case digits are allowed. */
static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int high = digit(text[2 * i]);
        int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool is_zero(const uint8_t *bytes, unsigned n)
{
    uint8_t any = 0;
    for (unsigned i = 0; i < n; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

/* A later version may append members after another hyphen. */
static bool has_length_of(uint8_t version, struct str header)
{
    return header.len == TRACE_PARENT_BYTES || (version > 0 && header.len > TRACE_PARENT_BYTES &&
                                                header.ptr[TRACE_PARENT_BYTES] == '-');
}

bool trace_context_parse(struct str header, struct trace_context *out)
{
    uint8_t version;
    uint8_t flags;
    if (header.len < TRACE_PARENT_BYTES || header.ptr[TRACE_AT - 1] != '-' ||
        header.ptr[SPAN_AT - 1] != '-' || header.ptr[FLAGS_AT - 1] != '-' ||
        !read_hex(header.ptr, &version, 1) || version == VERSION_INVALID ||
        !has_length_of(version, header) ||
        !read_hex(header.ptr + TRACE_AT, out->trace, TRACE_ID_BYTES) ||
        !read_hex(header.ptr + SPAN_AT, out->span, TRACE_SPAN_ID_BYTES) ||
        !read_hex(header.ptr + FLAGS_AT, &flags, 1)) {
        return false;
    }
    out->sampled = (flags & FLAG_SAMPLED) != 0;
    return !is_zero(out->trace, TRACE_ID_BYTES) && !is_zero(out->span, TRACE_SPAN_ID_BYTES);
}

char *trace_context_hex(char *out, const uint8_t *bytes, unsigned n)
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < n; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 0xf];
    }
    return out;
}

struct str trace_context_format(const struct trace_context *c, char room[TRACE_PARENT_BYTES])
{
    memcpy(room, "00-", TRACE_AT);
    *trace_context_hex(room + TRACE_AT, c->trace, TRACE_ID_BYTES) = '-';
    *trace_context_hex(room + SPAN_AT, c->span, TRACE_SPAN_ID_BYTES) = '-';
    room[FLAGS_AT] = '0';
    room[FLAGS_AT + 1] = c->sampled ? '1' : '0';
    return str_from(room, TRACE_PARENT_BYTES);
}
