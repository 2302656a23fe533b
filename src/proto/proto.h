/*
 * Proto: messages of Protocol Buffers (proto3), described by one table per message.
 *
 * A row names a field of the .proto file, its number, and the member of the C struct it is stored
 * in. The binary codec (proto_decode.h, proto_encode.h) and the JSON mapping (proto_json_decode.h,
 * proto_json_encode.h) read the same rows, so that a field cannot exist in one and not in the
 * other.
 *
 *     struct rpc_fail { struct str job_id, error, backtrace; };
 *
 *     static const struct proto_field fail_rows[] = {
 *         PROTO_ROW(struct rpc_fail, 1, STR, job_id),
 *         PROTO_ROW(struct rpc_fail, 2, STR, error),
 *         PROTO_ROW(struct rpc_fail, 3, STR, backtrace),
 *     };
 *     const struct proto_message rpc_fail_message =
 *         PROTO_MESSAGE_OF(struct rpc_fail, "corvo.v1.FailRequest", fail_rows);
 *
 * A struct is all zeros by default, as in proto3: text is empty, an absent message is NULL, an
 * absent time is WALL_NONE. Features that the service does not use (enums, bytes, packed numbers,
 * oneof, extensions) are not supported; fields without a row are skipped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/str.h"

enum proto_kind {
    PROTO_STR,     /* struct str, well-formed UTF-8 */
    PROTO_I32,     /* int32_t */
    PROTO_I64,     /* int64_t */
    PROTO_U64,     /* uint64_t */
    PROTO_F64,     /* double */
    PROTO_BOOL,    /* bool */
    PROTO_TIME,    /* struct wall; google.protobuf.Timestamp on the wire */
    PROTO_MESSAGE, /* a pointer to another message's struct */
    PROTO_KIND_COUNT
};

enum proto_label {
    PROTO_ONE,
    PROTO_MANY, /* pointer to the first item and size_t: texts or messages */
    PROTO_MAP,  /* the same, with entries: messages with the fields 1 (key, text) and 2 (value) */
};

struct proto_message;

struct proto_field {
    const char *name; /* as in the .proto file: payload_json */
    uint32_t number;
    enum proto_kind kind;
    enum proto_label label;
    size_t offset;
    size_t count_offset;                 /* PROTO_MANY, PROTO_MAP */
    const struct proto_message *message; /* PROTO_MESSAGE */
};

struct proto_message {
    const char *name; /* with its package */
    const struct proto_field *fields;
    size_t count;
    size_t size; /* of the struct */
};

enum {
    PROTO_DEPTH_MAX = 4, /* depth of nested messages in the tables */
    PROTO_FIELDS_MAX = 64,
    PROTO_NAME_MAX = 64,  /* bytes of a field's name */
    PROTO_GROUP_MAX = 64, /* depth of obsolete groups in skipped fields */
};

/* Abort if a table contradicts itself or nests too deep. For tests and at start. */
void proto_check(const struct proto_message *type);

/* The field's name in JSON, lowerCamelCase; out has room for PROTO_NAME_MAX. */
struct str proto_json_name(const struct proto_field *field, char *out);

/* Size of one item of the field: the member, or an element of a list. */
size_t proto_item_size(const struct proto_field *field);

/* The item of a singular field: the member itself, or the struct of the inner message; NULL if
 * absent. */
const void *proto_item(const struct proto_field *field, const void *message);

/* The items of a field to be written: their number, and the first one. A singular member with
 * its default value has none; an inner message has one even if it is empty. */
size_t proto_items_of(const struct proto_field *field, const void *message, const char **out_first);

/* clang-format off */

/* Each row checks that the member has the type of its kind. */
#define PROTO_OFFSET(type, member, ctype)                                                          \
    (offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (ctype *)0))
#define PROTO_CTYPE_STR  struct str
#define PROTO_CTYPE_I32  int32_t
#define PROTO_CTYPE_I64  int64_t
#define PROTO_CTYPE_U64  uint64_t
#define PROTO_CTYPE_F64  double
#define PROTO_CTYPE_BOOL bool
#define PROTO_CTYPE_TIME struct wall

#define PROTO_ROW(type, no, what, member)                                                          \
    {.name = #member, .number = (no), .kind = PROTO_##what,                                        \
     .offset = PROTO_OFFSET(type, member, PROTO_CTYPE_##what)}

#define PROTO_STRS(type, no, member, counter)                                                      \
    {.name = #member, .number = (no), .kind = PROTO_STR, .label = PROTO_MANY,                      \
     .offset = PROTO_OFFSET(type, member, struct str *),                                           \
     .count_offset = PROTO_OFFSET(type, counter, size_t)}

#define PROTO_ONE_OF(type, no, member, inner, table)                                               \
    {.name = #member, .number = (no), .kind = PROTO_MESSAGE, .message = (table),                   \
     .offset = PROTO_OFFSET(type, member, __typeof__(inner) *)}

#define PROTO_LIST_OF(type, no, member, counter, inner, table)                                     \
    {.name = #member, .number = (no), .kind = PROTO_MESSAGE, .label = PROTO_MANY,                  \
     .message = (table), .offset = PROTO_OFFSET(type, member, __typeof__(inner) *),                            \
     .count_offset = PROTO_OFFSET(type, counter, size_t)}

#define PROTO_MAP_OF(type, no, member, counter, entry, table)                                      \
    {.name = #member, .number = (no), .kind = PROTO_MESSAGE, .label = PROTO_MAP,                   \
     .message = (table), .offset = PROTO_OFFSET(type, member, __typeof__(entry) *),                            \
     .count_offset = PROTO_OFFSET(type, counter, size_t)}

#define PROTO_MESSAGE_OF(type, full_name, rows)                                                    \
    {.name = (full_name), .fields = (rows), .count = sizeof(rows) / sizeof((rows)[0]),             \
     .size = sizeof(type)}

/* clang-format on */
