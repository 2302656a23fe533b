#include "proto/proto_decode.h"

#include <string.h>

#include "proto/proto_wire_int.h"

struct decode {
    struct arena *arena;
    struct err *err;
};

static enum err_code merge(struct decode *d, const struct proto_message *type, struct str bytes,
                           void *out);

/* Find the row with the number and wire type of the field. Most messages have the order of the
 * rows, so the search begins after the last row found. */
static const struct proto_field *find(const struct proto_message *type, const struct proto_scan *s,
                                      size_t *next)
{
    for (size_t i = 0; i < type->count; i++) {
        size_t at = *next + i < type->count ? *next + i : *next + i - type->count;
        const struct proto_field *field = &type->fields[at];
        if (field->number == s->number) {
            *next = field->label == PROTO_ONE && at + 1 < type->count ? at + 1 : at;
            return proto_wire__of[field->kind] == s->wire ? field : NULL;
        }
    }
    return NULL;
}

static enum err_code malformed(struct decode *d, const struct proto_message *type)
{
    return err_set(d->err, ERR_PARSE, "cannot parse %s: the protobuf encoding is not valid",
                   type->name);
}

/* Store a field's value in its member. */
typedef enum err_code (*put_fn)(struct decode *d, const struct proto_field *field,
                                const struct proto_scan *s, void *member);

static enum err_code put_text(struct decode *d, const struct proto_field *field,
                              const struct proto_scan *s, void *member)
{
    if (!str_is_utf8(s->bytes)) {
        return err_set(d->err, ERR_PARSE, "%s: the text is not valid UTF-8", field->name);
    }
    memcpy(member, &s->bytes, sizeof s->bytes);
    return ERR_OK;
}

static enum err_code put_i32(struct decode *d, const struct proto_field *field,
                             const struct proto_scan *s, void *member)
{
    (void)d, (void)field;
    int32_t v = (int32_t)s->value;
    memcpy(member, &v, sizeof v);
    return ERR_OK;
}

static enum err_code put_bool(struct decode *d, const struct proto_field *field,
                              const struct proto_scan *s, void *member)
{
    (void)d, (void)field;
    bool v = s->value != 0;
    memcpy(member, &v, sizeof v);
    return ERR_OK;
}

static enum err_code put_64_bits(struct decode *d, const struct proto_field *field,
                                 const struct proto_scan *s, void *member)
{
    (void)d, (void)field;
    memcpy(member, &s->value, sizeof s->value);
    return ERR_OK;
}

/* A time outside the range of struct wall becomes the nearest one in range. */
static enum err_code put_time(struct decode *d, const struct proto_field *field,
                              const struct proto_scan *s, void *member)
{
    struct proto_scan parts = proto_wire__scan(s->bytes);
    int64_t seconds = 0, nanos = 0;
    while (proto_wire__next(&parts)) {
        if (parts.wire == PROTO_WIRE_VARINT && parts.number == PROTO_TIME_SECONDS) {
            seconds = (int64_t)parts.value;
        } else if (parts.wire == PROTO_WIRE_VARINT && parts.number == PROTO_TIME_NANOS) {
            nanos = (int32_t)parts.value;
        }
    }
    if (parts.bad || nanos < 0 || nanos >= NS_PER_S) {
        return err_set(d->err, ERR_PARSE, "%s: the timestamp is not valid", field->name);
    }
    struct wall at;
    if (__builtin_mul_overflow(seconds, NS_PER_S, &at.ns) ||
        __builtin_add_overflow(at.ns, nanos, &at.ns)) {
        at.ns = seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    memcpy(member, &at, sizeof at);
    return ERR_OK;
}

/* A nested message: its struct is created if there is none yet. */
static enum err_code put_message(struct decode *d, const struct proto_field *field,
                                 const struct proto_scan *s, void *member)
{
    void *inner;
    memcpy(&inner, member, sizeof inner);
    if (inner == NULL) {
        inner = arena_alloc(d->arena, field->message->size, _Alignof(max_align_t));
        if (inner == NULL) {
            return err_set_default(d->err, ERR_TOO_LARGE);
        }
        memset(inner, 0, field->message->size);
        memcpy(member, &inner, sizeof inner);
    }
    return merge(d, field->message, s->bytes, inner);
}

/* clang-format off */
static const put_fn puts_of[PROTO_KIND_COUNT] = {
    [PROTO_STR]     = put_text,
    [PROTO_I32]     = put_i32,
    [PROTO_I64]     = put_64_bits,
    [PROTO_U64]     = put_64_bits,
    [PROTO_F64]     = put_64_bits,
    [PROTO_BOOL]    = put_bool,
    [PROTO_TIME]    = put_time,
    [PROTO_MESSAGE] = put_message,
};
/* clang-format on */

static size_t *count_of(const struct proto_field *field, void *message)
{
    return (size_t *)(void *)((char *)message + field->count_offset);
}

static void **items_of(const struct proto_field *field, void *message)
{
    return (void **)(void *)((char *)message + field->offset);
}

/* Make room for the further items of this list in bytes. They are counted first, so that the list
 * is allocated once. */
static enum err_code make_room(struct decode *d, const struct proto_field *field, struct str bytes,
                               void *out)
{
    struct proto_scan s = proto_wire__scan(bytes);
    size_t more = 0;
    while (proto_wire__next(&s)) {
        more += s.number == field->number && s.wire == PROTO_WIRE_BYTES ? 1 : 0;
    }
    size_t had = *count_of(field, out), size = proto_item_size(field);
    char *items = arena_alloc(d->arena, (had + more) * size, _Alignof(max_align_t));
    if (items == NULL) {
        return err_set_default(d->err, ERR_TOO_LARGE);
    }
    memset(items, 0, (had + more) * size);
    if (had > 0) {
        memcpy(items, *items_of(field, out), had * size);
    }
    *items_of(field, out) = items;
    return ERR_OK;
}

static enum err_code put_item(struct decode *d, const struct proto_field *field,
                              const struct proto_scan *s, void *out)
{
    size_t *count = count_of(field, out);
    char *item = (char *)*items_of(field, out) + *count * proto_item_size(field);
    *count += 1;
    return field->kind == PROTO_STR ? put_text(d, field, s, item)
                                    : merge(d, field->message, s->bytes, item);
}

/* Merge bytes into *out. The tables bound the recursion (PROTO_DEPTH_MAX). */
static enum err_code merge(struct decode *d, const struct proto_message *type, struct str bytes,
                           void *out)
{
    struct proto_scan s = proto_wire__scan(bytes);
    size_t next = 0;
    uint64_t roomy = 0; /* bit n: the list of row n has room */
    while (proto_wire__next(&s)) {
        const struct proto_field *field = find(type, &s, &next);
        enum err_code code = ERR_OK;
        if (field == NULL) {
            continue;
        }
        if (field->label == PROTO_ONE) {
            code = puts_of[field->kind](d, field, &s, (char *)out + field->offset);
        } else {
            uint64_t bit = 1ULL << (field - type->fields);
            code = (roomy & bit) != 0 ? ERR_OK : make_room(d, field, bytes, out);
            roomy |= bit;
            code = code == ERR_OK ? put_item(d, field, &s, out) : code;
        }
        if (code != ERR_OK) {
            return code;
        }
    }
    return s.bad ? malformed(d, type) : ERR_OK;
}

enum err_code proto_decode(const struct proto_message *type, struct str bytes, struct arena *arena,
                           void *out, struct err *err)
{
    struct decode d = {.arena = arena, .err = err};
    memset(out, 0, type->size);
    return merge(&d, type, bytes, out);
}
