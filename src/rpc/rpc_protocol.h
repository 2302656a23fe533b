/*
 * Rpc_protocol: which of the three protocols a request uses, from its Content-Type (rpc.md 2.1),
 * and the formats in which they differ: timeouts and messages in headers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum rpc_protocol { RPC_CONNECT, RPC_GRPC, RPC_GRPC_WEB };
enum rpc_codec { RPC_PROTO, RPC_JSON };

/* One per supported Content-Type; static. */
struct rpc_format {
    struct str type; /* also of the response; with a charset if the request has one */
    enum rpc_protocol protocol;
    enum rpc_codec codec;
    bool bare; /* Connect unary: the body is one message without an envelope */
};

/* The format of a Content-Type; NULL if it is not supported. JSON types may have charset=utf-8.
 * Names compare without case. */
const struct rpc_format *rpc_protocol_format(struct str content_type);

/* Append the value of Accept-Post: the types that a method accepts, sorted, separated by ", ".
 * bare: it accepts bare Connect messages; enveloped: it accepts Connect envelopes. */
void rpc_protocol_accepted(bool bare, bool enveloped, struct buf *out);

/* A timeout in milliseconds, rounded up. ERR_VALIDATION if the text is malformed. */
ATTR_NODISCARD enum err_code rpc_protocol_connect_timeout(struct str text, int64_t *out_ms,
                                                          struct err *err);
ATTR_NODISCARD enum err_code rpc_protocol_grpc_timeout(struct str text, int64_t *out_ms,
                                                       struct err *err);

/* Append the message, percent-encoded as in the header grpc-message. Decoded, it is UTF-8: U+FFFD
 * replaces each byte that is not part of a character. */
void rpc_protocol_grpc_message(struct str message, struct buf *out);
