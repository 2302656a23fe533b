#include "cli/commands/cli_ids.h"

#include "base/check.h"
#include "json/json_scan.h"

struct reading {
    struct arena *arena;
    struct cli_ids *out;
    size_t room;
    struct err *err;
};

static void add(struct reading *r, struct str id)
{
    if (r->out->count == r->room) {
        size_t room = r->room == 0 ? 64 : r->room * 2;
        struct str *ids = ARENA_ARRAY(r->arena, struct str, room);
        CHECK(ids != NULL);
        if (r->room > 0) {
            memcpy(ids, r->out->id, r->room * sizeof *ids);
        }
        r->out->id = ids;
        r->room = room;
    }
    r->out->id[r->out->count++] = id;
}

/* Add an id: a string, or the "id" of an object. */
static enum err_code add_value(struct reading *r, struct json_value value)
{
    struct str id = STR_EMPTY;
    if (value.type == JSON_TYPE_OBJECT && !json_scan_member(value.text, STR("id"), &value)) {
        return err_set(r->err, ERR_VALIDATION, "standard input has an object without an id");
    }
    if (value.type != JSON_TYPE_STRING) {
        return err_set(r->err, ERR_VALIDATION, "standard input contains %s instead of a job id",
                       json_value_type_name(value.type));
    }
    if (json_value_text(value, r->arena, &id, r->err) != ERR_OK) {
        return r->err->code;
    }
    if (id.len > 0) {
        add(r, id);
    }
    return ERR_OK;
}

static enum err_code add_array(struct reading *r, struct str array)
{
    struct json_scan s = json_scan_from(array);
    struct json_value value;
    if (json_scan_enter_array(&s)) {
        while (json_scan_next_element(&s)) {
            if (json_scan_value(&s, &value) && add_value(r, value) != ERR_OK) {
                return r->err->code;
            }
        }
    }
    return json_scan_done(&s) ? ERR_OK : json_scan_err(&s, r->err);
}

/* Add the ids of one or more JSON values, separated by white space. Usually there is one value. */
static enum err_code add_json(struct reading *r, struct str text)
{
    struct json_value value;
    struct json_value list;
    size_t count = 0;
    while (str_trim(text).len > 0) {
        if (json_scan_first(text, &value, r->err) != ERR_OK) {
            return r->err->code;
        }
        text = str_from_offset(text, (size_t)(value.text.ptr + value.text.len - text.ptr));
        enum err_code code;
        if (count == 0 && value.type == JSON_TYPE_ARRAY) {
            code = add_array(r, value.text);
        } else if (count == 0 && value.type == JSON_TYPE_OBJECT &&
                   (json_scan_member(value.text, STR("jobs"), &list) ||
                    json_scan_member(value.text, STR("job_ids"), &list))) {
            code = add_array(r, list.text);
        } else {
            code = add_value(r, value);
        }
        if (code != ERR_OK) {
            return code;
        }
        count++;
    }
    return ERR_OK;
}

static void add_lines(struct reading *r, struct str text)
{
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end == NULL ? text.len : (size_t)(end - text.ptr);
        struct str line = str_trim(str_from(text.ptr, len));
        if (line.len > 0) {
            add(r, line);
        }
        text = str_from_offset(text, end == NULL ? len : len + 1);
    }
}

enum err_code cli_ids_read(struct str text, struct arena *arena, struct cli_ids *out,
                           struct err *err)
{
    struct reading r = {.arena = arena, .out = out, .err = err};
    struct str trimmed = str_trim(text);
    *out = (struct cli_ids){NULL, 0};
    if (trimmed.len == 0) {
        return ERR_OK;
    }
    if (trimmed.ptr[0] == '{' || trimmed.ptr[0] == '[' || trimmed.ptr[0] == '"') {
        if (add_json(&r, trimmed) != ERR_OK) {
            err->code = ERR_VALIDATION; /* any failure means that the input is invalid */
            return err->code;
        }
        return ERR_OK;
    }
    add_lines(&r, trimmed);
    return ERR_OK;
}
