/*
 * Is a client on this machine? Without configured credentials, only such clients are admitted.
 *
 * A browser on this machine also sends the requests of pages of other sites, so the address alone
 * says little. A page cannot choose three headers: Sec-Fetch-Site, Origin and Host. Browsers leave
 * the first out if the URL is plain HTTP and its host is neither localhost nor a loopback address.
 * The owner of a domain can let its names resolve to 127.0.0.1; then only Host tells.
 */
#include "base/url.h"
#include "rest/access/rest_auth_int.h"

/* Is the last label a number? Browsers take such a host for an IPv4 address, and no domain has such
 * a name. */
static bool ends_in_number(struct str host)
{
    size_t before = host.len;
    while (before > 0 && host.ptr[before - 1] >= '0' && host.ptr[before - 1] <= '9') {
        before--;
    }
    return before > 0 && before < host.len && host.ptr[before - 1] == '.';
}

/* Is the host an address, or a name that no owner of a domain can point to this machine: localhost,
 * or one without a dot? */
static bool is_own_host(const struct url *url)
{
    struct str name = url->host;
    struct str end = STR(".localhost");
    bool below =
        name.len > end.len && str_eq_nocase(str_from_offset(name, name.len - end.len), end);
    return url->v6 || memchr(name.ptr, '.', name.len) == NULL || below || ends_in_number(name);
}

/* Is the request from a page that neither this server nor another one on this machine sent? */
static bool is_of_foreign_page(const struct rest_call *c)
{
    struct str value;
    if (http_request_known(c->req, HTTP_KNOWN_SEC_FETCH_SITE, &value)) {
        return str_eq(value, STR("cross-site"));
    }
    struct url url;
    const char *ignored;
    return http_request_known(c->req, HTTP_KNOWN_ORIGIN, &value) &&
           !(url_parse(value, &url, &ignored) && is_own_host(&url));
}

/* The node that forwarded a request has checked its Host; here it has the name of this node. */
static bool is_called_by_foreign_name(const struct rest_call *c, struct str *out)
{
    const struct front_shared *front = c->rest->config.front;
    bool forwarded = c->client.forwarded && front != NULL && front->key.is_secret;
    struct url url;
    return !forwarded && http_request_known(c->req, HTTP_KNOWN_HOST, out) && out->len > 0 &&
           !(url_parse_host(*out, &url) && is_own_host(&url));
}

static bool is_by_proxy(const struct rest_call *c)
{
    struct str ignored;
    return http_request_known(c->req, HTTP_KNOWN_X_FORWARDED_FOR, &ignored) ||
           http_request_known(c->req, HTTP_KNOWN_FORWARDED, &ignored);
}

#define WHY    "this server has no password, API key or single sign-on, so it accepts only clients "
#define REMEDY "; set --admin-password, or use --open-access to accept every client"

bool rest_auth__is_local(struct rest_call *c)
{
    enum { SHOWN_MAX = 64 };
    struct str host = STR_EMPTY;
    if (!rest_limiter__is_loopback(c->who.address) || is_by_proxy(c) || is_of_foreign_page(c)) {
        rest_call__fail(c, ERR_OPEN_ACCESS,
                        WHY "on its own machine, and no web pages of other sites" REMEDY);
        return false;
    }
    if (is_called_by_foreign_name(c, &host)) {
        rest_call__fail(c, ERR_OPEN_ACCESS,
                        WHY "that call it localhost or by its address, not '" STR_FMT
                            "', which may be a name of another site" REMEDY,
                        STR_ARG(str_at_most(host, SHOWN_MAX)));
        return false;
    }
    return true;
}
