/*
 * The documents that routes return, member by member (http-api.md). rest_answer_int.h describes the
 * format.
 *
 * To add a document, add a list of members and a row in the last table, with the short form in the
 * route's row as its shape.
 */
#include "base/attr.h"
#include "rest/describe/rest_answer_access_int.h"
#include "rest/describe/rest_answer_cluster_int.h"
#include "rest/describe/rest_answer_history_int.h"
#include "rest/describe/rest_answer_int.h"
#include "rest/describe/rest_answer_sdb_int.h"

#define AGENT_DOC "Limits and progress of an agent job."

/* clang-format off */

/* Jobs */

static const struct rest_answer_member agent[] = {
    {"max_iterations?",    "integer", "Maximum number of iterations."},
    {"max_cost_usd?",      "number",  "Maximum total cost in US dollars."},
    {"iteration_timeout?", "string",  "Time limit of one iteration."},
    {"iteration?",         "integer", "Current iteration."},
    {"total_cost_usd?",    "number",  "Total cost so far, in US dollars."},
};

static const struct rest_answer_member progress[] = {
    {"current?", "any", "Work done so far."},
    {"total?",   "any", "Total amount of work."},
    {"message?", "any", "Human-readable message."},
};

static const struct rest_answer_member job_error[] = {
    {"id",         "integer", "Sequence number of the entry within the job."},
    {"job_id",     "string",  "Job ID."},
    {"attempt",    "integer", "The attempt that failed."},
    {"error",      "string",  "Error message reported by the worker."},
    {"backtrace?", "string",  "Stack trace reported by the worker."},
    {"worker_version?", "string", "Version of the worker's program, if the worker sent one."},
    {"created_at", "time",    "Time of the failure."},
};

static const struct rest_answer_member chain_step[] = {
    {"queue",    "string", "Queue of the step's job."},
    {"payload?", "any",    "Payload of the step's job."},
};

static const struct rest_answer_member chain_config[] = {
    {"steps?",      "[ChainStep]", "Steps in the order in which they run."},
    {"depends_on?", "[string]",    "Jobs that must complete first."},
    {"on_failure?", "any",         "\"continue\", or the step to run if a step fails."},
    {"on_exit?",    "ChainStep",   "Step that always runs at the end, whether the chain succeeded or failed."},
};

#define SUMMARY_MEMBERS                                                                            \
    {"id",            "string",    "Job ID."},                                                     \
    {"queue",         "string",    "Queue of the job."},                                           \
    {"state",         "JobState",  "State of the job."},                                           \
    {"payload",       "any",       "Payload that the job was enqueued with."},                     \
    {"priority",      "integer",   "Priority: 0 critical, 1 high, 2 normal. With X-Corvo-Api: 2: 100, 75, 50."}, \
    {"attempt",       "integer",   "Number of attempts started so far."},                          \
    {"max_retries",   "integer",   "Maximum number of attempts, including the first."},            \
    {"unique_key?",   "string",    "Unique key. While it is held, no second job with the same key is created."}, \
    {"batch_id?",     "string",    "Batch that the job belongs to."},                              \
    {"worker_id?",    "string",    "Worker that runs the job, or ran it last."},                   \
    {"tags?",         "{any}",     "Tags of the job."},                                            \
    {"progress?",     "any",       "Progress reported by the worker: a Progress object, or any other value."}, \
    {"parent_id?",    "string",    "Job that this job follows."},                                  \
    {"chain_id?",     "string",    "Chain that the job belongs to."},                              \
    {"chain_step?",   "integer",   "Position in the chain, starting at 0."},                       \
    {"agent?",        "Agent",     AGENT_DOC},                                                     \
    {"hold_reason?",  "string",    "Why the job is held."},                                        \
    {"scheduled_at?", "time",      "The job does not start before this time."},                    \
    {"expire_at?",    "time",      "The job expires if it has not started by this time."},         \
    {"created_at",    "time",      "Time when the job was enqueued."},                             \
    {"started_at?",   "time",      "Time when the last attempt started."},                         \
    {"completed_at?", "time",      "Time when the job completed."},                                \
    {"failed_at?",    "time",      "Time of the last failure."}

static const struct rest_answer_member job_summary[] = {
    SUMMARY_MEMBERS,
    {"last_error?", "string", "Error message of the last failure."},
};

static const struct rest_answer_member push[] = {
    {"url",            "string",  "URL that the server calls."},
    {"method?",        "string",  "HTTP method. POST if absent."},
    {"timeout_ms?",    "integer", "Timeout of one call, in milliseconds. Five minutes if absent."},
    {"success_below?", "integer", "Response statuses below this value count as success. 400 if absent."},
    {"body?",          "string",  "Template of the request body. The payload if absent."},
    {"keep_answer?",   "boolean", "Whether the response body is stored in the job's result."},
    {"headers?",       "{any}",   "Names of the request headers. Values are not shown."},
    {"auth?",          "{any}",   "Type of authentication. Secrets are not shown."},
};

static const struct rest_answer_member push_attempt[] = {
    {"attempt",      "integer", "Attempt number within the run, starting at 1."},
    {"outcome?",     "string",  "Outcome: completed, failed, timeout or cancelled."},
    {"http_status?", "integer", "Status of the response, if there was one."},
    {"answer_ms",    "integer", "Milliseconds until the response headers arrived."},
    {"due_at?",      "time",    "Due time of the run."},
    {"started_at?",  "time",    "Start of the call."},
    {"ended_at?",    "time",    "End of the call."},
    {"node_id?",     "string",  "Node that made the call."},
    {"error_type?",  "string",  "Type of error: timeout, cancelled, dns_error, connection_error, http_error or unknown."},
    {"error?",       "string",  "Error message."},
};

static const struct rest_answer_member job[] = {
    SUMMARY_MEMBERS,
    {"retry_backoff",       "Backoff",     "How the delay between attempts grows."},
    {"retry_base_delay_ms", "integer",     "First retry delay, in milliseconds."},
    {"retry_max_delay_ms",  "integer",     "Maximum retry delay, in milliseconds."},
    {"unique_period?",      "integer",     "How long the unique key is held, in seconds."},
    {"chain_config?",       "any",         "Chain definition: a ChainConfig, or the client's own value."},
    {"schedule_id?",        "string",      "Schedule that created the job."},
    {"hostname?",           "string",      "Host name of the worker."},
    {"checkpoint?",         "any",         "Checkpoint saved by the worker for the next attempt."},
    {"result?",             "any",         "Result of the job."},
    {"lease_expires_at?",   "time",        "Time when the lease ends."},
    {"cancelled_at?",       "time",        "Time when the job was cancelled."},
    {"errors?",             "[JobError]",  "Failures, oldest first."},
    {"push?",               "Push",        "Target URL of a job that the server delivers."},
    {"due_at?",             "time",        "Due time of the delivery."},
    {"name?",               "string",      "Name given by the client."},
    {"cron?",               "string",      "Cron expression of a recurring delivery."},
    {"cron_until?",         "time",        "Last time at which a recurring delivery may run."},
    {"cancel_reason?",      "string",      "Why the job was cancelled."},
    {"last_outcome?",       "string",      "Outcome of the last delivery."},
    {"push_attempts?",      "[PushAttempt]", "Delivery attempts, oldest first."},
};

static const struct rest_answer_member fetched_job[] = {
    {"job_id",         "string",  "Job ID."},
    {"queue",          "string",  "Queue of the job."},
    {"payload",        "any",     "Payload that the job was enqueued with."},
    {"attempt",        "integer", "Number of this attempt, starting at 1."},
    {"max_retries",    "integer", "Maximum number of attempts, including the first."},
    {"lease_duration", "integer", "Length of the lease in seconds. A heartbeat renews it."},
    {"lease_token",    "integer", "Lease token. Send it with ack, fail and heartbeats."},
    {"checkpoint?",    "any",     "Checkpoint of the previous attempt or iteration."},
    {"tags?",          "{any}",   "Tags of the job."},
    {"agent?",         "Agent",   AGENT_DOC},
};

static const struct rest_answer_member fetched_jobs[] = {
    {"jobs", "[FetchedJob]", "Claimed jobs. Empty if no job arrived within the timeout."},
};

static const struct rest_answer_member jobs[] = {
    {"jobs", "[Job]", "Jobs that exist, in the order of the request."},
};

static const struct rest_answer_member iteration[] = {
    {"id",                     "integer", "Sequence number of the entry within the job."},
    {"job_id",                 "string",  "Job ID."},
    {"iteration",              "integer", "Iteration number, starting at 1."},
    {"status",                 "IterationStatus", "Outcome of the iteration."},
    {"checkpoint?",            "any",     "Checkpoint for the next iteration."},
    {"hold_reason?",           "string",  "Why the job was held for review."},
    {"result?",                "any",     "Result of the iteration."},
    {"input_tokens?",          "integer", "Input tokens."},
    {"output_tokens?",         "integer", "Output tokens."},
    {"cache_creation_tokens?", "integer", "Tokens written to the cache."},
    {"cache_read_tokens?",     "integer", "Tokens read from the cache."},
    {"model?",                 "string",  "Model name."},
    {"provider?",              "string",  "Provider of the model."},
    {"cost_usd?",              "number",  "Cost in US dollars."},
    {"created_at",             "time",    "End of the iteration."},
};

static const struct rest_answer_member iterations[] = {
    {"iterations", "[Iteration]", "Iterations, oldest first."},
};

/* Results of actions */

static const struct rest_answer_member status[] = {
    {"status", "string", "New status."},
};

static const struct rest_answer_member enqueued[] = {
    {"job_id",          "string",        "ID of the new job, or of the job that holds the unique key."},
    {"status",          "EnqueueStatus", "State of the new job, or duplicate."},
    {"unique_existing", "boolean",       "Whether a job with this unique key already existed."},
    {"unique_job_id?",  "string",        "ID of the existing job."},
    {"job?",            "JobRef",        "The same job as an object, for newer clients."},
};

static const struct rest_answer_member job_ref[] = {
    {"id",     "string",        "Job ID."},
    {"queue",  "string",        "Queue of the job."},
    {"status", "EnqueueStatus", "State of the new job, or duplicate."},
};

static const struct rest_answer_member callback_job[] = {
    {"id",     "string",   "Job ID."},
    {"queue",  "string",   "Queue of the job."},
    {"status", "JobState", "State of the job."},
};

static const struct rest_answer_member sealed[] = {
    {"status",        "string",      "Always sealed."},
    {"callback_job?", "CallbackJob", "Callback job, if the batch has finished and the job exists."},
};

static const struct rest_answer_member enqueued_batch[] = {
    {"job_ids",  "[string]", "Job IDs, in the order of the request."},
    {"batch_id", "string",   "Batch that the jobs belong to. Empty if there is none."},
};

static const struct rest_answer_member batch_opened[] = {
    {"batch_id", "string", "ID of the new batch."},
};

static const struct rest_answer_member batch[] = {
    {"id",                "string",  "Batch ID."},
    {"total",             "integer", "Jobs in the batch."},
    {"pending",           "integer", "Jobs that have not finished."},
    {"succeeded",         "integer", "Jobs that completed."},
    {"failed",            "integer", "Jobs that finished in another state."},
    {"callback_queue?",   "string",  "Queue of the callback job, which is enqueued when all jobs have finished."},
    {"callback_payload?", "any",     "Payload of the callback job."},
    {"created_at",        "time",    "Time when the batch was opened."},
    {"sealed",            "boolean", "Whether the batch is closed to new jobs."},
};

#define NEXT_ERROR \
    {"next_error?", "NextError", "Why the next job could not be fetched, though the ack succeeded."}

static const struct rest_answer_member next_error[] = {
    {"error", "string", "Error message."},
    {"code",  "string", "Error code, as in error responses."},
};

static const struct rest_answer_member acked_one[] = {
    {"status", "string",      "ok"},
    {"next?",  "FetchedJob?", "With `next`: the fetched job; null if there is none."},
    NEXT_ERROR,
};

static const struct rest_answer_member acked[] = {
    {"acked", "integer",     "Number of jobs completed."},
    {"next?", "FetchedJobs", "With `next`: the fetched jobs."},
    NEXT_ERROR,
};

static const struct rest_answer_member failed[] = {
    {"status",             "JobState", "New state of the job."},
    {"next_attempt_at?",   "time",     "Time of the next attempt."},
    {"attempts_remaining", "integer",  "Attempts left."},
    {"attempt",            "integer",  "The attempt that failed."},
};

static const struct rest_answer_member beat[] = {
    {"status",            "BeatStatus", "ok, or cancel if the worker should stop the job."},
    {"lease_expires_at?", "time",       "Time when the lease ends, unless another heartbeat renews it."},
    {"budget_exceeded?",  "boolean",    "Whether the reported usage exceeded the job's budget."},
};

static const struct rest_answer_member beats[] = {
    {"jobs",     "{Beat}",   "Results by job ID."},
    {"acked",    "[string]", "Jobs whose lease was renewed."},
    {"unknown",  "[string]", "Jobs that the server does not know."},
    {"canceled", "[string]", "Jobs that the worker should stop."},
};

/* Bulk operations */

static const struct rest_answer_member bulk_done[] = {
    {"affected",    "integer", "Number of jobs changed."},
    {"errors",      "integer", "Number of jobs not changed."},
    {"duration_ms", "integer", "Duration in milliseconds."},
    {"matched?",    "integer", "Dry run only: number of matching jobs."},
    {"applicable?", "integer", "Dry run only: number of jobs that would change."},
    {"dry_run?",    "boolean", "Whether this was a dry run. A dry run changes nothing."},
};

static const struct rest_answer_member bulk_started[] = {
    {"bulk_operation_id", "string",     "ID of the operation, which runs in the background."},
    {"status",            "BulkStatus", "Status of the operation."},
    {"estimated_total",   "integer",    "Number of jobs that the operation covers."},
    {"progress_url",      "string",     "URL of the progress event stream."},
};

static const struct rest_answer_member bulk[] = {
    {"id",           "string",     "Operation ID."},
    {"status",       "BulkStatus", "Status of the operation."},
    {"action",       "BulkTask",   "Action applied to each job."},
    {"total",        "integer",    "Number of jobs that the operation covers."},
    {"processed",    "integer",    "Number of jobs processed."},
    {"affected",     "integer",    "Number of jobs changed."},
    {"errors",       "integer",    "Number of jobs not changed."},
    {"error?",       "string",     "Why the operation failed."},
    {"created_at",   "time",       "Time when the operation was created."},
    {"updated_at?",  "time",       "Time of the last progress."},
    {"finished_at?", "time",       "Time when the operation ended."},
};

/* Search */

static const struct rest_answer_member search[] = {
    {"jobs",        "[JobSummary]", "One page of matching jobs."},
    {"total",       "integer",      "Number of matching jobs on all pages."},
    {"cursor?",     "string",       "Cursor of the next page."},
    {"has_more",    "boolean",      "Whether there is another page."},
    {"duration_ms", "integer",      "Duration in milliseconds."},
};

static const struct rest_answer_member word_hit[] = {
    {"id",         "string",   "Job ID."},
    {"queue",      "string",   "Queue of the job."},
    {"state",      "JobState", "State of the job."},
    {"payload",    "string",   "Payload as a JSON string."},
    {"tags",       "string",   "Tags as a JSON string. Empty if there are none."},
    {"created_at", "time",     "Time when the job was enqueued."},
};

static const struct rest_answer_member word_search[] = {
    {"q",       "string",    "Search text of the request."},
    {"results", "[WordHit]", "Matching jobs, newest first."},
};

static const struct rest_answer_member rebuilt[] = {
    {"status",      "string",  "ok"},
    {"rebuilt",     "boolean", "true"},
    {"duration_ms", "integer", "Duration in milliseconds."},
};

/* Explain */

static const struct rest_answer_member holder[] = {
    {"job_id",            "string", "ID of an active job."},
    {"worker_id?",        "string", "Worker that runs the job."},
    {"hostname?",         "string", "Host name of the worker."},
    {"started_at?",       "time",   "Time when the attempt started."},
    {"lease_expires_at?", "time",   "Time when the lease ends, unless it is renewed."},
};

static const struct rest_answer_member dependency[] = {
    {"job_id", "string", "ID of a job that must complete first."},
    {"state",  "string", "State of that job, or missing if it no longer exists."},
};

static const struct rest_answer_member reason[] = {
    {"code",             "string",       "Reason as a code, for programs."},
    {"message",          "string",       "Reason as a sentence, for people."},
    {"max_concurrency?", "integer",      "Maximum number of active jobs."},
    {"active?",          "integer",      "Number of active jobs."},
    {"held_by?",         "[Holder]",     "Some of the active jobs."},
    {"held_by_more?",    "boolean",      "Whether there are more active jobs than listed."},
    {"rate_limit?",      "integer",      "Maximum number of jobs started per window."},
    {"rate_window_ms?",  "integer",      "Length of the window, in milliseconds."},
    {"on_exceed?",       "string",       "What an exceeded budget does: hold or reject."},
    {"until?",           "time",         "Time when the reason no longer applies."},
    {"last_heartbeat?",  "time",         "Last time a worker was seen."},
    {"waits_for?",       "[Dependency]", "Jobs that must complete first."},
    {"count?",           "integer",      "Number of jobs that must complete first."},
    {"attempt?",         "integer",      "Number of attempts started so far."},
    {"max_retries?",     "integer",      "Maximum number of attempts, including the first."},
    {"hold_reason?",     "string",       "Why the job is held."},
    {"worker_id?",       "string",       "Worker that runs the job."},
    {"hostname?",        "string",       "Host name of the worker."},
    {"started_at?",      "time",         "Time when the attempt started."},
    {"at?",              "time",         "Time when the job ended."},
    {"last_error?",      "string",       "Error message of the last failure."},
};

static const struct rest_answer_member position[] = {
    {"ahead",    "integer", "Number of jobs ahead in the queue."},
    {"at_least", "boolean", "Whether counting stopped early, so that there may be more jobs ahead."},
};

static const struct rest_answer_member job_explanation[] = {
    {"job_id",     "string",    "Job ID."},
    {"queue",      "string",    "Queue of the job."},
    {"state",      "JobState",  "State of the job."},
    {"reasons",    "[Reason]",  "Why the job is not running."},
    {"runnable",   "boolean",   "Whether a worker could fetch the job now."},
    {"position?",  "Position",  "Position in the queue."},
    {"expire_at?", "time",      "The job expires if it has not started by this time."},
};

static const struct rest_answer_member queue_worker[] = {
    {"id",             "string", "Worker ID."},
    {"hostname?",      "string", "Host name of the worker."},
    {"last_heartbeat", "time",   "Time of the last request."},
};

static const struct rest_answer_member queue_explanation[] = {
    {"queue",         "string",        "Name of the queue."},
    {"reasons",       "[Reason]",      "Why workers get no jobs from this queue."},
    {"runnable",      "boolean",       "Whether a worker could fetch a job now."},
    {"pending",       "integer",       "Pending jobs."},
    {"active",        "integer",       "Active jobs."},
    {"scheduled",     "integer",       "Scheduled jobs."},
    {"retrying",      "integer",       "Jobs waiting for a retry."},
    {"held",          "integer",       "Held jobs."},
    {"in_line",       "integer",       "Pending jobs that are ready to run."},
    {"workers",       "[QueueWorker]", "Some of the workers that fetch from this queue."},
    {"workers_total", "integer",       "Number of workers that fetch from this queue."},
};

/* Queues, workers, schedules, webhooks */

static const struct rest_answer_member queue[] = {
    {"name",               "string",  "Name of the queue."},
    {"paused",             "boolean", "Whether the queue is paused. A paused queue hands out no jobs."},
    {"max_concurrency?",   "integer", "Maximum number of active jobs."},
    {"rate_limit?",        "integer", "Maximum number of jobs started per window."},
    {"rate_window_ms?",    "integer", "Length of the window, in milliseconds."},
    {"created_at?",        "time",    "Time when the queue was created."},
    {"pending",            "integer", "Pending jobs."},
    {"active",             "integer", "Active jobs."},
    {"held",               "integer", "Held jobs."},
    {"completed",          "integer", "Completed jobs."},
    {"dead",               "integer", "Dead jobs."},
    {"scheduled",          "integer", "Scheduled jobs."},
    {"retrying",           "integer", "Jobs waiting for a retry."},
    {"cancelled",          "integer", "Cancelled jobs."},
    {"enqueued",           "integer", "Jobs in all states."},
    {"failed",             "integer", "Failed attempts since the queue was created."},
    {"oldest_pending_at?", "time",    "Time when the oldest pending job was enqueued."},
};

static const struct rest_answer_member worker[] = {
    {"id",             "string",  "Worker ID."},
    {"hostname",       "string?", "Host name of the worker."},
    {"queues",         "string?", "Names of its queues: a JSON array as a string."},
    {"version?",       "string",  "Version of its program, if the worker sends one."},
    {"last_heartbeat", "time",    "Time of the last request."},
    {"started_at",     "time",    "Time of the first request."},
};

static const struct rest_answer_member schedule[] = {
    {"id",          "string",  "Schedule ID."},
    {"name",        "string",  "Name of the schedule."},
    {"queue",       "string",  "Queue of the created jobs."},
    {"cron",        "string",  "Cron expression with five fields, or a macro such as @daily."},
    {"timezone",    "string",  "Time zone of the cron expression."},
    {"payload",     "any",     "Payload of the created jobs."},
    {"unique_key?", "string",  "Unique key of the created jobs."},
    {"max_retries", "integer", "Maximum number of attempts of each job, including the first."},
    {"last_run?",   "time",    "Time of the last run."},
    {"next_run?",   "time",    "Time of the next run."},
    {"created_at",  "time",    "Time when the schedule was created."},
    {"updated_at?", "time",    "Time of the last change."},
    {"enabled",     "boolean", "Whether the schedule creates jobs."},
    {"priority?",   "integer", "Priority of the created jobs: 0 critical, 1 high, 2 normal. With X-Corvo-Api: 2: 100, 75, 50. Absent if normal."},
    {"tags?",       "{any}",   "Tags of the created jobs."},
    {"push?",       "Push",    "Target URL of jobs that the server delivers."},
};

static const struct rest_answer_member upcoming[] = {
    {"id",       "string",   "Schedule ID."},
    {"name",     "string",   "Name of the schedule."},
    {"queue",    "string",   "Queue of the created jobs."},
    {"cron",     "string",   "Cron expression with five fields, or a macro such as @daily."},
    {"timezone", "string",   "Time zone of the cron expression."},
    {"runs",     "[time]",   "Start times within the next 24 hours, earliest first. At most 48."},
    {"more",     "boolean",  "Whether there are more than 48."},
};

static const struct rest_answer_member push_host[] = {
    {"host",            "string",  "Host and port."},
    {"breaker",         "string",  "closed, open (nothing is called until next_probe_at) or half_open (one new call per second)."},
    {"in_flight",       "integer", "Calls in progress."},
    {"waiting",         "integer", "Jobs waiting to be delivered to this host."},
    {"succeeded",       "integer", "Attempts that succeeded."},
    {"failed",          "integer", "Attempts that failed."},
    {"unanswered",      "integer", "Calls in a row without a response."},
    {"latency_ms?",     "number",  "Moving average of the duration of calls, in milliseconds."},
    {"last_call_at?",   "time",    "Start of the last call that has ended."},
    {"next_probe_at?",  "time",    "Time of the next call while the breaker is open."},
    {"last_error?",     "string",  "Error of the last failed attempt."},
    {"last_error_at?",  "time",    "Time of the last failed attempt."},
};

static const struct rest_answer_member webhook[] = {
    {"id",                "string",   "Webhook ID."},
    {"url",               "string",   "URL that receives the events."},
    {"events",            "[string]", "Event types to deliver."},
    {"secret?",           "string",   "Always ***, and only present if a secret is set."},
    {"enabled",           "boolean",  "Whether events are delivered."},
    {"retry_limit",       "integer",  "Maximum number of attempts per event."},
    {"queue_scope?",      "string",   "Queues whose events are delivered: those of the key that created the webhook."},
    {"created_at",        "time",     "Time when the webhook was created."},
    {"position",          "integer",  "Sequence number of the last event that was delivered or given up."},
    {"last_status_code?", "integer",  "Status of the last response."},
    {"last_error?",       "string",   "Why the last delivery failed."},
    {"last_delivery_at?", "time",     "Time of the last attempt."},
};

static const struct rest_answer_member policy[] = {
    {"id",         "string",  "Policy ID."},
    {"name",       "string",  "Name of the policy."},
    {"mode",       "string",  "Whether any or all of the checks must match."},
    {"enabled",    "boolean", "Whether the policy is enabled."},
    {"queue?",     "string",  "Check: queue of the job."},
    {"tag_key?",   "string",  "Check: tag of the job."},
    {"tag_value?", "string",  "Check: value of the tag tag_key."},
    {"all_namespaces", "boolean", "Whether the policy applies to jobs of every namespace."},
    {"created_at", "time",    "Time when the policy was created."},
};

static const struct rest_answer_member webhook_changed[] = {
    {"status", "string", "ok or deleted."},
    {"id",     "string", "Webhook ID."},
};

/* System */

static const struct rest_answer_member health[] = {
    {"status",     "string",  "ok"},
    {"raft_state", "string",  "Raft state of the node: Leader, Follower, Candidate or Shutdown."},
    {"leader",     "boolean", "Whether this node is the leader."},
    {"warnings?",  "[string]", "Problems that need attention but do not stop the node."},
};

static const struct rest_answer_member clock_accepted[] = {
    {"status",   "string",  "ok"},
    {"ahead_ms", "integer", "How far the system clock was ahead of the server's time, in milliseconds."},
    {"time",     "time",    "Current server time."},
};

static const struct rest_answer_member info[] = {
    {"server_version", "string", "Version of the server."},
    {"sso_login_url?", "string", "Sign-in URL for browsers, if an identity provider is configured."},
    {"api_version",    "string", "Version of this API."},
};

static const struct rest_answer_member minute[] = {
    {"minute",    "time",    "Start of the minute."},
    {"enqueued",  "integer", "Jobs enqueued."},
    {"completed", "integer", "Jobs completed."},
    {"failed",    "integer", "Failed attempts."},
};

static const struct rest_answer_member runtime[] = {
    {"goroutines",        "integer", "Number of threads."},
    {"gomaxprocs",        "integer", "Number of processors."},
    {"heap_inuse_bytes",  "integer", "Allocated memory, in bytes."},
    {"stack_inuse_bytes", "integer", "Stack memory, in bytes."},
    {"gc_pause_p99_ns",   "integer", "Always 0: there is no garbage collector."},
    {"cpu_user_ns",       "integer", "CPU time in user mode, in nanoseconds."},
    {"cpu_sys_ns",        "integer", "CPU time in the kernel, in nanoseconds."},
};

static const struct rest_answer_member event[] = {
    {"seq",        "integer",   "Sequence number. It increases with every event."},
    {"type",       "string",    "Event type. Streams with format=message add the prefix job."},
    {"job_id?",    "string",    "Job ID."},
    {"queue?",     "string",    "Queue of the event."},
    {"at_ns",      "integer",   "Time in nanoseconds since 1970."},
    {"data?",      "any",       "Details that depend on the type."},
    {"id",         "integer",   "Same as seq."},
    {"created_at", "time",      "Same time as at_ns."},
};

static const struct rest_answer_member events[] = {
    {"events", "[Event]", "Events, oldest first."},
};

#define SUM_MEMBERS                                                                                \
    {"input_tokens",          "integer", "Input tokens."},                                         \
    {"output_tokens",         "integer", "Output tokens."},                                        \
    {"cache_creation_tokens", "integer", "Tokens written to the cache."},                          \
    {"cache_read_tokens",     "integer", "Tokens read from the cache."},                           \
    {"cost_usd",              "number",  "Cost in US dollars."}

static const struct rest_answer_member usage_sum[] = {
    SUM_MEMBERS,
    {"count",                 "integer", "Number of usage reports."},
};

static const struct rest_answer_member usage_group[] = {
    {"key",                   "string",  "Queue, model, provider or tag value of the group."},
    SUM_MEMBERS,
    {"count",                 "integer", "Number of usage reports."},
};

static const struct rest_answer_member usage[] = {
    {"period",  "string",       "Requested period."},
    {"from",    "time",         "Start of the period, rounded down to five minutes or to the hour."},
    {"to",      "time",         "End of the period."},
    {"totals",  "UsageSum",     "Totals of the period."},
    {"groups?", "[UsageGroup]", "Totals by group."},
};

static const struct rest_answer_member bill[] = {
    {"namespace",             "string",  "Name of the namespace."},
    {"rows",                  "integer", "Number of usage reports."},
    SUM_MEMBERS,
};

static const struct rest_answer_member billing[] = {
    {"period",  "string", "Requested period."},
    {"summary", "[Bill]", "Totals by namespace."},
};

static const struct rest_answer_member backup[] = {
    {"namespace",         "string",   "Namespace of the backup."},
    {"created_at",        "time",     "Time when the backup was taken."},
    {"queues",            "[any]",    "Queues with their settings."},
    {"schedules",         "[any]",    "Schedules."},
    {"webhooks",          "[any]",    "Webhooks, with their secrets."},
    {"jobs",              "[any]",    "Jobs with their errors, iterations and usage."},
    {"batches",           "[any]",    "Batches of these jobs."},
    {"budgets",           "[any]",    "Budgets, without amounts spent."},
    {"approval_policies", "[any]",    "Approval policies."},
    {"usage_sums",        "[any]",    "Sums of usage per time bucket, also of jobs that are gone."},
    {"meta",              "{any}",    "Format, number of jobs, checksum, and rows_left_out."},
};

static const struct rest_answer_member restored[] = {
    {"status",        "string",  "ok"},
    {"restored_jobs", "integer", "Number of restored jobs."},
    {"namespace",     "string",  "Namespace that was restored into."},
    {"skipped_jobs?", "integer", "Jobs that already existed."},
    {"failed_jobs?",  "integer", "Jobs that could not be restored."},
    {"warnings?",     "[string]", "Problems that did not prevent the restore, and what was not restored."},
};

#define MEMBERS(list) .members = (list), .count = COUNT_OF(list)

const struct rest_answer rest_answer_table__rows[] = {
    /* shape                                               name                  members */
    {"job",                                                "Job",                MEMBERS(job)},
    {NULL,                                                 "JobSummary",         MEMBERS(job_summary)},
    {"fetched job",                                        "FetchedJob",         MEMBERS(fetched_job)},
    {"fetched jobs",                                       "FetchedJobs",        MEMBERS(fetched_jobs)},
    {"{jobs}",                                             "Jobs",               MEMBERS(jobs)},
    {NULL,                                                 "Agent",              MEMBERS(agent)},
    {NULL,                                                 "Progress",           MEMBERS(progress)},
    {NULL,                                                 "JobError",           MEMBERS(job_error)},
    {NULL,                                                 "ChainStep",          MEMBERS(chain_step)},
    {NULL,                                                 "ChainConfig",        MEMBERS(chain_config)},
    {NULL,                                                 "Push",               MEMBERS(push)},
    {NULL,                                                 "PushAttempt",        MEMBERS(push_attempt)},
    {NULL,                                                 "Iteration",          MEMBERS(iteration)},
    {"{iterations}",                                       "Iterations",         MEMBERS(iterations)},
    {"{status}",                                           "Status",             MEMBERS(status)},
    {"enqueued",                                           "Enqueued",           MEMBERS(enqueued)},
    {NULL,                                                 "JobRef",             MEMBERS(job_ref)},
    {NULL,                                                 "CallbackJob",        MEMBERS(callback_job)},
    {"sealed",                                             "Sealed",             MEMBERS(sealed)},
    {"{job_ids, batch_id}",                                "EnqueuedBatch",      MEMBERS(enqueued_batch)},
    {"{batch_id}",                                         "BatchOpened",        MEMBERS(batch_opened)},
    {"batch",                                              "Batch",              MEMBERS(batch)},
    {"{status, next}",                                     "AckedOne",           MEMBERS(acked_one)},
    {"{acked, next}",                                      "Acked",              MEMBERS(acked)},
    {NULL,                                                 "NextError",          MEMBERS(next_error)},
    {"{status, next_attempt_at, attempts_remaining}",      "Failed",             MEMBERS(failed)},
    {NULL,                                                 "Beat",               MEMBERS(beat)},
    {"{jobs, acked, unknown, canceled}",                   "Beats",              MEMBERS(beats)},
    {"{affected, errors, duration_ms}",                    "BulkDone",           MEMBERS(bulk_done)},
    {"{bulk_operation_id, progress_url}",                  "BulkStarted",        MEMBERS(bulk_started)},
    {"{id, status, total, processed, affected}",           "BulkOperation",      MEMBERS(bulk)},
    {"{jobs, total, cursor, has_more, duration_ms}",       "SearchAnswer",       MEMBERS(search)},
    {NULL,                                                 "WordHit",            MEMBERS(word_hit)},
    {"{q, results}",                                       "WordSearchAnswer",   MEMBERS(word_search)},
    {"{status, rebuilt, duration_ms}",                     "Rebuilt",            MEMBERS(rebuilt)},
    {NULL,                                                 "Holder",             MEMBERS(holder)},
    {NULL,                                                 "Dependency",         MEMBERS(dependency)},
    {NULL,                                                 "Reason",             MEMBERS(reason)},
    {NULL,                                                 "Position",           MEMBERS(position)},
    {"{job_id, state, runnable, reasons}",                 "JobExplanation",     MEMBERS(job_explanation)},
    {NULL,                                                 "QueueWorker",        MEMBERS(queue_worker)},
    {"{queue, runnable, reasons}",                         "QueueExplanation",   MEMBERS(queue_explanation)},
    {"queue",                                              "Queue",              MEMBERS(queue)},
    {"worker",                                             "Worker",             MEMBERS(worker)},
    {"schedule",                                           "Schedule",           MEMBERS(schedule)},
    {"upcoming",                                           "UpcomingRuns",       MEMBERS(upcoming)},
    {"push_host",                                          "PushHost",           MEMBERS(push_host)},
    {"webhook",                                            "Webhook",            MEMBERS(webhook)},
    {"{status, id}",                                       "WebhookChanged",     MEMBERS(webhook_changed)},
    {"policy",                                             "Policy",             MEMBERS(policy)},
    REST_ANSWER_ACCESS_ROWS,
    {"{status, ahead_ms, time}",                           "ClockAccepted",      MEMBERS(clock_accepted)},
    {"{status, raft_state, leader}",                       "Health",             MEMBERS(health)},
    {"{server_version, api_version}",                      "Info",               MEMBERS(info)},
    {"minute",                                             "Minute",             MEMBERS(minute)},
    {"runtime",                                            "Runtime",            MEMBERS(runtime)},
    {NULL,                                                 "Event",              MEMBERS(event)},
    {"{events}",                                           "Events",             MEMBERS(events)},
    {NULL,                                                 "UsageSum",           MEMBERS(usage_sum)},
    {NULL,                                                 "UsageGroup",         MEMBERS(usage_group)},
    {"{period, from, to, totals, groups}",                 "Usage",              MEMBERS(usage)},
    {NULL,                                                 "Times",              MEMBERS(times)},
    {NULL,                                                 "HistoryPoint",       MEMBERS(history_point)},
    {NULL,                                                 "HistorySum",         MEMBERS(history_sum)},
    {"{queue, from, to, step_seconds, points}",            "History",            MEMBERS(history)},
    {NULL,                                                 "HistoryQueue",       MEMBERS(history_queue)},
    {"{from, to, step_seconds, queues}",                   "HistoryQueues",      MEMBERS(history_queues)},
    {NULL,                                                 "NodePoint",          MEMBERS(node_point)},
    {"{node_id, from, to, step_seconds, points}",          "NodeHistory",        MEMBERS(node_history)},
    {"marker",                                             "Marker",             MEMBERS(marker)},
    {NULL,                                                 "ErrorQueue",         MEMBERS(error_queue)},
    {NULL,                                                 "ErrorVersion",       MEMBERS(error_version)},
    {NULL,                                                 "ErrorExample",       MEMBERS(error_example)},
    {NULL,                                                 "ErrorGroup",         MEMBERS(error_group)},
    {"{from, to, total, groups}",                          "ErrorGroups",        MEMBERS(error_groups)},
    {NULL,                                                 "Bill",               MEMBERS(bill)},
    {"{period, summary}",                                  "Billing",            MEMBERS(billing)},
    {"{status, added, node_id, addr, cluster_id}",         "Joined",             MEMBERS(joined)},
    {NULL,                                                 "Bucket",             MEMBERS(bucket)},
    {NULL,                                                 "Histogram",          MEMBERS(histogram)},
    {NULL,                                                 "ClusterNode",        MEMBERS(cluster_node)},
    {NULL,                                                 "StateHash",          MEMBERS(state_hash)},
    {NULL,                                                 "CheckpointFetch",    MEMBERS(checkpoint_fetch)},
    {NULL,                                                 "SnapshotInfo",       MEMBERS(snapshot)},
    {NULL,                                                 "Space",              MEMBERS(space)},
    {NULL,                                                 "Mirror",             MEMBERS(mirror)},
    {NULL,                                                 "MirrorRebuild",      MEMBERS(mirror_rebuild)},
    {"cluster status",                                     "ClusterStatus",      MEMBERS(cluster_status)},
    {"{namespace, created_at, jobs, meta}",                "Backup",             MEMBERS(backup)},
    {"{status, restored_jobs, namespace}",                 "Restored",           MEMBERS(restored)},
    REST_ANSWER_SDB_ROWS,
    {NULL, "JobState",        .words = "pending, active, completed, retrying, dead, cancelled, scheduled, held"},
    {NULL, "EnqueueStatus",   .words = "pending, scheduled, duplicate"},
    {NULL, "Backoff",         .words = "none, fixed, linear, exponential"},
    {NULL, "IterationStatus", .words = "continue, done, hold"},
    {NULL, "BeatStatus",      .words = "ok, cancel"},
    {NULL, "BulkStatus",      .words = "queued, running, completed, failed, cancelled"},
    {NULL, "BulkAction",      .words = "retry, cancel, move, delete, change_priority, requeue, hold, approve, reject"},
    {NULL, "BulkTask",        .words = "retry, cancel, move, delete, change_priority, requeue, hold, approve, reject, clear_queue, delete_queue"},
    {NULL, "EventType",       .words = "enqueued, started, completed, continued, held, approved, rejected, failed, progress, retrying, dead, cancelled,"
                                        " retried, moved, deleted, priority_changed, promoted, reclaimed, expired, queue.paused, queue.resumed, queue.cleared, queue.deleted,"
                                        " budget.exceeded"},
};
/* clang-format on */

const size_t rest_answer_table__count = COUNT_OF(rest_answer_table__rows);
