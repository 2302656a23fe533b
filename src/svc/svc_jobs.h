/*
 * Svc_jobs: operators' actions on one job (http-api.md 9). For many jobs, see svc_bulk.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "svc/svc_caller.h"

struct svc_jobs_action {
    enum command_job_action action;
    struct str job_id;
    struct str reason;   /* hold, reject */
    struct str queue;    /* move: as the caller names it */
    bool reset_attempts; /* move */
};

/* *room lives until the command is submitted. */
ATTR_NODISCARD enum err_code svc_jobs_act(const struct svc_caller *who,
                                          const struct svc_jobs_action *in, struct id *room,
                                          struct command *out, struct err *err);

/* What is said when it has worked: "retried", "cancelling" … */
const char *svc_jobs_acted(enum command_job_action action, const struct result *r);

/* A new job from one of an agent's iterations. */
ATTR_NODISCARD enum err_code svc_jobs_replay(const struct svc_caller *who, struct str job_id,
                                             int64_t from, struct command *out, struct err *err);
