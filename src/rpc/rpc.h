/*
 * Rpc: the WorkerService for clients of Connect, gRPC and gRPC-Web, on the port of the HTTP API
 * (rpc.md). What a method does is decided in svc/; here bytes become its structs and back.
 *
 * Whoever owns the port finds out who is calling, for which namespace, and whether the client may
 * call at all, and hands the request over with rpc_request; or has its refusal written in the words
 * of the client's protocol by rpc_refuse. Both run on the request's loop and finish the request.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "engine/engine.h"
#include "http/http_request.h"

struct rpc;

struct rpc_config {
    struct engine *engine;
    struct budget *budget; /* of all memory that requests can claim; NULL: none */
    const char *version;
    size_t message_bytes_max;   /* of one request message */
    uint32_t streams_max;       /* open lifecycle streams; 0: no limit */
    uint32_t stream_frames_max; /* of their frames that are worked on at once */
    uint32_t stream_fps_max;    /* frames per second of one stream; 0: no limit */
    int64_t idle_fetch_ms;      /* how long a stream's fetch waits for a job */
};

struct rpc_config rpc_config_default(void);

struct rpc *rpc_new(const struct rpc_config *config);
void rpc_free(struct rpc *r); /* without calls; NULL is fine */

/* Is the path one of the service's, whether there is such a method or not? */
bool rpc_is_path(struct str path);

/* Does the request cost a token of the client's bucket? Streams have limits of their own. */
bool rpc_is_rated(const struct http_request *req);

/* May it be called without a credential? */
bool rpc_is_open(struct str path);

/* What is known of a request when it is handed over; copied. The texts live as long as the request.
 */
struct rpc_peer {
    struct str ns; /* namespace; empty for the default one */
    struct str request_id;
    struct mono started;
    struct engine_lane *lane;
    void (*ended)(void *data, int status); /* before the request is finished: its HTTP status */
    void *data;
};

void rpc_request(struct rpc *r, struct http_request *req, const struct rpc_peer *peer);

/* Finish the request with an error; retry_ms goes with ERR_OVERLOADED and ERR_RATE_LIMITED. */
void rpc_refuse(struct rpc *r, struct http_request *req, const struct rpc_peer *peer,
                const struct err *err, uint32_t retry_ms);

struct rpc_numbers {
    uint64_t streams_open;
    uint64_t streams_total;
    uint64_t frames_total;
    uint64_t frames_under_way;
};

/* Any thread. */
void rpc_numbers(const struct rpc *r, struct rpc_numbers *out);
