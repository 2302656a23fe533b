#include "trace/trace_context.h"

#include <string.h>

#include "base/hex.h"

enum { VERSION_INVALID = 0xff, FLAG_SAMPLED = 1 };
enum { TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53 }; /* offsets in the header's value */

/* Read the digits of n bytes at an offset of the header. */
static bool read_hex(struct str header, size_t at, uint8_t *out, size_t n)
{
    return hex_read(str_from(header.ptr + at, 2 * n), out, n);
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
        !read_hex(header, 0, &version, 1) || version == VERSION_INVALID ||
        !has_length_of(version, header) ||
        !read_hex(header, TRACE_AT, out->trace, TRACE_ID_BYTES) ||
        !read_hex(header, SPAN_AT, out->span, TRACE_SPAN_ID_BYTES) ||
        !read_hex(header, FLAGS_AT, &flags, 1)) {
        return false;
    }
    out->sampled = (flags & FLAG_SAMPLED) != 0;
    return !is_zero(out->trace, TRACE_ID_BYTES) && !is_zero(out->span, TRACE_SPAN_ID_BYTES);
}

struct str trace_context_format(const struct trace_context *c, char room[TRACE_PARENT_BYTES])
{
    memcpy(room, "00-", TRACE_AT);
    *hex_write(room + TRACE_AT, c->trace, TRACE_ID_BYTES) = '-';
    *hex_write(room + SPAN_AT, c->span, TRACE_SPAN_ID_BYTES) = '-';
    room[FLAGS_AT] = '0';
    room[FLAGS_AT + 1] = c->sampled ? '1' : '0';
    return str_from(room, TRACE_PARENT_BYTES);
}
