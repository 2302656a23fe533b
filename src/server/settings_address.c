#include "server/settings_address.h"

#include <arpa/inet.h>

/* Where the ":port" of an address begins; the length of the address if it has no port. */
static size_t port_at(struct str address)
{
    size_t at = address.len;
    while (at > 0 && address.ptr[at - 1] != ':') {
        at--;
    }
    return at == 0 ? address.len : at - 1;
}

struct str settings_address_port(struct str address)
{
    size_t at = port_at(address);
    return str_from_offset(address, at < address.len ? at + 1 : at);
}

struct str settings_address_host(struct str bind)
{
    struct str host = str_from(bind.ptr, port_at(bind));
    bool any = host.len == 0 || str_eq(host, STR("0.0.0.0")) || str_eq(host, STR("[::]"));
    return any ? STR("127.0.0.1") : host;
}

bool settings_address_is_loopback(struct str host)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr address;
    if (host.len >= sizeof text) {
        return false;
    }
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}
