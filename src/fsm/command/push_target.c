#include "fsm/command/push_target.h"

#include <ctype.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/url.h"
#include "json/json_scan.h"

enum { TIMEOUT_MS_MAX = 24 * 3600 * 1000 };

static const char redacted[] = "[redacted]";

enum member { URL, METHOD, BODY, TIMEOUT, SUCCESS_BELOW, HEADERS, AUTH, KEEP_ANSWER, MEMBER_COUNT };
static const struct str member_names[MEMBER_COUNT] = {
    [URL] = {.ptr = "url", .len = sizeof "url" - 1},
    [METHOD] = {.ptr = "method", .len = sizeof "method" - 1},
    [BODY] = {.ptr = "body", .len = sizeof "body" - 1},
    [TIMEOUT] = {.ptr = "timeout_ms", .len = sizeof "timeout_ms" - 1},
    [SUCCESS_BELOW] = {.ptr = "success_below", .len = sizeof "success_below" - 1},
    [HEADERS] = {.ptr = "headers", .len = sizeof "headers" - 1},
    [AUTH] = {.ptr = "auth", .len = sizeof "auth" - 1},
    [KEEP_ANSWER] = {.ptr = "keep_answer", .len = sizeof "keep_answer" - 1},
};

enum auth_member { AUTH_TYPE, AUTH_TOKEN, AUTH_PASSWORD, AUTH_USER, AUTH_MEMBER_COUNT };
static const struct str auth_names[AUTH_MEMBER_COUNT] = {
    [AUTH_TYPE] = {.ptr = "type", .len = sizeof "type" - 1},
    [AUTH_TOKEN] = {.ptr = "token", .len = sizeof "token" - 1},
    [AUTH_PASSWORD] = {.ptr = "password", .len = sizeof "password" - 1},
    [AUTH_USER] = {.ptr = "username", .len = sizeof "username" - 1}};

/* Read a text. null means the same as leaving the member out. */

static enum err_code read_text(struct json_value v, const char *name, size_t max, struct arena *a,
                               struct str *out, struct err *err)
{
    *out = STR_EMPTY;
    if (v.type == JSON_TYPE_NULL) {
        return ERR_OK;
    }
    if (v.type != JSON_TYPE_STRING) {
        return err_set(err, ERR_VALIDATION, "push.%s: expected a string, got %s", name,
                       json_value_type_name(v.type));
    }
    if (json_value_text_len(v) > max) {
        return err_set(err, ERR_VALIDATION, "push.%s: longer than %zu bytes", name, max);
    }
    return json_value_text(v, a, out, err);
}

static enum err_code read_number(struct json_value v, const char *name, int64_t min, int64_t max,
                                 int64_t *out, struct err *err)
{
    int64_t n;
    if (v.type == JSON_TYPE_NULL) {
        return ERR_OK;
    }
    if (!json_value_i64(v, &n) || n < min || n > max) {
        return err_set(err, ERR_VALIDATION, "push.%s: expected %lld to %lld", name, (long long)min,
                       (long long)max);
    }
    *out = n;
    return ERR_OK;
}

static bool is_token(struct str s)
{
    static const struct str marks = {.ptr = "!#$%&'*+-.^_`|~", .len = 15};
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (!isalnum(c) && memchr(marks.ptr, c, marks.len) == NULL) {
            return false;
        }
    }
    return s.len > 0;
}

static enum err_code check_headers(struct json_value v, struct str *out, struct err *err)
{
    struct json_value key;
    struct json_value value;
    size_t count = 0;
    *out = STR_EMPTY;
    if (v.type == JSON_TYPE_NULL) {
        return ERR_OK;
    }
    struct json_scan s = json_scan_from(v.text);
    if (v.type != JSON_TYPE_OBJECT || !json_scan_enter_object(&s)) {
        return err_set(err, ERR_VALIDATION, "push.headers: expected an object, got %s",
                       json_value_type_name(v.type));
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        struct str name = str_from(key.text.ptr + 1, key.text.len - 2);
        if (key.escaped || !is_token(name) || name.len > LIMIT_NAME_BYTES) {
            return err_set(err, ERR_VALIDATION, "push.headers: not a valid header name");
        }
        if (value.type != JSON_TYPE_STRING ||
            json_value_text_len(value) > LIMIT_PUSH_HEADER_BYTES) {
            return err_set(err, ERR_VALIDATION,
                           "push.headers." STR_FMT ": expected a string of at most %d bytes",
                           STR_ARG(name), LIMIT_PUSH_HEADER_BYTES);
        }
        if (++count > LIMIT_PUSH_HEADERS) {
            return err_set(err, ERR_VALIDATION, "push.headers: more than %d", LIMIT_PUSH_HEADERS);
        }
    }
    *out = count > 0 ? v.text : STR_EMPTY;
    return ERR_OK;
}

static enum err_code read_auth(struct json_value v, struct arena *a, struct push_target *out,
                               struct err *err)
{
    struct json_value m[AUTH_MEMBER_COUNT];
    struct str type;
    if (v.type == JSON_TYPE_NULL) {
        return ERR_OK;
    }
    if (!json_scan_members(v.text, auth_names, AUTH_MEMBER_COUNT, m)) {
        return err_set(err, ERR_VALIDATION, "push.auth: expected an object, got %s",
                       json_value_type_name(v.type));
    }
    if (read_text(m[AUTH_TYPE], "type", LIMIT_NAME_BYTES, a, &type, err) != ERR_OK) {
        return err->code;
    }
    bool bearer = str_eq(type, STR("bearer"));
    if (!bearer && !str_eq(type, STR("basic"))) {
        return err_set(err, ERR_VALIDATION, "push.auth.type: expected bearer or basic");
    }
    out->auth = bearer ? PUSH_TARGET_BEARER : PUSH_TARGET_BASIC;
    enum auth_member secret = bearer ? AUTH_TOKEN : AUTH_PASSWORD;
    if (read_text(m[secret], auth_names[secret].ptr, LIMIT_PUSH_HEADER_BYTES / 2, a, &out->secret,
                  err) != ERR_OK ||
        read_text(m[AUTH_USER], "username", LIMIT_NAME_BYTES, a, &out->user, err) != ERR_OK) {
        return err->code;
    }
    if (str_has_control(out->secret) || str_has_control(out->user)) {
        return err_set(err, ERR_VALIDATION, "push.auth: contains a control character");
    }
    return bearer && out->secret.len == 0
               ? err_set(err, ERR_VALIDATION, "push.auth.token is required")
               : ERR_OK;
}

enum err_code push_target_read(struct str json, struct arena *a, struct push_target *out,
                               struct err *err)
{
    struct json_value m[MEMBER_COUNT];
    *out = (struct push_target){.timeout_ms = PUSH_TARGET_TIMEOUT_MS,
                                .success_below = PUSH_TARGET_SUCCESS_BELOW};
    if (!json_scan_whole_members(json, member_names, MEMBER_COUNT, m)) {
        return err_set(err, ERR_VALIDATION, "push: expected an object");
    }
    if (read_text(m[URL], "url", LIMIT_PUSH_URL_BYTES, a, &out->url, err) != ERR_OK ||
        read_text(m[METHOD], "method", LIMIT_NAME_BYTES, a, &out->method, err) != ERR_OK ||
        read_text(m[BODY], "body", LIMIT_PUSH_BYTES, a, &out->body, err) != ERR_OK ||
        read_number(m[TIMEOUT], "timeout_ms", 1, TIMEOUT_MS_MAX, &out->timeout_ms, err) != ERR_OK ||
        read_number(m[SUCCESS_BELOW], "success_below", 200, 600, &out->success_below, err) !=
            ERR_OK ||
        check_headers(m[HEADERS], &out->headers, err) != ERR_OK ||
        read_auth(m[AUTH], a, out, err) != ERR_OK) {
        return err->code;
    }
    if (m[KEEP_ANSWER].type != JSON_TYPE_NULL &&
        !json_value_bool(m[KEEP_ANSWER], &out->keep_answer)) {
        return err_set(err, ERR_VALIDATION, "push.keep_answer: expected a boolean");
    }
    if (out->method.len == 0) {
        out->method = STR("POST");
    }
    return is_token(out->method)
               ? ERR_OK
               : err_set(err, ERR_VALIDATION, "push.method: not a valid HTTP method");
}

static void write_auth(struct json_write *w, enum push_target_auth auth, struct str user,
                       struct str secret)
{
    if (auth == PUSH_TARGET_OPEN) {
        return;
    }
    json_write_key(w, STR("auth"));
    json_write_object(w);
    json_write_key(w, STR("type"));
    json_write_str(w, auth == PUSH_TARGET_BEARER ? STR("bearer") : STR("basic"));
    if (auth == PUSH_TARGET_BASIC) {
        json_write_key(w, STR("username"));
        json_write_str(w, user);
    }
    json_write_key(w, auth == PUSH_TARGET_BEARER ? STR("token") : STR("password"));
    json_write_str(w, secret);
    json_write_end(w);
}

/* Write the members that both forms have. The forms differ in headers and secrets. */
static void write_open_members(struct json_write *w, const struct push_target *t)
{
    json_write_key(w, STR("url"));
    json_write_str(w, t->url);
    if (!str_eq(t->method, STR("POST"))) {
        json_write_key(w, STR("method"));
        json_write_str(w, t->method);
    }
    if (t->timeout_ms != PUSH_TARGET_TIMEOUT_MS) {
        json_write_key(w, STR("timeout_ms"));
        json_write_i64(w, t->timeout_ms);
    }
    if (t->success_below != PUSH_TARGET_SUCCESS_BELOW) {
        json_write_key(w, STR("success_below"));
        json_write_i64(w, t->success_below);
    }
    if (t->body.len > 0) {
        json_write_key(w, STR("body"));
        json_write_str(w, t->body);
    }
    if (t->keep_answer) {
        json_write_key(w, STR("keep_answer"));
        json_write_bool(w, true);
    }
}

/* Is it only a URL, with defaults? Most targets are, and are written in a faster way. */
static bool is_plain(const struct push_target *t)
{
    return t->timeout_ms == PUSH_TARGET_TIMEOUT_MS &&
           t->success_below == PUSH_TARGET_SUCCESS_BELOW && t->auth == PUSH_TARGET_OPEN &&
           t->headers.len == 0 && t->body.len == 0 && !t->keep_answer &&
           str_eq(t->method, STR("POST"));
}

void push_target_write(const struct push_target *t, struct buf *out)
{
    struct json_write w = json_write_to(out);
    if (is_plain(t)) {
        buf_add_str(out, STR("{\"url\":"));
        json_write_str(&w, t->url);
        buf_add_char(out, '}');
        return;
    }
    json_write_object(&w);
    write_open_members(&w, t);
    if (t->headers.len > 0) {
        json_write_key(&w, STR("headers"));
        json_write_raw(&w, t->headers);
    }
    write_auth(&w, t->auth, t->user, t->secret);
    json_write_end(&w);
    json_write_finish(&w);
}

static void show_headers(struct json_write *w, struct str headers)
{
    struct json_scan s = json_scan_from(headers);
    struct json_value key;
    struct json_value value;
    if (headers.len == 0 || !json_scan_enter_object(&s)) {
        return;
    }
    json_write_key(w, STR("headers"));
    json_write_object(w);
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        json_write_key(w, str_from(key.text.ptr + 1, key.text.len - 2));
        json_write_str(w, str_from_z(redacted));
    }
    json_write_end(w);
}

void push_target_show(struct str json, struct json_write *w)
{
    struct arena *a = arena_new(2 * (size_t)LIMIT_PUSH_BYTES);
    struct push_target t;
    struct err ignored;
    json_write_object(w);
    /* A target that cannot be read, which is never stored, is shown as an empty object. */
    if (push_target_read(json, a, &t, &ignored) == ERR_OK) {
        write_open_members(w, &t);
        show_headers(w, t.headers);
        write_auth(w, t.auth, t.user, str_from_z(redacted));
    }
    json_write_end(w);
    arena_free(a);
}

/* Is one of the values of the object the placeholder? */
static bool has_placeholder(struct str json, struct str name)
{
    struct json_value object;
    struct json_value key;
    struct json_value value;
    if (!json_scan_member(json, name, &object)) {
        return false;
    }
    struct json_scan s = json_scan_from(object.text);
    bool found = false;
    if (object.type == JSON_TYPE_OBJECT && json_scan_enter_object(&s)) {
        while (!found && json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
            found =
                value.type == JSON_TYPE_STRING && json_value_text_eq(value, str_from_z(redacted));
        }
    }
    return found;
}

bool push_target_is_redacted(struct str json)
{
    return has_placeholder(json, member_names[HEADERS]) ||
           has_placeholder(json, member_names[AUTH]);
}

void push_target_host(struct str json, struct buf *out)
{
    struct json_value v;
    struct buf text;
    struct url url;
    const char *why;
    buf_init(&text, LIMIT_PUSH_URL_BYTES);
    if (json_scan_member(json, STR("url"), &v) && v.type == JSON_TYPE_STRING) {
        json_value_text_buf(v, &text);
    }
    if (!text.overflow && url_parse(buf_str(&text), &url, &why) &&
        url.host.len <= LIMIT_NAME_BYTES) {
        for (size_t i = 0; i < url.host.len; i++) {
            buf_add_char(out, (char)tolower((unsigned char)url.host.ptr[i]));
        }
        buf_printf(out, ":%u", (unsigned)url.port);
    }
    buf_deinit(&text);
}

int64_t push_target_timeout_ms(struct str json)
{
    struct json_value v;
    int64_t ms = PUSH_TARGET_TIMEOUT_MS;
    return json_scan_member(json, STR("timeout_ms"), &v) && json_value_i64(v, &ms) && ms > 0
               ? ms
               : PUSH_TARGET_TIMEOUT_MS;
}
