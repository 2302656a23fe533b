/*
 * Rpc_status: the results of a call, with their names and numbers in Connect and gRPC (rpc.md 3.3,
 * 9).
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* clang-format off */
#define RPC_STATUS_LIST(X) \
    /* name (its position is gRPC's number)  Connect's word  HTTP status of a Connect unary error */ \
    X(OK,                  "ok",                  200) \
    X(CANCELED,            "canceled",            499) \
    X(UNKNOWN,             "unknown",             500) \
    X(INVALID_ARGUMENT,    "invalid_argument",    400) \
    X(DEADLINE_EXCEEDED,   "deadline_exceeded",   504) \
    X(NOT_FOUND,           "not_found",           404) \
    X(ALREADY_EXISTS,      "already_exists",      409) \
    X(PERMISSION_DENIED,   "permission_denied",   403) \
    X(RESOURCE_EXHAUSTED,  "resource_exhausted",  429) \
    X(FAILED_PRECONDITION, "failed_precondition", 400) \
    X(ABORTED,             "aborted",             409) \
    X(OUT_OF_RANGE,        "out_of_range",        400) \
    X(UNIMPLEMENTED,       "unimplemented",       501) \
    X(INTERNAL,            "internal",            500) \
    X(UNAVAILABLE,         "unavailable",         503) \
    X(DATA_LOSS,           "data_loss",           500) \
    X(UNAUTHENTICATED,     "unauthenticated",     401)
/* clang-format on */

enum rpc_status {
#define RPC_STATUS_ENUM(name, word, http) RPC_##name,
    RPC_STATUS_LIST(RPC_STATUS_ENUM)
#undef RPC_STATUS_ENUM
        RPC_STATUS_COUNT
};

const char *rpc_status_word(enum rpc_status status);
int rpc_status_http(enum rpc_status status);

/* The RPC status of an error. */
enum rpc_status rpc_status_of(enum err_code code);

/* When the caller should retry, given the engine's hint, which may be 0; 0: a retry would not
 * help. As in the HTTP API. */
uint32_t rpc_status_retry_ms(enum err_code code, uint32_t hint_ms);
