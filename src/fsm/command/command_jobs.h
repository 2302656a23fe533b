/*
 * Command_jobs: operators' actions on jobs, as commands: on one job, on a chunk of jobs, or as a
 * bulk operation in the background (http-api.md 9, 11).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/str.h"
#include "core/job_fit.h"

/* The numbers are on the wire. */
enum command_job_action {
    COMMAND_JOB_RETRY = 1,
    COMMAND_JOB_REQUEUE,
    COMMAND_JOB_CANCEL,
    COMMAND_JOB_HOLD,
    COMMAND_JOB_APPROVE,
    COMMAND_JOB_REJECT,
    COMMAND_JOB_MOVE,
    COMMAND_JOB_CHANGE_PRIORITY,
    COMMAND_JOB_DELETE,
    COMMAND_JOB_ACTION_LAST = COMMAND_JOB_DELETE
};

/* Does the action end or remove the jobs that it changes? */
static inline bool command_job_action_ends(enum command_job_action action)
{
    return action == COMMAND_JOB_CANCEL || action == COMMAND_JOB_REJECT ||
           action == COMMAND_JOB_DELETE;
}

struct command_jobs {
    enum command_job_action action;
    bool lenient; /* skip jobs that are missing or in another state; if false, there is one job */
    bool reset_attempts;
    uint8_t priority; /* new priority */
    struct str queue; /* to move to */
    struct str reason;
    struct job_fit fit; /* jobs that do not match are skipped; only if lenient */
    struct id *ids;
    size_t count;
    /* not part of the bytes */
    struct id until; /* jobs that came later are skipped, and those that later requests rely on */
};

/* Selects jobs by filter or by ids. The jobs that match a filter are found step by step. */
struct command_bulk_put {
    enum command_job_action action;
    bool reset_attempts;
    uint8_t priority;
    struct str queue;
    struct str reason;
    struct str ns;      /* only jobs visible in this namespace */
    struct str scope;   /* only jobs of these queues (core/queue_scope.h); empty: all queues */
    struct str filter;  /* a JSON object; empty: by ids */
    struct job_fit fit; /* the part of the filter that each step checks again */
    uint64_t total;     /* estimated number of jobs */
    uint64_t errors;    /* of these, how many were not valid ids */
    struct id *ids;
    size_t count;
};

struct command_bulk_step {
    struct id id;
    uint32_t step;    /* number of completed steps; if it differs, the step is refused */
    bool last;        /* by filter: this is the last step */
    struct id cursor; /* by filter: this step completes all jobs up to this id */
    struct id *ids;
    size_t count;
};

struct command_bulk_end {
    struct id id;
    bool cancelled; /* otherwise it failed */
    struct str error;
};
