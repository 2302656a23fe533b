/*
 * Outgoing_guard: decides which addresses the server may call on behalf of users.
 *
 * A user who may register a webhook chooses what this machine connects to. The guard checks the
 * resolved address of every single connection, not the name: a name that changes its address
 * between two lookups (DNS rebinding) gains nothing. Refused unless allowed are addresses that no
 * real receiver has, but that reach the machine itself or its cloud: "this" network, link-local
 * with the metadata services, multicast, reserved ones. Loopback and private networks are allowed
 * for the default namespace, because that is where the operator's own services are; a list may
 * refuse them. They are refused for every other namespace, whose users are guests.
 *
 * The server's own addresses are refused whatever the lists say: a call to itself creates jobs,
 * whose events cause further calls. So are metadata services, which give out the machine's
 * credentials.
 *
 * An IPv6 address that contains an IPv4 address (mapped, translated, compatible, 6to4, NAT64) is
 * also checked as that IPv4 address.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct outgoing_guard;

/* deny and allow are lists of networks, "10.0.0.0/8, fd00::/8, 192.0.2.7", separated by commas
 * or spaces, empty for none. An address in allow is allowed; one in deny or in the built-in list
 * is refused; all others are allowed. ERR_VALIDATION names the invalid item. */
ATTR_NODISCARD enum err_code outgoing_guard_new(struct str deny, struct str allow,
                                                struct outgoing_guard **out_guard, struct err *err);
void outgoing_guard_free(struct outgoing_guard *g); /* NULL is allowed */

/* The server listens on this address and port; 0.0.0.0 and :: mean all addresses of the machine.
 * From one thread, also while other threads use the guard. */
void outgoing_guard_add_own(struct outgoing_guard *g, const struct sockaddr *listener);

/* Any thread. Is it an address and port of the server itself? */
bool outgoing_guard_is_own(const struct outgoing_guard *g, const struct sockaddr *address);

/* Any thread. Only IPv4 and IPv6 are allowed. guest: for a namespace other than the default one. */
bool outgoing_guard_allows(const struct outgoing_guard *g, const struct sockaddr *address,
                           bool guest);
