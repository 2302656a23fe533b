/*
 * Credentials: what a caller shows of itself (http-api.md 1.3).
 *
 * An API key or the admin's password, in one of three places; the first that is there counts.
 */
#include "api/api_int.h"
#include "http/http_target.h"

#define COOKIE STR("corvo_api_key")

/* The value of one cookie in a Cookie header. */
static bool find_cookie(struct str header, struct str name, struct str *out)
{
    while (header.len > 0) {
        struct str pair = str_trim(str_cut(&header, ';'));
        if (pair.len > name.len && pair.ptr[name.len] == '=' && str_starts_with(pair, name)) {
            *out = str_from_offset(pair, name.len + 1);
            return true;
        }
    }
    return false;
}

/* Browsers cannot set headers on an event stream, so they show a cookie; its value is
 * percent-encoded. HTTP/2 may split cookies over several headers. */
static struct str from_cookie(const struct http_request *req)
{
    for (size_t i = 0; i < req->header_count; i++) {
        struct str raw;
        struct str value;
        if (str_eq_nocase(req->headers[i].name, STR("cookie")) &&
            find_cookie(req->headers[i].value, COOKIE, &raw)) {
            return http_target_decode(req->arena, raw, &value) ? value : raw;
        }
    }
    return STR_EMPTY;
}

struct str api_credential__bearer(struct str authorization)
{
    struct str scheme = STR("bearer ");
    if (authorization.len <= scheme.len ||
        !str_eq_nocase(str_from(authorization.ptr, scheme.len), scheme)) {
        return STR_EMPTY;
    }
    return str_trim(str_from_offset(authorization, scheme.len));
}

struct str api_credential__of(const struct http_request *req)
{
    struct str v;
    if (http_request_header(req, STR("x-api-key"), &v) && str_trim(v).len > 0) {
        return str_trim(v);
    }
    if (http_request_header(req, STR("authorization"), &v) && api_credential__bearer(v).len > 0) {
        return api_credential__bearer(v);
    }
    return from_cookie(req);
}
