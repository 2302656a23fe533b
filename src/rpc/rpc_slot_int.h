/*
 * Rpc_slot: limits how many lifecycle frames are processed at once, over all streams (rpc.md 11.2,
 * step 5).
 *
 * A frame without a slot waits in the queue of its thread; its owner limits the wait. The queue
 * advances when the thread returns one of its own slots. A thread that holds none always gets one.
 *
 * A slot belongs to the thread of its request, and to one frame at a time.
 */
#pragma once

#include <stdbool.h>

struct rpc;
struct rpc_loop;
struct rpc_slot;

enum rpc_slot_state { RPC_SLOT_NONE, RPC_SLOT_WAITING, RPC_SLOT_HELD };

/* All zeros, except what the owner sets. */
struct rpc_slot {
    /* set by the owner */
    struct rpc *rpc;
    struct rpc_loop *loop;                  /* of the request's thread */
    void (*granted)(struct rpc_slot *slot); /* the wait is over, the slot is held */
    void *data;
    /* private */
    enum rpc_slot_state state;
    struct rpc_slot *next; /* in the queue */
};

/* True: the slot is held. False: it waits, and granted will be called. */
bool rpc_slot__take(struct rpc_slot *slot);

/* Release the slot, or stop waiting for it; does nothing if neither. May grant slots to others
 * before it returns. */
void rpc_slot__give(struct rpc_slot *slot);
