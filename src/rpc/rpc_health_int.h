/*
 * Rpc_health: grpc.health.v1.Health, for load balancers and probes. A service is serving while the
 * node is ready for requests, as /readyz reports it.
 */
#pragma once

#include "rpc/rpc_int.h"

struct rpc_health_request {
    struct str service;
};

struct rpc_health_response {
    int32_t status; /* an enum in the schema */
};

extern const struct proto_message rpc_health__request, rpc_health__response;
