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
    struct front_shared *front; /* who leads, when it is not this node; NULL: it always is */
    struct budget *budget;      /* of all memory that requests can claim; NULL: none */
    const char *version;
    size_t message_bytes_max;    /* of one request message */
    uint32_t streams_max;        /* open lifecycle streams; 0: no limit */
    uint32_t stream_frames_max;  /* of their frames that are worked on at once */
    uint32_t stream_fps_max;     /* frames per second of one stream; 0: no limit */
    int64_t stream_acquire_ms;   /* how long a frame waits to be worked on; 0: no limit */
    uint32_t stream_strikes_max; /* errors in a row that end a stream */
    int64_t stream_strike_ms;    /* delay for each of them, up to half a second */
    int64_t idle_fetch_ms;       /* how long a stream's fetch waits for a job */
    bool compression;            /* gzip, for clients that ask for it */
};

struct rpc_config rpc_config_default(void);

struct rpc *rpc_new(const struct rpc_config *config);
void rpc_free(struct rpc *r); /* without calls; NULL is fine */

/* The largest body of a call: one message in its envelope. */
size_t rpc_body_bytes_max(const struct rpc *r);

/* Is the path one of the services', whether there is such a method or not? */
bool rpc_is_path(struct str path);

/* What a request asks for and how, looked up once. */
struct rpc_target {
    const struct rpc_method *method; /* NULL: there is no such method */
    const struct rpc_format *format; /* NULL: not a content type of ours */
    size_t number;                   /* of the method, for whoever counts calls; 0: none */
};
struct rpc_target rpc_target_of(const struct http_request *req);

/* Does the request cost a token of the client's bucket? Streams have limits of their own. */
bool rpc_is_rated(const struct rpc_target *t);

/* The name of the method; empty when there is none. */
struct str rpc_method_name(const struct rpc_target *t);

/* How long the client waits; INT64_MAX when it does not say, or not in a way that can be read. */
int64_t rpc_timeout_ms(const struct http_request *req, const struct rpc_target *t);

/* May it be called without a credential? */
bool rpc_is_open(const struct rpc_target *t);

/* The numbers are 1 to the count. */
size_t rpc_method_count(void);
/* Append the path of a method by its number. */
void rpc_method_path(size_t number, struct buf *out);

/* What is known of a request when it is handed over; copied. The texts live as long as the request.
 */
struct rpc_peer {
    struct str ns;    /* namespace; empty for the default one */
    struct str scope; /* queues that it may touch; empty: all */
    bool may_enqueue; /* in the frames of a stream */
    struct str request_id;
    struct mono started;
    struct front_client client;            /* of which it becomes */
    struct hub *hub;                       /* of the request's thread */
    void (*ended)(void *data, int status); /* before the request is finished: its HTTP status */
    /* Leadership was lost under the call: ask the next leader for the request, which is the owner's
     * again; NULL: the client hears of it. What is known of it so far is in the client. */
    void (*elsewhere)(void *data, const struct front_client *client);
    void *data;
};

/* Can only the leader do it? *out_streams: its body is a stream, which cannot be sent twice. */
bool rpc_is_leaders(const struct http_request *req, const struct rpc_target *t, bool *out_streams);

void rpc_request(struct rpc *r, struct http_request *req, const struct rpc_target *t,
                 const struct rpc_peer *peer);

/* Finish the request with an error; retry_ms goes with ERR_OVERLOADED and ERR_RATE_LIMITED. */
void rpc_refuse(struct rpc *r, struct http_request *req, const struct rpc_peer *peer,
                const struct err *err, uint32_t retry_ms);

/* Of lifecycle streams, and of frames that are calls of their own. */
struct rpc_numbers {
    uint64_t streams_open, streams_max; /* 0: no limit */
    uint64_t streams_total;             /* that began here while this node led */
    uint64_t frames_under_way, frames_max;
    uint64_t frames_total; /* that were worked on; not those that ask for nothing */
    uint64_t overloads;    /* frames that got no slot in time */
    uint64_t idle_fetches; /* fetches that had to wait for a job */
};

/* Any thread. */
void rpc_numbers(const struct rpc *r, struct rpc_numbers *out);
