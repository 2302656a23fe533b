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

/* How a Content-Type is to be answered; static, one per accepted type. */
struct rpc_format {
    struct str type; /* of the answer too; with a charset when the client names one */
    enum rpc_protocol protocol;
    enum rpc_codec codec;
    bool bare; /* Connect unary: the body is one message without an envelope */
};

/* The format of a Content-Type; NULL when it is none of ours. A charset is allowed with JSON, and
 * must be utf-8. Names compare without case. */
const struct rpc_format *rpc_protocol_format(struct str content_type);

/* The types of Accept-Post: those that a method takes, sorted, with ", " between them. Unary
 * methods take bare messages of Connect, streams do not; the single-exchange form takes both. */
void rpc_protocol_accepted(bool bare, bool enveloped, struct buf *out);

/* A time-out in milliseconds, rounded up. ERR_VALIDATION when the text is none. */
ATTR_NODISCARD enum err_code rpc_protocol_connect_timeout(struct str text, int64_t *out_ms,
                                                          struct err *err);
ATTR_NODISCARD enum err_code rpc_protocol_grpc_timeout(struct str text, int64_t *out_ms,
                                                       struct err *err);

/* A message as the header grpc-message has it: percent-encoded where it is not plain ASCII. */
void rpc_protocol_grpc_message(struct str message, struct buf *out);
