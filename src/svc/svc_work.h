/*
 * Svc_work: fetch, ack and fail (http-api.md 8). For heartbeats, see svc_beat.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "json/json_schema.h"
#include "svc/svc_caller.h"
#include "svc/svc_usage.h"

/* Fetch */

struct svc_work_fetch {
    struct str *queues; /* the caller's names, in order of preference */
    size_t queues_count;
    struct str worker_id;
    struct str hostname;
    struct str version;     /* of the worker program; empty: the caller's */
    int64_t timeout;        /* seconds to wait for a job; 0 or less: the default */
    int64_t lease_duration; /* seconds; 0: the longer of the default and the wait */
    int64_t count;          /* maximum number of jobs; less than 1 counts as 1 */
};

/* The maximum number of jobs, within the server's limits. */
uint32_t svc_work_fetch_count(const struct svc_work_fetch *in);

/* Build the command. *out_wait_ms is how long the request may wait for a job. */
ATTR_NODISCARD enum err_code svc_work_claim(const struct svc_caller *who,
                                            const struct svc_work_fetch *in, struct command *out,
                                            int64_t *out_wait_ms, struct err *err);

/* Add a fetch to an ack, executed after it in the same log entry (command_ack.next). Waits for a
 * job only if the request has a timeout. *room must be valid until the command is submitted. */
ATTR_NODISCARD enum err_code svc_work_next(const struct svc_caller *who,
                                           const struct svc_work_fetch *in,
                                           struct command_claim *room, struct command *ack,
                                           int64_t *out_wait_ms, struct err *err);

/* A job as a worker gets it; texts are views of the result. */
struct svc_work_fetched {
    struct id id;
    struct str queue; /* the caller's name of the queue */
    struct str payload;
    uint32_t attempt;
    uint32_t max_retries;
    int64_t lease_s;
    uint64_t lease_token;
    struct str checkpoint; /* JSON or empty */
    struct str tags;       /* JSON or empty */
    bool is_agent;
    struct job_agent agent;
};

/* ERR_INTERNAL if the document cannot be decoded. */
ATTR_NODISCARD enum err_code svc_work_fetched(const struct svc_caller *who,
                                              const struct result_item *item,
                                              struct svc_work_fetched *out, struct err *err);

/* A checkpoint or progress as JSON; empty if it is null, which supplies none. */
struct str svc_work_given(struct str json);

/* Ack */

struct svc_work_ack {
    struct str job_id;
    int64_t lease_token; /* 0: none */
    struct str result;   /* JSON; empty: none */
    struct str checkpoint;
    struct svc_usage *usage;
    struct str agent_status; /* one of the words below, in any case, or empty */
    struct str ack_status;
    struct str hold_reason;
    struct str step_status;
    struct str exit_reason;
};

extern const struct json_word svc_work_agent_words[]; /* how an agent's iteration ended */
extern const struct json_word svc_work_ack_words[];   /* how any job's run ended */
extern const struct json_word svc_work_step_words[];  /* whether a chain continues */

/* Acknowledge one job, which must exist and be active. *room must be valid until the command is
 * submitted. */
ATTR_NODISCARD enum err_code svc_work_ack_one(const struct svc_caller *who,
                                              const struct svc_work_ack *ack,
                                              struct command_ack_item *room, struct command *out,
                                              struct err *err);

/* Acknowledge several jobs; those that cannot be acknowledged are skipped. Invalid ids and jobs
 * that the caller may not use are left out of the command. If it is empty, do not submit it.
 * Rejecting budgets apply to each job, unless the caller sets any_cost in the command. */
ATTR_NODISCARD enum err_code svc_work_ack_many(const struct svc_caller *who,
                                               const struct svc_work_ack *acks, size_t count,
                                               struct command *out, struct err *err);

/* Fail */

struct svc_work_fail {
    struct str job_id;
    struct str error; /* truncated if too long */
    struct str backtrace;
    int64_t lease_token;
};

ATTR_NODISCARD enum err_code svc_work_fail(const struct svc_caller *who,
                                           const struct svc_work_fail *in, struct command *out,
                                           struct err *err);

struct svc_work_failed {
    const char *status; /* "retrying" or "dead" */
    struct wall next_attempt_at;
    uint32_t attempts_remaining;
    uint32_t attempt;
};

struct svc_work_failed svc_work_fail_answer(const struct result *r);
