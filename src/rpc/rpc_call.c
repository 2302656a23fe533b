/*
 * What a call knows: its time, the state of its thread, its format.
 */
#include "http/http_loop.h"
#include "os/os_clock.h"
#include "proto/proto_decode.h"
#include "proto/proto_json_decode.h"
#include "rpc/rpc_envelope.h"
#include "rpc/rpc_gzip.h"
#include "rpc/rpc_int.h"

enum err_code rpc_too_large(const struct rpc *r, struct err *err)
{
    return rpc_envelope_too_large(r->config.message_bytes_max, err);
}

int64_t rpc_call__left_ms(const struct rpc_call *c)
{
    if (c->timeout_ms == INT64_MAX) {
        return INT64_MAX;
    }
    int64_t left_ms = c->timeout_ms - (os_clock_mono().ns - c->peer.started.ns) / NS_PER_MS;
    return left_ms > 0 ? left_ms : 0;
}

int64_t rpc_call__wait_within(const struct rpc_call *c, int64_t wait_ms)
{
    enum { MARGIN = 8, MARGIN_MS_MAX = 250 }; /* an eighth of the time, at most this much */
    int64_t left_ms = rpc_call__left_ms(c);
    if (left_ms == INT64_MAX) {
        return wait_ms;
    }
    int64_t margin = left_ms / MARGIN;
    int64_t most = left_ms - (margin < MARGIN_MS_MAX ? margin : MARGIN_MS_MAX);
    return wait_ms < most ? wait_ms : most;
}

struct rpc_loop *rpc_call__loop(const struct rpc_call *c)
{
    return &c->rpc->loops[http_loop_index(c->req->loop)];
}

struct rpc_gzip *rpc_call__gzip(const struct rpc_call *c)
{
    struct rpc_loop *loop = rpc_call__loop(c);
    if (loop->gzip == NULL) {
        loop->gzip = rpc_gzip_new(c->rpc->config.budget);
    }
    return loop->gzip;
}

enum err_code rpc_call__decode(const struct rpc_call *c, struct str bytes, struct arena *arena,
                               void *out, struct err *err)
{
    const struct proto_message *type = c->method->request;
    /* An empty envelope is the default message in either codec. */
    bool binary = c->format->codec == RPC_PROTO || (bytes.len == 0 && !c->format->bare);
    enum err_code code = binary ? proto_decode(type, bytes, arena, out, err)
                                : proto_json_decode(type, bytes, arena, out, err);
    return code == ERR_TOO_LARGE ? svc_caller_refuse_full(arena, err) : code;
}
