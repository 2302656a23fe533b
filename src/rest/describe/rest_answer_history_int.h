/*
 * Members of the history documents. A part of rest_answer_table.c.
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
    {"oldest_ms?", "integer", "Greatest age of the oldest pending job in the step, since its creation. 0 if none was pending, or for a namespace."}, \
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

static const struct rest_answer_member history_queue[] = {
    {"queue",  "string",    "Name of the queue."},
    {"values", "[integer]", "One per step, oldest first."},
};

static const struct rest_answer_member history_queues[] = {
    {"from",         "time",           "Start of the first step."},
    {"to",           "time",           "End of the last step."},
    {"step_seconds", "integer",        "Length of a step."},
    {"queues",       "[HistoryQueue]", "The queues, in the order of the request."},
};

static const struct rest_answer_member node_point[] = {
    {"at",            "time",    "Start of the step."},
    {"writes",        "integer", "Log entries that this node proposed."},
    {"write_mean_us", "integer", "Mean time from proposing an entry until it was committed and applied, in microseconds."},
    {"write_p50_us",  "integer", "Half of the entries took at most this long. Bounds of a histogram."},
    {"write_p99_us",  "integer", "99 % of the entries took at most this long."},
    {"flushes",       "integer", "Flushes of the log."},
    {"flush_mean_us", "integer", "Mean time of a flush, in microseconds."},
    {"flush_max_us",  "integer", "The longest flush."},
    {"lag_ms",        "integer", "Greatest lag behind the leader. 0 on the leader."},
};

static const struct rest_answer_member node_history[] = {
    {"node_id",      "string",      "The node that answers."},
    {"from",         "time",        "Start of the first step."},
    {"to",           "time",        "End of the last step."},
    {"step_seconds", "integer",     "Length of a step."},
    {"points",       "[NodePoint]", "One per step, oldest first."},
};

static const struct rest_answer_member marker[] = {
    {"id",     "string", "Identifies the marker."},
    {"kind",   "string", "deploy: added by a user or program. server, worker: a version that was seen for the first time."},
    {"at",     "time",   "When it happened."},
    {"text",   "string", "What happened. For server and worker: the version."},
    {"queue?", "string", "Queue that the marker is about. Absent for all queues."},
    {"by?",    "string", "Who added it."},
};

static const struct rest_answer_member error_queue[] = {
    {"queue", "string",  "Name of the queue."},
    {"count", "integer", "Failed attempts in the queue."},
};

static const struct rest_answer_member error_version[] = {
    {"version", "string",  "Version of the worker's program."},
    {"count",   "integer", "Failed attempts with this version."},
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
    {"versions?",   "[ErrorVersion]", "The five versions of workers with the most failures, if workers send their version."},
    {"chart",       "[integer]",    "Failures in 24 equal parts of the range."},
};

static const struct rest_answer_member error_groups[] = {
    {"from",   "time",         "Start of the range."},
    {"to",     "time",         "End of the range."},
    {"total",  "integer",      "Failed attempts in the range, in all groups."},
    {"groups", "[ErrorGroup]", "Groups, most frequent first."},
};

/* clang-format on */
