/*
 * Rpc: the WorkerService for Connect, gRPC and gRPC-Web clients, on the port of the HTTP API
 * (rpc.md). svc/ implements the methods; this module converts between bytes and its structs.
 *
 * The owner of the port authenticates the caller, determines its namespace and checks that it may
 * make the call. It then passes the request to rpc_request, or has rpc_refuse write the refusal in
 * the client's protocol. Both run on the request's loop and finish the request.
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
#include "front/front_forward.h"
#include "front/front_op.h"
#include "http/http_request.h"
#include "hub/hub.h"

struct rpc;

struct rpc_config {
    struct engine *engine;
    struct front_shared *front; /* finds the leader; NULL: this node always leads */
    struct budget *budget;      /* limits the memory of all requests; NULL: no limit */
    const char *version;
    size_t message_bytes_max;    /* of one request message */
    uint32_t streams_max;        /* open lifecycle streams; 0: no limit */
    uint32_t stream_frames_max;  /* frames processed at once, over all streams */
    uint32_t stream_fps_max;     /* frames per second of one stream; 0: no limit */
    int64_t stream_acquire_ms;   /* how long a frame waits for a slot; 0: no limit */
    uint32_t stream_strikes_max; /* consecutive errors that end a stream */
    int64_t stream_strike_ms;    /* delay per strike, half a second at most */
    int64_t idle_fetch_ms;       /* how long a stream's fetch waits for a job */
    bool compression;            /* gzip, for clients that ask for it */
};

struct rpc_config rpc_config_default(void);

struct rpc *rpc_new(const struct rpc_config *config);
void rpc_free(struct rpc *r); /* no call may be in progress; NULL is allowed */

/* Is the path below one of the services? The method need not exist. */
bool rpc_is_path(struct str path);

/* The method and the format of a request, looked up once. */
struct rpc_target {
    const struct rpc_method *method; /* NULL: unknown method */
    const struct rpc_format *format; /* NULL: unsupported Content-Type */
    size_t number;                   /* of the method, for metrics; 0: unknown method */
};

/* The largest body of a call: one message, in its envelope if the format has one. */
size_t rpc_body_bytes_max(const struct rpc *r, const struct rpc_target *t);

/* Set the error of a body that is larger. */
enum err_code rpc_too_large(const struct rpc *r, struct err *err);
struct rpc_target rpc_target_of(const struct http_request *req);

/* Does the request count against the client's rate limit? Streams have limits of their own. */
bool rpc_is_rated(const struct rpc_target *t);

/* The name of the method; empty if it is unknown. */
struct str rpc_method_name(const struct rpc_target *t);

/* The client's timeout; INT64_MAX if there is none or it is malformed. */
int64_t rpc_timeout_ms(const struct http_request *req, const struct rpc_target *t);

/* May it be called without a credential? */
bool rpc_is_open(const struct rpc_target *t);

/* Methods are numbered from 1 to the count. */
size_t rpc_method_count(void);
/* Append the path of a method by its number. */
void rpc_method_path(size_t number, struct buf *out);

/* The caller and context of a request; copied. The texts must live as long as the request. */
struct rpc_peer {
    struct str ns;    /* namespace; empty for the default one */
    struct str scope; /* queues that the caller may use; empty: all */
    bool may_enqueue; /* in the frames of a stream */
    struct str request_id;
    struct mono started;
    struct front_client client;            /* copied into the call */
    struct hub *hub;                       /* of the request's thread */
    void (*ended)(void *data, int status); /* called before the request is finished */
    /* Leadership was lost during the call. The owner takes the request back and sends it to the
     * next leader; the client struct records how far the call got. NULL: the call fails instead. */
    void (*elsewhere)(void *data, const struct front_client *client);
    void *data;
};

/* Must the leader handle the request? *out_streams is set if its body is a stream, which cannot be
 * resent. */
bool rpc_is_leaders(const struct http_request *req, const struct rpc_target *t, bool *out_streams);

void rpc_request(struct rpc *r, struct http_request *req, const struct rpc_target *t,
                 const struct rpc_peer *peer);

/* Finish the request with an error; retry_ms is used with ERR_OVERLOADED and ERR_RATE_LIMITED. */
void rpc_refuse(struct rpc *r, struct http_request *req, const struct rpc_peer *peer,
                const struct err *err, uint32_t retry_ms);

/* Metrics of lifecycle streams and single exchanges. */
struct rpc_numbers {
    uint64_t streams_open, streams_max; /* 0: no limit */
    uint64_t streams_total;             /* opened while this node led */
    uint64_t frames_under_way, frames_max;
    uint64_t frames_total; /* processed; empty frames are not counted */
    uint64_t overloads;    /* frames that got no slot in time */
    uint64_t idle_fetches; /* fetches that waited for a job */
};

/* Any thread. */
void rpc_numbers(const struct rpc *r, struct rpc_numbers *out);
