#include "webhook/webhook_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/url.h"

enum { LITERAL_MAX = 64 };

static bool is_own_v4(const struct outgoing_guard *g, const char *text, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    /* Accepts all forms that libcurl accepts: 127.1, 0x7f.1, 2130706433. */
    return inet_aton(text, &v4.sin_addr) != 0 &&
           outgoing_guard_is_own(g, (const struct sockaddr *)&v4);
}

static bool is_own_v6(const struct outgoing_guard *g, const char *text, uint16_t port)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    return inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 &&
           outgoing_guard_is_own(g, (const struct sockaddr *)&v6);
}

/* Checks addresses, and the name "localhost". Other names are checked when they are called. */
static bool is_own(const struct outgoing_guard *g, const struct url *url)
{
    char z[LITERAL_MAX];
    struct str host = url->host;
    if (host.len > 1 && host.ptr[host.len - 1] == '.') {
        host.len--;
    }
    if (str_eq_nocase(host, STR("localhost"))) {
        return is_own_v4(g, "127.0.0.1", url->port) || is_own_v6(g, "::1", url->port);
    }
    if (host.len >= sizeof z) {
        return false;
    }
    memcpy(z, host.ptr, host.len);
    z[host.len] = '\0';
    return url->v6 ? is_own_v6(g, z, url->port) : is_own_v4(g, z, url->port);
}

enum err_code webhook_url_check(const struct outgoing_guard *guard, struct str text,
                                struct err *err)
{
    struct url url;
    const char *why = NULL;
    if (!url_parse(text, &url, &why)) {
        return err_set(err, ERR_WEBHOOK, "url %s", why);
    }
    if (guard != NULL && is_own(guard, &url)) {
        return err_set(err, ERR_WEBHOOK, "url must not be an address of this server");
    }
    return ERR_OK;
}

struct str webhook_url_credentials(struct str url)
{
    struct url parts;
    const char *ignored;
    (void)url_parse(url, &parts, &ignored); /* the credentials of a mistyped host are secret, too */
    return parts.user;
}

void webhook_url_mask(struct str url, struct buf *out)
{
    struct str secret = webhook_url_credentials(url);
    if (secret.len == 0) {
        buf_add_str(out, url);
        return;
    }
    size_t before = (size_t)(secret.ptr - url.ptr);
    buf_add(out, url.ptr, before);
    buf_add_str(out, STR("***"));
    buf_add_str(out, str_from_offset(url, before + secret.len));
}
