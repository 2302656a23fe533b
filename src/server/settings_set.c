/*
 * Set one setting: its value is parsed and checked as its row says.
 */
#include <stdlib.h>

#include "base/check.h"
#include "core/duration.h"
#include "server/settings_set_int.h"

enum { CHOICES_BYTES = 128 };
static const char duration_form[] = "a duration such as 500ms, 2s or 1h30m";

const struct settings_table_row *settings_set__find(struct str name)
{
    for (size_t i = 0; i < settings_table__count; i++) {
        if (str_eq(str_from_z(settings_table__rows[i].name), name)) {
            return &settings_table__rows[i];
        }
    }
    return NULL;
}

bool settings_set__is_idle(const struct settings_table_row *s)
{
    size_t idle = offsetof(struct settings, idle);
    return s->offset >= idle && s->offset < idle + sizeof(struct settings_idle);
}

static enum err_code wrong(const struct settings_table_row *s, struct str value,
                           const char *expected, struct err *err)
{
    return err_set(err, ERR_VALIDATION, "setting %s: expected %s, got '" STR_FMT "'", s->name,
                   expected, STR_ARG(value));
}

static bool is_word(const char *words, struct str value)
{
    struct str left = str_from_z(words);
    while (left.len > 0) {
        size_t len = 0;
        while (len < left.len && left.ptr[len] != ' ') {
            len++;
        }
        if (str_eq(str_from(left.ptr, len), value)) {
            return true;
        }
        left = str_from_offset(left, len < left.len ? len + 1 : len);
    }
    return false;
}

static bool parse_bool(struct str v, bool *out)
{
    static const char *const words[] = {"true", "t", "1", "yes", "false", "f", "0", "no"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (str_eq_nocase(v, str_from_z(words[i]))) {
            *out = i < COUNT_OF(words) / 2;
            return true;
        }
    }
    return false;
}

static bool parse_real(struct str v, double *out)
{
    char text[64];
    char *end = NULL;
    if (v.len == 0 || v.len >= sizeof text) {
        return false;
    }
    memcpy(text, v.ptr, v.len);
    text[v.len] = '\0';
    *out = strtod(text, &end);
    return *end == '\0';
}

static enum err_code set_number(const struct settings_table_row *s, struct str value, double v,
                                void *at, struct err *err)
{
    if (!(v >= s->min && v <= s->max)) {
        return err_set(err, ERR_VALIDATION,
                       "setting %s: expected %.0f to %.0f%s, got '" STR_FMT "'", s->name, s->min,
                       s->max, s->kind == KIND_DURATION ? " ms" : "", STR_ARG(value));
    }
    if (s->kind == KIND_REAL) {
        *(double *)at = v;
    } else {
        *(int64_t *)at = (int64_t)v;
    }
    return ERR_OK;
}

static enum err_code put(const struct settings_table_row *s, struct str value, struct settings *out,
                         struct err *err)
{
    void *at = (char *)out + s->offset;
    int64_t number = 0;
    double real = 0;
    struct err ignored;
    out->bootstrap_given |= s->offset == offsetof(struct settings, bootstrap);
    out->raft_bind_given |= s->offset == offsetof(struct settings, raft_bind);
    switch (s->kind) {
    case KIND_TEXT:
        if (s->words != NULL && !is_word(s->words, value)) {
            char choices[CHOICES_BYTES];
            return wrong(s, value, str_choices(s->words, choices, sizeof choices), err);
        }
        *(struct str *)at = value;
        return ERR_OK;
    case KIND_BOOL:
        return parse_bool(value, at) ? ERR_OK : wrong(s, value, "true or false", err);
    case KIND_NUMBER:
        return str_to_i64(value, &number) ? set_number(s, value, (double)number, at, err)
                                          : wrong(s, value, "a whole number", err);
    case KIND_REAL:
        return parse_real(value, &real) ? set_number(s, value, real, at, err)
                                        : wrong(s, value, "a number", err);
    case KIND_DURATION:
        return duration_parse(value, &number, &ignored) == ERR_OK
                   ? set_number(s, value, (double)number, at, err)
                   : wrong(s, value, duration_form, err);
    case KIND_NANOSECONDS:
        return duration_parse_ns(value, &number, &ignored) == ERR_OK
                   ? set_number(s, value, (double)number, at, err)
                   : wrong(s, value, duration_form, err);
    default:
        UNREACHABLE("a setting has one of the kinds");
    }
}

enum err_code settings_set__row(const struct settings_table_row *s, struct str value,
                                struct settings *out, struct err *err)
{
    if (put(s, value, out, err) != ERR_OK) {
        return err->code;
    }
    out->idle_given[s - settings_table__rows] =
        settings_set__is_idle(s) && !str_eq(value, str_from_z(s->shown));
    return ERR_OK;
}

enum err_code settings_set(const char *name, struct str value, struct settings *out,
                           struct err *err)
{
    const struct settings_table_row *s = settings_set__find(str_from_z(name));
    CHECK(s != NULL);
    return settings_set__row(s, value, out, err);
}
