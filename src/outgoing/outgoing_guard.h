/*
 * Outgoing_guard: which addresses the server may be made to call.
 *
 * Whoever may register a webhook chooses what this machine connects to. What a name resolves to is
 * looked at, not the name, and for every single connection: a name that changes its mind between
 * two lookups gains nothing. Refused unless allowed are addresses that no receiver has but that
 * reach something of the machine itself or of its cloud: "this" network, link-local with the
 * metadata services, multicast, reserved ones. Loopback and private networks are let through for
 * the default namespace, because that is where a job server's own services are; a list may refuse
 * them. They are refused for every other namespace, whose people are guests here.
 *
 * What the server itself listens on is refused whatever the lists say: a call to itself makes jobs,
 * whose events make calls. So are metadata services, which give away the rights of the machine.
 *
 * An IPv6 address that carries an IPv4 one (mapped, translated, compatible, 6to4, NAT64) is judged
 * as that one too.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct outgoing_guard;

/* deny and allow are lists of networks, "10.0.0.0/8, fd00::/8, 192.0.2.7", separated by commas or
 * blanks, empty for none. What is in allow passes; what is in deny or refused by itself does not;
 * the rest passes. ERR_VALIDATION names what is no network. */
ATTR_NODISCARD enum err_code outgoing_guard_new(struct str deny, struct str allow,
                                                struct outgoing_guard **out_guard, struct err *err);
void outgoing_guard_free(struct outgoing_guard *g); /* NULL is fine */

/* The server listens on this address and port; 0.0.0.0 and :: mean all that the machine has. From
 * one thread, also while others ask. */
void outgoing_guard_add_own(struct outgoing_guard *g, const struct sockaddr *listener);

/* Any thread. Is it one of the server's own, with its port? */
bool outgoing_guard_is_own(const struct outgoing_guard *g, const struct sockaddr *address);

/* Any thread. What is neither IPv4 nor IPv6 does not pass. guest: for a namespace other than the
 * default one. */
bool outgoing_guard_allows(const struct outgoing_guard *g, const struct sockaddr *address,
                           bool guest);
