#include "base/url.h"

#include <arpa/inet.h>
#include <string.h>

enum { V6_TEXT_MAX = 64, PORT_HTTP = 80, PORT_HTTPS = 443 };

static bool read_scheme(struct str *rest, struct url *out)
{
    static const struct {
        struct str prefix;
        bool tls;
    } schemes[] = {{{.ptr = "http://", .len = 7}, false}, {{.ptr = "https://", .len = 8}, true}};
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        if (str_starts_with(*rest, schemes[i].prefix)) {
            *rest = str_from_offset(*rest, schemes[i].prefix.len);
            out->tls = schemes[i].tls;
            return true;
        }
    }
    return false;
}

static bool is_one_of(char c, struct str set)
{
    return memchr(set.ptr, c, set.len) != NULL;
}

/* The part before the path, the query or the fragment. */
static struct str authority_of(struct str rest)
{
    size_t len = 0;
    while (len < rest.len && !is_one_of(rest.ptr[len], STR("/?#"))) {
        len++;
    }
    return str_from(rest.ptr, len);
}

static bool read_v6(struct str *rest, struct url *out)
{
    char z[V6_TEXT_MAX];
    struct in6_addr address;
    const char *end = memchr(rest->ptr, ']', rest->len);
    size_t len = end == NULL ? 0 : (size_t)(end - rest->ptr) - 1;
    if (len == 0 || len >= sizeof z) {
        return false;
    }
    memcpy(z, rest->ptr + 1, len);
    z[len] = '\0';
    if (inet_pton(AF_INET6, z, &address) != 1) {
        return false;
    }
    out->v6 = true;
    out->host = str_from(rest->ptr + 1, len);
    *rest = str_from_offset(*rest, len + 2);
    return true;
}

static bool is_in_name(unsigned char c)
{
    switch (c) {
    case '/':
    case '?':
    case '#':
    case '"':
    case '<':
    case '>':
    case '[':
    case ']':
    case '\\':
    case '^':
    case '`':
    case '{':
    case '|':
    case '}':
    case '@':
    case ':':
    case 127:
        return false;
    default:
        return c > ' ';
    }
}

static bool read_name(struct str *rest, struct url *out)
{
    size_t len = 0;
    while (len < rest->len && is_in_name((unsigned char)rest->ptr[len])) {
        len++;
    }
    out->host = str_from(rest->ptr, len);
    *rest = str_from_offset(*rest, len);
    return len > 0 && out->host.ptr[0] != '.';
}

/* Parse ":8080"; ":" alone means no port. */
static bool read_port(struct str rest, struct url *out)
{
    int64_t port = out->tls ? PORT_HTTPS : PORT_HTTP;
    if (rest.len > 0 && rest.ptr[0] != ':') {
        return false;
    }
    if (rest.len > 1 &&
        (rest.ptr[1] < '0' || rest.ptr[1] > '9' || !str_to_i64(str_from_offset(rest, 1), &port))) {
        return false;
    }
    out->port = (uint16_t)port;
    return port > 0 && port <= UINT16_MAX;
}

static bool read_host(struct str rest, struct url *out, const char **out_why)
{
    bool named = rest.len > 0 && (rest.ptr[0] == '[' ? read_v6(&rest, out) : read_name(&rest, out));
    if (!named) {
        *out_why = "must name a host";
        return false;
    }
    if (!read_port(rest, out)) {
        *out_why = "has an invalid port: expected 1 to 65535";
        return false;
    }
    return true;
}

bool url_parse_host(struct str text, struct url *out)
{
    const char *ignored;
    *out = (struct url){.tls = false};
    return read_host(text, out, &ignored);
}

bool url_parse(struct str text, struct url *out, const char **out_why)
{
    struct str rest = text;
    *out = (struct url){.tls = false};
    if (!read_scheme(&rest, out)) {
        *out_why = "must start with http:// or https://";
        return false;
    }
    if (str_has_control(text) || memchr(text.ptr, ' ', text.len) != NULL) {
        *out_why = "must not have blanks or control characters";
        return false;
    }
    rest = authority_of(rest);
    const char *at = rest.len == 0 ? NULL : memrchr(rest.ptr, '@', rest.len);
    if (at != NULL) {
        out->user = str_from(rest.ptr, (size_t)(at - rest.ptr));
        rest = str_from_offset(rest, out->user.len + 1);
    }
    return read_host(rest, out, out_why);
}

void url_escape(struct buf *out, struct str text)
{
    static const char plain[] = "-._~";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (letter || memchr(plain, c, sizeof plain - 1) != NULL) {
            buf_add_char(out, c);
        } else {
            buf_printf(out, "%%%02X", (unsigned)(uint8_t)c);
        }
    }
}
