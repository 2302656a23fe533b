#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "http/http_loop.h"
#include "rpc/rpc_push_int.h"

static void leave(struct rpc_push *p)
{
    if (!p->over && p->left != NULL) {
        p->left(p);
    }
}

static void deadline_passed(struct rpc_call *c)
{
    struct rpc_push *p = c->data;
    if (!p->over) {
        leave(p);
        rpc_push__end(p, RPC_DEADLINE_EXCEEDED, STR("the deadline has passed"));
    }
}

/* Sending and ending */

static void taken(struct rpc_call *c)
{
    struct rpc_push *p = c->data;
    const void *last = p->last;
    p->last = NULL;
    if (last != NULL) {
        rpc_answer__send(c, last, taken);
    } else if (p->over) {
        rpc_answer__end(c, p->status, p->message);
    } else if (p->room != NULL) {
        p->room(p);
    }
}

bool rpc_push__send(struct rpc_push *p, const void *message)
{
    CHECK(!p->over);
    if (p->call->on_sent != NULL) {
        return false;
    }
    rpc_answer__send(p->call, message, taken);
    return true;
}

static void end_after(struct rpc_push *p, const void *last, enum rpc_status status,
                      struct str message)
{
    CHECK(!p->over);
    p->over = true;
    p->status = status;
    p->message = message;
    p->last = last;
    if (p->call->on_sent == NULL) {
        taken(p->call);
    }
}

void rpc_push__end(struct rpc_push *p, enum rpc_status status, struct str message)
{
    end_after(p, NULL, status, message);
}

void rpc_push__cut(struct rpc_push *p)
{
    CHECK(!p->over);
    p->over = true;
    rpc_answer__drop(p->call);
}

/* Callbacks of the request */

static struct rpc_push *push_of(struct http_request *req)
{
    struct rpc_call *c = req->data;
    return c->data;
}

static void on_gone(struct http_request *req)
{
    struct rpc_push *p = push_of(req);
    leave(p);
    p->over = true;
    rpc_answer__drop(p->call);
}

static void on_stopping(struct http_request *req)
{
    struct rpc_push *p = push_of(req);
    if (!p->over) {
        const void *last = p->farewell != NULL ? p->farewell(p) : NULL;
        leave(p);
        end_after(p, last, RPC_UNAVAILABLE, STR("the server is stopping"));
    }
}

static void on_body(struct http_request *req, struct str bytes)
{
    struct rpc_push *p = push_of(req);
    if (p->over) {
        http_request_consume(req, bytes.len);
    } else {
        p->body(p, bytes);
    }
}

static void on_body_end(struct http_request *req)
{
    struct rpc_push *p = push_of(req);
    if (!p->over) {
        p->body_end(p);
    }
}

static const struct http_handlers handlers = {.gone = on_gone,
                                              .stopping = on_stopping,
                                              .body = on_body,
                                              .body_end = on_body_end,
                                              .writable = rpc_answer__writable};

void rpc_push__begin(struct rpc_push *p)
{
    struct rpc_call *c = p->call;
    c->data = p;
    c->req->on = &handlers;
    rpc_answer__begin(c);
    rpc_deadline__start(c, deadline_passed);
    if (p->body != NULL) {
        http_request_stream(c->req);
    }
    if (http_loop_stopping(c->req->loop)) {
        on_stopping(c->req);
    }
}
