/*
 * The object that is being filled: errors about its current member, and members that are absent.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "json/json_int.h"
#include "json/json_schema_int.h"

enum { PATH_BYTES = 128 };

/* clang-format off */
const struct json_frame_kind json_frame__kinds[JSON_KIND_COUNT] = {
    [JSON_KIND_STR]      = {"string",           JSON_TYPE_STRING, sizeof(struct str)},
    [JSON_KIND_I64]      = {"integer",          JSON_TYPE_NUMBER, sizeof(int64_t)},
    [JSON_KIND_F64]      = {"number",           JSON_TYPE_NUMBER, sizeof(double)},
    [JSON_KIND_BOOL]     = {"boolean",          JSON_TYPE_BOOL,   sizeof(bool)},
    [JSON_KIND_RAW]      = {"any",              JSON_TYPE_COUNT,  sizeof(struct str)},
    [JSON_KIND_WORD]     = {"word",             JSON_TYPE_COUNT,  sizeof(int)},
    [JSON_KIND_DURATION] = {"duration",         JSON_TYPE_STRING, sizeof(int64_t)},
    [JSON_KIND_TIME]     = {"time",             JSON_TYPE_STRING, sizeof(struct wall)},
    [JSON_KIND_STRS]     = {"array of strings", JSON_TYPE_ARRAY,  sizeof(void *)},
    [JSON_KIND_OBJECT]   = {"object",           JSON_TYPE_OBJECT, sizeof(void *)},
    [JSON_KIND_OBJECTS]  = {"array of objects", JSON_TYPE_ARRAY,  sizeof(void *)},
};
/* clang-format on */

const char *json_schema_kind_name(enum json_kind kind)
{
    CHECK(kind < JSON_KIND_COUNT);
    return json_frame__kinds[kind].name;
}

/* The path of the current member: "jobs[3].priority". Truncated to one line. */
static const char *path_of(const struct json_decode *d, char out[static PATH_BYTES])
{
    size_t len = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < d->depth && d->frames[i].field != NULL; i++) {
        const struct json_frame *f = &d->frames[i];
        char index[24] = "";
        if (f->list) {
            (void)snprintf(index, sizeof index, "[%zu]", f->count);
        }
        int n = snprintf(out + len, PATH_BYTES - len, "%s%s%s", len > 0 ? "." : "", f->field->name,
                         index);
        CHECK(n > 0);
        len = len + (size_t)n < PATH_BYTES ? len + (size_t)n : PATH_BYTES - 1;
    }
    return out;
}

enum err_code json_frame__wrap(struct json_decode *d)
{
    char path[PATH_BYTES];
    return path_of(d, path)[0] == '\0' ? d->err->code : err_wrap(d->err, "%s", path);
}

enum err_code json_frame__refuse(struct json_decode *d, enum err_code code, const char *fmt, ...)
{
    char what[sizeof d->err->msg];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    (void)err_set(d->err, code, "%s", what);
    return json_frame__wrap(d);
}

enum err_code json_frame__refuse_type(struct json_decode *d, enum json_type expected,
                                      enum json_type got)
{
    return json_frame__refuse(d, ERR_PARSE, "expected %s, got %s", json_value_type_name(expected),
                              json_value_type_name(got));
}

int64_t json_field_least(const struct json_field *f)
{
    if (f->told_min != 0) {
        return f->told_min;
    }
    return (f->flags & JSON_INSISTED) != 0 && f->min < 1 ? 1 : f->min;
}

int64_t json_field_most(const struct json_field *f)
{
    return f->told_max != 0 ? f->told_max : f->max;
}

enum err_code json_frame__refuse_missing(struct json_decode *d)
{
    char path[PATH_BYTES];
    return err_set(d->err, ERR_VALIDATION, "%s is required", path_of(d, path));
}

enum err_code json_frame__refuse_large(struct json_decode *d, size_t bytes)
{
    char path[PATH_BYTES];
    return err_set(d->err, ERR_TOO_LARGE, "%s too large: %zu bytes (max %" PRId64 ")",
                   path_of(d, path), bytes, json_frame__top(d)->field->max);
}

enum err_code json_frame__refuse_size(struct json_decode *d, const char *unit, int64_t got)
{
    const struct json_field *field = json_frame__top(d)->field;
    const int64_t min = json_field_least(field);
    const int64_t max = json_field_most(field);
    return min == INT64_MIN
               ? json_frame__refuse(d, ERR_VALIDATION,
                                    "expected at most %" PRId64 "%s, got %" PRId64, max, unit, got)
               : json_frame__refuse(d, ERR_VALIDATION,
                                    "expected %" PRId64 " to %" PRId64 "%s, got %" PRId64, min, max,
                                    unit, got);
}

void json_frame__set_default(struct json_frame *f, size_t offset, size_t size)
{
    const char *init = f->schema->init;
    if (init == NULL) {
        memset(f->base + offset, 0, size);
    } else {
        memcpy(f->base + offset, init + offset, size);
    }
}

void json_frame__absent(struct json_decode *d)
{
    struct json_frame *f = json_frame__top(d);
    const struct json_field *field = f->field;
    f->seen &= ~(1ULL << (field - f->schema->fields));
    json_frame__set_default(f, field->offset, json_frame__kinds[field->kind].size);
    if (json_frame__is_list(field)) {
        json_frame__set_default(f, field->count_offset, sizeof(size_t));
    }
}
