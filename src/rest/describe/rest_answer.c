#include <stdio.h>

#include "base/check.h"
#include "rest/describe/rest_answer_int.h"
#include "rest/describe/rest_schema_int.h"
#include "rest/rest_int.h"

const struct rest_answer *rest_answer__find(struct str shape)
{
    for (size_t i = 0; i < rest_answer_table__count; i++) {
        const struct rest_answer *a = &rest_answer_table__rows[i];
        if (a->shape != NULL && str_eq(shape, str_from_z(a->shape))) {
            return a;
        }
    }
    return NULL;
}

void rest_answer__reference(struct json_write *w, const struct rest_answer *a)
{
    char path[REST_SCHEMA_NAME_MAX];
    int n = snprintf(path, sizeof path, "#/components/schemas/%s", a->name);
    CHECK(n > 0 && (size_t)n < sizeof path);
    rest_document__text(w, "$ref", str_from_z(path));
}

static const struct rest_answer *named(struct str name)
{
    for (size_t i = 0; i < rest_answer_table__count; i++) {
        if (str_eq(name, str_from_z(rest_answer_table__rows[i].name))) {
            return &rest_answer_table__rows[i];
        }
    }
    return NULL;
}

static bool ends_with(struct str s, char c)
{
    return s.len > 0 && s.ptr[s.len - 1] == c;
}

/* "integer", or ["integer", "null"]. */
static void write_type(struct json_write *w, struct str type, bool or_null)
{
    json_write_key(w, STR("type"));
    if (!or_null) {
        json_write_str(w, type);
        return;
    }
    json_write_array(w);
    json_write_str(w, type);
    json_write_str(w, STR("null"));
    json_write_end(w);
}

static void write_plain(struct json_write *w, struct str type, bool or_null)
{
    if (str_eq(type, STR("time"))) {
        write_type(w, STR("string"), or_null);
        rest_document__text(w, "format", STR("date-time"));
    } else if (str_eq(type, STR("integer"))) {
        write_type(w, type, or_null);
        rest_document__text(w, "format", STR("int64"));
    } else if (!str_eq(type, STR("any"))) {
        CHECK(str_eq(type, STR("string")) || str_eq(type, STR("number")) ||
              str_eq(type, STR("boolean")));
        write_type(w, type, or_null);
    }
}

/* Write a type as members of the open object. */
static void describe(struct json_write *w, struct str type)
{
    bool or_null = ends_with(type, '?');
    type = or_null ? str_from(type.ptr, type.len - 1) : type;
    struct str inner = type.len > 2 ? str_from(type.ptr + 1, type.len - 2) : type;
    const struct rest_answer *a = named(type);
    if (a != NULL && or_null) {
        rest_document__array(w, "anyOf");
        json_write_object(w);
        rest_answer__reference(w, a);
        json_write_end(w);
        json_write_object(w);
        rest_document__text(w, "type", STR("null"));
        json_write_end(w);
        json_write_end(w);
    } else if (a != NULL) {
        rest_answer__reference(w, a);
    } else if (ends_with(type, ']')) {
        write_type(w, STR("array"), or_null);
        rest_document__object(w, "items");
        describe(w, inner);
        json_write_end(w);
    } else if (ends_with(type, '}')) {
        write_type(w, STR("object"), or_null);
        rest_document__object(w, "additionalProperties");
        describe(w, inner);
        json_write_end(w);
    } else {
        write_plain(w, type, or_null);
    }
}

void rest_answer__type(struct json_write *w, struct str type)
{
    struct str rest = type;
    struct str first = str_trim(str_cut(&rest, '|'));
    if (rest.len == 0) {
        describe(w, first);
        return;
    }
    rest_document__array(w, "anyOf");
    while (type.len > 0) {
        json_write_object(w);
        describe(w, str_trim(str_cut(&type, '|')));
        json_write_end(w);
    }
    json_write_end(w);
}

static struct str member_name(const struct rest_answer_member *m, bool *out_optional)
{
    struct str name = str_from_z(m->name);
    *out_optional = ends_with(name, '?');
    return *out_optional ? str_from(name.ptr, name.len - 1) : name;
}

static void write_members(struct json_write *w, const struct rest_answer *a)
{
    bool optional;
    rest_document__text(w, "type", STR("object"));
    rest_document__object(w, "properties");
    for (size_t i = 0; i < a->count; i++) {
        json_write_key(w, member_name(&a->members[i], &optional));
        json_write_object(w);
        describe(w, str_from_z(a->members[i].type));
        rest_document__text(w, "description", str_from_z(a->members[i].doc));
        json_write_end(w);
    }
    json_write_end(w);
    rest_document__array(w, "required");
    for (size_t i = 0; i < a->count; i++) {
        struct str name = member_name(&a->members[i], &optional);
        if (!optional) {
            json_write_str(w, name);
        }
    }
    json_write_end(w);
}

static void write_words(struct json_write *w, struct str words)
{
    rest_document__text(w, "type", STR("string"));
    rest_document__array(w, "enum");
    while (words.len > 0) {
        json_write_str(w, str_trim(str_cut(&words, ',')));
    }
    json_write_end(w);
}

void rest_answer__write(struct json_write *w)
{
    for (size_t i = 0; i < rest_answer_table__count; i++) {
        const struct rest_answer *a = &rest_answer_table__rows[i];
        rest_document__object(w, a->name);
        if (a->words != NULL) {
            write_words(w, str_from_z(a->words));
        } else {
            write_members(w, a);
        }
        json_write_end(w);
    }
}
