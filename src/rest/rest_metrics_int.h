/*
 * Rest_metrics: counts requests by route and status (http-api.md 20.5). Any thread.
 */
#pragma once

#include "http/http_request.h"

struct rest_metrics;

/* What a request is counted as: a route, an RPC method, or neither. */
struct rest_metrics_what {
    size_t route; /* the number of the route (rest_match); 0: none */
    size_t rpc;   /* the number of the method (rpc_target); 0: none */
    enum http_method method;
    bool head; /* a HEAD request, for which method is GET */
};

struct rest_metrics *rest_metrics__new(void);
void rest_metrics__free(struct rest_metrics *m);
void rest_metrics__begin(struct rest_metrics *m);
void rest_metrics__end(struct rest_metrics *m, struct rest_metrics_what what, int status,
                       int64_t took_ns);
void rest_metrics__throttled(struct rest_metrics *m, struct rest_metrics_what what);
