/*
 * Rpc_relayed: the response of a call that another node handles and this one passes on. If that
 * node is lost between two messages, the response ends in its protocol (rpc.md 8.6).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "rpc/rpc.h"
#include "rpc/rpc_envelope.h"

/* What has passed of the current envelope. All zero at the start. */
struct rpc_relayed {
    uint8_t head[RPC_ENVELOPE_HEAD];
    size_t head_len;
    size_t left; /* of its content */
    bool over;   /* it was the last one */
};

/* These bytes of the response have passed. */
void rpc_relayed_pass(struct rpc_relayed *r, struct str bytes);

/* Can the response be ended here? Not if it has no envelopes, in the middle of one, and after the
 * last one. */
bool rpc_relayed_may_end(const struct rpc_relayed *r, const struct rpc_target *t);

/* The other node is lost: end the response, which has begun. */
void rpc_relayed_lost(struct rpc *rpc, struct http_request *req, const struct rpc_target *t,
                      const struct rpc_peer *peer);
