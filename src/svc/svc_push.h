/*
 * Svc_push: push targets as clients write them (scheduler.md 21.1).
 */
#pragma once

#include "json/json_schema.h"
#include "svc/svc_caller.h"

struct svc_push_auth {
    struct str type; /* bearer or basic */
    struct str token;
    struct str username, password;
};

struct svc_push {
    struct str url;
    struct str method;
    struct str headers; /* JSON object of strings */
    int64_t timeout_ms;
    struct svc_push_auth *auth;
    int64_t success_below;
    struct str body;
    bool keep_answer;
};

extern const struct json_schema svc_push_schema;

/* Check a target and convert it to the stored form (fsm/command/push_target.h). */
ATTR_NODISCARD enum err_code svc_push_define(const struct svc_caller *who,
                                             const struct svc_push *push, struct str *out,
                                             struct err *err);
