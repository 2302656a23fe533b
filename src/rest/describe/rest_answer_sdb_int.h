/*
 * Members of the documents of the Scheduled-DB API (scheduler.md). A part of rest_answer_table.c.
 *
 * Times are seconds since 1970.
 */
#pragma once

#include "rest/describe/rest_answer_int.h"

/* clang-format off */

static const struct rest_answer_member sdb_job[] = {
    {"id",               "string",  "Job ID."},
    {"type",             "string",  "Type: unico (once) or recurrente (recurring)."},
    {"timestamp?",       "integer", "Due time of a unico job."},
    {"created_at",       "integer", "Creation time. For a recurring job, the requested start time."},
    {"cron_expression?", "string",  "Cron expression of a recurring job."},
    {"last_date?",       "integer", "A recurring job does not run after this time."},
    {"webhook_url?",     "string",  "URL to call."},
    {"payload?",         "any",     "Request body of the call."},
    {"next_run?",        "integer", "Next due time of a recurring job."},
    {"registered_at?",   "integer", "Creation time of a recurring job."},
};

static const struct rest_answer_member sdb_attempt[] = {
    {"attempt_num",       "integer", "Attempt number, starting at 1."},
    {"start_time",        "integer", "Start of the call."},
    {"end_time?",         "integer", "End of the call."},
    {"node_id?",          "string",  "Node that made the call."},
    {"status?",           "string",  "Outcome of the call."},
    {"http_status?",      "integer", "Status of the response."},
    {"response_time_ms?", "integer", "Response time, in milliseconds."},
    {"error_message?",    "string",  "Error message."},
    {"error_type?",       "string",  "Type of error."},
    {"scheduled_for?",    "integer", "Due time of the run of a recurring job."},
};

static const struct rest_answer_member sdb_state[] = {
    {"job_id",               "string",       "Job ID."},
    {"status",               "string",       "Status: pending, in_progress, completed, failed, timeout or cancelled."},
    {"attempt_count",        "integer",      "Number of attempts started."},
    {"created_at",           "integer",      "Creation time."},
    {"first_attempt_at?",    "integer",      "Start of the first attempt."},
    {"last_attempt_at?",     "integer",      "Start of the last attempt."},
    {"completed_at?",        "integer",      "Time when the job ended, with any outcome."},
    {"cancelled_at?",        "integer",      "Time when the job was cancelled."},
    {"cancellation_reason?", "string",       "Why the job was cancelled."},
    {"executing_node_id?",   "string",       "Node that is making the call now."},
    {"attempts",             "[SdbAttempt]", "Calls made for the job."},
};

static const struct rest_answer_member sdb_attempts[] = {
    {"job_id",   "string",       "Job ID."},
    {"attempts", "[SdbAttempt]", "Calls made for the job."},
};

static const struct rest_answer_member sdb_cancelled[] = {
    {"job_id",       "string",  "Job ID."},
    {"status",       "string",  "Always cancelled."},
    {"cancelled_at", "integer", "Time when the job was cancelled."},
    {"message?",     "string",  "Present if a call was in progress."},
};

static const struct rest_answer_member sdb_list[] = {
    {"jobs",         "[SdbState]", "Jobs, oldest first."},
    {"total",        "integer",    "Number of jobs with this status on all pages."},
    {"next_cursor?", "string",     "Cursor of the next page. Absent on the last page."},
};

static const struct rest_answer_member sdb_refusal[] = {
    {"index",  "integer", "Position of the job in the request, starting at 0."},
    {"id?",    "string",  "Job ID, if the request has one."},
    {"error",  "string",  "Why the job was not created."},
    {"status", "integer", "Status that POST /jobs would have returned."},
};

static const struct rest_answer_member sdb_batch[] = {
    {"jobs",   "[SdbJob]",     "Jobs that exist now, in the order of the request."},
    {"errors", "[SdbRefusal]", "Jobs that were not created."},
};

static const struct rest_answer_member sdb_memory[] = {
    {"current_bytes",       "integer", "Bytes used by jobs."},
    {"limit_bytes",         "integer", "Maximum number of bytes."},
    {"available_bytes",     "integer", "Bytes available."},
    {"utilization_percent", "number",  "Percentage of the limit in use."},
};

static const struct rest_answer_member sdb_room[] = {
    {"current_count", "integer", "Number of jobs."},
    {"count",         "integer", "Same as current_count."},
    {"limit",         "integer", "Maximum number of jobs."},
    {"available",     "integer", "Number of jobs that can still be created."},
};

static const struct rest_answer_member sdb_runs[] = {
    {"pending",           "integer", "Jobs waiting for their due time."},
    {"in_progress",       "integer", "Jobs with a call in progress."},
    {"completed",         "integer", "Jobs that succeeded."},
    {"failed",            "integer", "Jobs that failed."},
    {"timeout",           "integer", "Jobs whose call timed out."},
    {"cancelled",         "integer", "Cancelled jobs."},
    {"total",             "integer", "All jobs."},
    {"last_executed_at?", "integer", "Time when a call last ended."},
    {"failure_rate",      "number",  "Share of finished jobs that failed or timed out."},
};

static const struct rest_answer_member sdb_health[] = {
    {"status",    "string",    "healthy, degraded or unhealthy."},
    {"role",      "string",    "leader or follower."},
    {"leader?",   "string",    "Address of the leader for the other nodes. Reported by followers only."},
    {"node_id",   "string",    "Node that answered the request."},
    {"memory",    "SdbMemory", "Capacity in bytes."},
    {"jobs",      "SdbRoom",   "Capacity in jobs."},
    {"execution", "SdbRuns",   "Jobs by status."},
};

static const struct rest_answer_member sdb_ready[] = {
    {"status",  "string", "ready or not ready."},
    {"reason?", "string", "Why the node is not ready."},
};

static const struct rest_answer_member sdb_joined[] = {
    {"success", "boolean", "Always true."},
    {"message", "string",  "Human-readable message."},
};

static const struct rest_answer_member sdb_server[] = {
    {"id",       "string", "Name of the node."},
    {"address?", "string", "Address for the other nodes."},
};

static const struct rest_answer_member sdb_cluster[] = {
    {"node_id",    "string",      "Node that answered the request."},
    {"is_leader",  "boolean",     "Whether this node is the leader."},
    {"leader",     "string",      "Address of the leader. Empty if it is unknown."},
    {"raft_state", "string",      "Leader, Follower or Candidate."},
    {"servers",    "[SdbServer]", "Members of the cluster."},
    {"job_count",  "integer",     "Number of jobs."},
};

#define REST_ANSWER_SDB_ROWS                                        \
    {"sdb job",       "SdbJob",       MEMBERS(sdb_job)},           \
    {NULL,            "SdbAttempt",   MEMBERS(sdb_attempt)},       \
    {"sdb state",     "SdbState",     MEMBERS(sdb_state)},         \
    {"sdb attempts",  "SdbAttempts",  MEMBERS(sdb_attempts)},      \
    {"sdb cancelled", "SdbCancelled", MEMBERS(sdb_cancelled)},     \
    {"sdb list",      "SdbList",      MEMBERS(sdb_list)},          \
    {NULL,            "SdbRefusal",   MEMBERS(sdb_refusal)},       \
    {"sdb batch",     "SdbBatch",     MEMBERS(sdb_batch)},         \
    {NULL,            "SdbMemory",    MEMBERS(sdb_memory)},        \
    {NULL,            "SdbRoom",      MEMBERS(sdb_room)},          \
    {NULL,            "SdbRuns",      MEMBERS(sdb_runs)},          \
    {"sdb health",    "SdbHealth",    MEMBERS(sdb_health)},        \
    {"sdb ready",     "SdbReady",     MEMBERS(sdb_ready)},         \
    {"sdb joined",    "SdbJoined",    MEMBERS(sdb_joined)},        \
    {NULL,            "SdbServer",    MEMBERS(sdb_server)},        \
    {"sdb cluster",   "SdbCluster",   MEMBERS(sdb_cluster)}

/* clang-format on */
