/*
 * How requests are counted, by route and by how they ended (http-api.md 20.5). Any thread.
 */
#pragma once

#include "http/http_request.h"

struct api_metrics;
struct api_route;

struct api_metrics *api_metrics__new(void);
void api_metrics__free(struct api_metrics *m);
void api_metrics__begin(struct api_metrics *m);
void api_metrics__end(struct api_metrics *m, const struct api_route *route, enum http_method method,
                      int status, int64_t took_ns);
void api_metrics__throttled(struct api_metrics *m, const struct api_route *route,
                            enum http_method method);
