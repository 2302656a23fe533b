/*
 * Discover_message: one datagram between nodes that gossip.
 *
 *   "CVG1", time of sending (ms), count, members, code
 *
 * The code is an HMAC of everything before it, with a key derived from the secret: without the
 * secret, datagrams can be neither created nor changed. A datagram older than a minute is refused,
 * which limits replays. Datagrams are not encrypted; they contain only names and addresses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "discover/discover_members.h"

enum {
    DISCOVER_MESSAGE_BYTES_MAX = 1400, /* fits into a packet on all usual networks */
    DISCOVER_MESSAGE_KEY_BYTES = 32,
    DISCOVER_MESSAGE_SKEW_MS = 60000,
};

struct discover_message_key {
    uint8_t bytes[DISCOVER_MESSAGE_KEY_BYTES];
};

struct discover_message_key discover_message_key(struct str secret);

/* Write as many of the rows as fit, from the first on; returns the length of the datagram. */
size_t discover_message_write(const struct discover_message_key *key, int64_t now_ms,
                              const struct discover_member *const *rows, size_t count,
                              uint8_t out[static DISCOVER_MESSAGE_BYTES_MAX]);

enum discover_message_fault {
    DISCOVER_MESSAGE_FINE,
    DISCOVER_MESSAGE_FOREIGN, /* not a gossip datagram, or made with another secret */
    DISCOVER_MESSAGE_OLD,     /* the clocks differ by more than a minute, or a replay */
    DISCOVER_MESSAGE_DAMAGED, /* the code is right, but the content is invalid */
};

/* Read at most cap members. The outputs are valid only if the result is FINE. */
ATTR_NODISCARD enum discover_message_fault
discover_message_read(const struct discover_message_key *key, int64_t now_ms, struct str bytes,
                      struct discover_member *out, size_t cap, size_t *out_count);
