/*
 * Rpc_frame: processes one lifecycle frame (rpc.md 11.2, steps 6 to 10).
 *
 *   acks ──┬── one log entry ──> both done ──> enqueues ──> done
 *   fetch ─┘
 *
 * Acks and the fetch are submitted together, acks first. They share a commit, and the fetch can use
 * the concurrency that the acks release. A fetch without acks or enqueues waits for a job; the
 * engine wakes it. Each part can fail separately: the results of the others are still sent, and the
 * error of the frame is the first one in the order of the contract.
 */
#pragma once

#include "rpc/rpc_int.h"

enum rpc_frame_part {
    RPC_FRAME_ACK_PARSE,
    RPC_FRAME_ACK,
    RPC_FRAME_FETCH,
    RPC_FRAME_ENQUEUE_PARSE,
    RPC_FRAME_ENQUEUE,
    RPC_FRAME_PARTS
};

struct rpc_frame_op {
    struct front_op op;
    struct rpc_frame_work *work;
    void (*on_result)(struct rpc_frame_work *w, const struct result *r);
    enum rpc_frame_part part;
};

struct rpc_frame_work {
    /* set by the caller */
    struct rpc *rpc;
    struct front_client *client;
    struct svc_caller who; /* its arena is the frame's, and holds the message */
    struct rpc_frame in;
    bool may_wait;    /* false once the server is stopping or the client has left */
    int64_t idle_ms;  /* how long a fetch waits for a job */
    bool may_enqueue; /* the caller's role allows it */
    void (*done)(struct rpc_frame_work *w);
    void *data;
    /* result */
    struct rpc_frame_answer out;
    bool struck; /* it failed, and not because of overload */
    /* private */
    struct str errors[RPC_FRAME_PARTS];
    bool enqueued; /* the enqueues were started */
    struct rpc_frame_op ack, fetch, enqueue;
};

/* An empty frame is answered with its request_id alone, and needs no slot. */
bool rpc_frame__is_empty(const struct rpc_frame *in);

/* Will the frame wait if there is no job? It needs no slot meanwhile. */
bool rpc_frame__may_idle(const struct rpc_frame_work *w);

/* Does another node lead? */
bool rpc_frame__is_elsewhere(const struct rpc *rpc);

/* If another node leads: answer the frame with its address. The frame had no effect. */
bool rpc_frame__is_leaders(struct rpc_frame_work *w);

/* Process the frame. done is called once, possibly before this returns. */
void rpc_frame__run(struct rpc_frame_work *w);

/* Instead of running it: the frame got no slot in time. done is called before this returns. */
void rpc_frame__saturate(struct rpc_frame_work *w);

/* Stop waiting for a job; done is still called. */
void rpc_frame__cancel(struct rpc_frame_work *w);

/* After done: release the response. */
void rpc_frame__deinit(struct rpc_frame_work *w);
