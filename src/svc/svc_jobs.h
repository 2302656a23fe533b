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
    struct str queue;    /* move: the caller's name of the queue */
    bool reset_attempts; /* move */
};

/* Build the command. *room must be valid until the command is submitted. */
ATTR_NODISCARD enum err_code svc_jobs_act(const struct svc_caller *who,
                                          const struct svc_jobs_action *in, struct id *room,
                                          struct command *out, struct err *err);

/* The status word in the response: "retried", "cancelling" … */
const char *svc_jobs_acted(enum command_job_action action, const struct result *r);

/* Create a new job from an iteration of an agent job. */
ATTR_NODISCARD enum err_code svc_jobs_replay(const struct svc_caller *who, struct str job_id,
                                             int64_t from, struct command *out, struct err *err);
