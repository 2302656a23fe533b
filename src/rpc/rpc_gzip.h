/*
 * Rpc_gzip: gzip compression of messages (rpc.md 4.4). One per network thread. It keeps zlib's
 * state from one message to the next, but no message data.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct rpc_gzip;

/* Inflated bytes are charged to the budget, which may be NULL. */
struct rpc_gzip *rpc_gzip_new(struct budget *budget);
void rpc_gzip_free(struct rpc_gzip *g); /* NULL is allowed */

/* Inflate a message into *out, which may be uninitialized and is empty after an error.
 * ERR_TOO_LARGE if the message exceeds limit_bytes, without inflating more than that; ERR_PARSE if
 * the bytes are not valid gzip data. */
ATTR_NODISCARD enum err_code rpc_gzip_inflate_to(struct rpc_gzip *g, struct str bytes,
                                                 size_t limit_bytes, struct buf *out,
                                                 struct err *err);

/* The same, into the arena. */
ATTR_NODISCARD enum err_code rpc_gzip_inflate(struct rpc_gzip *g, struct str bytes,
                                              size_t limit_bytes, struct arena *arena,
                                              struct str *out, struct err *err);

/* Append the message, compressed. */
void rpc_gzip_deflate(struct rpc_gzip *g, struct str message, struct buf *out);
