#include "rpc/rpc_envelope.h"

#include <endian.h>

#include "base/check.h"

void rpc_envelope_reader_init(struct rpc_envelope_reader *r, size_t limit_bytes, unsigned allowed)
{
    *r = (struct rpc_envelope_reader){.limit_bytes = limit_bytes, .allowed = allowed};
    buf_init(&r->body, limit_bytes);
}

void rpc_envelope_reader_deinit(struct rpc_envelope_reader *r)
{
    buf_deinit(&r->body);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Read the next piece of the head. False while it is incomplete. */
static bool take_head(struct rpc_envelope_reader *r, struct str bytes, size_t *taken)
{
    size_t n = smaller(RPC_ENVELOPE_HEAD - r->head_len, bytes.len);
    if (n > 0) {
        memcpy(r->head + r->head_len, bytes.ptr, n);
    }
    r->head_len += n;
    *taken = n;
    if (r->head_len < RPC_ENVELOPE_HEAD) {
        return false;
    }
    uint32_t len;
    memcpy(&len, r->head + 1, sizeof len);
    r->body_len = be32toh(len);
    return true;
}

enum rpc_envelope_result rpc_envelope_take(struct rpc_envelope_reader *r, struct str bytes,
                                           size_t *out_taken, unsigned *out_flags,
                                           struct str *out_message)
{
    size_t taken;
    if (r->head_len == 0) {
        buf_clear(&r->body); /* the previous message */
    }
    bool headed = take_head(r, bytes, &taken);
    *out_taken = taken;
    if (!headed) {
        return RPC_ENVELOPE_MORE;
    }
    if ((r->head[0] & ~r->allowed) != 0) {
        return RPC_ENVELOPE_BAD_FLAGS;
    }
    if (r->body_len > r->limit_bytes) {
        return RPC_ENVELOPE_TOO_LARGE;
    }
    struct str rest = str_from_offset(bytes, taken);
    size_t n = smaller(r->body_len - r->body.len, rest.len);
    bool whole = n == r->body_len; /* a message that arrives in one piece is not copied */
    if (!whole) {
        buf_add(&r->body, rest.ptr, n);
    }
    *out_taken = taken + n;
    if (!whole && r->body.len < r->body_len) {
        return RPC_ENVELOPE_MORE;
    }
    *out_flags = r->head[0];
    *out_message = whole ? str_from(rest.ptr, n) : buf_str(&r->body);
    r->head_len = 0;
    return RPC_ENVELOPE_MESSAGE;
}

enum err_code rpc_envelope_too_large(size_t limit_bytes, struct err *err)
{
    return err_set(err, ERR_TOO_LARGE, "the message is larger than %zu bytes", limit_bytes);
}

bool rpc_envelope_is_partial(const struct rpc_envelope_reader *r)
{
    return r->head_len > 0;
}

size_t rpc_envelope_begin(struct buf *out, unsigned flags)
{
    size_t begin = out->len;
    char head[RPC_ENVELOPE_HEAD] = {(char)flags};
    buf_add(out, head, sizeof head);
    return begin;
}

void rpc_envelope_finish(struct buf *out, size_t begin)
{
    if (out->overflow) {
        return;
    }
    size_t len = out->len - begin - RPC_ENVELOPE_HEAD;
    CHECK(len <= UINT32_MAX);
    uint32_t wire = htobe32((uint32_t)len);
    memcpy(out->ptr + begin + 1, &wire, sizeof wire);
}
