#include "base/check.h"
#include "rpc/rpc_int.h"
#include "rpc/rpc_slot_int.h"

static bool is_free(const struct rpc *rpc, const struct rpc_loop *l)
{
    return l->frames == 0 || atomic_load_explicit(&rpc->frames_under_way, memory_order_relaxed) <
                                 rpc->config.stream_frames_max;
}

static void hold(struct rpc_slot *slot)
{
    slot->state = RPC_SLOT_HELD;
    slot->loop->frames++;
    atomic_fetch_add_explicit(&slot->rpc->frames_under_way, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&slot->rpc->frames_total, 1, memory_order_relaxed);
}

bool rpc_slot__take(struct rpc_slot *slot)
{
    struct rpc_loop *l = slot->loop;
    CHECK(slot->state == RPC_SLOT_NONE);
    if (l->first == NULL && is_free(slot->rpc, l)) {
        hold(slot);
        return true;
    }
    *(l->first == NULL ? &l->first : &l->last->next) = slot;
    l->last = slot;
    slot->next = NULL;
    slot->state = RPC_SLOT_WAITING;
    return false;
}

static void leave_line(struct rpc_slot *slot)
{
    struct rpc_loop *l = slot->loop;
    struct rpc_slot **at = &l->first, *before = NULL;
    while (*at != slot) {
        before = *at;
        at = &before->next;
    }
    *at = slot->next;
    l->last = l->last == slot ? before : l->last;
    slot->state = RPC_SLOT_NONE;
}

/* Grant slots to waiting frames. Not reentrant: a frame that finishes at once returns its slot from
 * inside this function. */
static void move_line(struct rpc *rpc, struct rpc_loop *l)
{
    if (l->granting) {
        return;
    }
    l->granting = true;
    while (l->first != NULL && is_free(rpc, l)) {
        struct rpc_slot *next = l->first;
        leave_line(next);
        hold(next);
        next->granted(next);
    }
    l->granting = false;
}

void rpc_slot__give(struct rpc_slot *slot)
{
    if (slot->state == RPC_SLOT_WAITING) {
        leave_line(slot);
    } else if (slot->state == RPC_SLOT_HELD) {
        struct rpc *rpc = slot->rpc;
        struct rpc_loop *l = slot->loop;
        slot->state = RPC_SLOT_NONE;
        l->frames--;
        atomic_fetch_sub_explicit(&rpc->frames_under_way, 1, memory_order_relaxed);
        move_line(rpc, l);
    }
}
