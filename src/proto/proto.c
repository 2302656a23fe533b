#include "proto/proto.h"

#include <string.h>

#include "base/check.h"

/* clang-format off */
static const size_t sizes[PROTO_KIND_COUNT] = {
    [PROTO_STR]     = sizeof(struct str),
    [PROTO_I32]     = sizeof(int32_t),
    [PROTO_I64]     = sizeof(int64_t),
    [PROTO_U64]     = sizeof(uint64_t),
    [PROTO_F64]     = sizeof(double),
    [PROTO_BOOL]    = sizeof(bool),
    [PROTO_TIME]    = sizeof(struct wall),
    [PROTO_MESSAGE] = sizeof(void *),
};
/* clang-format on */

size_t proto_item_size(const struct proto_field *field)
{
    bool listed = field->label != PROTO_ONE && field->kind == PROTO_MESSAGE;
    return listed ? field->message->size : sizes[field->kind];
}

const void *proto_item(const struct proto_field *field, const void *message)
{
    const void *member = (const char *)message + field->offset;
    const void *inner;
    if (field->kind != PROTO_MESSAGE) {
        return member;
    }
    memcpy(&inner, member, sizeof inner);
    return inner;
}

static bool is_zero(const void *item, size_t size)
{
    static const char zeros[sizeof(uint64_t)];
    switch (size) { /* constant sizes avoid a call of memcpy */
    case sizeof(uint64_t):
        return memcmp(item, zeros, sizeof(uint64_t)) == 0;
    case sizeof(uint32_t):
        return memcmp(item, zeros, sizeof(uint32_t)) == 0;
    default:
        return memcmp(item, zeros, size) == 0;
    }
}

/* Numbers and times count as absent if all their bits are 0, so -0.0 is present. */
static bool is_default(const struct proto_field *field, const void *item)
{
    struct str text;
    if (field->kind == PROTO_STR) {
        memcpy(&text, item, sizeof text);
        return text.len == 0;
    }
    return field->kind == PROTO_MESSAGE ? item == NULL : is_zero(item, sizes[field->kind]);
}

size_t proto_items_of(const struct proto_field *field, const void *message, const char **out_first)
{
    if (field->label == PROTO_ONE) {
        *out_first = proto_item(field, message);
        return is_default(field, *out_first) ? 0 : 1;
    }
    size_t count;
    memcpy(out_first, (const char *)message + field->offset, sizeof *out_first);
    memcpy(&count, (const char *)message + field->count_offset, sizeof count);
    return count;
}

struct str proto_json_name(const struct proto_field *field, char *out)
{
    size_t len = 0;
    for (const char *at = field->name; *at != '\0'; at++) {
        bool upper = *at == '_' && at[1] >= 'a' && at[1] <= 'z';
        at += upper ? 1 : 0;
        out[len++] = (char)(upper ? *at - 'a' + 'A' : *at);
    }
    return str_from(out, len);
}

static void check_field(const struct proto_message *type, const struct proto_field *field)
{
    CHECK(field->number > 0);
    CHECK(field->kind < PROTO_KIND_COUNT);
    CHECK(strlen(field->name) < PROTO_NAME_MAX);
    CHECK((field->kind == PROTO_MESSAGE) == (field->message != NULL));
    CHECK(field->offset + sizes[field->kind] <= type->size || field->label != PROTO_ONE);
    if (field->label != PROTO_ONE) {
        CHECK(field->kind == PROTO_STR || field->kind == PROTO_MESSAGE);
    }
    if (field->label == PROTO_MAP) {
        CHECK(field->message != NULL && field->message->count == 2);
        CHECK(field->message->fields[0].number == 1 && field->message->fields[0].kind == PROTO_STR);
        CHECK(field->message->fields[1].number == 2);
        CHECK(field->message->fields[1].label == PROTO_ONE);
    }
}

/* Repeated messages of a singular field are merged: a list inside would be copied each time. */
static bool has_list(const struct proto_message *type)
{
    for (size_t i = 0; i < type->count; i++) {
        if (type->fields[i].label != PROTO_ONE) {
            return true;
        }
    }
    return false;
}

static void check_below(const struct proto_message *type, unsigned depth)
{
    CHECK(depth <= PROTO_DEPTH_MAX);
    CHECK(type->count <= PROTO_FIELDS_MAX);
    for (size_t i = 0; i < type->count; i++) {
        check_field(type, &type->fields[i]);
        if (i > 0) { /* the encoder writes in this order, and the decoder expects it */
            CHECK(type->fields[i].number > type->fields[i - 1].number);
        }
        if (type->fields[i].message != NULL) {
            CHECK(type->fields[i].label != PROTO_ONE || !has_list(type->fields[i].message));
            check_below(type->fields[i].message, depth + 1);
        }
    }
}

void proto_check(const struct proto_message *type)
{
    check_below(type, 1);
}
