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
    void (*room)(struct rpc_push *p); /* there is room for the next message; may be NULL */
    void (*left)(struct rpc_push *p); /* release what is held; may be NULL */
    /* When the server stops: returns a last message to send, which must live as long as the call,
     * or NULL. May be NULL. */
    const void *(*farewell)(struct rpc_push *p);
    /* If the client sends several messages; else NULL. */
    void (*body)(struct rpc_push *p, struct str bytes);
    void (*body_end)(struct rpc_push *p);
    /* private */
    bool over;
    enum rpc_status status;
    struct str message;
    const void *last; /* message to send before the end; NULL: none */
};

/* Send the headers. From now on the client can disconnect, its deadline pass, the server stop. */
void rpc_push__begin(struct rpc_push *p);

/* False if the connection has not accepted the last message yet; room is called when it has. */
ATTR_NODISCARD bool rpc_push__send(struct rpc_push *p, const void *message);

/* End the call after the messages sent so far. left is not called. The message is a literal or in
 * the request's arena. */
void rpc_push__end(struct rpc_push *p, enum rpc_status status, struct str message);

/* Break off the response, so that the client does not mistake it for complete. left is not
 * called. */
void rpc_push__cut(struct rpc_push *p);
