/*
 * Stores one value according to its row: the part of json_schema that handles the kinds.
 */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "json/json_schema_int.h"

/* Stores one value in the member of a struct, as its row requires. */
typedef enum err_code (*store_fn)(struct json_decode *d, const struct json_field *field,
                                  struct json_value value, char *member);

enum err_code json_member__text(struct json_decode *d, struct json_value value, struct str *out)
{
    enum err_code code = json_value_text(value, d->arena, out, d->err);
    return code == ERR_OK ? ERR_OK : json_frame__wrap(d);
}

static enum err_code store_str(struct json_decode *d, const struct json_field *field,
                               struct json_value value, char *member)
{
    struct str text;
    if (json_member__text(d, value, &text) != ERR_OK) {
        return d->err->code;
    }
    if ((field->flags & JSON_CUT) != 0) {
        text = str_at_most(text, (size_t)field->max);
    }
    if (text.len == 0 && field->min > 0) {
        return json_frame__refuse_missing(d);
    }
    if (text.len < (size_t)field->min || text.len > (size_t)field->max) {
        return json_frame__refuse_size(d, " bytes", (int64_t)text.len);
    }
    if ((field->flags & JSON_NO_CONTROL) != 0 && str_has_control(text)) {
        return json_frame__refuse(d, ERR_VALIDATION, "control characters are not allowed");
    }
    memcpy(member, &text, sizeof text);
    return ERR_OK;
}

static enum err_code store_i64(struct json_decode *d, const struct json_field *field,
                               struct json_value value, char *member)
{
    int64_t v;
    if (!json_value_i64(value, &v)) {
        return json_frame__refuse(d, ERR_PARSE, "expected an integer, got " STR_FMT,
                                  STR_ARG(str_at_most(value.text, JSON_SHOWN_MAX)));
    }
    if (v > field->max && (field->flags & JSON_CLAMP) != 0) {
        v = field->max;
    }
    if (v < field->min || v > field->max) {
        if ((field->flags & JSON_LAX) == 0) {
            return json_frame__refuse_size(d, "", v);
        }
        json_frame__absent(d);
        return ERR_OK;
    }
    memcpy(member, &v, sizeof v);
    return ERR_OK;
}

static enum err_code store_f64(struct json_decode *d, const struct json_field *field,
                               struct json_value value, char *member)
{
    double v;
    bool bounded = field->min != INT64_MIN;
    if (!json_value_f64(value, &v) || (bounded && v < (double)field->min) ||
        v > (double)field->max) {
        struct str shown = str_at_most(value.text, JSON_SHOWN_MAX);
        if (!bounded) {
            return json_frame__refuse(d, ERR_VALIDATION,
                                      "expected at most %" PRId64 ", got " STR_FMT, field->max,
                                      STR_ARG(shown));
        }
        return json_frame__refuse(d, ERR_VALIDATION,
                                  "expected %" PRId64 " to %" PRId64 ", got " STR_FMT, field->min,
                                  field->max, STR_ARG(shown));
    }
    memcpy(member, &v, sizeof v);
    return ERR_OK;
}

static enum err_code store_bool(struct json_decode *d, const struct json_field *field,
                                struct json_value value, char *member)
{
    (void)d;
    (void)field;
    bool v;
    CHECK(json_value_bool(value, &v));
    memcpy(member, &v, sizeof v);
    return ERR_OK;
}

static enum err_code store_raw(struct json_decode *d, const struct json_field *field,
                               struct json_value value, char *member)
{
    if ((field->flags & JSON_ONLY_OBJECT) != 0 && value.type != JSON_TYPE_OBJECT) {
        return json_frame__refuse_type(d, JSON_TYPE_OBJECT, value.type);
    }
    if (field->max > 0 && value.text.len > (size_t)field->max) {
        return json_frame__refuse_large(d, value.text.len);
    }
    memcpy(member, &value.text, sizeof value.text);
    return ERR_OK;
}

/* Find a word by its name or by its number; NULL if there is none. */
static const struct json_word *find_word(const struct json_word *list, struct str name,
                                         const int64_t *number)
{
    for (const struct json_word *w = list; w->word != NULL; w++) {
        if (number != NULL ? w->value == *number : str_eq(str_from_z(w->word), name)) {
            return w;
        }
    }
    return NULL;
}

void json_schema_list_words(const struct json_word *words, struct buf *out)
{
    for (const struct json_word *w = words; w->word != NULL; w++) {
        buf_printf(out, "%s%s", w == words ? "" : w[1].word == NULL ? " or " : ", ", w->word);
    }
}

static enum err_code refuse_word(struct json_decode *d, const struct json_word *words,
                                 struct str got)
{
    struct buf known;
    buf_init(&known, sizeof d->err->msg);
    json_schema_list_words(words, &known);
    enum err_code code =
        json_frame__refuse(d, ERR_VALIDATION, "expected " STR_FMT ", got '" STR_FMT "'",
                           STR_ARG(buf_str(&known)), STR_ARG(str_at_most(got, JSON_SHOWN_MAX)));
    buf_deinit(&known);
    return code;
}

static enum err_code store_word(struct json_decode *d, const struct json_field *field,
                                struct json_value value, char *member)
{
    struct str name = value.text;
    int64_t number;
    bool numeric = (field->flags & JSON_OR_NUMBER) != 0 && json_value_i64(value, &number);

    if (value.type != JSON_TYPE_STRING && !numeric) {
        return json_frame__refuse_type(d, JSON_TYPE_STRING, value.type);
    }
    if (!numeric && json_member__text(d, value, &name) != ERR_OK) {
        return d->err->code;
    }
    if (numeric && (field->flags & JSON_NUMBER_APART) != 0 && number >= 0 &&
        number <= JSON_NUMBER_MAX) {
        int apart = JSON_NUMBER + (int)number;
        memcpy(member, &apart, sizeof apart);
        return ERR_OK;
    }
    const struct json_word *found = find_word(field->words, name, numeric ? &number : NULL);
    if (found != NULL) {
        memcpy(member, &found->value, sizeof found->value);
        return ERR_OK;
    }
    if (name.len > 0) {
        return refuse_word(d, field->words, name);
    }
    json_frame__absent(d);
    return ERR_OK;
}

static enum err_code store_duration(struct json_decode *d, const struct json_field *field,
                                    struct json_value value, char *member)
{
    struct str text;
    int64_t ms;
    if (json_member__text(d, value, &text) != ERR_OK) {
        return d->err->code;
    }
    if (text.len == 0) {
        json_frame__absent(d);
        return ERR_OK;
    }
    if (field->parse_duration(text, &ms, d->err) != ERR_OK) {
        return json_frame__wrap(d);
    }
    if (ms < field->min || ms > field->max) {
        return json_frame__refuse_size(d, " milliseconds", ms);
    }
    memcpy(member, &ms, sizeof ms);
    return ERR_OK;
}

static enum err_code store_time(struct json_decode *d, const struct json_field *field,
                                struct json_value value, char *member)
{
    struct str text;
    struct wall at;
    if (json_member__text(d, value, &text) != ERR_OK) {
        return d->err->code;
    }
    if (field->parse_time(text, &at, d->err) != ERR_OK) {
        return json_frame__wrap(d);
    }
    memcpy(member, &at, sizeof at);
    return ERR_OK;
}

enum err_code json_member__store(struct json_decode *d, struct json_value value)
{
    static const store_fn stores[JSON_KIND_COUNT] = {
        [JSON_KIND_STR] = store_str,           [JSON_KIND_I64] = store_i64,
        [JSON_KIND_F64] = store_f64,           [JSON_KIND_BOOL] = store_bool,
        [JSON_KIND_RAW] = store_raw,           [JSON_KIND_WORD] = store_word,
        [JSON_KIND_DURATION] = store_duration, [JSON_KIND_TIME] = store_time,
    };
    const struct json_frame *f = json_frame__top(d);
    const struct json_field *field = f->field;
    CHECK(stores[field->kind] != NULL);
    return stores[field->kind](d, field, value, f->base + field->offset);
}
