/*
 * How requests are counted, by route and by how they ended (http-api.md 20.5). Any thread.
 */
#pragma once

#include "http/http_request.h"

struct api_metrics;
struct api_route;

/* What a request meant: a route, or else a method of RPC, or else neither. */
struct api_metrics_what {
    const struct api_route *route;
    size_t rpc; /* the number of the method (rpc_target); 0: none */
    enum http_method method;
};

struct api_metrics *api_metrics__new(void);
void api_metrics__free(struct api_metrics *m);
void api_metrics__begin(struct api_metrics *m);
void api_metrics__end(struct api_metrics *m, struct api_metrics_what what, int status,
                      int64_t took_ns);
void api_metrics__throttled(struct api_metrics *m, struct api_metrics_what what);
