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

/* Headers that only nodes send to each other. */
#define FRONT_PEER_HEADER       STR("x-corvo-peer")
#define FRONT_PEER_HEADER_INDEX STR("x-corvo-index") /* the log entry of a write */
#define FRONT_PEER_HEADER_OUTCOME                                                                  \
    STR("x-corvo-outcome") /* "none" or "unknown": the request must be sent to the next leader */

struct front_peer_key {
    bool is_set;
    bool is_secret; /* only nodes can know it: what a peer reports about a client is trusted */
    uint8_t bytes[FRONT_PEER_KEY_BYTES];
};

/* Derive the key from the id of the cluster (0: none) and its secret, which may be empty. */
struct front_peer_key front_peer_key_from(uint64_t cluster_id, struct str secret);

struct front_peer {
    struct str address;  /* of the client */
    struct id operation; /* none: it has no name */
    uint64_t
        since; /* no log entry up to this index contains it; 0: it is sent for the first time */
};

/* The value of the header, in the arena. */
struct str front_peer_sign(const struct front_peer_key *key, const struct front_peer *peer,
                           struct str method, struct str target, struct arena *arena);

/* The token with which a client can repeat a request whose outcome is unknown, in the arena. It is
 * valid for the same method and target only. */
struct str front_peer_retry(const struct front_peer_key *key, struct id operation, uint64_t since,
                            const struct http_request *req, struct arena *arena);
ATTR_NODISCARD bool front_peer_read_retry(const struct front_peer_key *key,
                                          const struct http_request *req, struct front_peer *out);

/* False if the request has no such header, or an invalid one. */
ATTR_NODISCARD bool front_peer_read(const struct front_peer_key *key,
                                    const struct http_request *req, struct front_peer *out);
