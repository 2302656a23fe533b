#include "proto/proto_json_decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/timestamp.h"
#include "json/json_scan.h"

enum { LIST_FIRST = 8, NUMBER_BYTES_MAX = 128 };

/* The place of a value in the message, for errors. */
struct place {
    const struct place *outer; /* of the message that has the field; NULL: the whole one */
    const struct proto_field *field;
    bool in_item; /* in an element of the list, or in an entry of the map */
    size_t index; /* of the element */
    struct str key;
};

struct decode {
    struct json_scan scan;
    struct arena *arena;
    struct err *err;
    struct place *at; /* NULL between two fields of the whole message */
};

static enum err_code read_object(struct decode *d, const struct proto_message *type, void *out);

/* "items[2].usage.model"; the key of an entry is like a field: "jobs.job_1.usage". */
static void add_path(const struct place *at, struct buf *out)
{
    enum { KEY_MAX = 64 }; /* bytes of a key that are quoted */
    if (at->outer != NULL) {
        add_path(at->outer, out); /* at most PROTO_DEPTH_MAX of them */
        buf_add_char(out, '.');
    }
    buf_add_str(out, str_from_z(at->field->name));
    if (at->in_item && at->field->label == PROTO_MAP) {
        buf_printf(out, "." STR_FMT, STR_ARG(str_at_most(at->key, KEY_MAX)));
    } else if (at->in_item) {
        buf_printf(out, "[%zu]", at->index);
    }
}

static enum err_code refuse(struct decode *d, const char *expected)
{
    struct buf path;
    buf_init(&path, sizeof d->err->msg);
    add_path(d->at, &path);
    (void)err_set(d->err, ERR_PARSE, STR_FMT ": expected %s", STR_ARG(buf_str(&path)), expected);
    buf_deinit(&path);
    return d->err->code;
}

static enum err_code full(struct decode *d)
{
    return err_set_default(d->err, ERR_TOO_LARGE);
}

/* The digits of a number, with or without quotes; empty if it is anything else, or too long. */
static struct str number_text(struct json_value value)
{
    struct str text = value.text;
    if (value.type == JSON_TYPE_STRING && !value.escaped) {
        text = str_from(text.ptr + 1, text.len - 2);
    } else if (value.type != JSON_TYPE_NUMBER) {
        return STR_EMPTY;
    }
    return text.len < NUMBER_BYTES_MAX ? text : STR_EMPTY;
}

/* Are all characters allowed in JSON numbers? Excludes "0x10", " 1" and "nan". */
static bool is_decimal(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("0123456789+-.eE", text.ptr[i]) == NULL || text.ptr[i] == '\0') {
            return false;
        }
    }
    return text.len > 0 && text.ptr[0] != '+';
}

static bool read_f64(struct str text, double *out)
{
    char z[NUMBER_BYTES_MAX];
    if (text.len == 0 || text.ptr == NULL || !is_decimal(text)) {
        return false;
    }
    memcpy(z, text.ptr, text.len);
    z[text.len] = '\0';
    char *end;
    *out = strtod(z, &end);
    return *end == '\0' && isfinite(*out);
}

/* Parse an unsigned decimal number that fits; digits only. */
static bool read_digits(struct str text, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text.ptr[i] - '0'), &v)) {
            return false;
        }
    }
    *out = v;
    return text.len > 0;
}

/* Parse a whole number to sign and magnitude. Plain digits are exact; with a fraction or an
 * exponent, the number must be whole and small enough to be exact as a double. */
static bool read_whole(struct str text, bool *out_negative, uint64_t *out)
{
    double v;
    *out_negative = text.len > 0 && text.ptr[0] == '-';
    if (read_digits(str_from_offset(text, *out_negative ? 1 : 0), out)) {
        return true;
    }
    if (!read_f64(text, &v) || fabs(v - trunc(v)) > 0 || fabs(v) > 0x1p53) {
        return false;
    }
    *out = (uint64_t)fabs(v);
    return true;
}

static enum err_code put_whole(struct decode *d, const struct proto_field *field,
                               struct json_value value, void *member)
{
    static const struct {
        const char *expected;
        uint64_t max, min; /* min: magnitude of the lowest negative value */
    } ranges[PROTO_KIND_COUNT] = {
        [PROTO_I32] = {"a 32-bit integer", INT32_MAX, 1ULL << 31},
        [PROTO_I64] = {"a 64-bit integer", INT64_MAX, 1ULL << 63},
        [PROTO_U64] = {"an unsigned 64-bit integer", UINT64_MAX, 0},
    };
    uint64_t size;
    bool negative;
    if (!read_whole(number_text(value), &negative, &size) ||
        size > (negative ? ranges[field->kind].min : ranges[field->kind].max)) {
        return refuse(d, ranges[field->kind].expected);
    }
    uint64_t bits = negative ? 0 - size : size;
    int32_t small = (int32_t)(int64_t)bits;
    if (field->kind == PROTO_I32) {
        memcpy(member, &small, sizeof small);
    } else {
        memcpy(member, &bits, sizeof bits);
    }
    return ERR_OK;
}

static enum err_code put_f64(struct decode *d, const struct proto_field *field,
                             struct json_value value, void *member)
{
    (void)field;
    static const struct {
        const char *word;
        double value;
    } words[] = {{"NaN", (double)NAN}, {"Infinity", HUGE_VAL}, {"-Infinity", -HUGE_VAL}};
    struct str text = number_text(value);
    double v;
    bool found = read_f64(text, &v);
    for (size_t i = 0; i < COUNT_OF(words) && !found; i++) {
        found = value.type == JSON_TYPE_STRING && str_eq(text, str_from_z(words[i].word));
        v = words[i].value;
    }
    if (!found) {
        return refuse(d, "a number");
    }
    memcpy(member, &v, sizeof v);
    return ERR_OK;
}

static enum err_code put_text(struct decode *d, const struct proto_field *field,
                              struct json_value value, void *member)
{
    (void)field;
    struct str text;
    if (value.type != JSON_TYPE_STRING) {
        return refuse(d, "a string");
    }
    enum err_code code = json_value_text(value, d->arena, &text, d->err);
    if (code == ERR_OK) {
        memcpy(member, &text, sizeof text);
    }
    return code;
}

static enum err_code put_bool(struct decode *d, const struct proto_field *field,
                              struct json_value value, void *member)
{
    (void)field;
    bool flag;
    if (!json_value_bool(value, &flag)) {
        return refuse(d, "true or false");
    }
    memcpy(member, &flag, sizeof flag);
    return ERR_OK;
}

static enum err_code put_time(struct decode *d, const struct proto_field *field,
                              struct json_value value, void *member)
{
    (void)field;
    struct wall at;
    bool text = value.type == JSON_TYPE_STRING && !value.escaped;
    if (!text ||
        timestamp_parse(str_from(value.text.ptr + 1, value.text.len - 2), &at, d->err) != ERR_OK) {
        return refuse(d, "an RFC 3339 time");
    }
    memcpy(member, &at, sizeof at);
    return ERR_OK;
}

/* clang-format off */
static enum err_code (*const puts_of[PROTO_KIND_COUNT])(struct decode *d,
                                                        const struct proto_field *field,
                                                        struct json_value value, void *member) = {
    [PROTO_STR]  = put_text,
    [PROTO_I32]  = put_whole,
    [PROTO_I64]  = put_whole,
    [PROTO_U64]  = put_whole,
    [PROTO_F64]  = put_f64,
    [PROTO_BOOL] = put_bool,
    [PROTO_TIME] = put_time,
};
/* clang-format on */

/* Read the next value into *item: the member of a singular field or the element of a list. */
static enum err_code read_item(struct decode *d, const struct proto_field *field, void *item)
{
    if (field->kind == PROTO_MESSAGE) {
        if (json_scan_peek(&d->scan) != JSON_TYPE_OBJECT) {
            return refuse(d, "an object");
        }
        return read_object(d, field->message, item);
    }
    struct json_value value;
    if (!json_scan_value(&d->scan, &value)) {
        return json_scan_err(&d->scan, d->err);
    }
    return puts_of[field->kind](d, field, value, item);
}

/* A growing list: doubled in the arena, which keeps the smaller copies. */
struct list {
    char *items;
    size_t count, cap;
};

static void *list_room(struct decode *d, const struct proto_field *field, struct list *list)
{
    size_t size = proto_item_size(field);
    if (list->count == list->cap) {
        size_t cap = list->cap == 0 ? LIST_FIRST : list->cap * 2;
        char *items = arena_alloc(d->arena, cap * size, _Alignof(max_align_t));
        if (items == NULL) {
            (void)full(d);
            return NULL;
        }
        if (list->count > 0) {
            memcpy(items, list->items, list->count * size);
        }
        list->items = items;
        list->cap = cap;
    }
    char *item = list->items + list->count++ * size;
    memset(item, 0, size);
    return item;
}

/* A map entry: its key, and the value after it. */
static enum err_code read_entry(struct decode *d, const struct proto_message *entry,
                                struct json_value key, char *item)
{
    const struct proto_field *value = &entry->fields[1];
    void *member = item + value->offset;
    enum err_code code = put_text(d, &entry->fields[0], key, item + entry->fields[0].offset);
    if (code == ERR_OK) {
        memcpy(&d->at->key, item + entry->fields[0].offset, sizeof d->at->key);
    }
    if (code == ERR_OK && value->kind == PROTO_MESSAGE) {
        void *inner = arena_alloc(d->arena, value->message->size, _Alignof(max_align_t));
        if (inner == NULL) {
            return full(d);
        }
        memset(inner, 0, value->message->size);
        memcpy(member, &inner, sizeof inner);
        member = inner;
    }
    return code == ERR_OK ? read_item(d, value, member) : code;
}

static enum err_code read_list(struct decode *d, const struct proto_field *field, void *out)
{
    bool map = field->label == PROTO_MAP;
    struct list list = {0};
    struct json_value key;
    if (json_scan_peek(&d->scan) != (map ? JSON_TYPE_OBJECT : JSON_TYPE_ARRAY)) {
        return refuse(d, map ? "an object" : "an array");
    }
    if (!(map ? json_scan_enter_object(&d->scan) : json_scan_enter_array(&d->scan))) {
        return json_scan_err(&d->scan, d->err);
    }
    while (map ? json_scan_next_key(&d->scan, &key) : json_scan_next_element(&d->scan)) {
        char *item = list_room(d, field, &list);
        if (item == NULL) {
            return d->err->code;
        }
        d->at->in_item = true;
        d->at->index = list.count - 1;
        enum err_code code =
            map ? read_entry(d, field->message, key, item) : read_item(d, field, item);
        if (code != ERR_OK) {
            return code;
        }
    }
    memcpy((char *)out + field->offset, &list.items, sizeof list.items);
    memcpy((char *)out + field->count_offset, &list.count, sizeof list.count);
    return ERR_OK;
}

/* Read a singular field: the member itself, or a new struct for an inner message. */
static enum err_code read_one(struct decode *d, const struct proto_field *field, void *out)
{
    void *member = (char *)out + field->offset;
    if (field->kind == PROTO_MESSAGE) {
        void *inner = arena_alloc(d->arena, field->message->size, _Alignof(max_align_t));
        if (inner == NULL) {
            return full(d);
        }
        memcpy(member, &inner, sizeof inner);
        memset(inner, 0, field->message->size);
        member = inner;
    }
    return read_item(d, field, member);
}

static const struct proto_field *find(const struct proto_message *type, struct json_value key)
{
    for (size_t i = 0; i < type->count; i++) {
        char name[PROTO_NAME_MAX];
        const struct proto_field *field = &type->fields[i];
        if (json_value_text_eq(key, str_from_z(field->name)) ||
            json_value_text_eq(key, proto_json_name(field, name))) {
            return field;
        }
    }
    return NULL;
}

/* The tables bound the recursion (PROTO_DEPTH_MAX). */
static enum err_code read_object(struct decode *d, const struct proto_message *type, void *out)
{
    struct place *outer = d->at;
    struct json_value key, skipped;
    if (!json_scan_enter_object(&d->scan)) {
        return json_scan_err(&d->scan, d->err);
    }
    while (json_scan_next_key(&d->scan, &key)) {
        const struct proto_field *field = find(type, key);
        enum err_code code = ERR_OK;
        if (field == NULL || json_scan_peek(&d->scan) == JSON_TYPE_NULL) {
            if (!json_scan_value(&d->scan, &skipped)) {
                break; /* the scanner keeps the error */
            }
        } else {
            struct place at = {.outer = outer, .field = field};
            d->at = &at;
            code = field->label == PROTO_ONE ? read_one(d, field, out) : read_list(d, field, out);
            d->at = outer;
        }
        if (code != ERR_OK) {
            return code;
        }
    }
    return ERR_OK; /* the caller checks once, at the end of the text */
}

enum err_code proto_json_decode(const struct proto_message *type, struct str text,
                                struct arena *arena, void *out, struct err *err)
{
    struct decode d = {.scan = json_scan_from(text), .arena = arena, .err = err};
    memset(out, 0, type->size);
    enum err_code code = read_object(&d, type, out);
    if (code == ERR_OK && !json_scan_done(&d.scan)) {
        code = json_scan_err(&d.scan, err);
    }
    return code;
}
