/*
 * Rpc_health: grpc.health.v1.Health, for load balancers and probes. A service is serving when the
 * node is ready to take requests, as /readyz says it.
 */
#pragma once

#include "rpc/rpc_int.h"

struct rpc_health_request {
    struct str service;
};

struct rpc_health_response {
    int32_t status; /* an enum there */
};

extern const struct proto_message rpc_health__request, rpc_health__response;
