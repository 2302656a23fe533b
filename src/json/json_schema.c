#include "json/json_schema.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "json/json_int.h"
#include "json/json_schema_int.h"

enum { LIST_FIRST = 8 };

/* The next value is not of the expected type. If it is invalid JSON, report that instead. */
static enum err_code refuse_next(struct json_decode *d, enum json_type expected)
{
    struct json_value value;
    return json_scan_value(&d->scan, &value) ? json_frame__refuse_type(d, expected, value.type)
                                             : json_scan_err(&d->scan, d->err);
}

static enum err_code refuse_full(struct json_decode *d)
{
    return json_frame__refuse(d, ERR_TOO_LARGE, "%s", err_text(ERR_TOO_LARGE));
}

/* Arrays and objects. */

/* Room for one more item of the current list; NULL if there is an error. Growing doubles and
 * leaves the old items in the arena. */
static char *list_room(struct json_decode *d, size_t item_size)
{
    struct json_frame *f = json_frame__top(d);
    if (f->count == (size_t)f->field->max) {
        f->list = false; /* the message is about the array, not about an element */
        (void)json_frame__refuse(d, ERR_VALIDATION,
                                 "expected %" PRId64 " to %" PRId64 " elements, got more",
                                 json_field_least(f->field), f->field->max);
        return NULL;
    }
    if (f->count == f->cap) {
        size_t cap = f->cap == 0 ? LIST_FIRST : f->cap * 2;
        char *items = arena_alloc(d->arena, cap * item_size, _Alignof(max_align_t));
        if (items == NULL) {
            (void)refuse_full(d);
            return NULL;
        }
        if (f->count > 0) {
            memcpy(items, f->items, f->count * item_size);
        }
        f->items = items;
        f->cap = cap;
    }
    return f->items + f->count * item_size;
}

static enum err_code begin_list(struct json_decode *d)
{
    struct json_frame *f = json_frame__top(d);
    if (!json_scan_enter_array(&d->scan)) {
        return json_scan_err(&d->scan, d->err);
    }
    f->list = true;
    f->items = NULL;
    f->count = 0;
    f->cap = 0;
    return ERR_OK;
}

static enum err_code end_list(struct json_decode *d)
{
    struct json_frame *f = json_frame__top(d);
    const struct json_field *field = f->field;

    f->list = false;
    if (f->count == 0 && field->min > 0) {
        return json_frame__refuse_missing(d);
    }
    if (f->count < (size_t)field->min) {
        return json_frame__refuse_size(d, " elements", (int64_t)f->count);
    }
    memcpy(f->base + field->offset, &f->items, sizeof f->items);
    memcpy(f->base + field->count_offset, &f->count, sizeof f->count);
    return ERR_OK;
}

/* The next element of an array of strings. */
static enum err_code add_str(struct json_decode *d)
{
    const struct json_field *field = json_frame__top(d)->field;
    struct json_value value;
    struct str text;

    if (!json_scan_value(&d->scan, &value)) {
        return json_scan_err(&d->scan, d->err);
    }
    if (value.type != JSON_TYPE_STRING) {
        return json_frame__refuse_type(d, JSON_TYPE_STRING, value.type);
    }
    if (json_member__text(d, value, &text) != ERR_OK) {
        return d->err->code;
    }
    if ((field->flags & JSON_CUT) != 0) {
        text = str_at_most(text, (size_t)field->item_max);
    }
    if (text.len > (size_t)field->item_max) {
        return json_frame__refuse(d, ERR_VALIDATION, "expected at most %" PRId64 " bytes, got %zu",
                                  field->item_max, text.len);
    }
    char *room = list_room(d, sizeof text);
    if (room == NULL) {
        return d->err->code;
    }
    memcpy(room, &text, sizeof text);
    json_frame__top(d)->count++;
    return ERR_OK;
}

/* Enter the object that is the next value, to fill the struct at base. */
static enum err_code begin_object(struct json_decode *d, const struct json_schema *schema,
                                  char *base)
{
    if (json_scan_peek(&d->scan) != JSON_TYPE_OBJECT) {
        return refuse_next(d, JSON_TYPE_OBJECT);
    }
    if (!json_scan_enter_object(&d->scan)) {
        return json_scan_err(&d->scan, d->err);
    }
    CHECK(d->depth < JSON_SCHEMA_DEPTH_MAX);
    struct json_frame *f = &d->frames[d->depth++];
    *f = (struct json_frame){.schema = schema, .base = base};
    json_frame__set_default(f, 0, schema->size);
    return ERR_OK;
}

static bool is_required(const struct json_field *field)
{
    return (field->flags & JSON_REQUIRED) != 0;
}

/* Return the first required row that was not present, or NULL. Required rows are first. */
static const struct json_field *find_missing(const struct json_frame *f)
{
    const struct json_field *fields = f->schema->fields;
    for (size_t i = 0; i < f->schema->count && is_required(&fields[i]); i++) {
        if ((f->seen >> i & 1) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

static enum err_code end_object(struct json_decode *d)
{
    struct json_frame *f = json_frame__top(d);
    f->field = find_missing(f);
    if (f->field != NULL) {
        return json_frame__refuse_missing(d);
    }
    if (f->schema->has_set) {
        memcpy(f->base + f->schema->set_offset, &f->seen, sizeof f->seen);
    }
    d->depth--;
    if (d->depth > 0 && json_frame__top(d)->list) {
        json_frame__top(d)->count++;
    }
    return ERR_OK;
}

static enum err_code add_object(struct json_decode *d)
{
    const struct json_schema *schema = json_frame__top(d)->field->schema;
    char *room = list_room(d, schema->size);
    return room == NULL ? d->err->code : begin_object(d, schema, room);
}

static enum err_code begin_inner(struct json_decode *d)
{
    struct json_frame *f = json_frame__top(d);
    char *inner = arena_alloc(d->arena, f->field->schema->size, _Alignof(max_align_t));
    if (inner == NULL) {
        return refuse_full(d);
    }
    memcpy(f->base + f->field->offset, &inner, sizeof inner);
    return begin_object(d, f->field->schema, inner);
}

/* Find the row of a key. Members are usually in the order of the rows. */
static const struct json_field *find_field(struct json_frame *f, const struct json_value *key)
{
    const struct json_field *fields = f->schema->fields;
    const struct json_field *end = fields + f->schema->count;
    const struct json_field *field = fields + f->next;
    for (size_t n = f->schema->count; n > 0; n--) {
        const struct json_field *next = field + 1 < end ? field + 1 : fields;
        if (json__key_is(key, str_from(field->name, field->name_len))) {
            f->next = (size_t)(next - fields);
            return field;
        }
        field = next;
    }
    return NULL;
}

static enum err_code pass_unknown(struct json_decode *d, struct json_value key)
{
    struct json_frame *f = json_frame__top(d);
    struct json_value value;
    if ((f->schema->flags & JSON_STRICT) != 0) {
        return json_frame__refuse(d, ERR_VALIDATION, "unknown member " STR_FMT,
                                  STR_ARG(str_at_most(key.text, JSON_SHOWN_MAX)));
    }
    return json_scan_value(&d->scan, &value) ? ERR_OK : json_scan_err(&d->scan, d->err);
}

/* A level of tables is a container, or a list and the containers in it. */
_Static_assert(2 * JSON_SCHEMA_DEPTH_MAX <= LIMIT_JSON_DEPTH - LIMIT_JSON_VALUE_DEPTH,
               "a value in a request may be as deep as its limit");

/* Pass the value of a member that is neither a list nor an object with a schema. */
static enum err_code pass_value(struct json_decode *d, const struct json_field *field,
                                enum json_type type, struct json_value *out)
{
    bool stored = field->kind == JSON_KIND_RAW && (field->flags & JSON_DEEP) == 0;
    if (stored ? json_scan__stored(&d->scan, type, out) : json_scan__peeked(&d->scan, type, out)) {
        return ERR_OK;
    }
    return stored && json_scan__too_deep(&d->scan)
               ? json_frame__refuse(d, ERR_VALIDATION, "nested more than %d deep",
                                    LIMIT_JSON_VALUE_DEPTH)
               : json_scan_err(&d->scan, d->err);
}

/* Read the value of the current member. */
static enum err_code read_member(struct json_decode *d)
{
    struct json_frame *f = json_frame__top(d);
    const struct json_field *field = f->field;
    const enum json_type expected = json_frame__kinds[field->kind].type;
    enum json_type type = json_scan_peek(&d->scan);
    struct json_value value;

    f->seen |= 1ULL << (field - f->schema->fields);
    bool kept = (field->flags & JSON_KEEP_NULL) != 0;
    bool absent = type == JSON_TYPE_NULL && (!kept || field->kind == JSON_KIND_OBJECT);
    if (!absent && type != expected && expected != JSON_TYPE_COUNT) {
        return refuse_next(d, expected);
    }
    if (!absent && json_frame__is_list(field)) {
        return begin_list(d);
    }
    if (!absent && field->kind == JSON_KIND_OBJECT) {
        return begin_inner(d);
    }
    if (pass_value(d, field, type, &value) != ERR_OK) {
        return d->err->code;
    }
    if (absent) {
        uint64_t seen = f->seen;
        json_frame__absent(d);
        f->seen = kept ? seen : f->seen;
        return ERR_OK;
    }
    return json_member__store(d, value);
}

/* One step: the next element of the current list, or the next member of the current object. */
static enum err_code step(struct json_decode *d)
{
    struct json_frame *f = json_frame__top(d);
    if (f->list) {
        if (json_scan_next_element(&d->scan)) {
            return f->field->kind == JSON_KIND_STRS ? add_str(d) : add_object(d);
        }
        return d->scan.problem == NULL ? end_list(d) : json_scan_err(&d->scan, d->err);
    }
    ATTR_UNINITIALIZED struct json_value key;
    f->field = NULL;
    if (json_scan_next_key(&d->scan, &key)) {
        f->field = find_field(f, &key);
        return f->field == NULL ? pass_unknown(d, key) : read_member(d);
    }
    return d->scan.problem == NULL ? end_object(d) : json_scan_err(&d->scan, d->err);
}

enum err_code json_schema_decode(const struct json_schema *schema, struct str text,
                                 struct arena *arena, void *out, struct err *err)
{
    ATTR_UNINITIALIZED struct json_decode d; /* frames are set when they are entered */
    d.scan = json_scan_from(text);
    d.arena = arena;
    d.err = err;
    d.depth = 0;
    enum err_code code = begin_object(&d, schema, out);
    while (code == ERR_OK && d.depth > 0) {
        code = step(&d);
    }
    if (code == ERR_OK && (schema->flags & JSON_STRICT) != 0 && !json_scan_done(&d.scan)) {
        return json_scan_err(&d.scan, err);
    }
    return code;
}

enum err_code json_schema_inside(const char *member, struct err *err)
{
    const struct err inner = *err;
    return err_set(err, inner.code, "%s.%s", member, inner.msg);
}

static void check_field(const struct json_schema *schema, const struct json_field *field)
{
    CHECK(field->kind < JSON_KIND_COUNT);
    CHECK(field->name_len > 0);
    CHECK(field->doc != NULL && field->doc[0] != '\0');
    CHECK(field->min <= field->max);
    CHECK(field->offset + json_frame__kinds[field->kind].size <= schema->size);
    if (field->kind == JSON_KIND_STR || json_frame__is_list(field)) {
        CHECK(field->min >= 0);
        CHECK(field->max > 0); /* everything has a limit */
    }
    for (const struct json_field *other = schema->fields; other < field; other++) {
        CHECK(strcmp(other->name, field->name) != 0);
    }
}

/* Recurses over the tables, at most JSON_SCHEMA_DEPTH_MAX deep. */
static void check_schema(const struct json_schema *schema, unsigned depth)
{
    CHECK(depth <= JSON_SCHEMA_DEPTH_MAX);
    CHECK(schema->count <= JSON_FIELDS_MAX);
    for (size_t i = 0; i < schema->count; i++) {
        const struct json_field *field = &schema->fields[i];
        CHECK(i == 0 || !is_required(field) || is_required(field - 1));
        check_field(schema, field);
        if (field->kind == JSON_KIND_OBJECT || field->kind == JSON_KIND_OBJECTS) {
            check_schema(field->schema, depth + 1);
        }
    }
}

void json_schema_check(const struct json_schema *schema)
{
    check_schema(schema, 1);
}
