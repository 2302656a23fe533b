#include "server/settings_address.h"

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
