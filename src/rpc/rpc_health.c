#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "engine/engine_space.h"
#include "http/http_loop.h"
#include "rpc/rpc_health_int.h"
#include "rpc/rpc_push_int.h"

enum { SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

enum { LOOK_MS = 1000 }; /* readiness has no notification, so a watch polls it */

static const struct proto_field request_rows[] = {
    PROTO_ROW(struct rpc_health_request, 1, STR, service),
};
const struct proto_message rpc_health__request =
    PROTO_MESSAGE_OF(struct rpc_health_request, "grpc.health.v1.HealthCheckRequest", request_rows);

static const struct proto_field response_rows[] = {
    PROTO_ROW(struct rpc_health_response, 1, I32, status),
};
const struct proto_message rpc_health__response = PROTO_MESSAGE_OF(
    struct rpc_health_response, "grpc.health.v1.HealthCheckResponse", response_rows);

/* Queries the status on the core thread, once or repeatedly. Outlives the request while a query is
 * in progress. */
struct health {
    struct engine_call ask;
    struct engine *engine;
    unsigned refs; /* one for the call, one for a query in progress */
    bool asking;
    int32_t status; /* the latest answer */
    void *data;     /* the owner; NULL: it has left */
    void (*answer)(void *data);
};

static bool is_service(struct str name)
{
    for (const struct rpc_service *s = rpc_service__all; s->methods != NULL; s++) {
        if (str_eq(name, str_from(s->path.ptr + 1, s->path.len - 2))) {
            return true;
        }
    }
    return name.len == 0; /* the server as a whole */
}

/* Queries on the core thread */

static void run(struct engine_call *call, struct machine *m)
{
    (void)m;
    struct health *h = call->data;
    struct engine_status status;
    struct err err;
    engine_status_here(h->engine, &status);
    bool ready = status.node.leader_id != 0 && engine_space_reason(&status.space, &err) == ERR_OK;
    h->status = ready ? SERVING : NOT_SERVING;
}

static void release(struct health *h)
{
    if (--h->refs == 0) {
        free(h);
    }
}

static void done(struct engine_call *call)
{
    struct health *h = call->data;
    h->asking = false;
    if (h->data != NULL) {
        h->answer(h->data);
    }
    release(h);
}

static void ask(struct health *h)
{
    h->asking = true;
    h->refs++;
    if (!engine_run(h->engine, &h->ask)) { /* the engine is stopping */
        h->status = NOT_SERVING;
        done(&h->ask);
    }
}

static struct health *new_health(const struct rpc_call *c, void *data, void (*answer)(void *data))
{
    struct health *h = calloc(1, sizeof *h);
    CHECK(h != NULL);
    h->refs = 1;
    h->engine = c->rpc->config.engine;
    h->data = data;
    h->answer = answer;
    h->ask = (struct engine_call){
        .run = run, .done = done, .reply_to = http_loop_mailbox(c->req->loop), .data = h};
    return h;
}

static void leave(struct health *h)
{
    h->data = NULL;
    release(h);
}

/* Check */

static void check_answer(void *data)
{
    struct rpc_call *c = data;
    struct health *h = c->data;
    struct rpc_health_response out = {.status = h->status};
    leave(h);
    c->req->on = &rpc__handlers;
    rpc_answer__reply(c, &out);
}

static void check_gone(struct http_request *req)
{
    struct rpc_call *c = req->data;
    leave(c->data);
    rpc_answer__drop(c);
}

static const struct http_handlers check_handlers = {.gone = check_gone,
                                                    .writable = rpc_answer__writable};

static void handle_check(struct rpc_call *c)
{
    const struct rpc_health_request *in = c->in;
    if (!is_service(in->service)) {
        rpc_answer__fail(c, RPC_NOT_FOUND, STR("unknown service"), 0);
        return;
    }
    struct health *h = new_health(c, c, check_answer);
    c->data = h;
    c->req->on = &check_handlers;
    ask(h);
}

/* Watch: sends the status now, and whenever it changes. */

struct look {
    uv_timer_t timer;
    struct health *health;
};

struct watch {
    struct rpc_push push;
    struct health *health;
    struct look *look;
    int32_t told; /* the status that was sent last */
};

static void look(uv_timer_t *timer)
{
    struct health *h = ((struct look *)timer->data)->health;
    if (!h->asking) {
        ask(h);
    }
}

static void tell(struct watch *w, int32_t status)
{
    struct rpc_health_response out = {.status = status};
    if (w->told != status && rpc_push__send(&w->push, &out)) {
        w->told = status;
    }
}

static void watch_answer(void *data)
{
    struct watch *w = data;
    tell(w, w->health->status);
}

static void look_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void watch_left(struct rpc_push *p)
{
    struct watch *w = CONTAINER_OF(p, struct watch, push);
    uv_close((uv_handle_t *)&w->look->timer, look_closed);
    leave(w->health);
}

/* The last message of a watch: a client keeps the last status until it reconnects. */
static const void *farewell(struct rpc_push *p)
{
    static const struct rpc_health_response not_serving = {.status = NOT_SERVING};
    const struct watch *w = CONTAINER_OF(p, struct watch, push);
    return w->told == NOT_SERVING ? NULL : &not_serving;
}

static void start_looking(struct watch *w)
{
    struct rpc_call *c = w->push.call;
    struct look *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    l->health = w->health;
    l->timer.data = l;
    CHECK(uv_timer_init(http_loop_uv(c->req->loop), &l->timer) == 0);
    CHECK(uv_timer_start(&l->timer, look, LOOK_MS, LOOK_MS) == 0);
    w->look = l;
}

static void handle_watch(struct rpc_call *c)
{
    const struct rpc_health_request *in = c->in;
    struct err err;
    struct watch *w = SVC_CALLER_ARRAY(&c->who, struct watch, 1, &err);
    if (w == NULL) {
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    *w = (struct watch){.push = {.call = c}};
    if (!is_service(in->service)) { /* never changes, but Watch has to stay open */
        rpc_push__begin(&w->push);
        if (!w->push.over) {
            tell(w, SERVICE_UNKNOWN);
        }
        return;
    }
    w->health = new_health(c, w, watch_answer);
    start_looking(w);
    w->push.left = watch_left;
    w->push.farewell = farewell;
    rpc_push__begin(&w->push);
    if (!w->push.over) {
        ask(w->health);
    }
}

/* clang-format off */
#define TEXT(literal) {.ptr = (literal), .len = sizeof(literal) - 1}
const struct rpc_method rpc_health__methods[] = {
    {TEXT("Check"), RPC_UNARY,         &rpc_health__request, &rpc_health__response, handle_check, true, NULL},
    {TEXT("Watch"), RPC_SERVER_STREAM, &rpc_health__request, &rpc_health__response, handle_watch, true, NULL},
    {TEXT(""), RPC_UNARY, NULL, NULL, NULL, false, NULL},
};
/* clang-format on */
