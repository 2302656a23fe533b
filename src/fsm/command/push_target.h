/*
 * Push_target: the URL to which the server delivers a job (scheduler.md 6, 21).
 *
 * A job carries its target as one JSON object, which svc creates from the client's request:
 *
 *   {"url", "method"?, "headers"?: {…}, "timeout_ms"?, "auth"?: {"type", "token" | "username",
 *    "password"}, "success_below"?, "body"?, "keep_answer"?}
 *
 * Chains and schedules pass it on as text. It contains secrets: only the output of push_target_show
 * may be sent to a client.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json_write.h"

/* Defaults of the contract. */
enum { PUSH_TARGET_TIMEOUT_MS = 300000, PUSH_TARGET_SUCCESS_BELOW = 400 };

enum push_target_auth { PUSH_TARGET_OPEN, PUSH_TARGET_BEARER, PUSH_TARGET_BASIC };

struct push_target {
    struct str url; /* empty: nothing is called, and the run succeeds */
    struct str method;
    struct str headers; /* JSON object of strings; empty: none */
    struct str body;    /* a template; empty: the payload */
    enum push_target_auth auth;
    struct str user;   /* basic */
    struct str secret; /* token or password */
    int64_t timeout_ms;
    int64_t success_below;
    bool keep_answer;
};

/* Decode a target; texts are views of json or are in the arena. ERR_VALIDATION names the wrong
 * member. A target that is accepted here can be called. */
ATTR_NODISCARD enum err_code push_target_read(struct str json, struct arena *a,
                                              struct push_target *out, struct err *err);

/* Encode as JSON. Members with default values are left out. */
void push_target_write(const struct push_target *t, struct buf *out);

/* As clients may see it: without tokens, passwords and the values of headers. */
void push_target_show(struct str json, struct json_write *w);
/* Is this the output of push_target_show for a target with secrets? Then it cannot be used for
 * calls. */
bool push_target_is_redacted(struct str json);

/* "host:port" of the target's URL in lower case; empty if the URL cannot be called. */
void push_target_host(struct str json, struct buf *out);

int64_t push_target_timeout_ms(struct str json);
