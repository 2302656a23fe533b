#include "base/limits.h"
#include "fsm/command/field_int.h"
#include "json/json_scan.h"

const struct field_place field__top = {0};

/* Write the path of a field: "jobs[3].queue", "queues[3]" for an element without fields, or only
 * the field at the top level. */
static const char *path_of(const struct field_place *at, const char *field, char *out, size_t size)
{
    struct buf b;
    buf_init(&b, size - 1);
    if (at->in_list) {
        buf_printf(&b, "%s[%zu]%s", at->list, at->index, *field == '\0' ? "" : ".");
    }
    buf_printf(&b, "%s", field);
    memcpy(out, b.ptr, b.len);
    out[b.len] = '\0';
    buf_deinit(&b);
    return out;
}

enum { PATH_BYTES = 128 };

enum err_code field__bad(const struct field_place *at, const char *field, const char *what,
                         struct err *err)
{
    char path[PATH_BYTES];
    return err_set(err, ERR_VALIDATION, "%s %s", path_of(at, field, path, sizeof path), what);
}

enum err_code field__too_long(const struct field_place *at, const char *field, size_t len,
                              size_t max, enum err_code code, struct err *err)
{
    char path[PATH_BYTES];
    return err_set(err, code, "%s too large: %zu bytes (max %zu)",
                   path_of(at, field, path, sizeof path), len, max);
}

enum err_code field__some_text(const struct field_place *at, const char *field, struct str s,
                               size_t max, struct err *err)
{
    if (s.len > max) {
        return field__too_long(at, field, s.len, max, ERR_VALIDATION, err);
    }
    return str_is_utf8(s) ? ERR_OK : field__bad(at, field, "is not valid UTF-8", err);
}

enum err_code field__queue_name(const struct field_place *at, const char *field, struct str s,
                                struct err *err)
{
    if (s.len == 0) {
        return field__bad(at, field, "is required", err);
    }
    if (field__text(at, field, s, LIMIT_INTERNAL_NAME_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return str_has_control(s) ? field__bad(at, field, "contains a control character", err) : ERR_OK;
}

enum err_code field__some_json(const struct field_place *at, const char *field, struct str s,
                               size_t max, struct err *err)
{
    if (s.len > max) {
        return field__too_long(at, field, s.len, max, ERR_FIELD_TOO_LARGE, err);
    }
    if (!str_eq(s, STR("{}")) &&
        (at->deep ? json_scan_check(s, err) : json_scan_check_value(s, err)) != ERR_OK) {
        char path[PATH_BYTES];
        return err_wrap(err, "%s", path_of(at, field, path, sizeof path));
    }
    return ERR_OK;
}

enum err_code field__tags(const struct field_place *at, struct str tags, struct err *err)
{
    if (tags.len == 0) {
        return ERR_OK;
    }
    struct json_scan s = json_scan_from(tags);
    struct json_value key, value;
    size_t count = 0;
    if (field__json(at, "tags", tags, LIMIT_OP_BYTES, err) != ERR_OK) {
        return err->code;
    }
    if (!json_scan_enter_object(&s)) {
        return field__bad(at, "tags", "must be an object", err);
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        if (++count > LIMIT_TAGS) {
            return field__bad(at, "tags", "has more than 64 pairs", err);
        }
        /* Of a text, the decoded length is limited, however it is escaped. */
        size_t value_len =
            value.type == JSON_TYPE_STRING ? json_value_text_len(value) : value.text.len;
        if (json_value_text_len(key) > LIMIT_TAG_KEY_BYTES) {
            return field__bad(at, "tags", "has a key of more than 128 bytes", err);
        }
        if (value_len > LIMIT_TAG_VALUE_BYTES) {
            return field__bad(at, "tags", "has a value of more than 1024 bytes", err);
        }
    }
    return ERR_OK;
}

enum err_code field__usage(const struct field_place *at, const struct store_tokens *t,
                           struct err *err)
{
    if (t->input < 0 || t->output < 0 || t->cache_creation < 0 || t->cache_read < 0 ||
        t->cost_nusd < 0) {
        return field__bad(at, "usage", "must not be negative", err);
    }
    if (field__text(at, "usage.model", t->model, LIMIT_MODEL_NAME_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return field__text(at, "usage.provider", t->provider, LIMIT_MODEL_NAME_BYTES, err);
}
