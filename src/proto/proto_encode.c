#include "proto/proto_encode.h"

#include <endian.h>
#include <string.h>

#include "proto/proto_wire_int.h"

enum { VARINT_BYTES_MAX = 10 };

static size_t varint_size(uint64_t v)
{
    return v == 0 ? 1 : (size_t)(70 - __builtin_clzll(v)) / 7; /* seven bits a byte */
}

static void put_varint(struct buf *out, uint64_t v)
{
    uint8_t bytes[VARINT_BYTES_MAX];
    size_t n = 0;
    if (v < 0x80) { /* nearly all: tags, lengths, small numbers */
        buf_add_char(out, (char)v);
        return;
    }
    for (; v >= 0x80; v >>= 7) {
        bytes[n++] = (uint8_t)(v | 0x80);
    }
    bytes[n++] = (uint8_t)v;
    buf_add(out, bytes, n);
}

static uint64_t tag_of(uint32_t number, enum proto_wire wire)
{
    return (uint64_t)number << 3 | wire;
}

/* What each kind has behind its tag, and behind its length if it has one. */

static uint64_t bits(const void *item)
{
    uint64_t v;
    memcpy(&v, item, sizeof v);
    return v;
}

/* A negative one is extended to 64 bits. */
static uint64_t bits_of_i32(const void *item)
{
    int32_t v;
    memcpy(&v, item, sizeof v);
    return (uint64_t)(int64_t)v;
}

static struct str text_of(const void *item)
{
    struct str text;
    memcpy(&text, item, sizeof text);
    return text;
}

static size_t text_size(const struct proto_field *field, const void *item)
{
    (void)field;
    return text_of(item).len;
}

static void put_text(const struct proto_field *field, const void *item, struct buf *out)
{
    (void)field;
    buf_add_str(out, text_of(item));
}

static size_t i32_size(const struct proto_field *field, const void *item)
{
    (void)field;
    return varint_size(bits_of_i32(item));
}

static void put_i32(const struct proto_field *field, const void *item, struct buf *out)
{
    (void)field;
    put_varint(out, bits_of_i32(item));
}

static size_t i64_size(const struct proto_field *field, const void *item)
{
    (void)field;
    return varint_size(bits(item));
}

static void put_i64(const struct proto_field *field, const void *item, struct buf *out)
{
    (void)field;
    put_varint(out, bits(item));
}

static size_t f64_size(const struct proto_field *field, const void *item)
{
    (void)field, (void)item;
    return sizeof(double);
}

static void put_f64(const struct proto_field *field, const void *item, struct buf *out)
{
    (void)field;
    uint64_t v = htole64(bits(item));
    buf_add(out, &v, sizeof v);
}

/* Only true is written. */
static size_t bool_size(const struct proto_field *field, const void *item)
{
    (void)field, (void)item;
    return 1;
}

static void put_bool(const struct proto_field *field, const void *item, struct buf *out)
{
    (void)field, (void)item;
    buf_add_char(out, 1);
}

/* google.protobuf.Timestamp: seconds, rounded down, and nanoseconds, which are never negative. */
struct stamp {
    int64_t seconds;
    int64_t nanos;
};

static struct stamp stamp_of(const void *item)
{
    struct wall at;
    memcpy(&at, item, sizeof at);
    struct stamp t = {.seconds = at.ns / NS_PER_S, .nanos = at.ns % NS_PER_S};
    if (t.nanos < 0) {
        t.seconds -= 1;
        t.nanos += NS_PER_S;
    }
    return t;
}

static size_t time_size(const struct proto_field *field, const void *item)
{
    (void)field;
    struct stamp t = stamp_of(item);
    return (t.seconds == 0 ? 0 : 1 + varint_size((uint64_t)t.seconds)) +
           (t.nanos == 0 ? 0 : 1 + varint_size((uint64_t)t.nanos));
}

static void put_time(const struct proto_field *field, const void *item, struct buf *out)
{
    (void)field;
    struct stamp t = stamp_of(item);
    if (t.seconds != 0) {
        put_varint(out, tag_of(PROTO_TIME_SECONDS, PROTO_WIRE_VARINT));
        put_varint(out, (uint64_t)t.seconds);
    }
    if (t.nanos != 0) {
        put_varint(out, tag_of(PROTO_TIME_NANOS, PROTO_WIRE_VARINT));
        put_varint(out, (uint64_t)t.nanos);
    }
}

static size_t message_size(const struct proto_field *field, const void *item);

static void put_message(const struct proto_field *field, const void *item, struct buf *out)
{
    proto_encode(field->message, item, out);
}

/* clang-format off */
static const struct {
    size_t (*size)(const struct proto_field *field, const void *item);
    void (*put)(const struct proto_field *field, const void *item, struct buf *out);
} kinds[PROTO_KIND_COUNT] = {
    [PROTO_STR]     = {text_size,    put_text},
    [PROTO_I32]     = {i32_size,     put_i32},
    [PROTO_I64]     = {i64_size,     put_i64},
    [PROTO_U64]     = {i64_size,     put_i64},
    [PROTO_F64]     = {f64_size,     put_f64},
    [PROTO_BOOL]    = {bool_size,    put_bool},
    [PROTO_TIME]    = {time_size,    put_time},
    [PROTO_MESSAGE] = {message_size, put_message},
};
/* clang-format on */

/* Whole fields. */

static size_t field_size(const struct proto_field *field, const void *item)
{
    enum proto_wire wire = proto_wire__of[field->kind];
    size_t size = kinds[field->kind].size(field, item);
    return varint_size(tag_of(field->number, wire)) +
           (wire == PROTO_WIRE_BYTES ? varint_size(size) : 0) + size;
}

static void put_field(const struct proto_field *field, const void *item, struct buf *out)
{
    enum proto_wire wire = proto_wire__of[field->kind];
    put_varint(out, tag_of(field->number, wire));
    if (wire == PROTO_WIRE_BYTES) {
        put_varint(out, kinds[field->kind].size(field, item));
    }
    kinds[field->kind].put(field, item, out);
}

static size_t message_size(const struct proto_field *field, const void *item)
{
    const struct proto_message *type = field->message;
    size_t total = 0;
    for (size_t i = 0; i < type->count; i++) {
        const char *at;
        size_t count = proto_items_of(&type->fields[i], item, &at);
        for (size_t k = 0; k < count; k++, at += proto_item_size(&type->fields[i])) {
            total += field_size(&type->fields[i], at);
        }
    }
    return total;
}

void proto_encode(const struct proto_message *type, const void *message, struct buf *out)
{
    for (size_t i = 0; i < type->count; i++) {
        const char *at;
        size_t count = proto_items_of(&type->fields[i], message, &at);
        for (size_t k = 0; k < count; k++, at += proto_item_size(&type->fields[i])) {
            put_field(&type->fields[i], at, out);
        }
    }
}
