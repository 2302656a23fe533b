/*
 * Rest_forward: requests that another node must handle, or that need information from other nodes.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "front/front_op.h"
#include "http/http_request.h"

struct rest_call;

/* Another node's response with this status is being forwarded; the forward finishes the request. */
void rest_call__relayed(struct rest_call *c, int status);

/* If a node of the cluster has forwarded the request, use the operation and the client address that
 * it reports. */
void rest_forward__recognise(struct rest_call *c);
/* True, with the call ended, if this node is quarantined and the route would show its state. */
ATTR_NODISCARD bool rest_forward__is_quarantined(struct rest_call *c);
extern const char rest_forward__quarantined[];
/* True if the call must be handled by another node: it was forwarded, or has ended with an
 * error. */
ATTR_NODISCARD bool rest_forward__takes(struct rest_call *c, bool streams);
/* Leadership was lost during the call. True if the call now waits for the next leader. */
ATTR_NODISCARD bool rest_forward__asks_again(struct rest_call *c, enum err_code code);
/* The same for a call that the RPC service handled. */
void rest_forward__from_rpc(void *call, const struct front_client *client);
/* Does the client request a strongly consistent read? False, with the call ended, if the requested
 * consistency is invalid. */
ATTR_NODISCARD bool rest_forward__consistency(struct rest_call *c, bool *out_strong);
/* Is the call a read of this node's state, which may be behind the leader's? */
bool rest_forward__is_local_read(const struct rest_call *c);
/* True if a read about this node itself must wait until the node has applied the writes whose
 * responses it has forwarded. The call continues later, or has ended. */
ATTR_NODISCARD bool rest_forward__catches_up(struct rest_call *c);
/* Is the call a read that the leader must handle, because this node has not applied a write whose
 * response it has forwarded? */
bool rest_forward__is_behind(const struct rest_call *c);
/* Handle the call here after proving that this node leads. */
void rest_forward__prove(struct rest_call *c);
