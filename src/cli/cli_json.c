/*
 * Reads members of responses by their path, and formats JSON.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "json/json_scan.h"

enum { INDENT = 2 };

static const struct json_value none = {.type = JSON_TYPE_COUNT};

struct json_value cli_member(struct str object, const char *path)
{
    struct json_value value = none;
    while (*path != '\0') {
        const char *dot = strchr(path, '.');
        size_t len = dot == NULL ? strlen(path) : (size_t)(dot - path);
        if (!json_scan_member(object, str_from(path, len), &value)) {
            return none;
        }
        object = value.text;
        path += dot == NULL ? len : len + 1;
    }
    return value;
}

struct str cli_decode(struct cli *cli, struct json_value value)
{
    struct str text = STR_EMPTY;
    struct err err;
    switch (value.type) {
    case JSON_TYPE_STRING:
        return json_value_text(value, cli->arena, &text, &err) == ERR_OK ? text : value.text;
    case JSON_TYPE_BOOL:
    case JSON_TYPE_NUMBER:
    case JSON_TYPE_ARRAY:
    case JSON_TYPE_OBJECT:
        return value.text;
    case JSON_TYPE_NULL:
    case JSON_TYPE_COUNT:
    default:
        return STR_EMPTY;
    }
}

struct str cli_member_text(struct cli *cli, struct str object, const char *path)
{
    return cli_decode(cli, cli_member(object, path));
}

int64_t cli_member_int(struct str object, const char *path)
{
    int64_t v = 0;
    struct json_value value = cli_member(object, path);
    return value.type == JSON_TYPE_NUMBER && json_value_i64(value, &v) ? v : 0;
}

double cli_member_real(struct str object, const char *path)
{
    double v = 0;
    struct json_value value = cli_member(object, path);
    return value.type == JSON_TYPE_NUMBER && json_value_f64(value, &v) ? v : 0;
}

bool cli_member_true(struct str object, const char *path)
{
    bool v = false;
    struct json_value value = cli_member(object, path);
    return value.type == JSON_TYPE_BOOL && json_value_bool(value, &v) && v;
}

size_t cli_elements(struct cli *cli, struct str array, struct str **out)
{
    size_t count = 0;
    struct json_value value;
    *out = NULL;
    for (int pass = 0; pass < 2; pass++) {
        struct json_scan s = json_scan_from(array);
        size_t n = 0;
        if (json_scan_peek(&s) != JSON_TYPE_ARRAY || !json_scan_enter_array(&s)) {
            return 0;
        }
        while (json_scan_next_element(&s) && json_scan_value(&s, &value)) {
            if (*out != NULL) {
                (*out)[n] = value.text;
            }
            n++;
        }
        if (pass == 0 && n > 0) {
            *out = ARENA_ARRAY(cli->arena, struct str, n);
            CHECK(*out != NULL);
        }
        count = n;
    }
    return count;
}

struct str cli_element_named(struct cli *cli, struct str array, struct str name)
{
    struct json_scan s = json_scan_from(array);
    struct json_value value;
    if (json_scan_peek(&s) != JSON_TYPE_ARRAY || !json_scan_enter_array(&s)) {
        return STR_EMPTY;
    }
    while (json_scan_next_element(&s) && json_scan_value(&s, &value)) {
        if (str_eq(cli_member_text(cli, value.text, "name"), name)) {
            return value.text;
        }
    }
    return STR_EMPTY;
}

static void write_pair(struct json_write *w, const struct cli_pair *pair)
{
    bool text = pair->kind == CLI_PAIR_TEXT || pair->kind == CLI_PAIR_RAW;
    if (text && pair->text.len == 0) {
        return;
    }
    json_write_key(w, str_from_z(pair->key));
    switch (pair->kind) {
    case CLI_PAIR_TEXT:
        json_write_str(w, pair->text);
        break;
    case CLI_PAIR_INT:
        json_write_i64(w, pair->number);
        break;
    case CLI_PAIR_REAL:
        json_write_f64(w, pair->real);
        break;
    case CLI_PAIR_BOOL:
        json_write_bool(w, pair->number != 0);
        break;
    case CLI_PAIR_RAW:
    default:
        json_write_raw(w, pair->text);
        break;
    }
}

struct str cli_object(struct cli *cli, const struct cli_pair *pairs, size_t count)
{
    struct buf b;
    buf_init(&b, (size_t)CLI_INPUT_BYTES * 2);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    for (size_t i = 0; i < count; i++) {
        write_pair(&w, &pairs[i]);
    }
    json_write_end(&w);
    json_write_finish(&w);
    struct str object = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return object;
}

static void new_line(struct buf *out, size_t depth)
{
    buf_add_char(out, '\n');
    for (size_t i = 0; i < depth * INDENT; i++) {
        buf_add_char(out, ' ');
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of the string that starts at the quote. */
static size_t string_end(struct str json, size_t at)
{
    for (at++; at < json.len && json.ptr[at] != '"'; at++) {
        at += json.ptr[at] == '\\' ? 1 : 0;
    }
    return at < json.len ? at + 1 : json.len;
}

void cli_json_indent(struct buf *out, struct str json)
{
    cli_json_indent_at(out, json, 0);
}

void cli_json_indent_at(struct buf *out, struct str json, size_t depth)
{
    bool fresh = false; /* the previous token was an opening bracket */
    for (size_t i = 0; i < json.len;) {
        char c = json.ptr[i];
        if (is_blank(c)) {
            i++;
            continue;
        }
        bool closes = c == '}' || c == ']';
        depth -= closes ? 1 : 0;
        if (fresh != closes && (fresh || closes)) {
            new_line(out, depth);
        }
        size_t end = c == '"' ? string_end(json, i) : i + 1;
        buf_add(out, json.ptr + i, end - i);
        fresh = c == '{' || c == '[';
        depth += fresh ? 1 : 0;
        if (c == ',') {
            new_line(out, depth);
        } else if (c == ':') {
            buf_add_char(out, ' ');
        }
        i = end;
    }
}

struct str cli_json_compact(struct cli *cli, struct str json)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < json.len;) {
        size_t end = json.ptr[i] == '"' ? string_end(json, i) : i + 1;
        buf_add(&b, json.ptr + i, is_blank(json.ptr[i]) ? 0 : end - i);
        i = end;
    }
    struct str compact = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return compact;
}
