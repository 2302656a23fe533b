/*
 * Members of the documents about what happened: a part of rest_answer_table.c.
 */
#pragma once

#include "rest/describe/rest_answer_int.h"

/* clang-format off */

static const struct rest_answer_member times[] = {
    {"count",   "integer", "Number of jobs measured."},
    {"mean_ms", "integer", "Mean, in milliseconds."},
    {"p50_ms",  "integer", "Half of the jobs took at most this long."},
    {"p90_ms",  "integer", "90 % of the jobs took at most this long."},
    {"p99_ms",  "integer", "99 % of the jobs took at most this long."},
    {"max_ms",  "integer", "The longest time."},
};

#define HISTORY_MEMBERS                                                                            \
    {"enqueued?",  "integer", "Jobs created."},                                                    \
    {"started?",   "integer", "Attempts handed to a worker."},                                     \
    {"completed?", "integer", "Jobs completed."},                                                  \
    {"failed?",    "integer", "Attempts that failed or timed out."},                               \
    {"retried?",   "integer", "Failed attempts that will be tried again."},                        \
    {"dead?",      "integer", "Jobs that used up their attempts, were rejected or expired."},      \
    {"cancelled?", "integer", "Jobs cancelled."},                                                  \
    {"expired?",   "integer", "Jobs that expired."},                                               \
    {"depth?",     "integer", "Pending jobs at the end of the step."},                             \
    {"depth_max?", "integer", "Largest number of pending jobs seen in the step."},                 \
    {"workers?",   "integer", "Known workers at the end of the step. Only if no queue is named."}, \
    {"wait?",      "Times",   "Time from ready to run until a worker fetched the job."},           \
    {"run?",       "Times",   "Time from fetch until completion or failure."}

static const struct rest_answer_member history_point[] = {
    {"at", "time", "Start of the step."},
    HISTORY_MEMBERS,
};

static const struct rest_answer_member history_sum[] = {HISTORY_MEMBERS};

static const struct rest_answer_member history[] = {
    {"queue?",       "string",         "The queue, if one was named."},
    {"from",         "time",           "Start of the first step."},
    {"to",           "time",           "End of the last step."},
    {"step_seconds", "integer",        "Length of a step."},
    {"points",       "[HistoryPoint]", "One per step, oldest first."},
    {"totals",       "HistorySum",     "Totals of the range."},
};

static const struct rest_answer_member error_queue[] = {
    {"queue", "string",  "Name of the queue."},
    {"count", "integer", "Failed attempts in the queue."},
};

static const struct rest_answer_member error_example[] = {
    {"job_id", "string", "ID of the job that failed most recently with this error."},
    {"error",  "string", "Full error message."},
};

static const struct rest_answer_member error_group[] = {
    {"fingerprint", "string",       "Identifies the group. Use it as error_fingerprint in a search or a bulk filter."},
    {"message",     "string",       "First line of the error, with numbers, ids, addresses and paths replaced."},
    {"count",       "integer",      "Failed attempts."},
    {"jobs",        "integer",      "Jobs with this error."},
    {"dead",        "integer",      "Jobs with this error that are dead now."},
    {"first_seen",  "time",         "First failure in the range."},
    {"last_seen",   "time",         "Last failure in the range."},
    {"example",     "ErrorExample", "Most recent failure."},
    {"queues",      "[ErrorQueue]", "The five queues with the most failures."},
    {"chart",       "[integer]",    "Failures in 24 equal parts of the range."},
};

static const struct rest_answer_member error_groups[] = {
    {"from",   "time",         "Start of the range."},
    {"to",     "time",         "End of the range."},
    {"total",  "integer",      "Failed attempts in the range, in all groups."},
    {"groups", "[ErrorGroup]", "Groups, most frequent first."},
};

/* clang-format on */
