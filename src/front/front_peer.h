/*
 * Front_peer: proves that a forwarding node belongs to the cluster.
 *
 * Only then are the client and the operation that it reports trusted. They are in one header,
 * authenticated together with the method and the target by a code that requires the cluster's key.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/str.h"
#include "http/http_request.h"

enum { FRONT_PEER_KEY_BYTES = 32 };

/* Names of headers that only nodes use between each other. */
#define FRONT_PEER_HEADER       STR("x-corvo-peer")
#define FRONT_PEER_HEADER_INDEX STR("x-corvo-index") /* the entry that a write came to */
#define FRONT_PEER_HEADER_OUTCOME                                                                  \
    STR("x-corvo-outcome") /* "none" or "unknown": ask the next leader */

struct front_peer_key {
    bool is_set;
    bool is_secret; /* nobody else can know it: what is said of a client is believed */
    uint8_t bytes[FRONT_PEER_KEY_BYTES];
};

/* The key of a cluster from its id, 0 when there is none, and its secret, which may be empty. */
struct front_peer_key front_peer_key_from(uint64_t cluster_id, struct str secret);

struct front_peer {
    struct str address;  /* of the client */
    struct id operation; /* none: it has no name */
    uint64_t since; /* it was not in the log up to this index; 0: it is sent for the first time */
};

/* The value of the header, in the arena. */
struct str front_peer_sign(const struct front_peer_key *key, const struct front_peer *peer,
                           struct str method, struct str target, struct arena *arena);

/* What a client is given to ask again with, in the arena, and what it then shows. It is good for
 * the same method and target only. */
struct str front_peer_retry(const struct front_peer_key *key, struct id operation, uint64_t since,
                            const struct http_request *req, struct arena *arena);
ATTR_NODISCARD bool front_peer_read_retry(const struct front_peer_key *key,
                                          const struct http_request *req, struct front_peer *out);

/* False when the request has no such header, or a wrong one. */
ATTR_NODISCARD bool front_peer_read(const struct front_peer_key *key,
                                    const struct http_request *req, struct front_peer *out);
