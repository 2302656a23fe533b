/*
 * Calls that wait: for the engine, for the view, or for themselves; and what happens if the client
 * disconnects meanwhile.
 */
#include "base/check.h"
#include "rest/rest_int.h"

enum { SHUT_ASK_MS = 1000 }; /* limit of a search after the client has closed its side */

/* Client disconnects */

static void drop(struct rest_call *c)
{
    struct http_request *req = c->req;
    CHECK(!c->op.busy);
    CHECK(!c->look_busy);
    CHECK(!c->ask_busy);
    rest_call__dropped(c);
    front_op_deinit(&c->op);
    buf_deinit(&c->answer);
    http_request_drop(req);
}

static void on_gone(struct http_request *req)
{
    struct rest_call *c = req->data;
    c->client.gone = true;
    if (front_op_cancel(&c->op)) {
        return; /* continues in op_done */
    }
    if (c->ask_busy) {
        view_cancel(&c->ask); /* continues in asked */
    } else if (!c->look_busy && !c->rebuild_busy && !c->later_busy && !c->proof_busy) {
        drop(c);
    }
}

/* End waits; operations in progress continue. */
static void on_stopping(struct http_request *req)
{
    struct rest_call *c = req->data;
    front_op_hurry(&c->op); /* a waiting fetch returns no job */
}

/* The client has probably disconnected: its search must not occupy a thread of the view for
 * long. */
static void on_shut(struct http_request *req)
{
    struct rest_call *c = req->data;
    c->client.shut = true;
    if (c->ask_busy) {
        view_shorten(&c->ask, SHUT_ASK_MS);
    }
    on_stopping(req);
}

const struct http_handlers rest_call__handlers = {
    .gone = on_gone, .shut = on_shut, .stopping = on_stopping};

/* The engine */

static void op_done(struct front_op *o, const struct result *r)
{
    struct rest_call *c = o->data;
    const struct engine_op *op = &o->op;
    if (c->client.gone) {
        drop(c);
    } else if (r == NULL && c->rest->steps->asks_again(c, op->err.code)) {
        return;
    } else if (r == NULL && c->on_error != NULL) {
        c->on_error(c, &op->err);
    } else if (r == NULL) {
        rest_call__fail_with(c, op->err.code, str_from_z(op->err.msg), op->retry_after_ms, NULL);
    } else {
        c->on_result(c, r);
    }
}

struct engine_outbox *rest_call__outbox(struct rest_call *c)
{
    return &c->rest->outboxes[http_loop_index(c->req->loop)];
}

void rest_call__submit(struct rest_call *c, const struct command *command, int64_t park_ms,
                       void (*on_result)(struct rest_call *c, const struct result *r))
{
    ATTR_UNINITIALIZED struct err err;
    if (!rest_call__has_memory(c)) {
        return;
    }
    c->on_result = on_result;
    c->on_error = NULL;
    c->op.data = c;
    c->op.client = &c->client;
    if (front_op_send(&c->op, c->arena, command, park_ms, op_done, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
    }
}

void rest_call__submit_more(struct rest_call *c, const struct command *command, int64_t park_ms,
                            void (*on_result)(struct rest_call *c, const struct result *r),
                            void (*on_error)(struct rest_call *c, const struct err *err))
{
    struct err err;
    CHECK(c->op.used && on_error != NULL); /* so the response is owed */
    c->on_result = on_result;
    c->on_error = on_error;
    if (front_op_send(&c->op, c->arena, command, park_ms, op_done, &err) != ERR_OK) {
        on_error(c, &err);
    }
}

static void run_look(struct engine_call *call, struct machine *m)
{
    struct rest_call *c = call->data;
    c->on_look(c, m);
}

static void looked(struct engine_call *call)
{
    struct rest_call *c = call->data;
    c->look_busy = false;
    if (c->client.gone) {
        drop(c);
    } else {
        c->on_looked(c);
    }
}

void rest_call__on_core(struct rest_call *c, void (*look)(struct rest_call *c, struct machine *m),
                        void (*then)(struct rest_call *c))
{
    c->on_look = look;
    c->on_looked = then;
    c->look = (struct engine_call){
        .run = run_look, .done = looked, .reply_to = http_loop_mailbox(c->req->loop), .data = c};
    c->look_busy = true;
    if (!engine_run(c->rest->config.engine, &c->look)) {
        c->look_busy = false;
        rest_call__fail(c, ERR_STOPPING, "%s", err_text(ERR_STOPPING));
    }
}

/* Work in pieces */

void rest_call__wait(struct rest_call *c, void (*then)(struct rest_call *c))
{
    c->on_later = then;
    c->later_busy = true;
}

void rest_call__wake(struct rest_call *c)
{
    c->later_busy = false;
    if (c->client.gone) {
        drop(c);
    } else {
        c->on_later(c);
    }
}

static void deliver_later(struct msg *m)
{
    rest_call__wake(CONTAINER_OF(m, struct rest_call, later));
}

void rest_call__later(struct rest_call *c, void (*then)(struct rest_call *c))
{
    rest_call__wait(c, then);
    c->later.deliver = deliver_later;
    bool posted = mailbox_post(http_loop_mailbox(c->req->loop), &c->later);
    CHECK(posted); /* a loop outlives its requests */
}

/* The view */

static void run_ask(struct view_ask *ask, struct view_reader *r)
{
    struct rest_call *c = ask->data;
    c->on_ask(c, r);
}

static void asked(struct view_ask *ask)
{
    struct rest_call *c = ask->data;
    c->ask_busy = false;
    if (c->client.gone) {
        drop(c);
    } else if (ask->err.code != ERR_OK) {
        rest_call__fail_err(c, &ask->err);
    } else if (c->ask_err.code != ERR_OK) {
        rest_call__fail_err(c, &c->ask_err);
    } else {
        c->on_asked(c);
    }
}

static bool has_view(struct rest_call *c)
{
    if (c->rest->config.view == NULL) {
        rest_call__fail(c, ERR_UNSUPPORTED, "this server has no search index");
        return false;
    }
    return true;
}

void rest_call__on_view(struct rest_call *c,
                        void (*ask)(struct rest_call *c, struct view_reader *r),
                        void (*then)(struct rest_call *c))
{
    if (!has_view(c)) {
        return;
    }
    c->on_ask = ask;
    c->on_asked = then;
    c->ask = (struct view_ask){.run = run_ask,
                               .done = asked,
                               .reply_to = http_loop_mailbox(c->req->loop),
                               .data = c,
                               .text = c->ask_text,
                               .patient = c->ask_patient,
                               .kind = c->ask_kind};
    c->ask_err = (struct err){0};
    rest_call__buf(c, &c->answer);
    c->ask_busy = true;
    view_ask(c->rest->config.view, &c->ask);
    if (c->client.shut) {
        view_shorten(&c->ask, SHUT_ASK_MS);
    }
}

static void rebuilt(struct view_rebuild *r)
{
    struct rest_call *c = r->data;
    c->rebuild_busy = false;
    if (c->client.gone) {
        drop(c);
    } else if (r->err.code != ERR_OK) {
        rest_call__fail_err(c, &r->err);
    } else {
        c->on_asked(c);
    }
}

void rest_call__rebuild(struct rest_call *c, void (*then)(struct rest_call *c))
{
    if (rest_call__has_memory(c) && has_view(c)) {
        c->on_asked = then;
        c->rebuild = (struct view_rebuild){
            .done = rebuilt, .reply_to = http_loop_mailbox(c->req->loop), .data = c};
        c->rebuild_busy = true;
        view_rebuild(c->rest->config.view, &c->rebuild);
    }
}
