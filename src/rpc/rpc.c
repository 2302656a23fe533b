/*
 * The way of a request into the service: which method, which protocol, which message (rpc.md
 * 2, 3.1, 4.1); and a call's way to the engine.
 */
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "http/http_loop.h"
#include "proto/proto_decode.h"
#include "proto/proto_json_decode.h"
#include "rpc/rpc_envelope.h"
#include "rpc/rpc_int.h"

#define BASE_PATH STR("/corvo.v1.WorkerService/")

struct rpc_config rpc_config_default(void)
{
    return (struct rpc_config){
        .version = "",
        .message_bytes_max = 64 << 20,
        .streams_max = 4096,
        .stream_frames_max = 2048,
        .stream_fps_max = 500,
        .idle_fetch_ms = 100,
    };
}

struct rpc *rpc_new(const struct rpc_config *config)
{
    struct rpc *r = calloc(1, sizeof *r);
    CHECK(r != NULL);
    r->config = *config;
    for (size_t i = 0; rpc_message_all[i] != NULL; i++) {
        proto_check(rpc_message_all[i]);
    }
    return r;
}

void rpc_free(struct rpc *r)
{
    if (r != NULL) {
        CHECK(atomic_load(&r->streams_open) == 0);
        free(r);
    }
}

void rpc_numbers(const struct rpc *r, struct rpc_numbers *out)
{
    *out = (struct rpc_numbers){.streams_open = atomic_load(&r->streams_open),
                                .streams_total = atomic_load(&r->streams_total),
                                .frames_total = atomic_load(&r->frames_total),
                                .frames_under_way = atomic_load(&r->frames_under_way)};
}

/* Paths */

static const struct rpc_method *find_method(struct str path)
{
    struct str name = str_from_offset(path, BASE_PATH.len);
    for (const struct rpc_method *m = rpc_unary__methods; m->name.len > 0; m++) {
        if (str_eq(name, m->name)) {
            return m;
        }
    }
    return NULL;
}

bool rpc_is_path(struct str path)
{
    return str_starts_with(path, BASE_PATH);
}

static const struct rpc_format *format_of(const struct http_request *req)
{
    struct str type;
    return http_request_header(req, STR("content-type"), &type) ? rpc_protocol_format(type) : NULL;
}

bool rpc_is_rated(const struct http_request *req)
{
    const struct rpc_method *m = find_method(req->path_raw);
    const struct rpc_format *f = format_of(req);
    return m == NULL || m->kind != RPC_BIDI || f == NULL || f->bare;
}

bool rpc_is_open(struct str path)
{
    return str_eq(str_from_offset(path, BASE_PATH.len), STR("GetServerInfo"));
}

/* The engine */

static void op_done(struct engine_op *op)
{
    struct rpc_call *c = op->data;
    ATTR_UNINITIALIZED struct result r;
    c->op_busy = false;
    arena_owe(c->who.arena);
    /* What was claimed for a client that has most likely gone goes back at once; one that is there
     * all the same is told that there is no job, and asks again. */
    bool left = c->gone || c->shut || (op->waited && http_request_has_ended(c->req));
    bool given_back = left && engine_give_back(c->rpc->config.engine, op);
    if (c->gone) {
        rpc_answer__drop(c);
    } else if (given_back) {
        c->on_result(c, &(struct result){0});
    } else if (op->err.code != ERR_OK) {
        rpc_answer__fail_err(c, &op->err, op->retry_after_ms);
    } else if (!result_decode(buf_str(&op->result), c->who.arena, &r)) {
        rpc_answer__fail(c, RPC_INTERNAL, STR("the engine's answer cannot be read"), 0);
    } else if (r.code != ERR_OK) {
        rpc_answer__fail(c, rpc_status_of(r.code), r.message, 0);
    } else {
        c->on_result(c, &r);
    }
}

void rpc__submit(struct rpc_call *c, const struct command *command, int64_t wait_ms,
                 void (*on_result)(struct rpc_call *c, const struct result *r))
{
    ATTR_UNINITIALIZED struct err err;
    struct engine *engine = c->rpc->config.engine;
    if (wait_ms > c->timeout_ms) {
        wait_ms = c->timeout_ms; /* an empty answer in time instead of a missed deadline */
    }
    if (!c->op_used) {
        engine_op_init(&c->op);
        buf_set_budget(&c->op.result, c->rpc->config.budget);
        c->op.result.owed = true;
        c->op_used = true;
    }
    c->op.done = op_done;
    c->op.data = c;
    c->op.arena = c->who.arena;
    c->op.reply_to = http_loop_mailbox(c->req->loop);
    c->op.lane = c->peer.lane;
    c->op.park_ms = http_loop_stopping(c->req->loop) || c->shut ? 0 : wait_ms;
    c->on_result = on_result;
    if (engine_op_prepare(engine, &c->op, command, &err) != ERR_OK) {
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    c->op_busy = true;
    engine_submit(engine, &c->op);
}

static void watch_gone(struct http_request *req)
{
    struct rpc_call *c = req->data;
    c->gone = true;
    if (c->op_busy) {
        engine_cancel(c->rpc->config.engine, &c->op); /* goes on in op_done */
    } else {
        rpc_answer__drop(c);
    }
}

/* Nothing is waited for any more; what is under way goes on. */
static void watch_stopping(struct http_request *req)
{
    struct rpc_call *c = req->data;
    if (c->op_busy && c->op.park_ms > 0) {
        engine_cancel(c->rpc->config.engine, &c->op);
    }
}

static void watch_shut(struct http_request *req)
{
    struct rpc_call *c = req->data;
    c->shut = true;
    watch_stopping(req);
}

const struct http_watch rpc__watch = {.gone = watch_gone,
                                      .shut = watch_shut,
                                      .stopping = watch_stopping,
                                      .writable = rpc_answer__writable};

/* One message */

enum err_code rpc__decode(const struct rpc_call *c, struct str bytes, struct arena *arena,
                          void *out, struct err *err)
{
    const struct proto_message *type = c->method->request;
    /* Inside an envelope nothing is the default message in either codec. */
    if (c->format->codec == RPC_PROTO || (bytes.len == 0 && !c->format->bare)) {
        return proto_decode(type, bytes, arena, out, err);
    }
    return proto_json_decode(type, bytes, arena, out, err);
}

/* The only message of a body with envelopes. False when the call has ended. */
static bool unwrap(struct rpc_call *c, struct str body, struct str *out)
{
    struct rpc_envelope_reader reader;
    size_t taken = 0;
    unsigned flags = 0;
    rpc_envelope_reader_init(&reader, c->rpc->config.message_bytes_max, RPC_ENVELOPE_COMPRESSED);
    enum rpc_envelope_result result = rpc_envelope_take(&reader, body, &taken, &flags, out);
    rpc_envelope_reader_deinit(&reader); /* a whole body is never kept in there */
    if (result == RPC_ENVELOPE_BAD_FLAGS) {
        rpc_answer__fail(c, RPC_INTERNAL, STR("the envelope has flags that are not known"), 0);
    } else if (result == RPC_ENVELOPE_TOO_LARGE) {
        rpc_answer__fail(c, RPC_RESOURCE_EXHAUSTED, STR("the message is too large"), 0);
    } else if (result == RPC_ENVELOPE_MORE && body.len > 0) {
        rpc_answer__fail(c, RPC_INVALID_ARGUMENT, STR("incomplete envelope"), 0);
    } else if (result == RPC_ENVELOPE_MORE || taken < body.len) {
        rpc_answer__fail(c, RPC_UNIMPLEMENTED, STR("expected exactly one request message"), 0);
    } else if ((flags & RPC_ENVELOPE_COMPRESSED) != 0) {
        rpc_answer__fail(c, RPC_INTERNAL, STR("compressed message without compression support"), 0);
    } else {
        return true;
    }
    return false;
}

static void body_collected(struct http_request *req, enum http_body_result result)
{
    struct rpc_call *c = req->data;
    struct str message = req->body;
    ATTR_UNINITIALIZED struct err err;
    if (result == HTTP_BODY_TOO_LARGE) {
        rpc_answer__fail(c, RPC_RESOURCE_EXHAUSTED, STR("the message is too large"), 0);
        return;
    }
    if (result == HTTP_BODY_NO_ROOM) {
        (void)err_set(&err, ERR_OVERLOADED, "too many request bodies are under way");
        rpc_answer__fail_err(c, &err, 1000);
        return;
    }
    if (!c->format->bare && !unwrap(c, req->body, &message)) {
        return;
    }
    c->in = svc_caller_alloc(&c->who, 1, c->method->request->size, &err);
    if (c->in == NULL || rpc__decode(c, message, c->who.arena, c->in, &err) != ERR_OK) {
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    c->method->handle(c);
}

/* Headers that a call must be able to follow */

static const struct {
    struct str protocol_version, encoding, timeout;
} names[] = {
    [RPC_CONNECT] = {{.ptr = "connect-protocol-version", .len = 24},
                     {.ptr = "connect-content-encoding", .len = 24},
                     {.ptr = "connect-timeout-ms", .len = 18}},
    [RPC_GRPC] = {{0}, {.ptr = "grpc-encoding", .len = 13}, {.ptr = "grpc-timeout", .len = 12}},
    [RPC_GRPC_WEB] = {{0}, {.ptr = "grpc-encoding", .len = 13}, {.ptr = "grpc-timeout", .len = 12}},
};

static bool header(const struct rpc_call *c, struct str name, struct str *out)
{
    return name.len > 0 && http_request_header(c->req, name, out);
}

static enum err_code read_timeout(struct rpc_call *c, struct err *err)
{
    struct str text;
    c->timeout_ms = INT64_MAX;
    if (!header(c, names[c->format->protocol].timeout, &text)) {
        return ERR_OK;
    }
    return c->format->protocol == RPC_CONNECT
               ? rpc_protocol_connect_timeout(text, &c->timeout_ms, err)
               : rpc_protocol_grpc_timeout(text, &c->timeout_ms, err);
}

/* False when the call has ended. */
static bool read_headers(struct rpc_call *c)
{
    struct str text;
    struct err err;
    struct str encoding =
        c->format->bare ? STR("content-encoding") : names[c->format->protocol].encoding;
    if (header(c, names[c->format->protocol].protocol_version, &text) && !str_eq(text, STR("1"))) {
        rpc_answer__fail(c, RPC_INVALID_ARGUMENT, STR("Connect-Protocol-Version must be 1"), 0);
        return false;
    }
    if (header(c, encoding, &text) && text.len > 0 && !str_eq(text, STR("identity"))) {
        rpc_answer__fail(c, RPC_UNIMPLEMENTED,
                         STR("unknown compression: supported encodings are identity"), 0);
        return false;
    }
    if (read_timeout(c, &err) != ERR_OK) {
        rpc_answer__fail_err(c, &err, 0);
        return false;
    }
    return true;
}

/* Dispatch */

static struct rpc_call *new_call(struct rpc *r, struct http_request *req,
                                 const struct rpc_peer *peer)
{
    struct rpc_call *c = arena_need(req->arena, sizeof *c, _Alignof(max_align_t));
    memset(c, 0, offsetof(struct rpc_call, op));
    c->rpc = r;
    c->req = req;
    c->peer = *peer;
    c->timeout_ms = INT64_MAX;
    c->who = (struct svc_caller){.engine = r->config.engine, .ns = peer->ns, .arena = req->arena};
    req->on = &rpc__watch;
    req->data = c;
    return c;
}

/* A format that the method does not take: enveloped Connect for unary ones, bare for streams. */
static bool is_accepted(const struct rpc_method *m, const struct rpc_format *f)
{
    if (f == NULL) {
        return false;
    }
    bool connect_stream = f->protocol == RPC_CONNECT && !f->bare;
    return m->kind == RPC_UNARY ? !connect_stream : m->kind == RPC_BIDI || !f->bare;
}

static void refuse_type(struct rpc_call *c, const struct rpc_method *m)
{
    struct buf types;
    buf_init(&types, 4096);
    rpc_protocol_accepted(m->kind != RPC_SERVER_STREAM, m->kind != RPC_UNARY, &types);
    c->format = NULL;
    rpc_answer__plain(c, 415, STR("Accept-Post"), buf_str(&types), STR_EMPTY);
    buf_deinit(&types);
}

void rpc_request(struct rpc *r, struct http_request *req, const struct rpc_peer *peer)
{
    struct rpc_call *c = new_call(r, req, peer);
    const struct rpc_method *m = find_method(req->path_raw);
    if (m == NULL) {
        rpc_answer__plain(c, 404, STR_EMPTY, STR_EMPTY, STR("404 page not found\n"));
        return;
    }
    if (req->method != HTTP_POST) {
        rpc_answer__plain(c, 405, STR("Allow"), STR("POST"), STR_EMPTY);
        return;
    }
    c->format = format_of(req);
    if (!is_accepted(m, c->format)) {
        refuse_type(c, m);
        return;
    }
    c->method = m;
    bool streamed = m->kind == RPC_BIDI && !c->format->bare;
    if (streamed && req->protocol != HTTP_2) {
        c->closes = true;
        rpc_answer__plain(c, 505, STR_EMPTY, STR_EMPTY, STR_EMPTY);
        return;
    }
    if (!read_headers(c)) {
        return;
    }
    if (streamed) {
        rpc_stream__open(c);
    } else {
        http_request_collect(req, r->config.message_bytes_max + RPC_ENVELOPE_HEAD, body_collected);
    }
}

void rpc_refuse(struct rpc *r, struct http_request *req, const struct rpc_peer *peer,
                const struct err *err, uint32_t retry_ms)
{
    struct rpc_call *c = new_call(r, req, peer);
    const struct rpc_method *m = find_method(req->path_raw);
    c->format = format_of(req);
    if (m == NULL || !is_accepted(m, c->format)) {
        c->format = NULL;
    }
    c->method = m;
    rpc_answer__fail_err(c, err, retry_ms);
}
