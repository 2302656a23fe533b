/*
 * A timer for the client's deadline, for a response that the server sends when something happens.
 */
#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "http/http_loop.h"
#include "rpc/rpc_int.h"

struct rpc_deadline {
    uv_timer_t timer;
    struct rpc_call *call;
    void (*passed)(struct rpc_call *c);
};

static void on_timer(uv_timer_t *timer)
{
    struct rpc_deadline *d = timer->data;
    d->passed(d->call);
}

void rpc_deadline__start(struct rpc_call *c, void (*passed)(struct rpc_call *c))
{
    if (c->timeout_ms == INT64_MAX) {
        return;
    }
    struct rpc_deadline *d = calloc(1, sizeof *d);
    CHECK(d != NULL);
    d->call = c;
    d->passed = passed;
    d->timer.data = d;
    CHECK(uv_timer_init(http_loop_uv(c->req->loop), &d->timer) == 0);
    CHECK(uv_timer_start(&d->timer, on_timer, (uint64_t)rpc_call__left_ms(c), 0) == 0);
    c->deadline = d;
}

static void timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void rpc_deadline__forget(struct rpc_call *c)
{
    if (c->deadline != NULL) {
        uv_close((uv_handle_t *)&c->deadline->timer, timer_closed);
        c->deadline = NULL;
    }
}
