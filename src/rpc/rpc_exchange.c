/*
 * The single-exchange form of StreamLifecycle: one frame as a unary call (rpc.md 11.9).
 *
 * A frame that gets no slot waits for one. The wait ends with the acquire timeout, which the answer
 * reports as overload, or with the client's deadline, which fails the call.
 */
#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "http/http_loop.h"
#include "rpc/rpc_frame_int.h"
#include "rpc/rpc_slot_int.h"

struct exchange {
    struct rpc_frame_work work;
    struct rpc_slot slot;
    uv_timer_t *timer; /* limits the wait for a slot; NULL: no limit */
    bool at_deadline;  /* the timer fires at the client's deadline */
    bool runs;
};

static void timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* The timer is freed after libuv has closed it, when the exchange no longer exists. */
static void stop_timer(struct exchange *x)
{
    if (x->timer != NULL) {
        x->timer->data = x->timer;
        uv_close((uv_handle_t *)x->timer, timer_closed);
        x->timer = NULL;
    }
}

/* Release everything, when the call has ended or is about to end. */
static void free_exchange(struct exchange *x)
{
    struct arena *arena = x->work.who.arena;
    stop_timer(x);
    rpc_slot__give(&x->slot);
    rpc_frame__deinit(&x->work);
    arena_free(arena); /* the exchange is in it */
}

static void exchanged(struct rpc_frame_work *w)
{
    struct rpc_call *c = w->data;
    struct exchange *x = c->data;
    c->data = NULL;
    if (c->client.gone) {
        rpc_answer__drop(c);
    } else {
        rpc_answer__reply(c, &w->out); /* encodes the response, even if it is sent later */
    }
    free_exchange(x);
}

static void run_exchange(struct exchange *x)
{
    const struct rpc_call *c = x->work.data;
    stop_timer(x);
    x->runs = true;
    x->work.idle_ms = rpc_call__wait_within(c, c->rpc->config.idle_fetch_ms);
    if (rpc_frame__may_idle(&x->work)) {
        rpc_slot__give(&x->slot);
    }
    rpc_frame__run(&x->work); /* may be gone after this */
}

static void granted(struct rpc_slot *slot)
{
    run_exchange(slot->data);
}

/* In both cases none of the work has been done. */
static void slot_timed_out(uv_timer_t *timer)
{
    struct exchange *x = timer->data;
    struct rpc_call *c = x->work.data;
    if (!x->at_deadline) {
        rpc_slot__give(&x->slot);
        x->runs = true;
        rpc_frame__saturate(&x->work);
        return;
    }
    c->data = NULL;
    free_exchange(x);
    rpc_answer__fail(c, RPC_DEADLINE_EXCEEDED, STR("the deadline has passed"), 0);
}

static void wait_for_slot(struct exchange *x, const struct rpc_call *c)
{
    int64_t limit_ms = c->rpc->config.stream_acquire_ms;
    int64_t left_ms = rpc_call__left_ms(c);
    x->at_deadline = limit_ms == 0 || left_ms < limit_ms;
    limit_ms = x->at_deadline ? left_ms : limit_ms;
    if (limit_ms == INT64_MAX) {
        return;
    }
    x->timer = malloc(sizeof *x->timer);
    CHECK(x->timer != NULL);
    int rc = uv_timer_init(http_loop_uv(c->req->loop), x->timer);
    x->timer->data = x;
    rc = rc != 0 ? rc : uv_timer_start(x->timer, slot_timed_out, (uint64_t)limit_ms, 0);
    CHECK(rc == 0);
}

static void on_gone(struct http_request *req)
{
    struct rpc_call *c = req->data;
    struct exchange *x = c->data;
    c->client.gone = true;
    if (x != NULL && x->runs) {
        rpc_frame__cancel(&x->work);
        return;
    }
    if (x != NULL) {
        free_exchange(x);
    }
    rpc_answer__drop(c);
}

static void on_stopping(struct http_request *req)
{
    struct rpc_call *c = req->data;
    struct exchange *x = c->data;
    if (x != NULL) {
        x->work.may_wait = false;
        rpc_frame__cancel(&x->work);
    }
}

static const struct http_handlers handlers = {.gone = on_gone,
                                              .shut = on_stopping,
                                              .stopping = on_stopping,
                                              .writable = rpc_answer__writable};

void rpc_exchange__handle(struct rpc_call *c)
{
    /* The arena outlives the request, because the answer is freed after it was encoded. */
    struct arena *arena = arena_new_budget(c->rpc->config.message_bytes_max, c->rpc->config.budget);
    struct exchange *x = arena_need(arena, sizeof *x, _Alignof(max_align_t));
    *x = (struct exchange){
        .work = {.rpc = c->rpc,
                 .client = &c->client,
                 .who = c->who,
                 .may_enqueue = c->peer.may_enqueue,
                 .in = *(const struct rpc_frame *)c->in,
                 .may_wait = !http_loop_stopping(c->req->loop),
                 .done = exchanged,
                 .data = c},
        .slot = {.rpc = c->rpc, .loop = rpc_call__loop(c), .granted = granted, .data = x}};
    x->work.who.arena = arena;
    c->data = x;
    c->req->on = &handlers;
    if (rpc_frame__is_leaders(&x->work)) {
        exchanged(&x->work);
    } else if (rpc_frame__is_empty(&x->work.in) || rpc_slot__take(&x->slot)) {
        run_exchange(x);
    } else {
        wait_for_slot(x, c);
    }
}
