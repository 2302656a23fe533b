#include "svc/svc_push.h"

#include <string.h>

#include "base/limits.h"
#include "base/url.h"
#include "core/duration.h"
#include "fsm/command/push_target.h"
#include "json/json_scan.h"

enum { TIMEOUT_MS_MAX = 24 * 3600 * 1000 };

static const struct json_field auth_rows[] = {
    JSON_STR(struct svc_push_auth, type, 0, LIMIT_NAME_BYTES, JSON_INSISTED,
             "Type of authentication: bearer or basic."),
    JSON_STR(struct svc_push_auth, token, 0, LIMIT_PUSH_HEADER_BYTES / 2, JSON_NO_CONTROL,
             "Token for bearer. Never shown again."),
    JSON_STR(struct svc_push_auth, username, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL,
             "User name for basic."),
    JSON_STR(struct svc_push_auth, password, 0, LIMIT_PUSH_HEADER_BYTES / 2, JSON_NO_CONTROL,
             "Password for basic. Never shown again."),
};
static const struct json_schema auth_schema = JSON_SCHEMA(struct svc_push_auth, auth_rows);

static const struct json_field push_rows[] = {
    JSON_STR(struct svc_push, url, 0, LIMIT_PUSH_URL_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Target URL, http or https."),
    JSON_STR(struct svc_push, method, 0, LIMIT_NAME_BYTES, 0, "HTTP method. POST by default."),
    JSON_RAW(struct svc_push, headers, LIMIT_PUSH_BYTES, JSON_ONLY_OBJECT,
             "Request headers. Their values are never shown again.", .told_type = "{string}",
             .told_max = LIMIT_PUSH_HEADERS),
    JSON_DURATION(struct svc_push, timeout_ms, "timeout", duration_parse, 1, TIMEOUT_MS_MAX, 0,
                  "Timeout of one call, including redirects. 5m by default."),
    JSON_OBJECT(struct svc_push, auth, struct svc_push_auth, &auth_schema, 0, "Credentials."),
    JSON_I64(struct svc_push, success_below, 200, 600, 0,
             "Response statuses below this value count as success. 400 by default."),
    JSON_STR(
        struct svc_push, body, 0, LIMIT_PUSH_BYTES, 0,
        "Template of the request body, with {{payload}}, {{job_id}}, {{queue}}, {{attempt}} and "
        "{{due_at}}. The payload by default."),
    JSON_BOOL(struct svc_push, keep_answer, 0,
              "Store the first 64 KiB of the response in the job's result."),
};
static const struct svc_push push_init = {.timeout_ms = PUSH_TARGET_TIMEOUT_MS,
                                          .success_below = PUSH_TARGET_SUCCESS_BELOW};
const struct json_schema svc_push_schema =
    JSON_SCHEMA(struct svc_push, push_rows, .init = &push_init);

static enum err_code check_url(struct str text, struct err *err)
{
    struct url url;
    const char *why;
    if (text.len == 0) {
        return err_set(err, ERR_VALIDATION, "push.url is required");
    }
    if (!url_parse(text, &url, &why)) {
        return err_set(err, ERR_VALIDATION, "push.url %s", why);
    }
    return url.user.len > 0 /* the URL is shown to readers */
               ? err_set(err, ERR_VALIDATION,
                         "push.url must not contain credentials: use push.auth")
               : ERR_OK;
}

static enum err_code set_auth(const struct svc_push_auth *in, struct push_target *out,
                              struct err *err)
{
    bool bearer = str_eq(in->type, STR("bearer"));
    if (!bearer && !str_eq(in->type, STR("basic"))) {
        return err_set(err, ERR_VALIDATION, "push.auth.type: expected bearer or basic");
    }
    out->auth = bearer ? PUSH_TARGET_BEARER : PUSH_TARGET_BASIC;
    out->user = in->username;
    out->secret = bearer ? in->token : in->password;
    return ERR_OK;
}

/* Values with control characters would be changed in the calls. push_target checks all else. */
static enum err_code check_headers(const struct svc_caller *who, struct str headers,
                                   struct err *err)
{
    struct json_scan s = json_scan_from(headers);
    struct json_value key;
    struct json_value value;
    if (headers.len == 0 || !json_scan_enter_object(&s)) {
        return ERR_OK;
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        struct str text = STR_EMPTY;
        if (value.type != JSON_TYPE_STRING ||
            json_value_text_len(value) > LIMIT_PUSH_HEADER_BYTES) {
            continue;
        }
        if (json_value_text(value, who->arena, &text, err) != ERR_OK) {
            return err->code;
        }
        if (str_has_control(text)) {
            struct str name = str_from(key.text.ptr + 1, key.text.len - 2);
            name = str_at_most(name, LIMIT_NAME_BYTES);
            return err_set(err, ERR_VALIDATION,
                           "push.headers." STR_FMT ": control characters are not allowed",
                           STR_ARG(name));
        }
    }
    return ERR_OK;
}

enum err_code svc_push_define(const struct svc_caller *who, const struct svc_push *push,
                              struct str *out, struct err *err)
{
    struct push_target t = {.url = push->url,
                            .method = push->method.len > 0 ? push->method : STR("POST"),
                            .headers = push->headers,
                            .body = push->body,
                            .timeout_ms = push->timeout_ms,
                            .success_below = push->success_below,
                            .keep_answer = push->keep_answer};
    struct push_target read;
    struct buf b;
    if (check_url(push->url, err) != ERR_OK ||
        (push->auth != NULL && set_auth(push->auth, &t, err) != ERR_OK) ||
        check_headers(who, push->headers, err) != ERR_OK) {
        return err->code;
    }
    buf_init(&b, LIMIT_PUSH_BYTES);
    push_target_write(&t, &b);
    if (b.overflow) {
        buf_deinit(&b);
        return err_set(err, ERR_TOO_LARGE, "push: larger than %d bytes", LIMIT_PUSH_BYTES);
    }
    return svc_caller_keep(who, &b, out, err) != ERR_OK
               ? err->code
               : push_target_read(*out, who->arena, &read, err);
}
