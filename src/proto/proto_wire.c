#include <endian.h>
#include <string.h>

#include "proto/proto_wire_int.h"

enum { TAG_WIRE_BITS = 3, TAG_WIRE_MASK = 7, VARINT_BYTES_MAX = 10 };

/* clang-format off */
const enum proto_wire proto_wire__of[PROTO_KIND_COUNT] = {
    [PROTO_STR]     = PROTO_WIRE_BYTES,
    [PROTO_I32]     = PROTO_WIRE_VARINT,
    [PROTO_I64]     = PROTO_WIRE_VARINT,
    [PROTO_U64]     = PROTO_WIRE_VARINT,
    [PROTO_F64]     = PROTO_WIRE_FIXED64,
    [PROTO_BOOL]    = PROTO_WIRE_VARINT,
    [PROTO_TIME]    = PROTO_WIRE_BYTES,
    [PROTO_MESSAGE] = PROTO_WIRE_BYTES,
};
/* clang-format on */

struct proto_scan proto_wire__scan(struct str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;
    return (struct proto_scan){.at = at, .end = at == NULL ? NULL : at + bytes.len};
}

/* Read at most ten bytes; bits beyond 64 are dropped, as other decoders do. */
static uint64_t varint(struct proto_scan *s)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < VARINT_BYTES_MAX && s->at < s->end; i++) {
        uint8_t byte = *s->at++;
        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0) {
            return v;
        }
    }
    s->bad = true;
    return 0;
}

static uint64_t fixed(struct proto_scan *s, size_t size)
{
    uint64_t v = 0;
    if ((size_t)(s->end - s->at) < size) {
        s->bad = true;
        return 0;
    }
    memcpy(&v, s->at, size);
    s->at += size;
    return le64toh(v);
}

static struct str bytes(struct proto_scan *s)
{
    uint64_t len = varint(s);
    if (s->bad || len > (uint64_t)(s->end - s->at)) {
        s->bad = true;
        return STR_EMPTY;
    }
    struct str out = str_from(s->at, (size_t)len);
    s->at += len;
    return out;
}

static void tag(struct proto_scan *s)
{
    uint64_t v = varint(s);
    uint64_t number = v >> TAG_WIRE_BITS;
    s->wire = (enum proto_wire)(v & TAG_WIRE_MASK);
    s->number = (uint32_t)number;
    if (number == 0 || number > (UINT32_MAX >> TAG_WIRE_BITS)) {
        s->bad = true;
    }
}

/* Read the value after a tag, for all types except groups. */
static void content(struct proto_scan *s)
{
    switch (s->wire) {
    case PROTO_WIRE_VARINT:
        s->value = varint(s);
        break;
    case PROTO_WIRE_FIXED64:
        s->value = fixed(s, sizeof(uint64_t));
        break;
    case PROTO_WIRE_FIXED32:
        s->value = fixed(s, sizeof(uint32_t));
        break;
    case PROTO_WIRE_BYTES:
        s->bytes = bytes(s);
        break;
    case PROTO_WIRE_GROUP:
    case PROTO_WIRE_GROUP_END:
    default: /* 6 and 7 are undefined */
        s->bad = true;
    }
}

/* Skip to the end of the group whose start was just read. */
static void skip_group(struct proto_scan *s)
{
    uint32_t open[PROTO_GROUP_MAX];
    unsigned depth = 0;
    open[depth++] = s->number;
    while (depth > 0 && !s->bad) {
        tag(s);
        if (s->wire == PROTO_WIRE_GROUP) {
            if (depth == PROTO_GROUP_MAX) {
                s->bad = true;
                return;
            }
            open[depth++] = s->number;
        } else if (s->wire == PROTO_WIRE_GROUP_END) {
            depth--;
            s->bad = s->bad || open[depth] != s->number;
        } else {
            content(s);
        }
    }
}

bool proto_wire__next(struct proto_scan *s)
{
    while (!s->bad && s->at < s->end) {
        tag(s);
        if (s->bad) {
            break;
        }
        if (s->wire != PROTO_WIRE_GROUP) {
            content(s);
            return !s->bad;
        }
        skip_group(s);
    }
    return false;
}
