/*
 * Rpc_envelope: messages in a body, each preceded by one byte of flags and four of length (rpc.md
 * 4.2).
 *
 * The reader accepts the body in pieces of any size and returns one message at a time. It keeps at
 * most one message; the bytes after it stay with the caller until the message has been processed. A
 * client that sends ahead is therefore stopped by flow control and cannot fill the server's memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    RPC_ENVELOPE_HEAD = 5,
    RPC_ENVELOPE_COMPRESSED = 0x01,
    RPC_ENVELOPE_END = 0x02,     /* Connect: the end of the stream */
    RPC_ENVELOPE_TRAILER = 0x80, /* gRPC-Web: the trailers */
};

/* The definition is public so that the struct can be a member; its members are private. */
struct rpc_envelope_reader {
    size_t limit_bytes; /* of one message */
    unsigned allowed;   /* flags that may be set */
    uint8_t head[RPC_ENVELOPE_HEAD];
    size_t head_len;
    size_t body_len; /* of the current message, once its head is complete */
    struct buf body;
};

void rpc_envelope_reader_init(struct rpc_envelope_reader *r, size_t limit_bytes, unsigned allowed);
void rpc_envelope_reader_deinit(struct rpc_envelope_reader *r);

enum rpc_envelope_result {
    RPC_ENVELOPE_MORE,      /* all bytes were consumed; the message is not complete */
    RPC_ENVELOPE_MESSAGE,   /* a message is complete */
    RPC_ENVELOPE_BAD_FLAGS, /* flags that are not allowed */
    RPC_ENVELOPE_TOO_LARGE, /* the message exceeds the limit */
};

/* Consume bytes up to the end of the next message; *out_taken is their number. The flags and bytes
 * of a message are valid until the next call. Do not call it again after an error. */
ATTR_NODISCARD enum rpc_envelope_result rpc_envelope_take(struct rpc_envelope_reader *r,
                                                          struct str bytes, size_t *out_taken,
                                                          unsigned *out_flags,
                                                          struct str *out_message);

/* Set the error of a message that exceeds the limit, in an envelope or not. */
enum err_code rpc_envelope_too_large(size_t limit_bytes, struct err *err);

/* Is a message incomplete? If the body ends then, it was truncated. */
bool rpc_envelope_is_partial(const struct rpc_envelope_reader *r);

/* Write the head of a message; after the message, finish fills in its length. */
size_t rpc_envelope_begin(struct buf *out, unsigned flags);
void rpc_envelope_finish(struct buf *out, size_t begin);
