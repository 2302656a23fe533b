/*
 * Rpc_push: responses in which the server sends messages over time (Subscribe, Watch, reflection).
 * One message at a time is passed to the connection; a method with more messages waits for room.
 *
 * The call's data is the rpc_push. It is a member of the method's own struct and lives in the
 * request's arena. It ends when `left` was called, or with rpc_push__end.
 */
#pragma once

#include "rpc/rpc_int.h"

struct rpc_push {
    /* set by the caller */
    struct rpc_call *call;
    void (*room)(struct rpc_push *p); /* what was sent has been taken; may be NULL */
    void (*left)(struct rpc_push *p); /* the last of it: release what is held; may be NULL */
    /* The server stops: the message to send before the end, or NULL. May be NULL. Lives as long as
     * the call. */
    const void *(*farewell)(struct rpc_push *p);
    /* Of clients that send many messages; else NULL. */
    void (*body)(struct rpc_push *p, struct str bytes);
    void (*body_end)(struct rpc_push *p);
    /* private */
    bool over;
    enum rpc_status status;
    struct str message;
    const void *last; /* to be sent before the end; NULL: nothing is */
};

/* Send the headers. From here on the client may go, its deadline may pass, the server may stop. */
void rpc_push__begin(struct rpc_push *p);

/* False when the last message has not been taken yet; room comes. */
ATTR_NODISCARD bool rpc_push__send(struct rpc_push *p, const void *message);

/* End the call, behind what was sent. left is not called. The message is a literal or in the arena.
 */
void rpc_push__end(struct rpc_push *p, enum rpc_status status, struct str message);

/* End the call without an end that the client could take for one. left is not called. */
void rpc_push__cut(struct rpc_push *p);
