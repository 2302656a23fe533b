/*
 * Dispatch: finds the method and protocol of a request and reads its message (rpc.md 2, 3.1, 4.1).
 * Also submits the commands of calls to the engine.
 */
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "rpc/rpc_envelope.h"
#include "rpc/rpc_gzip.h"
#include "rpc/rpc_int.h"

struct rpc_config rpc_config_default(void)
{
    return (struct rpc_config){
        .version = "",
        .message_bytes_max = 64 << 20,
        .streams_max = 4096,
        .stream_frames_max = 2048,
        .stream_fps_max = 500,
        .stream_strikes_max = 10,
        .stream_strike_ms = 5,
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
        for (size_t i = 0; i < RPC_LOOPS_MAX; i++) {
            struct rpc_loop *loop = &r->loops[i];
            rpc_gzip_free(loop->gzip);
            arena_pool_deinit(&loop->arenas);
        }
        free(r);
    }
}

size_t rpc_body_bytes_max(const struct rpc *r, const struct rpc_target *t)
{
    bool bare = t->format != NULL && t->format->bare;
    return r->config.message_bytes_max + (bare ? 0 : RPC_ENVELOPE_HEAD);
}

void rpc_numbers(const struct rpc *r, struct rpc_numbers *out)
{
    *out = (struct rpc_numbers){.streams_open = atomic_load(&r->streams_open),
                                .streams_total = atomic_load(&r->streams_total),
                                .streams_max = r->config.streams_max,
                                .frames_total = atomic_load(&r->frames_total),
                                .frames_under_way = atomic_load(&r->frames_under_way),
                                .frames_max = r->config.stream_frames_max,
                                .overloads = atomic_load(&r->overloads),
                                .idle_fetches = atomic_load(&r->idle_fetches)};
}

/* Paths */

#define TEXT(literal)                                                                              \
    {                                                                                              \
        .ptr = (literal), .len = sizeof(literal) - 1                                               \
    } /* clang-format off */
const struct rpc_service rpc_service__all[] = {
    {TEXT("/corvo.v1.WorkerService/"),                  rpc_unary__methods},
    {TEXT("/grpc.health.v1.Health/"),                   rpc_health__methods},
    {TEXT("/grpc.reflection.v1.ServerReflection/"),      rpc_reflect__methods},
    {TEXT("/grpc.reflection.v1alpha.ServerReflection/"), rpc_reflect__methods},
    {TEXT(""), NULL},
};
#undef TEXT /* clang-format on */

static const struct rpc_service *find_service(struct str path)
{
    for (const struct rpc_service *s = rpc_service__all; s->methods != NULL; s++) {
        if (str_starts_with(path, s->path)) {
            return s;
        }
    }
    return NULL;
}

/* Find a method and its number by path; NULL and 0 if it is unknown. */
static const struct rpc_method *find_method(struct str path, size_t *out_number)
{
    const struct rpc_service *mine = find_service(path);
    size_t number = 0;
    *out_number = 0;
    for (const struct rpc_service *s = rpc_service__all; mine != NULL && s <= mine; s++) {
        for (const struct rpc_method *m = s->methods; m->name.len > 0; m++) {
            number++;
            if (s == mine && str_eq(str_from_offset(path, s->path.len), m->name)) {
                *out_number = number;
                return m;
            }
        }
    }
    return NULL;
}

bool rpc_is_path(struct str path)
{
    return find_service(path) != NULL;
}

struct rpc_target rpc_target_of(const struct http_request *req)
{
    struct str type;
    struct rpc_target t = {0};
    t.method = find_method(req->path_raw, &t.number);
    if (http_request_known(req, HTTP_KNOWN_CONTENT_TYPE, &type)) {
        t.format = rpc_protocol_format(type);
    }
    return t;
}

struct str rpc_method_name(const struct rpc_target *t)
{
    return t->method == NULL ? STR_EMPTY : t->method->name;
}

bool rpc_is_rated(const struct rpc_target *t)
{
    return t->method == NULL || t->method->open != rpc_stream__open || t->format == NULL ||
           t->format->bare;
}

bool rpc_is_leaders(const struct http_request *req, const struct rpc_target *t, bool *out_streams)
{
    struct str proxied;
    const struct rpc_method *m = t->method;
    *out_streams = m != NULL && m->kind == RPC_BIDI && t->format != NULL && !t->format->bare;
    if (m == NULL || t->format == NULL || req->method != HTTP_POST || rpc_is_open(t)) {
        return false;
    }
    /* Workers connect to the leader themselves (11.6), unless they request a proxied stream. */
    return m->kind == RPC_UNARY ||
           (m->kind == RPC_BIDI && (t->format->bare || req->protocol == HTTP_2) &&
            http_request_known(req, HTTP_KNOWN_X_CORVO_PROXY_STREAM, &proxied) &&
            str_eq(proxied, STR("1")));
}

bool rpc_is_open(const struct rpc_target *t)
{
    return t->method != NULL && t->method->anyone;
}

size_t rpc_method_count(void)
{
    size_t count = 0;
    for (const struct rpc_service *s = rpc_service__all; s->methods != NULL; s++) {
        for (const struct rpc_method *m = s->methods; m->name.len > 0; m++) {
            count++;
        }
    }
    return count;
}

void rpc_method_path(size_t number, struct buf *out)
{
    for (const struct rpc_service *s = rpc_service__all; s->methods != NULL; s++) {
        for (const struct rpc_method *m = s->methods; m->name.len > 0; m++) {
            number--;
            if (number == 0) {
                buf_add_str(out, s->path);
                buf_add_str(out, m->name);
                return;
            }
        }
    }
}

/* The engine */

static void op_done(struct front_op *o, const struct result *r)
{
    struct rpc_call *c = o->data;
    ATTR_UNINITIALIZED struct err err;
    if (c->client.gone) {
        rpc_answer__drop(c);
    } else if (r == NULL && c->peer.elsewhere != NULL &&
               front_client_may_ask_again(&c->client, o->op.err.code)) {
        front_op_deinit(o);
        buf_deinit(&c->inflated);
        c->peer.elsewhere(c->peer.data, &c->client);
    } else if (r == NULL) {
        rpc_answer__fail_err(c, &o->op.err, o->op.retry_after_ms);
    } else if (r->code != ERR_OK) {
        (void)err_set(&err, r->code, STR_FMT, STR_ARG(r->message));
        rpc_answer__fail_err(c, &err, 0);
    } else {
        c->on_result(c, r);
    }
}

void rpc__submit(struct rpc_call *c, const struct command *command, int64_t wait_ms,
                 void (*on_result)(struct rpc_call *c, const struct result *r))
{
    ATTR_UNINITIALIZED struct err err;
    c->on_result = on_result;
    c->op.data = c;
    c->op.client = &c->client;
    if (front_op_send(&c->op, c->who.arena, command, wait_ms, op_done, &err) != ERR_OK) {
        rpc_answer__fail_err(c, &err, 0);
    }
}

static void on_gone(struct http_request *req)
{
    struct rpc_call *c = req->data;
    c->client.gone = true;
    if (!front_op_cancel(&c->op)) { /* otherwise op_done ends the call */
        rpc_answer__drop(c);
    }
}

/* Stop waiting for jobs. A command that was submitted still finishes. */
static void on_stopping(struct http_request *req)
{
    struct rpc_call *c = req->data;
    front_op_hurry(&c->op);
}

static void on_shut(struct http_request *req)
{
    struct rpc_call *c = req->data;
    c->client.shut = true;
    on_stopping(req);
}

const struct http_handlers rpc__handlers = {
    .gone = on_gone, .shut = on_shut, .stopping = on_stopping, .writable = rpc_answer__writable};

/* One message */

/* Read the next envelope of a complete body. */
static enum rpc_envelope_result take_envelope(const struct rpc_call *c, struct str body,
                                              size_t *out_taken, unsigned *out_flags,
                                              struct str *out)
{
    struct rpc_envelope_reader reader;
    unsigned allowed = RPC_ENVELOPE_COMPRESSED;
    if (c->format->protocol == RPC_CONNECT) {
        allowed |= RPC_ENVELOPE_END;
    }
    rpc_envelope_reader_init(&reader, c->rpc->config.message_bytes_max, allowed);
    enum rpc_envelope_result result = rpc_envelope_take(&reader, body, out_taken, out_flags, out);
    rpc_envelope_reader_deinit(&reader); /* the reader never keeps a complete message */
    return result;
}

/* Nothing follows the message except an end-of-stream envelope, which is a half-close (4.2). */
static bool is_last(const struct rpc_call *c, struct str rest)
{
    size_t taken = 0;
    unsigned flags = 0;
    struct str nothing;
    return rest.len == 0 ||
           (take_envelope(c, rest, &taken, &flags, &nothing) == RPC_ENVELOPE_MESSAGE &&
            (flags & RPC_ENVELOPE_END) != 0 && taken == rest.len);
}

/* Read the only message of an enveloped body. False if the call has ended with an error. */
static bool unwrap(struct rpc_call *c, struct str body, struct str *out, bool *out_compressed)
{
    size_t taken = 0;
    unsigned flags = 0;
    enum rpc_envelope_result result = take_envelope(c, body, &taken, &flags, out);
    if (result == RPC_ENVELOPE_BAD_FLAGS) {
        rpc_answer__fail(c, RPC_INTERNAL, STR("the envelope has flags that are not known"), 0);
    } else if (result == RPC_ENVELOPE_TOO_LARGE) {
        struct err err;
        (void)rpc_too_large(c->rpc, &err);
        rpc_answer__fail_err(c, &err, 0);
    } else if (result == RPC_ENVELOPE_MORE && body.len > 0) {
        rpc_answer__fail(c, RPC_INVALID_ARGUMENT, STR("incomplete envelope"), 0);
    } else if (result == RPC_ENVELOPE_MORE || (flags & RPC_ENVELOPE_END) != 0 ||
               !is_last(c, str_from_offset(body, taken))) {
        rpc_answer__fail(c, RPC_UNIMPLEMENTED, STR("expected exactly one request message"), 0);
    } else if ((flags & RPC_ENVELOPE_COMPRESSED) != 0 && !c->gzip_in) {
        rpc_answer__fail(c, RPC_INTERNAL, STR("compressed message without compression support"), 0);
    } else {
        *out_compressed = (flags & RPC_ENVELOPE_COMPRESSED) != 0;
        return true;
    }
    return false;
}

static enum err_code decode_whole(struct rpc_call *c, struct str bytes, bool compressed,
                                  struct err *err)
{
    c->in = svc_caller_alloc(&c->who, 1, c->method->request->size, err);
    if (c->in == NULL) {
        return err->code;
    }
    if (compressed && bytes.len > 0) { /* a large message would not fit into the arena */
        size_t limit = c->rpc->config.message_bytes_max;
        if (rpc_gzip_inflate_to(rpc_call__gzip(c), bytes, limit, &c->inflated, err) != ERR_OK) {
            return err->code;
        }
        bytes = buf_str(&c->inflated);
    }
    return rpc_call__decode(c, bytes, c->who.arena, c->in, err);
}

static void body_collected(struct http_request *req, enum http_body_result result)
{
    struct rpc_call *c = req->data;
    struct str message = req->body;
    bool compressed = c->gzip_in;
    ATTR_UNINITIALIZED struct err err;
    if (result == HTTP_BODY_TOO_LARGE) {
        (void)rpc_too_large(c->rpc, &err);
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    if (result == HTTP_BODY_NO_ROOM) {
        (void)err_set(&err, ERR_OVERLOADED, "too many request bodies in memory");
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    if (!c->format->bare && !unwrap(c, req->body, &message, &compressed)) {
        return;
    }
    if (decode_whole(c, message, compressed, &err) != ERR_OK) {
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    c->method->handle(c);
}

/* Request headers */

static const struct {
    enum http_known encoding, accepted;
} compression_headers[] = {
    [RPC_CONNECT] = {HTTP_KNOWN_CONNECT_CONTENT_ENCODING, HTTP_KNOWN_CONNECT_ACCEPT_ENCODING},
    [RPC_GRPC] = {HTTP_KNOWN_GRPC_ENCODING, HTTP_KNOWN_GRPC_ACCEPT_ENCODING},
    [RPC_GRPC_WEB] = {HTTP_KNOWN_GRPC_ENCODING, HTTP_KNOWN_GRPC_ACCEPT_ENCODING},
};

static enum err_code read_timeout(const struct http_request *req, const struct rpc_format *format,
                                  int64_t *out_ms, struct err *err)
{
    bool connect = format->protocol == RPC_CONNECT;
    enum http_known timeout = connect ? HTTP_KNOWN_CONNECT_TIMEOUT_MS : HTTP_KNOWN_GRPC_TIMEOUT;
    struct str text;
    *out_ms = INT64_MAX;
    if (!http_request_known(req, timeout, &text)) {
        return ERR_OK;
    }
    return connect ? rpc_protocol_connect_timeout(text, out_ms, err)
                   : rpc_protocol_grpc_timeout(text, out_ms, err);
}

int64_t rpc_timeout_ms(const struct http_request *req, const struct rpc_target *t)
{
    ATTR_UNINITIALIZED struct err err;
    int64_t ms;
    return t->format != NULL && read_timeout(req, t->format, &ms, &err) == ERR_OK ? ms : INT64_MAX;
}

/* Choose the compression of both directions (4.4). Responses use that of the request, else the
 * first supported one that the client accepts, else none. False if that of the request is not
 * supported. */
static bool read_compression(struct rpc_call *c)
{
    bool bare = c->format->bare;
    bool offered = c->rpc->config.compression;
    enum rpc_protocol protocol = c->format->protocol;
    enum http_known encoding =
        bare ? HTTP_KNOWN_CONTENT_ENCODING : compression_headers[protocol].encoding;
    enum http_known accepted =
        bare ? HTTP_KNOWN_ACCEPT_ENCODING : compression_headers[protocol].accepted;
    struct str text;
    if (http_request_known(c->req, encoding, &text) && text.len > 0 &&
        !str_eq(text, STR("identity"))) {
        c->gzip_in = c->gzip_out = offered && str_eq(text, STR("gzip"));
        return c->gzip_in;
    }
    if (offered && http_request_known(c->req, accepted, &text)) {
        while (text.len > 0 && !c->gzip_out) {
            c->gzip_out = str_eq(str_trim(str_cut(&text, ',')), STR("gzip"));
        }
    }
    return true;
}

/* False if the call has ended with an error. */
static bool read_headers(struct rpc_call *c)
{
    struct str text;
    struct err err;
    if (c->format->protocol == RPC_CONNECT &&
        http_request_known(c->req, HTTP_KNOWN_CONNECT_PROTOCOL_VERSION, &text) &&
        !str_eq(text, STR("1"))) {
        rpc_answer__fail(c, RPC_INVALID_ARGUMENT, STR("Connect-Protocol-Version must be 1"), 0);
        return false;
    }
    if (!read_compression(c)) {
        rpc_answer__fail(c, RPC_UNIMPLEMENTED,
                         c->rpc->config.compression
                             ? STR("unknown compression: supported encodings are gzip, identity")
                             : STR("unknown compression: supported encodings are identity"),
                         0);
        return false;
    }
    if (read_timeout(c->req, c->format, &c->timeout_ms, &err) != ERR_OK) {
        rpc_answer__fail_err(c, &err, 0);
        return false;
    }
    return true;
}

/* Dispatch */

struct rpc_call *rpc__new_call(struct rpc *r, struct http_request *req, const struct rpc_peer *peer)
{
    struct rpc_call *c = arena_need(req->arena, sizeof *c, _Alignof(max_align_t));
    memset(c, 0, offsetof(struct rpc_call, op.op));
    c->rpc = r;
    c->client = peer->client;
    c->req = req;
    c->peer = *peer;
    c->timeout_ms = INT64_MAX;
    c->who = (struct svc_caller){.engine = r->config.engine,
                                 .ns = peer->ns,
                                 .scope = peer->scope,
                                 .names = &rpc_work__names,
                                 .arena = req->arena};
    (void)!http_request_known(req, HTTP_KNOWN_X_CORVO_CLIENT_VERSION, &c->who.version);
    req->on = &rpc__handlers;
    req->data = c;
    return c;
}

/* Unary methods accept a bare message, and so does the single-exchange form of a stream. */
static bool takes_bare(const struct rpc_method *m)
{
    return m->kind == RPC_UNARY || (m->kind == RPC_BIDI && m->handle != NULL);
}

/* Unary methods accept all formats but enveloped Connect; streams accept all but bare ones. */
static bool is_accepted(const struct rpc_method *m, const struct rpc_format *f)
{
    if (f == NULL) {
        return false;
    }
    bool connect_stream = f->protocol == RPC_CONNECT && !f->bare;
    return m->kind == RPC_UNARY ? !connect_stream : takes_bare(m) || !f->bare;
}

static void refuse_type(struct rpc_call *c, const struct rpc_method *m)
{
    struct buf types;
    buf_init(&types, 4096);
    rpc_protocol_accepted(takes_bare(m), m->kind != RPC_UNARY, &types);
    c->format = NULL;
    rpc_answer__plain(c, 415, STR("Accept-Post"), buf_str(&types), STR_EMPTY);
    buf_deinit(&types);
}

void rpc_request(struct rpc *r, struct http_request *req, const struct rpc_target *t,
                 const struct rpc_peer *peer)
{
    struct rpc_call *c = rpc__new_call(r, req, peer);
    const struct rpc_method *m = t->method;
    if (m == NULL) {
        rpc_answer__plain(c, 404, STR_EMPTY, STR_EMPTY, STR("404 page not found\n"));
        return;
    }
    if (req->method != HTTP_POST) {
        rpc_answer__plain(c, 405, STR("Allow"), STR("POST"), STR_EMPTY);
        return;
    }
    c->format = t->format;
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
        m->open(c);
    } else {
        http_request_collect(req, rpc_body_bytes_max(r, t), body_collected);
    }
}

void rpc_refuse(struct rpc *r, struct http_request *req, const struct rpc_peer *peer,
                const struct err *err, uint32_t retry_ms)
{
    struct rpc_call *c = rpc__new_call(r, req, peer);
    struct rpc_target t = rpc_target_of(req);
    c->format = t.format; /* even if the method is unknown or does not accept the format */
    c->method = t.method;
    rpc_answer__fail_err(c, err, retry_ms);
}
