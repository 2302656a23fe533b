/*
 * Job: a decoded job document.
 *
 * Text members are views of the bytes they were decoded from, or of a command. A struct job owns
 * nothing and is passed by pointer while an operation is applied. The stored form and the form that
 * clients see are both created from it. Times are 0 and texts are empty if not set, except payload
 * and result, where an explicit JSON null is the text "null".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/str.h"

/* Numbers of the stored format. */
enum job_state {
    JOB_SCHEDULED = 0, /* waiting for its time */
    JOB_PENDING = 1,   /* claimable when queue rules and dependencies allow */
    JOB_ACTIVE = 2,    /* claimed, its lease is running */
    JOB_RETRYING = 3,  /* failed, waiting for its back-off */
    JOB_HELD = 4,      /* waiting for approve or reject */
    JOB_COMPLETED = 5,
    JOB_DEAD = 6, /* retries used up, rejected or expired */
    JOB_CANCELLED = 7,
    JOB_STATE_COUNT
};

/* Numbers of the stored format. */
enum job_backoff {
    JOB_BACKOFF_NONE,
    JOB_BACKOFF_FIXED,
    JOB_BACKOFF_LINEAR,
    JOB_BACKOFF_EXPONENTIAL
};

/* Name, number and word: the numbers are stored, the words are part of the contract. */
#define JOB_PRIORITY_LIST(X)                                                                       \
    X(CRITICAL, 0, "critical")                                                                     \
    X(HIGH, 1, "high")                                                                             \
    X(NORMAL, 2, "normal")

enum {
#define JOB_PRIORITY_ENUM(name, number, word) JOB_PRIORITY_##name = (number),
    JOB_PRIORITY_LIST(JOB_PRIORITY_ENUM)
#undef JOB_PRIORITY_ENUM
};

/* How the worker with the last claim ended it, so that a repeated request whose response was lost
 * can be recognized. Numbers of the stored format. */
enum job_ended {
    JOB_ENDED_NOT = 0, /* not by the worker: running, lease lost, or operator action */
    JOB_ENDED_ACK = 1,
    JOB_ENDED_FAIL = 2,
    JOB_ENDED_CONTINUE = 3, /* the ack requested another iteration, and the job was held */
};

/* How the last try of a job that the server itself delivers ended. Numbers of the stored format. */
enum job_outcome {
    JOB_OUTCOME_NONE = 0,
    JOB_OUTCOME_COMPLETED = 1,
    JOB_OUTCOME_FAILED = 2,
    JOB_OUTCOME_TIMEOUT = 3, /* the node that made the call was lost */
    JOB_OUTCOME_CANCELLED = 4,
    JOB_OUTCOME_COUNT
};

/* Defaults of the contract. */
enum {
    JOB_MAX_RETRIES = 3,
    JOB_RETRY_BASE_MS = 5000,
    JOB_RETRY_MAX_MS = 600000,
    JOB_UNIQUE_PERIOD_S = 3600,
    JOB_LEASE_MS = 60000, /* also what a heartbeat extends the lease to */
};

/* Defaults of a job: first part of an initializer. */
#define JOB_DEFAULTS                                                                               \
    .priority = JOB_PRIORITY_NORMAL, .backoff = JOB_BACKOFF_EXPONENTIAL,                           \
    .max_retries = JOB_MAX_RETRIES, .retry_base_ms = JOB_RETRY_BASE_MS,                            \
    .retry_max_ms = JOB_RETRY_MAX_MS

/* chain_step of the handlers of a chain. */
enum { JOB_STEP_ON_EXIT = -1, JOB_STEP_ON_FAILURE = -2 };

/* Money is counted in billionths of a dollar: sums of floating-point numbers differ between
 * machines. */
#define JOB_NUSD_PER_USD 1000000000LL

struct job_agent {
    int64_t max_iterations; /* 0: no limit */
    int64_t max_cost_nusd;  /* 0: no limit */
    int64_t timeout_ms;     /* per iteration; 0: none */
    struct str timeout;     /* as received */
    int64_t iteration;      /* from 1 */
    int64_t total_cost_nusd;
};

struct job {
    struct id id;
    struct str queue;
    struct str payload;
    enum job_state state;
    uint8_t priority;
    enum job_backoff backoff;
    uint32_t attempt;
    uint32_t max_retries;
    int64_t retry_base_ms;
    int64_t retry_max_ms; /* 0: no cap */

    uint64_t order;       /* position among the pending jobs, lowest first; 0: not pending */
    uint64_t lease_token; /* of the last claim; only increases */
    enum job_ended ended; /* of that claim */
    uint64_t version;     /* index of the log entry that wrote this document */

    struct wall created_at;
    struct wall scheduled_at;
    struct wall expire_at;
    struct wall started_at;
    struct wall completed_at;
    struct wall failed_at;
    struct wall cancelled_at;
    struct wall lease_expires_at;
    struct wall fail_ended_at; /* for JOB_ENDED_FAIL: the time */
    struct wall ready_at; /* when it became claimable, if later than created_at; 0 once claimed */

    int64_t unique_period_s;
    struct str unique_key;
    struct id batch_id;
    bool batch_counted; /* the batch has counted its end */
    struct str worker_id;
    struct str hostname;
    struct str tags;
    struct str progress;
    struct str checkpoint;
    struct str result;
    struct str parent_id;
    struct str chain_id;
    int32_t chain_step;
    bool has_chain_step;
    struct str chain_config;
    struct str hold_reason;
    struct id schedule_id;
    struct id joined; /* id created when an operator or a backup last put the job into its queue or
                         back into line; none: never */
    struct id waits_since; /* id created when the job became pending or scheduled again while a
                              clear of its queue could be in progress; otherwise none */
    bool is_agent;
    struct job_agent agent;
    struct str waits_for; /* ids of unmet dependencies, ID_BYTES each */

    uint32_t error_count;     /* error entries ever written; the newest LIMIT_JOB_ERRORS are kept */
    uint32_t iteration_count; /* iteration rows */
    uint32_t usage_count;     /* usage rows */
    uint32_t usage_summed;    /* usage rows, from the first on, included in usage_nusd */
    int64_t usage_nusd;       /* cost of these rows */

    /* For jobs that the server itself delivers (scheduler.md 21); empty and 0 for all others. */
    struct str push;    /* target: a JSON object, see fsm/command/push_target.h. Contains secrets */
    struct wall due_at; /* of the waiting, active or last run */
    struct wall first_try_at; /* of that run */
    uint32_t try_count;       /* rows of tries ever written… */
    uint32_t try_first;       /* …of which those before this one were removed */
    uint32_t outcome;         /* of the last try: enum job_outcome */
    struct str cancel_reason;
    struct str name;        /* given by its creator; unique in its queue */
    uint64_t definition;    /* hash of the creator's definition under that name */
    uint32_t counted_bytes; /* its share of the queue's capacity until it ends */
    struct str cron;        /* repeats after each run… */
    struct wall cron_until; /* …until this time; 0: without end */
};

static inline bool job_state_is_terminal(enum job_state s)
{
    return s == JOB_COMPLETED || s == JOB_DEAD || s == JOB_CANCELLED;
}

const char *job_state_name(enum job_state s);
const char *job_backoff_name(enum job_backoff b);
const char *job_outcome_name(unsigned outcome); /* empty for 0 */
ATTR_NODISCARD bool job_state_parse(struct str name, enum job_state *out);
ATTR_NODISCARD bool job_backoff_parse(struct str name, enum job_backoff *out);

/* Return the delay before the next attempt, after a failure of the given attempt, counted from
 * 1. */
int64_t job_backoff_delay_ms(const struct job *j, uint32_t attempt);

/* Return how the last try failed, for a job that waits for its next try or has none left: failed or
 * timed out. None: it did not fail, or the reason why it waits is unknown. */
enum job_outcome job_last_failure(const struct job *j);

/* Return the attempts left after the current attempt of j failed. */
uint32_t job_attempts_remaining(const struct job *j);
