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
    bool may_wait;    /* nobody stops */
    int64_t idle_ms;  /* how long a fetch waits for a job */
    bool may_enqueue; /* the caller's role allows it */
    void (*done)(struct rpc_frame_work *w);
    void *data;
    /* result */
    struct rpc_frame_answer out;
    bool struck; /* it failed for another reason than overload */
    /* private */
    struct str errors[RPC_FRAME_PARTS];
    bool enqueued; /* the enqueues were begun */
    struct rpc_frame_op ack, fetch, enqueue;
};

/* A frame that asks for nothing is answered with its number alone, and takes no slot. */
bool rpc_frame__is_empty(const struct rpc_frame *in);

/* Will it wait for a job if there is none? It needs no slot for that. */
bool rpc_frame__may_idle(const struct rpc_frame_work *w);

/* Does somebody else lead? */
bool rpc_frame__is_elsewhere(const struct rpc *rpc);

/* Somebody else leads: the frame is answered with where, has had no effect, and the stream ends. */
bool rpc_frame__is_leaders(struct rpc_frame_work *w);

/* done is called once, maybe before this returns. */
void rpc_frame__run(struct rpc_frame_work *w);

/* Instead of running it: it got no slot in time. done is called before this returns. */
void rpc_frame__saturate(struct rpc_frame_work *w);

/* Nobody waits for the answer any more: a fetch that waits ends; done still comes. */
void rpc_frame__cancel(struct rpc_frame_work *w);

/* After done: release what the answer points into. */
void rpc_frame__deinit(struct rpc_frame_work *w);
