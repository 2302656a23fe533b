/*
 * Credentials in a request (http-api.md 1.3): an API key or the admin password, in one of three
 * places. The first one found is used.
 */
#include "http/http_target.h"
#include "rest/rest_int.h"

#define KEY_COOKIE STR("corvo_api_key")

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

/* Browsers cannot set headers for an event stream, so they send a cookie; its value is
 * percent-encoded. HTTP/2 may split cookies over several headers. */
struct str rest_credential__cookie(const struct http_request *req, struct str name)
{
    size_t first = req->known.row[HTTP_KNOWN_COOKIE];
    for (size_t i = first - 1; first > 0 && i < req->header_count; i++) {
        struct str raw;
        struct str value;
        if (http_known_of(req->headers[i].name) == HTTP_KNOWN_COOKIE &&
            find_cookie(req->headers[i].value, name, &raw)) {
            return http_target_decode(req->arena, raw, &value) ? value : raw;
        }
    }
    return STR_EMPTY;
}

struct str rest_credential__bearer(struct str authorization)
{
    struct str scheme = STR("bearer ");
    if (authorization.len <= scheme.len ||
        !str_eq_nocase(str_from(authorization.ptr, scheme.len), scheme)) {
        return STR_EMPTY;
    }
    return str_trim(str_from_offset(authorization, scheme.len));
}

struct rest_credential rest_credential__of(const struct http_request *req)
{
    struct str v;
    struct rest_credential c = {0};
    if (http_request_known(req, HTTP_KNOWN_X_API_KEY, &v)) {
        c.text = str_trim(v);
    }
    if (c.text.len == 0 && http_request_known(req, HTTP_KNOWN_AUTHORIZATION, &v)) {
        c.text = rest_credential__bearer(v);
    }
    if (c.text.len == 0) {
        c.text = rest_credential__cookie(req, KEY_COOKIE);
        c.by_cookie = c.text.len > 0;
        c.session = rest_credential__cookie(req, REST_SESSION_COOKIE);
    }
    return c;
}
