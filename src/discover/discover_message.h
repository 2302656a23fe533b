/*
 * Discover_message: one datagram between nodes that gossip.
 *
 *   "CVG1", time of sending (ms), count, members, code
 *
 * The code is an HMAC of everything before it, with a key made from the secret: who does not know
 * the secret can neither make a datagram nor change one. One that is older than a minute is
 * refused, so that a recording of it is worth nothing later. Datagrams are not encrypted; they hold
 * names and addresses only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "discover/discover_members.h"

enum {
    DISCOVER_MESSAGE_BYTES_MAX = 1400, /* fits a packet of any usual network */
    DISCOVER_MESSAGE_KEY_BYTES = 32,
    DISCOVER_MESSAGE_SKEW_MS = 60000,
};

struct discover_message_key {
    uint8_t bytes[DISCOVER_MESSAGE_KEY_BYTES];
};

struct discover_message_key discover_message_key(struct str secret);

/* As many of the rows as fit, from the first on; the length of the datagram. */
size_t discover_message_write(const struct discover_message_key *key, int64_t now_ms,
                              const struct discover_member *const *rows, size_t count,
                              uint8_t out[static DISCOVER_MESSAGE_BYTES_MAX]);

enum discover_message_fault {
    DISCOVER_MESSAGE_FINE,
    DISCOVER_MESSAGE_FOREIGN, /* no datagram of ours, or another secret */
    DISCOVER_MESSAGE_OLD,     /* the clocks differ by more than a minute, or it is a recording */
    DISCOVER_MESSAGE_DAMAGED, /* by one who knows the secret */
};

/* At most cap members. Nothing is written unless the answer is FINE. */
ATTR_NODISCARD enum discover_message_fault
discover_message_read(const struct discover_message_key *key, int64_t now_ms, struct str bytes,
                      struct discover_member *out, size_t cap, size_t *out_count);
