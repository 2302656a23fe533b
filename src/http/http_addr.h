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
    HTTP_ADDR_TEXT_MAX = 64, /* an IPv6 address with a zone, and its NUL */
    HTTP_ADDR_KEY_BYTES = 16,
};

struct http_addr {
    struct sockaddr_storage sockaddr;
    socklen_t len;
};

/* "host:port"; the host may be empty (every address, IPv6 and IPv4), a name, or in brackets. Looks
 * names up, which may block. ERR_VALIDATION. */
ATTR_NODISCARD enum err_code http_addr_parse(const char *text, struct http_addr *out,
                                             struct err *err);

/* The address without its port; an IPv4 address in IPv6 clothes as IPv4. Returns a view of room. */
struct str http_addr_text(const struct http_addr *addr, char room[HTTP_ADDR_TEXT_MAX]);

/* What connections are counted by: an IPv4 address, or the /64 network of an IPv6 one, because a
 * single customer has all of it. */
void http_addr_key(const struct http_addr *addr, uint8_t key[HTTP_ADDR_KEY_BYTES]);

uint16_t http_addr_port(const struct http_addr *addr);
