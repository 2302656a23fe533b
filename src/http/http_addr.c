#include "http/http_addr.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "base/check.h"

/* Split "host:port" and "[host]:port". */
static bool split(struct str text, struct str *host, struct str *port)
{
    const char *colon = text.len == 0 ? NULL : memrchr(text.ptr, ':', text.len);
    if (colon == NULL) {
        return false;
    }
    *host = str_from(text.ptr, (size_t)(colon - text.ptr));
    *port = str_from_offset(text, host->len + 1);
    if (host->len >= 2 && host->ptr[0] == '[' && host->ptr[host->len - 1] == ']') {
        *host = str_from(host->ptr + 1, host->len - 2);
        return true;
    }
    return host->len == 0 || memchr(host->ptr, ':', host->len) == NULL;
}

static void any_address(uint16_t port, struct http_addr *out)
{
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&out->sockaddr;
    *out = (struct http_addr){.len = sizeof *in6};
    in6->sin6_family = AF_INET6;
    in6->sin6_addr = in6addr_any;
    in6->sin6_port = htons(port);
}

static void set_port(struct http_addr *addr, uint16_t port)
{
    if (addr->sockaddr.ss_family == AF_INET6) {
        ((struct sockaddr_in6 *)&addr->sockaddr)->sin6_port = htons(port);
    } else {
        ((struct sockaddr_in *)&addr->sockaddr)->sin_port = htons(port);
    }
}

enum err_code http_addr_parse(const char *text, struct http_addr *out, struct err *err)
{
    struct str host;
    struct str port_text;
    int64_t port = -1;
    if (!split(str_from_z(text), &host, &port_text) || !str_to_i64(port_text, &port) || port < 0 ||
        port > UINT16_MAX) {
        return err_set(err, ERR_VALIDATION, "address '%s' is not host:port", text);
    }
    if (host.len == 0) {
        any_address((uint16_t)port, out);
        return ERR_OK;
    }
    char name[256];
    if (host.len >= sizeof name) {
        return err_set(err, ERR_VALIDATION, "address '%s' is too long", text);
    }
    memcpy(name, host.ptr, host.len);
    name[host.len] = '\0';
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(name, NULL, &hints, &found);
    if (rc != 0) {
        return err_set(err, ERR_VALIDATION, "host '%s': %s", name, gai_strerror(rc));
    }
    CHECK(found->ai_addrlen <= sizeof out->sockaddr);
    *out = (struct http_addr){.len = found->ai_addrlen};
    memcpy(&out->sockaddr, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    set_port(out, (uint16_t)port);
    return ERR_OK;
}

/* The four bytes of an IPv4 or IPv4-mapped address; NULL for other IPv6 addresses. */
static const uint8_t *ipv4_bytes(const struct http_addr *addr)
{
    if (addr->sockaddr.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&addr->sockaddr;
        return (const uint8_t *)&in->sin_addr;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&addr->sockaddr;
    return IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) ? in6->sin6_addr.s6_addr + 12 : NULL;
}

struct str http_addr_text(const struct http_addr *addr, char room[HTTP_ADDR_TEXT_MAX])
{
    const uint8_t *four = ipv4_bytes(addr);
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&addr->sockaddr;
    const char *text = four != NULL
                           ? inet_ntop(AF_INET, four, room, HTTP_ADDR_TEXT_MAX)
                           : inet_ntop(AF_INET6, &in6->sin6_addr, room, HTTP_ADDR_TEXT_MAX);
    CHECK(text != NULL);
    return str_from_z(text);
}

void http_addr_key(const struct http_addr *addr, uint8_t key[HTTP_ADDR_KEY_BYTES])
{
    const uint8_t *four = ipv4_bytes(addr);
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&addr->sockaddr;
    memset(key, 0, HTTP_ADDR_KEY_BYTES);
    if (four != NULL) {
        memcpy(key + 12, four, 4);
    } else {
        memcpy(key, in6->sin6_addr.s6_addr, 8);
    }
}

uint16_t http_addr_port(const struct http_addr *addr)
{
    return addr->sockaddr.ss_family == AF_INET6
               ? ntohs(((const struct sockaddr_in6 *)&addr->sockaddr)->sin6_port)
               : ntohs(((const struct sockaddr_in *)&addr->sockaddr)->sin_port);
}
