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

/* What is being inflated comes out of the budget, which may be NULL. */
struct rpc_gzip *rpc_gzip_new(struct budget *budget);
void rpc_gzip_free(struct rpc_gzip *g); /* NULL is fine */

/* The message in these bytes, put into the arena. One of more than limit_bytes is ERR_TOO_LARGE
 * before more than that is written, however few bytes it was; bytes that are no gzip are ERR_PARSE.
 */
ATTR_NODISCARD enum err_code rpc_gzip_inflate(struct rpc_gzip *g, struct str bytes,
                                              size_t limit_bytes, struct arena *arena,
                                              struct str *out, struct err *err);

/* Append the message as gzip. */
void rpc_gzip_deflate(struct rpc_gzip *g, struct str message, struct buf *out);
