/*
 * Job_move: which operations are allowed in which state of a job (http-api.md 5.2).
 *
 * The table contains the next state for each operation and state, or that the operation is refused.
 * The code that applies the operation makes the other changes. An operation with several outcomes
 * (an ack can complete, continue or hold a job) has a row for each.
 *
 *   scheduled --due--> pending --claim--> active --ack--> completed
 *                         ^                  |--fail--> retrying --due--> pending
 *                         |                  |--exhaust--> dead
 *                         +--lease expired---+
 *
 * The picture shows the common transitions; the table in job_move.c is complete.
 */
#pragma once

#include <stdbool.h>

#include "core/job.h"

#define JOB_MOVE_LIST(X)                                                                           \
    X(CLAIM, "claim")                                                                              \
    X(COMPLETE, "ack") /* an ack that ends the job */                                              \
    X(CONTINUE, "ack") /* an agent's ack that requests another iteration */                        \
    X(ACK_HOLD, "ack") /* an agent's ack that requests approval, or exceeds a limit */             \
    X(FAIL, "fail")    /* a failure with attempts left */                                          \
    X(EXHAUST, "fail") /* a failure with no attempts left */                                       \
    X(RETRY, "retry")                                                                              \
    X(REQUEUE, "requeue")                                                                          \
    X(CANCEL, "cancel")                                                                            \
    X(HOLD, "hold")                                                                                \
    X(APPROVE, "approve")                                                                          \
    X(REJECT, "reject")                                                                            \
    X(PROMOTE, "promote") /* the scheduled time is reached */                                      \
    X(RECLAIM, "reclaim") /* the lease expired */                                                  \
    X(REARM, "re-arm")    /* a run of a recurring job has ended; the next is scheduled */          \
    X(EXPIRE, "expire")

enum job_move {
#define JOB_MOVE_ENUM(name, word) JOB_MOVE_##name,
    JOB_MOVE_LIST(JOB_MOVE_ENUM)
#undef JOB_MOVE_ENUM
        JOB_MOVE_COUNT
};

/* The state after the move. False if the move is refused. */
ATTR_NODISCARD bool job_move_target(enum job_state from, enum job_move move, enum job_state *out);

/* The word for the operation in messages. */
const char *job_move_word(enum job_move move);
