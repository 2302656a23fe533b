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

/* Any agent makes it an agent's job. */
struct svc_enqueue_agent {
    int64_t max_iterations; /* 0 or less: no limit */
    double max_cost_usd;    /* the same */
    struct str iteration_timeout;
};

/* A job as it is asked for. Begin with SVC_ENQUEUE_DEFAULTS; what is empty, NULL or 0 is not set.
 */
struct svc_enqueue_job {
    struct str queue;     /* as the caller names it */
    struct str payload;   /* JSON; not set: that of the chain's first step, or {} */
    bool payload_checked; /* the dialect has read it as JSON; otherwise that is done later */
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
    struct str *depends_on;  /* ids; blanks are passed over */
    size_t depends_on_count;
    struct svc_chain *chain; /* begins one; the three raw members above are ignored */
    struct str batch_id;
    struct svc_push *push; /* the server delivers it; NULL: a worker fetches it */
};

/* For the beginning of an initializer. */
#define SVC_ENQUEUE_DEFAULTS                                                                       \
    .priority = JOB_PRIORITY_NORMAL, .max_retries = JOB_MAX_RETRIES,                               \
    .retry_backoff = JOB_BACKOFF_EXPONENTIAL, .retry_base_ms = JOB_RETRY_BASE_MS,                  \
    .retry_max_ms = JOB_RETRY_MAX_MS

/* The command of one job. Its template is in *room, which lives until the command is submitted. */
ATTR_NODISCARD enum err_code svc_enqueue_one(const struct svc_caller *who,
                                             const struct svc_enqueue_job *job,
                                             struct command_new *room, struct command *out,
                                             struct err *err);

/* The command of a list of jobs, all of which are made or none: where they are put. */
ATTR_NODISCARD enum err_code svc_enqueue_list(const struct svc_caller *who, size_t count,
                                              struct command *out, struct err *err);
ATTR_NODISCARD enum err_code svc_enqueue_put(const struct svc_caller *who, struct command *command,
                                             size_t at, const struct svc_enqueue_job *job,
                                             struct err *err);
/* The jobs of the list are a batch, which ends with the last of them. */
ATTR_NODISCARD enum err_code svc_enqueue_as_batch(const struct svc_caller *who,
                                                  struct command *command,
                                                  const struct svc_batch *batch, struct err *err);

/* A key under which the answer is kept for a day: whoever asks again with it gets the first
 * answer, and is refused when the body is another. The same key in another namespace, or on another
 * route, is another. */
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
    struct str target; /* path and query, where they say what is asked; else empty */
    struct str body;
};
/* Of an enqueue, a replay, a new batch or a run of a schedule. Nothing happens when the key is
 * empty. */
ATTR_NODISCARD enum err_code svc_enqueue_once(const struct svc_caller *who, struct command *command,
                                              const struct svc_once *once, struct err *err);

/* What an urgency of 0 to 100 comes to, as clients of later generations give it: 75 and more are
 * high, 90 and more critical. */
ATTR_NODISCARD enum err_code svc_enqueue_urgency(int64_t urgency, int *out_priority,
                                                 struct err *err);
/* The number of a priority as the caller reads it: 0 to 2, or an urgency that means the same. */
int64_t svc_enqueue_priority(const struct svc_caller *who, uint8_t priority);

/* What became of a job. */
struct svc_enqueued {
    struct id job;
    struct str queue;   /* as the caller names it; empty: not known */
    const char *status; /* "pending", "scheduled" or "duplicate" */
    bool is_duplicate;  /* the job is the one that holds the unique key */
};

/* `queue` is the one that was asked for. */
struct svc_enqueued svc_enqueue_answer(const struct svc_caller *who, const struct result_item *item,
                                       struct str queue);
