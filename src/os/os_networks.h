/*
 * Os_networks: lists of networks, and a test whether an address is in one of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum { OS_ADDRESS_BYTES = 16, OS_NETWORKS_MAX = 256 };

struct os_address {
    bool v4;
    uint8_t b[OS_ADDRESS_BYTES]; /* IPv4 uses the first 4 */
};

struct os_network {
    struct os_address base;
    unsigned bits;
};

struct os_networks {
    struct os_network rows[OS_NETWORKS_MAX];
    size_t count;
};

struct os_address os_address_from_v4(const uint8_t v4[4]);
/* False if it is neither IPv4 nor IPv6. */
ATTR_NODISCARD bool os_address_read(const struct sockaddr *address, struct os_address *out);

/* Append the networks of a list, "10.0.0.0/8, fd00::/8, 192.0.2.7", separated by commas or
 * spaces. ERR_VALIDATION names the invalid item. */
ATTR_NODISCARD enum err_code os_networks_parse(struct str list, struct os_networks *out,
                                               struct err *err);

bool os_networks_has(const struct os_networks *list, const struct os_address *a);

/* The same for an address as text; an IPv4-mapped IPv6 address counts as IPv4. Invalid text is
 * in no network. */
bool os_networks_has_text(const struct os_networks *list, struct str address);
