#include "proto/proto_json_encode.h"

#include <math.h>
#include <string.h>

#include "base/digits.h"
#include "core/timestamp.h"

/* One writer for each kind. */

static void write_text(const struct proto_field *field, const void *item, struct json_write *w)
{
    (void)field;
    struct str text;
    memcpy(&text, item, sizeof text);
    json_write_str(w, text);
}

static void write_i32(const struct proto_field *field, const void *item, struct json_write *w)
{
    (void)field;
    int32_t v;
    memcpy(&v, item, sizeof v);
    json_write_i64(w, v);
}

static void write_decimal(struct json_write *w, uint64_t v, bool negative)
{
    char text[1 + DIGITS_MAX];
    text[0] = '-';
    const char *end = digits_put(text + 1, v);
    const char *begin = negative ? text : text + 1;
    json_write_str(w, str_from(begin, (size_t)(end - begin)));
}

static void write_i64(const struct proto_field *field, const void *item, struct json_write *w)
{
    (void)field;
    int64_t v;
    memcpy(&v, item, sizeof v);
    write_decimal(w, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0);
}

static void write_u64(const struct proto_field *field, const void *item, struct json_write *w)
{
    (void)field;
    uint64_t v;
    memcpy(&v, item, sizeof v);
    write_decimal(w, v, false);
}

static void write_f64(const struct proto_field *field, const void *item, struct json_write *w)
{
    (void)field;
    double v;
    memcpy(&v, item, sizeof v);
    if (isfinite(v)) {
        json_write_f64(w, v);
    } else {
        json_write_str(w, isnan(v) ? STR("NaN") : v > 0 ? STR("Infinity") : STR("-Infinity"));
    }
}

static void write_bool(const struct proto_field *field, const void *item, struct json_write *w)
{
    (void)field;
    bool v;
    memcpy(&v, item, sizeof v);
    json_write_bool(w, v);
}

/* timestamp_format omits trailing zeros of the fraction; proto3 requires 0, 3, 6 or 9 digits. */
static void write_time(const struct proto_field *field, const void *item, struct json_write *w)
{
    (void)field;
    struct wall at;
    memcpy(&at, item, sizeof at);
    char text[TIMESTAMP_TEXT_MAX + 2];
    size_t len = timestamp_format(at, text);
    const char *dot = memchr(text, '.', len);
    if (dot != NULL) {
        len -= 1; /* the Z */
        while ((len - (size_t)(dot - text) - 1) % 3 != 0) {
            text[len++] = '0';
        }
        text[len++] = 'Z';
    }
    json_write_str(w, str_from(text, len));
}

static void write_message(const struct proto_field *field, const void *item, struct json_write *w)
{
    proto_json_encode(field->message, item, w);
}

/* clang-format off */
static void (*const writers[PROTO_KIND_COUNT])(const struct proto_field *field, const void *item,
                                               struct json_write *w) = {
    [PROTO_STR]     = write_text,
    [PROTO_I32]     = write_i32,
    [PROTO_I64]     = write_i64,
    [PROTO_U64]     = write_u64,
    [PROTO_F64]     = write_f64,
    [PROTO_BOOL]    = write_bool,
    [PROTO_TIME]    = write_time,
    [PROTO_MESSAGE] = write_message,
};
/* clang-format on */

/* A map entry: a member with the key as its name. */
static void write_entry(const struct proto_message *entry, const char *item, struct json_write *w)
{
    const struct proto_field *value = &entry->fields[1];
    struct str key;
    memcpy(&key, item + entry->fields[0].offset, sizeof key);
    json_write_key(w, key);
    const void *at = proto_item(value, item);
    if (at != NULL) {
        writers[value->kind](value, at, w);
    } else { /* an unset message is written as an empty one */
        json_write_object(w);
        json_write_end(w);
    }
}

static void write_list(const struct proto_field *field, const char *items, size_t count,
                       struct json_write *w)
{
    bool map = field->label == PROTO_MAP;
    if (map) {
        json_write_object(w);
    } else {
        json_write_array(w);
    }
    for (size_t i = 0; i < count; i++, items += proto_item_size(field)) {
        if (map) {
            write_entry(field->message, items, w);
        } else {
            writers[field->kind](field, items, w);
        }
    }
    json_write_end(w);
}

void proto_json_encode(const struct proto_message *type, const void *message, struct json_write *w)
{
    json_write_object(w);
    for (size_t i = 0; i < type->count; i++) {
        const struct proto_field *field = &type->fields[i];
        const char *items;
        size_t count = proto_items_of(field, message, &items);
        if (count == 0) {
            continue;
        }
        char name[PROTO_NAME_MAX];
        json_write_key(w, proto_json_name(field, name));
        if (field->label == PROTO_ONE) {
            writers[field->kind](field, items, w);
        } else {
            write_list(field, items, count, w);
        }
    }
    json_write_end(w);
}
