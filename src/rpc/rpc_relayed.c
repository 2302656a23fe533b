#include "rpc/rpc_relayed.h"

#include <endian.h>

#include "rpc/rpc_int.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void rpc_relayed_pass(struct rpc_relayed *r, struct str bytes)
{
    while (bytes.len > 0) {
        size_t n = smaller(r->left, bytes.len);
        r->left -= n;
        bytes = str_from_offset(bytes, n);
        n = r->left > 0 ? 0 : smaller(RPC_ENVELOPE_HEAD - r->head_len, bytes.len);
        memcpy(r->head + r->head_len, bytes.ptr, n);
        r->head_len += n;
        bytes = str_from_offset(bytes, n);
        if (r->head_len == RPC_ENVELOPE_HEAD) {
            uint32_t len;
            memcpy(&len, r->head + 1, sizeof len);
            r->left = be32toh(len);
            r->over = (r->head[0] & (RPC_ENVELOPE_END | RPC_ENVELOPE_TRAILER)) != 0;
            r->head_len = 0;
        }
    }
}

bool rpc_relayed_may_end(const struct rpc_relayed *r, const struct rpc_target *t)
{
    return t->format != NULL && !t->format->bare && r->head_len == 0 && r->left == 0 && !r->over;
}

void rpc_relayed_lost(struct rpc *rpc, struct http_request *req, const struct rpc_target *t,
                      const struct rpc_peer *peer)
{
    struct rpc_call *c = rpc__new_call(rpc, req, peer);
    c->format = t->format;
    c->method = t->method;
    c->begun = true;
    req->on = &rpc_answer__ending;
    rpc_answer__end(c, RPC_UNAVAILABLE, STR("leader proxy unavailable"));
}
