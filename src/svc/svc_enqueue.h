/*
 * Svc_enqueue: new jobs (http-api.md 6, 7.1, 7.2).
 *
 * One job:   svc_enqueue_one, with memory for the template.
 * A list:    svc_enqueue_list, then svc_enqueue_put for each job in order, and svc_enqueue_as_batch
 *            if they form a batch.
 * Then svc_enqueue_once, if the caller may repeat the request without knowing whether it succeeded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "svc/svc_batch.h"
#include "svc/svc_caller.h"
#include "svc/svc_chain.h"
#include "svc/svc_push.h"

/* Settings of an agent job. Their presence makes the job an agent job, even if all are 0. */
struct svc_enqueue_agent {
    int64_t max_iterations; /* 0 or less: no limit */
    double max_cost_usd;    /* the same */
    struct str iteration_timeout;
};

/* A job as requested. Begin with SVC_ENQUEUE_DEFAULTS; empty, NULL or 0 means not set. */
struct svc_enqueue_job {
    struct str queue;     /* the caller's name of the queue */
    struct str payload;   /* JSON; by default that of the chain's first step, or {} */
    bool payload_checked; /* the dialect has checked that it is JSON; else checked later */
    int priority;
    struct str unique_key;
    int64_t unique_period; /* seconds; 0 or less: the default */
    int64_t max_retries;
    int retry_backoff;
    int64_t retry_base_ms;
    int64_t retry_max_ms; /* 0: no cap */
    int64_t expire_after_ms;
    struct wall scheduled_at;
    struct str tags;       /* JSON object */
    struct str checkpoint; /* JSON */
    struct svc_enqueue_agent *agent;
    struct str parent_id;
    struct str chain_id;
    int64_t chain_step;
    bool has_chain_step;
    struct str chain_config; /* JSON object */
    struct str *depends_on;  /* ids; blank ones are ignored */
    size_t depends_on_count;
    struct svc_chain *chain; /* begins a chain; the raw chain members above are ignored */
    struct str batch_id;
    struct svc_push *push; /* the server delivers the job; NULL: a worker fetches it */
};

/* First part of an initializer. */
#define SVC_ENQUEUE_DEFAULTS                                                                       \
    .priority = JOB_PRIORITY_NORMAL, .max_retries = JOB_MAX_RETRIES,                               \
    .retry_backoff = JOB_BACKOFF_EXPONENTIAL, .retry_base_ms = JOB_RETRY_BASE_MS,                  \
    .retry_max_ms = JOB_RETRY_MAX_MS

/* Build the command for one job. *room holds its template and must be valid until the command is
 * submitted. */
ATTR_NODISCARD enum err_code svc_enqueue_one(const struct svc_caller *who,
                                             const struct svc_enqueue_job *job,
                                             struct command_new *room, struct command *out,
                                             struct err *err);

/* Begin the command for a list of jobs: either all of them are created or none. */
ATTR_NODISCARD enum err_code svc_enqueue_list(const struct svc_caller *who, size_t count,
                                              struct command *out, struct err *err);
ATTR_NODISCARD enum err_code svc_enqueue_put(const struct svc_caller *who, struct command *command,
                                             size_t at, const struct svc_enqueue_job *job,
                                             struct err *err);
/* Make the jobs of the list a sealed batch: it ends when the last of them has ended. */
ATTR_NODISCARD enum err_code svc_enqueue_as_batch(const struct svc_caller *who,
                                                  struct command *command,
                                                  const struct svc_batch *batch, struct err *err);

/* An idempotency key, under which the response is kept for a day. A repeated request gets the first
 * response, or an error if its body differs. Keys are separate for each namespace and route. */
enum svc_once_route {
    SVC_ONCE_ONE,
    SVC_ONCE_MANY,
    SVC_ONCE_INGEST,
    SVC_ONCE_REPLAY,
    SVC_ONCE_BATCH,
    SVC_ONCE_RUN,
    SVC_ONCE_COUNT
};
struct svc_once {
    enum svc_once_route route;
    struct str key;
    struct str target; /* path and query, if they are part of the request's meaning; else empty */
    struct str body;
};
/* Add the key to the command of an enqueue, a replay, a new batch or a run of a schedule. Does
 * nothing if the key is empty. */
ATTR_NODISCARD enum err_code svc_enqueue_once(const struct svc_caller *who, struct command *command,
                                              const struct svc_once *once, struct err *err);

/* Convert a priority of 0 to 100, as newer API generations use it: from 75 on high, from 90 on
 * critical. */
ATTR_NODISCARD enum err_code svc_enqueue_urgency(int64_t urgency, int *out_priority,
                                                 struct err *err);
/* Convert a priority to the caller's scale: 0 to 2, or an equivalent in 0 to 100. */
int64_t svc_enqueue_priority(const struct svc_caller *who, uint8_t priority);

/* The result for one job. */
struct svc_enqueued {
    struct id job;
    struct str queue;   /* the caller's name of the queue; empty: unknown */
    const char *status; /* "pending", "scheduled" or "duplicate" */
    bool is_duplicate;  /* the job is the existing one with the unique key */
};

/* queue is the one in the request. */
struct svc_enqueued svc_enqueue_answer(const struct svc_caller *who, const struct result_item *item,
                                       struct str queue);
