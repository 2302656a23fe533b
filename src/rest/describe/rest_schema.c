#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/duration.h"
#include "rest/describe/rest_answer_int.h"
#include "rest/describe/rest_schema_int.h"
#include "rest/rest_int.h"

enum { SCHEMAS_MAX = 256 };

struct named {
    const struct json_schema *table;
    char name[REST_SCHEMA_NAME_MAX];
};

struct rest_schema_set {
    size_t count;
    struct named at[SCHEMAS_MAX];
};

struct rest_schema_set *rest_schema__new(void)
{
    struct rest_schema_set *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    return s;
}

void rest_schema__free(struct rest_schema_set *s)
{
    free(s);
}

/* Names */

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void rest_schema__add_camel(char name[static REST_SCHEMA_NAME_MAX], struct str words)
{
    size_t len = strlen(name);
    bool begins = true;
    for (size_t i = 0; i < words.len; i++) {
        char c = words.ptr[i];
        if (!is_alnum(c)) {
            begins = true;
            continue;
        }
        CHECK(len + 1 < REST_SCHEMA_NAME_MAX);
        if (begins && c >= 'a' && c <= 'z') {
            c = (char)(c - 'a' + 'A');
        }
        name[len++] = c;
        begins = false;
    }
    name[len] = '\0';
}

static const char *name_of(const struct rest_schema_set *s, const struct json_schema *table)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->at[i].table == table) {
            return s->at[i].name;
        }
    }
    return NULL;
}

static bool is_nested(const struct json_field *f)
{
    return f->kind == JSON_KIND_OBJECT || f->kind == JSON_KIND_OBJECTS;
}

/* The recursion is limited: json_schema_check limits the nesting of tables. */
void rest_schema__add(struct rest_schema_set *s, const struct json_schema *table, const char *name)
{
    if (name_of(s, table) != NULL) {
        return;
    }
    CHECK(s->count < SCHEMAS_MAX);
    struct named *named = &s->at[s->count++];
    named->table = table;
    (void)snprintf(named->name, sizeof named->name, "%s", name);
    for (size_t i = 0; i < table->count; i++) {
        const struct json_field *f = &table->fields[i];
        if (is_nested(f)) {
            char inner[REST_SCHEMA_NAME_MAX] = "";
            rest_schema__add_camel(inner, str_from_z(name));
            rest_schema__add_camel(inner, str_from(f->name, f->name_len));
            rest_schema__add(s, f->schema, inner);
        }
    }
}

void rest_schema__reference(const struct rest_schema_set *s, struct json_write *w,
                            const struct json_schema *table)
{
    const char *name = name_of(s, table);
    char path[REST_SCHEMA_NAME_MAX + 40];
    CHECK(name != NULL);
    (void)snprintf(path, sizeof path, "#/components/schemas/%s", name);
    rest_document__text(w, "$ref", str_from_z(path));
}

/* Fields */

static void text(struct json_write *w, const char *key, const char *value)
{
    rest_document__text(w, key, str_from_z(value));
}

static void number(struct json_write *w, const char *key, int64_t value)
{
    rest_document__i64(w, key, value);
}

/* Descriptions of flags for users of the field. */
static const struct {
    unsigned flag;
    const char *sentence;
} flag_sentences[] = {
    {JSON_KEEP_NULL, " null is a distinct value."},
    {JSON_CUT, " Longer text is truncated."},
    {JSON_NO_CONTROL, " Control characters are not allowed."},
    {JSON_CLAMP, " Larger values are reduced to the maximum."},
    {JSON_LAX, " Any other value is treated as absent."},
};

void rest_schema__describe(struct json_write *w, const struct json_field *f)
{
    struct buf b;
    buf_init(&b, 4096);
    buf_add_str(&b, str_from_z(f->doc));
    for (size_t i = 0; i < COUNT_OF(flag_sentences); i++) {
        if ((f->flags & flag_sentences[i].flag) != 0) {
            buf_add_str(&b, str_from_z(flag_sentences[i].sentence));
        }
    }
    json_write_key(w, STR("description"));
    json_write_str(w, buf_str(&b));
    buf_deinit(&b);
}

static bool is_needed(const struct json_field *f)
{
    return (f->flags & (JSON_REQUIRED | JSON_INSISTED)) != 0;
}

static void describe_pattern(struct json_write *w, const struct json_field *f)
{
    if (f->told_pattern != NULL) {
        text(w, "pattern", f->told_pattern);
    }
}

/* Describe a string without fixed words. */
static void describe_any_text(struct json_write *w, const struct json_field *f)
{
    int64_t min = is_needed(f) && f->min == 0 ? 1 : f->min;
    text(w, "type", "string");
    if (min > 0) {
        number(w, "minLength", min);
    }
    /* the limit in bytes also limits the number of characters */
    number(w, (f->flags & JSON_CUT) != 0 ? "x-corvo-cut-bytes" : "maxLength", f->max);
    describe_pattern(w, f);
}

static void describe_integer(struct json_write *w, const struct json_field *f)
{
    text(w, "type", "integer");
    text(w, "format", "int64"); /* implies the limits of fields without explicit ones */
    if (json_field_least(f) != INT64_MIN) {
        number(w, "minimum", json_field_least(f));
    }
    if (json_field_most(f) != INT64_MAX && (f->flags & JSON_CLAMP) == 0) {
        number(w, "maximum", json_field_most(f));
    }
}

static void describe_number(struct json_write *w, const struct json_field *f)
{
    text(w, "type", "number");
    text(w, "format", "double");
    if (f->min != INT64_MIN) {
        number(w, "minimum", f->min);
    }
    number(w, "maximum", f->max);
}

static void list_words(struct json_write *w, const struct json_field *f)
{
    text(w, "type", "string");
    rest_document__array(w, "enum");
    for (const struct json_word *word = f->words; word->word != NULL; word++) {
        json_write_str(w, str_from_z(word->word));
    }
    json_write_end(w);
}

static void describe_word(struct json_write *w, const struct json_field *f)
{
    if ((f->flags & JSON_OR_NUMBER) == 0) {
        list_words(w, f);
        return;
    }
    rest_document__array(w, "anyOf");
    json_write_object(w);
    list_words(w, f);
    json_write_end(w);
    json_write_object(w);
    text(w, "type", "integer");
    rest_document__array(w, "enum");
    for (const struct json_word *word = f->words; word->word != NULL; word++) {
        json_write_i64(w, word->value);
    }
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

/* Describe a string: one of the words, or a text that matches the pattern in the row. */
static void describe_text(struct json_write *w, const struct json_field *f)
{
    if (f->words == NULL) {
        describe_any_text(w, f);
        return;
    }
    if (f->told_pattern == NULL) {
        list_words(w, f);
        return;
    }
    text(w, "type", "string");
    rest_document__array(w, "anyOf");
    json_write_object(w);
    list_words(w, f);
    json_write_end(w);
    json_write_object(w);
    describe_any_text(w, f);
    json_write_end(w);
    json_write_end(w);
}

static void describe_duration(struct json_write *w, const struct json_field *f)
{
    text(w, "type", "string");
    text(w, "pattern", "^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))*)$");
    rest_document__array(w, "examples");
    json_write_str(w, STR("1m30s"));
    json_write_end(w);
    if (f->min > 0) {
        number(w, "x-corvo-minimum-ms", f->min);
    }
    if (f->max != INT64_MAX) {
        number(w, "x-corvo-maximum-ms", f->max);
    }
}

static void describe_list(const struct rest_schema_set *s, struct json_write *w,
                          const struct json_field *f)
{
    text(w, "type", "array");
    if (json_field_least(f) > 0) {
        number(w, "minItems", json_field_least(f));
    }
    number(w, "maxItems", json_field_most(f));
    rest_document__object(w, "items");
    if (f->kind == JSON_KIND_STRS) {
        text(w, "type", "string");
        number(w, (f->flags & JSON_CUT) != 0 ? "x-corvo-cut-bytes" : "maxLength", f->item_max);
        describe_pattern(w, f);
    } else {
        rest_schema__reference(s, w, f->schema);
    }
    json_write_end(w);
}

/* Describe raw JSON: any value or any object, unless the row has a more specific type. */
static void describe_raw(struct json_write *w, const struct json_field *f)
{
    if (f->words != NULL) {
        describe_word(w, f);
    } else if (f->told_type != NULL) {
        rest_answer__type(w, str_from_z(f->told_type));
    } else if ((f->flags & JSON_ONLY_OBJECT) != 0) {
        text(w, "type", "object");
        rest_document__bool(w, "additionalProperties", true);
    }
    if (f->told_max > 0) {
        number(w, "maxProperties", f->told_max);
    }
    if (f->max > 0) {
        number(w, "x-corvo-max-bytes", f->max);
    }
}

static void describe_kind(const struct rest_schema_set *s, struct json_write *w,
                          const struct json_field *f)
{
    switch (f->kind) {
    case JSON_KIND_STR:
        describe_text(w, f);
        break;
    case JSON_KIND_I64:
        describe_integer(w, f);
        break;
    case JSON_KIND_F64:
        describe_number(w, f);
        break;
    case JSON_KIND_BOOL:
        text(w, "type", "boolean");
        break;
    case JSON_KIND_RAW:
        describe_raw(w, f);
        break;
    case JSON_KIND_WORD:
        describe_word(w, f);
        break;
    case JSON_KIND_DURATION:
        describe_duration(w, f);
        break;
    case JSON_KIND_TIME:
        text(w, "type", "string");
        text(w, "format", "date-time");
        break;
    case JSON_KIND_STRS:
    case JSON_KIND_OBJECTS:
        describe_list(s, w, f);
        break;
    case JSON_KIND_OBJECT:
        rest_schema__reference(s, w, f->schema);
        break;
    case JSON_KIND_COUNT:
    default:
        UNREACHABLE("a field has a kind");
    }
}

/* Write the default of a member if it is a number or a word. */
static void describe_default(struct json_write *w, const struct json_schema *table,
                             const struct json_field *f)
{
    const char *at = table->init == NULL ? NULL : (const char *)table->init + f->offset;
    char duration[DURATION_TEXT_MAX];
    int64_t v = 0;
    int word = 0;
    if (at == NULL) {
        return;
    }
    struct str said = STR_EMPTY;
    if (f->kind == JSON_KIND_I64 || f->kind == JSON_KIND_DURATION) {
        memcpy(&v, at, sizeof v);
    } else if (f->kind == JSON_KIND_STR) {
        memcpy(&said, at, sizeof said);
    } else if (f->kind == JSON_KIND_WORD) {
        memcpy(&word, at, sizeof word);
    }
    rest_document__text(w, "default", said);
    if (f->kind == JSON_KIND_I64 && v != 0 && v >= f->min && v <= f->max) {
        number(w, "default", v);
    } else if (f->kind == JSON_KIND_DURATION && v != 0) {
        json_write_key(w, STR("default"));
        json_write_str(w, str_from(duration, duration_format(v * NS_PER_MS, duration)));
    }
    if (f->kind == JSON_KIND_BOOL && *at != 0) {
        rest_document__bool(w, "default", true);
    }
    const struct json_word *known = f->kind == JSON_KIND_WORD ? f->words : NULL;
    while (known != NULL && known->word != NULL && known->value != word) {
        known++;
    }
    if (known != NULL && known->word != NULL) {
        text(w, "default", known->word);
    }
}

void rest_schema__field(struct json_write *w, const struct json_schema *table,
                        const struct json_field *f)
{
    CHECK(!is_nested(f));
    describe_kind(NULL, w, f);
    describe_default(w, table, f);
}

static void list_required(struct json_write *w, const struct json_schema *table)
{
    bool any = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct json_field *f = &table->fields[i];
        if (!is_needed(f)) {
            continue;
        }
        if (!any) {
            rest_document__array(w, "required");
            any = true;
        }
        json_write_str(w, str_from(f->name, f->name_len));
    }
    if (any) {
        json_write_end(w);
    }
}

static void write_table(const struct rest_schema_set *s, struct json_write *w,
                        const struct json_schema *table)
{
    json_write_object(w);
    text(w, "type", "object");
    rest_document__object(w, "properties");
    for (size_t i = 0; i < table->count; i++) {
        const struct json_field *f = &table->fields[i];
        json_write_key(w, str_from(f->name, f->name_len));
        json_write_object(w);
        describe_kind(s, w, f);
        describe_default(w, table, f);
        rest_schema__describe(w, f);
        json_write_end(w);
    }
    json_write_end(w);
    list_required(w, table);
    if ((table->flags & JSON_STRICT) != 0) {
        rest_document__bool(w, "additionalProperties", false);
    }
    json_write_end(w);
}

void rest_schema__write(const struct rest_schema_set *s, struct json_write *w)
{
    for (size_t i = 0; i < s->count; i++) {
        json_write_key(w, str_from_z(s->at[i].name));
        write_table(s, w, s->at[i].table);
    }
}
