/*
 * One pass over the table, one write per field. The length of an inner message is known only after
 * it is written: two bytes are reserved, which is nearly always right, and the message is moved if
 * its length needs more or fewer bytes.
 */
#include "proto/proto_encode.h"

#include <endian.h>
#include <string.h>

#include "proto/proto_wire_int.h"

enum { LENGTH_BYTES_GUESS = 2 };

static inline size_t varint_size(uint64_t v)
{
    return v == 0 ? 1 : (size_t)(70 - __builtin_clzll(v)) / 7; /* seven bits per byte */
}

static inline char *write_varint(char *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) {
        *at++ = (char)(v | 0x80);
    }
    *at++ = (char)v;
    return at;
}

static inline uint64_t tag_of(const struct proto_field *field)
{
    return (uint64_t)field->number << 3 | proto_wire__of[field->kind];
}

/* Whole fields. */

static void put_text(const struct proto_field *field, struct str text, struct buf *out)
{
    uint64_t tag = tag_of(field);
    size_t size = varint_size(tag) + varint_size(text.len) + text.len;
    char *at = buf_reserve(out, size);
    if (at != NULL) {
        at = write_varint(write_varint(at, tag), text.len);
        if (text.len > 0) {
            memcpy(at, text.ptr, text.len);
        }
        out->len += size;
    }
}

static void put_number(const struct proto_field *field, uint64_t v, struct buf *out)
{
    uint64_t tag = tag_of(field);
    size_t size = varint_size(tag) + varint_size(v);
    char *at = buf_reserve(out, size);
    if (at != NULL) {
        (void)write_varint(write_varint(at, tag), v);
        out->len += size;
    }
}

static void put_f64(const struct proto_field *field, uint64_t v, struct buf *out)
{
    uint64_t tag = tag_of(field);
    size_t size = varint_size(tag) + sizeof v;
    char *at = buf_reserve(out, size);
    v = htole64(v);
    if (at != NULL) {
        memcpy(write_varint(at, tag), &v, sizeof v);
        out->len += size;
    }
}

/* Start an inner message; returns its position. */
static size_t begin_inner(const struct proto_field *field, struct buf *out)
{
    uint64_t tag = tag_of(field);
    size_t size = varint_size(tag) + LENGTH_BYTES_GUESS;
    char *at = buf_reserve(out, size);
    if (at != NULL) {
        (void)write_varint(at, tag);
        out->len += size;
    }
    return out->len;
}

static void end_inner(size_t begin, struct buf *out)
{
    size_t len = out->len - begin;
    size_t size = varint_size(len);
    size_t more = size > LENGTH_BYTES_GUESS ? size - LENGTH_BYTES_GUESS : 0;
    if (out->overflow || (more > 0 && buf_reserve(out, more) == NULL)) {
        return;
    }
    char *at = out->ptr + begin - LENGTH_BYTES_GUESS;
    if (size != LENGTH_BYTES_GUESS) {
        memmove(at + size, at + LENGTH_BYTES_GUESS, len);
        out->len = out->len - LENGTH_BYTES_GUESS + size;
    }
    (void)write_varint(at, len);
}

/* google.protobuf.Timestamp: seconds, rounded down, and nanoseconds, which are never negative. */
static void put_time(const struct proto_field *field, struct wall at, struct buf *out)
{
    static const struct proto_field parts[] = {
        {.number = PROTO_TIME_SECONDS, .kind = PROTO_I64},
        {.number = PROTO_TIME_NANOS, .kind = PROTO_I64},
    };
    int64_t seconds = at.ns / NS_PER_S;
    int64_t nanos = at.ns % NS_PER_S;
    if (nanos < 0) {
        seconds -= 1;
        nanos += NS_PER_S;
    }
    size_t begin = begin_inner(field, out);
    if (seconds != 0) {
        put_number(&parts[0], (uint64_t)seconds, out);
    }
    if (nanos != 0) {
        put_number(&parts[1], (uint64_t)nanos, out);
    }
    end_inner(begin, out);
}

static void put_message(const struct proto_field *field, const void *message, struct buf *out)
{
    size_t begin = begin_inner(field, out);
    proto_encode(field->message, message, out);
    end_inner(begin, out);
}

static void put_many(const struct proto_field *field, const void *message, struct buf *out)
{
    const char *at;
    size_t count = proto_items_of(field, message, &at);
    size_t size = proto_item_size(field);
    for (size_t i = 0; i < count; i++, at += size) {
        if (field->kind == PROTO_MESSAGE) {
            put_message(field, at, out);
        } else {
            struct str text;
            memcpy(&text, at, sizeof text);
            put_text(field, text, out);
        }
    }
}

/* Write a member unless it has its default value. Numbers are written unless all their bits are
 * 0: -0.0 is. */
static void put_one(const struct proto_field *field, const void *message, struct buf *out)
{
    union {
        struct str text;
        int32_t i32;
        uint64_t bits;
        bool yes;
        struct wall at;
        const void *inner;
    } v;
    const char *member = (const char *)message + field->offset;
    switch (field->kind) {
    case PROTO_STR:
        memcpy(&v.text, member, sizeof v.text);
        if (v.text.len > 0) {
            put_text(field, v.text, out);
        }
        break;
    case PROTO_I32:
        memcpy(&v.i32, member, sizeof v.i32);
        if (v.i32 != 0) {
            put_number(field, (uint64_t)(int64_t)v.i32, out); /* sign-extended to 64 bits */
        }
        break;
    case PROTO_I64:
    case PROTO_U64:
        memcpy(&v.bits, member, sizeof v.bits);
        if (v.bits != 0) {
            put_number(field, v.bits, out);
        }
        break;
    case PROTO_F64:
        memcpy(&v.bits, member, sizeof v.bits);
        if (v.bits != 0) {
            put_f64(field, v.bits, out);
        }
        break;
    case PROTO_BOOL:
        memcpy(&v.yes, member, sizeof v.yes);
        if (v.yes) {
            put_number(field, 1, out);
        }
        break;
    case PROTO_TIME:
        memcpy(&v.at, member, sizeof v.at);
        if (v.at.ns != 0) {
            put_time(field, v.at, out);
        }
        break;
    case PROTO_MESSAGE:
        memcpy(&v.inner, member, sizeof v.inner);
        if (v.inner != NULL) {
            put_message(field, v.inner, out);
        }
        break;
    case PROTO_KIND_COUNT:
    default:
        break;
    }
}

void proto_encode(const struct proto_message *type, const void *message, struct buf *out)
{
    const struct proto_field *end = type->fields + type->count;
    for (const struct proto_field *field = type->fields; field < end; field++) {
        if (field->label == PROTO_ONE) {
            put_one(field, message, out);
        } else {
            put_many(field, message, out);
        }
    }
}
