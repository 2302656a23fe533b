/*
 * Http_addr: addresses to listen on, and addresses of clients.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum {
    HTTP_ADDR_TEXT_MAX = 64, /* an IPv6 address with a zone and the NUL */
    HTTP_ADDR_KEY_BYTES = 16,
};

struct http_addr {
    struct sockaddr_storage sockaddr;
    socklen_t len;
};

/* Parse "host:port". The host may be empty (all IPv6 and IPv4 addresses), a name, or an address in
 * brackets. Resolves names, which may block. ERR_VALIDATION. */
ATTR_NODISCARD enum err_code http_addr_parse(const char *text, struct http_addr *out,
                                             struct err *err);

/* Format the address without its port; an IPv4-mapped IPv6 address is written as IPv4. Returns a
 * view of room. */
struct str http_addr_text(const struct http_addr *addr, char room[HTTP_ADDR_TEXT_MAX]);

/* Return the key for counting connections: the IPv4 address, or the /64 network of an IPv6 address,
 * because a single customer usually has a whole /64. */
void http_addr_key(const struct http_addr *addr, uint8_t key[HTTP_ADDR_KEY_BYTES]);

uint16_t http_addr_port(const struct http_addr *addr);
