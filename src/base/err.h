/*
 * Errors: one table of codes, and a message that describes the error.
 *
 * A function that can fail returns enum err_code and fills a struct err. A code exists if a caller
 * would act differently; the rows that a client can see have the HTTP status and the word of the
 * contract (http-api.md 1.6). A message is lower case, without a full stop, and names the object
 * and its value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/* clang-format off */
#define ERR_LIST(X) \
    /* code               HTTP  on the wire               default message */ \
    X(OK,                  200, "OK",                     "no error") \
    X(PARSE,               400, "PARSE_ERROR",            "invalid JSON") \
    X(VALIDATION,          400, "VALIDATION_ERROR",       "the request is not valid") \
    X(ACK,                 400, "ACK_ERROR",              "the job cannot be acknowledged") \
    X(FAIL,                400, "FAIL_ERROR",             "the job cannot be failed") \
    X(RETRY,               400, "RETRY_ERROR",            "the job cannot be retried") \
    X(CANCEL,              400, "CANCEL_ERROR",           "the job cannot be cancelled") \
    X(MOVE,                400, "MOVE_ERROR",             "the job cannot be moved") \
    X(HOLD,                400, "HOLD_ERROR",             "the job cannot be held") \
    X(APPROVE,             400, "APPROVE_ERROR",          "the job cannot be approved") \
    X(REJECT,              400, "REJECT_ERROR",           "the job cannot be rejected") \
    X(REPLAY,              400, "REPLAY_ERROR",           "the job cannot be replayed") \
    X(QUEUE,               400, "QUEUE_ERROR",            "the queue operation is not valid") \
    X(BULK,                400, "BULK_ERROR",             "the bulk operation is not valid") \
    X(BUDGET,              400, "BUDGET_ERROR",           "the budget is not valid") \
    X(POLICY,              400, "POLICY_ERROR",           "the approval policy is not valid") \
    X(WEBHOOK,             400, "WEBHOOK_ERROR",          "the webhook is not valid") \
    X(AUTH,                400, "AUTH_ERROR",             "the key or role is not valid") \
    X(SCHEDULE,            400, "SCHEDULE_ERROR",         "the schedule is not valid") \
    X(USAGE_SUMMARY,       400, "USAGE_SUMMARY_ERROR",    "the usage query is not valid") \
    X(JOIN,                400, "JOIN_ERROR",             "the node cannot join") \
    X(UNAUTHORIZED,        401, "UNAUTHORIZED",           "the caller is not authenticated") \
    X(FORBIDDEN,           403, "FORBIDDEN",              "the caller may not do this") \
    X(OPEN_ACCESS,         403, "OPEN_ACCESS_DISABLED",   "the server has no password and serves its own machine only") \
    X(LICENSE,             403, "LICENSE_ERROR",          "the feature is not enabled") \
    X(NOT_FOUND,           404, "NOT_FOUND",              "not found") \
    X(METHOD_NOT_ALLOWED,  405, "METHOD_NOT_ALLOWED",     "the method is not allowed here") \
    X(CONFLICT,            409, "CONFLICT",               "it already exists") \
    X(SHARD_LEADER,        409, "SHARD_LEADER_CONFLICT",  "the request touches shards of several leaders") \
    X(SHARD_COUNT,         409, "SHARD_COUNT_MISMATCH",   "the shard counts differ") \
    X(TOO_LARGE,           413, "PAYLOAD_TOO_LARGE",      "a size limit is exceeded") \
    X(KEY_REUSED,          422, "IDEMPOTENCY_KEY_REUSED", "the Idempotency-Key was used with another body") \
    X(RATE_LIMITED,        429, "RATE_LIMITED",           "rate limit exceeded") \
    X(OVERLOADED,          429, "OVERLOADED",             "the write pipeline is full") \
    X(BUDGET_EXCEEDED,     429, "BUDGET_EXCEEDED",        "a budget is exceeded") \
    X(INTERNAL,            500, "INTERNAL_ERROR",         "storage or replication failed") \
    X(STORE,               500, "STORE_ERROR",            "storage failed") \
    X(SEARCH,              500, "SEARCH_ERROR",           "the search failed") \
    X(BACKUP,              500, "BACKUP_ERROR",           "the backup failed") \
    X(BILLING,             500, "BILLING_ERROR",          "the billing summary failed") \
    X(SSE_UNSUPPORTED,     500, "SSE_UNSUPPORTED",        "the connection cannot stream") \
    X(UNSUPPORTED,         501, "UNSUPPORTED",            "the operation needs a cluster") \
    X(UNHEALTHY,           503, "UNHEALTHY",              "the node is not healthy") \
    X(LEADER_UNAVAILABLE,  503, "LEADER_UNAVAILABLE",     "leader unavailable") \
    X(FORWARD_LOOP,        503, "FORWARD_LOOP",           "the request was forwarded to a node that does not lead") \
    X(NO_SPACE,            503, "UNHEALTHY",              "the disk is nearly full") \
    X(UNKNOWN_OUTCOME,     503, "UNKNOWN_OUTCOME",        "leadership was lost while the write was under way; it may or may not have happened") \
    /* below: never sent to a client unchanged */ \
    X(STOPPING,            503, "UNHEALTHY",              "the server is stopping") \
    X(IO,                  500, "INTERNAL_ERROR",         "an input or output error") \
    X(CORRUPT,             500, "INTERNAL_ERROR",         "stored data is damaged") \
    /* added later, at the end: results in the store contain these numbers */ \
    X(LEADER_UNREACHABLE,  502, "LEADER_UNREACHABLE",     "the leader did not answer") \
    X(QUOTA,               429, "QUOTA_EXCEEDED",         "a quota of the namespace is used up") \
    X(FIELD_TOO_LARGE,     413, "PAYLOAD_TOO_LARGE",      "a field is larger than its limit") \
    X(DEADLINE,            504, "LEADER_UNAVAILABLE",     "the deadline has passed")
/* clang-format on */

enum err_code {
#define ERR_ENUM(code, http, wire, text) ERR_##code,
    ERR_LIST(ERR_ENUM)
#undef ERR_ENUM
        ERR_CODE_COUNT
};

struct err {
    enum err_code code;
    int sys;       /* errno, or the code of the library that failed; 0 if none */
    char msg[240]; /* one line, no trailing newline, safe to show to the caller */
};

/* Clear the code and the message. */
static inline void err_clear(struct err *err)
{
    err->code = ERR_OK;
    err->sys = 0;
    err->msg[0] = '\0';
}

/* Set the error and return its code, so that failing is one line: return err_set(err, …). */
enum err_code err_set(struct err *err, enum err_code code, const char *fmt, ...) ATTR_PRINTF(3, 4);

/* Set the code with the text of its row. */
enum err_code err_set_default(struct err *err, enum err_code code);

/* Prepend the context of an error: "open view: disk is full". */
enum err_code err_wrap(struct err *err, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* Record errno; call it before any other call can change errno. ENOSPC and EDQUOT become
 * ERR_NO_SPACE, everything else ERR_IO. */
enum err_code err_from_errno(struct err *err, const char *call);

int err_http_status(enum err_code code);
const char *err_wire(enum err_code code);
const char *err_text(enum err_code code);
