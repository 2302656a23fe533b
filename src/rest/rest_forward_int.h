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

/* What another node answered is handed on, with this status; its request is finished elsewhere. */
void rest_call__relayed(struct rest_call *c, int status);

/* The request comes from a node of the cluster that has forwarded it: what that says is believed.
 */
void rest_forward__recognise(struct rest_call *c);
/* This node's state is wrong, and the route would show it: the call has ended. */
ATTR_NODISCARD bool rest_forward__is_quarantined(struct rest_call *c);
extern const char rest_forward__quarantined[];
/* True when another node has to do it, or none can: the call is on its way, or has ended. */
ATTR_NODISCARD bool rest_forward__takes(struct rest_call *c, bool streams);
/* Leadership was lost under the call: true when it waits for the next leader. */
ATTR_NODISCARD bool rest_forward__asks_again(struct rest_call *c, enum err_code code);
/* The same for one that the RPC service had. */
void rest_forward__from_rpc(void *call, const struct front_client *client);
/* Does the client ask for a read that sees everything that was ever acknowledged? False, with the
 * call ended, when it asks for something that does not exist. */
ATTR_NODISCARD bool rest_forward__consistency(struct rest_call *c, bool *out_strong);
/* Is it a read of this node's own state, which may be behind the leader's? */
bool rest_forward__is_local_read(const struct rest_call *c);
/* True for a read about this node itself that has to wait until the node has what it has told a
 * client of: the call goes on, or has ended. */
ATTR_NODISCARD bool rest_forward__catches_up(struct rest_call *c);
/* Is it a read that this node is too far behind for? */
bool rest_forward__is_behind(const struct rest_call *c);
/* Goes on here once it is sure that this node leads. */
void rest_forward__prove(struct rest_call *c);
