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

struct command_jobs {
    enum command_job_action action;
    bool lenient; /* missing jobs and other states are passed over; otherwise there is one job */
    bool reset_attempts;
    uint8_t priority; /* for a change of it */
    struct str queue; /* to move to */
    struct str reason;
    struct job_fit
        fit; /* of a filter: others are passed over as if they were missing; lenient only */
    struct id *ids;
    size_t count;
};

/* By filter, or by ids; which jobs a filter means is found step by step. */
struct command_bulk_put {
    enum command_job_action action;
    bool reset_attempts;
    uint8_t priority;
    struct str queue;
    struct str reason;
    struct str ns;      /* only jobs that are visible there */
    struct str scope;   /* of these, jobs of these queues (core/queue_scope.h); empty: of all */
    struct str filter;  /* a JSON object; empty: by ids */
    struct job_fit fit; /* what of it each step looks at once more */
    uint64_t total;     /* jobs that are meant, as far as is known */
    uint64_t errors;    /* of these, what was no id at all: done with */
    struct id *ids;
    size_t count;
};

struct command_bulk_step {
    struct id id;
    uint32_t step;    /* how many were done before: a step that comes twice is refused */
    bool last;        /* by filter: there are no more */
    struct id cursor; /* by filter: jobs up to this one are done with this step */
    struct id *ids;
    size_t count;
};

struct command_bulk_end {
    struct id id;
    bool cancelled; /* else it has failed */
    struct str error;
};
