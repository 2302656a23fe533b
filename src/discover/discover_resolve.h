/*
 * Discover_resolve: DNS lookups. Blocks for the answer, a few seconds at most.
 *
 * Uses the resolver of the C library: the servers and search domains of the machine, TCP where an
 * answer is too long, and no cache of its own, so that a change is seen at the next lookup.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "discover/discover.h"

struct discover_host {
    char host[DISCOVER_NAME_BYTES]; /* a name, or an address */
    uint16_t port;                  /* 0: the record has none */
};

enum { DISCOVER_HOSTS_MAX = 32 }; /* per name; more are ignored */

struct discover_hosts {
    struct discover_host hosts[DISCOVER_HOSTS_MAX];
    size_t count;
};

/* ERR_NOT_FOUND: the name has no such record. ERR_IO: no server gave an answer. The server is
 * "address" or "address:port"; empty: those of the machine. */
ATTR_NODISCARD enum err_code discover_resolve_srv(struct str server, const char *name,
                                                  struct discover_hosts *out, struct err *err);
/* Resolve the A and AAAA records of a name. */
ATTR_NODISCARD enum err_code discover_resolve_addresses(struct str server, const char *name,
                                                        struct discover_hosts *out,
                                                        struct err *err);
/* The value of "key=value" in a TXT record; false if there is none. */
ATTR_NODISCARD bool discover_resolve_txt(struct str server, const char *name, struct str key,
                                         char *out, size_t size);
