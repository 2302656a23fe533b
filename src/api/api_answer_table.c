/*
 * What the routes answer, member by member (http-api.md). api_answer_int.h says how to read it.
 *
 * To add a document: a list of members, and a row in the last table, whose shape is what the
 * route's row says.
 */
#include "api/api_answer_int.h"
#include "base/attr.h"

#define AGENT_DOC    "Limits and course of an agent's job."
#define DURATION_DOC "A duration, as 1.5ms."

/* clang-format off */

/* Jobs */

static const struct api_answer_member agent[] = {
    {"max_iterations?",    "integer", "Iterations it may make."},
    {"max_cost_usd?",      "number",  "What it may cost."},
    {"iteration_timeout?", "string",  "How long an iteration may take."},
    {"iteration?",         "integer", "The iteration it is at."},
    {"total_cost_usd?",    "number",  "What it has cost."},
};

static const struct api_answer_member progress[] = {
    {"current?", "any", "How far it is."},
    {"total?",   "any", "How far it goes."},
    {"message?", "any", "For people."},
};

static const struct api_answer_member job_error[] = {
    {"id",         "integer", "Number of the entry within the job."},
    {"job_id",     "string",  "The job."},
    {"attempt",    "integer", "The attempt that failed."},
    {"error",      "string",  "What the worker said."},
    {"backtrace?", "string",  "Where it happened."},
    {"created_at", "time",    "When it failed."},
};

static const struct api_answer_member chain_step[] = {
    {"queue",    "string", "Where the step's job goes."},
    {"payload?", "any",    "What it is given."},
};

static const struct api_answer_member chain_config[] = {
    {"steps?",      "[ChainStep]", "The steps, in order."},
    {"depends_on?", "[string]",    "Jobs that must complete first."},
    {"on_failure?", "any",         "\"continue\", or the step that is run when one fails."},
    {"on_exit?",    "ChainStep",   "The step that is run at the end in any case."},
};

#define SUMMARY_MEMBERS                                                                            \
    {"id",            "string",    "The job's id."},                                               \
    {"queue",         "string",    "The queue it is in."},                                         \
    {"state",         "JobState",  "Its state."},                                                  \
    {"payload",       "any",       "What it was enqueued with."},                                  \
    {"priority",      "integer",   "0 critical, 1 high, 2 normal."},                               \
    {"attempt",       "integer",   "Attempts that were begun."},                                   \
    {"max_retries",   "integer",   "Attempts in all."},                                            \
    {"unique_key?",   "string",    "No other job with this key is taken while it holds."},         \
    {"batch_id?",     "string",    "The batch it is in."},                                         \
    {"worker_id?",    "string",    "Who has it, or had it last."},                                 \
    {"tags?",         "{any}",     "Its tags."},                                                   \
    {"progress?",     "any",       "What the worker reported; a Progress if it keeps to that."},   \
    {"parent_id?",    "string",    "The job it follows."},                                         \
    {"chain_id?",     "string",    "The chain it is in."},                                         \
    {"chain_step?",   "integer",   "Its place there, from 0."},                                    \
    {"agent?",        "Agent",     AGENT_DOC},                                                     \
    {"hold_reason?",  "string",    "Why it is held."},                                             \
    {"scheduled_at?", "time",      "Not before then."},                                            \
    {"expire_at?",    "time",      "Not after then."},                                             \
    {"created_at",    "time",      "When it was enqueued."},                                       \
    {"started_at?",   "time",      "When the last attempt began."},                                \
    {"completed_at?", "time",      "When it was completed."},                                      \
    {"failed_at?",    "time",      "When it failed last."}

static const struct api_answer_member job_summary[] = {
    SUMMARY_MEMBERS,
    {"last_error?", "string", "What the worker said of the last failure."},
};

static const struct api_answer_member job[] = {
    SUMMARY_MEMBERS,
    {"retry_backoff",       "Backoff",     "How the delay grows between attempts."},
    {"retry_base_delay_ms", "integer",     "The first delay."},
    {"retry_max_delay_ms",  "integer",     "The longest delay."},
    {"unique_period?",      "integer",     "Seconds that the unique key holds."},
    {"chain_config?",       "any",         "What comes after it, and before: a ChainConfig, or the caller's own."},
    {"schedule_id?",        "string",      "The schedule it came from."},
    {"hostname?",           "string",      "Where the worker runs."},
    {"checkpoint?",         "any",         "What the worker wants to find again."},
    {"result?",             "any",         "What came out."},
    {"lease_expires_at?",   "time",        "When it is taken from its worker."},
    {"cancelled_at?",       "time",        "When it was cancelled."},
    {"errors?",             "[JobError]",  "Its failures, the oldest first."},
};

static const struct api_answer_member fetched_job[] = {
    {"job_id",         "string",  "The job's id."},
    {"queue",          "string",  "The queue it came from."},
    {"payload",        "any",     "What it was enqueued with."},
    {"attempt",        "integer", "Which attempt this is, from 1."},
    {"max_retries",    "integer", "Attempts in all."},
    {"lease_duration", "integer", "Seconds until it is taken back unless a heartbeat comes."},
    {"lease_token",    "integer", "Proof of the claim, for answers about it."},
    {"checkpoint?",    "any",     "What the last attempt or iteration left."},
    {"tags?",          "{any}",   "Its tags."},
    {"agent?",         "Agent",   AGENT_DOC},
};

static const struct api_answer_member fetched_jobs[] = {
    {"jobs", "[FetchedJob]", "What was claimed; nothing when the time is over."},
};

static const struct api_answer_member jobs[] = {
    {"jobs", "[Job]", "Those that exist, in the order asked for."},
};

static const struct api_answer_member iteration[] = {
    {"id",                     "integer", "Number of the entry within the job."},
    {"job_id",                 "string",  "The job."},
    {"iteration",              "integer", "Which one, from 1."},
    {"status",                 "IterationStatus", "How it ended."},
    {"checkpoint?",            "any",     "What it left for the next."},
    {"hold_reason?",           "string",  "Why it wants a person."},
    {"result?",                "any",     "What came out."},
    {"input_tokens?",          "integer", "Tokens read."},
    {"output_tokens?",         "integer", "Tokens written."},
    {"cache_creation_tokens?", "integer", "Tokens put into the cache."},
    {"cache_read_tokens?",     "integer", "Tokens found in the cache."},
    {"model?",                 "string",  "The model used."},
    {"provider?",              "string",  "Whose it is."},
    {"cost_usd?",              "number",  "What it cost."},
    {"created_at",             "time",    "When it ended."},
};

static const struct api_answer_member iterations[] = {
    {"iterations", "[Iteration]", "The oldest first."},
};

/* What was done */

static const struct api_answer_member status[] = {
    {"status", "string", "What became of it."},
};

static const struct api_answer_member enqueued[] = {
    {"job_id",          "string",        "The new job, or the one that holds the unique key."},
    {"status",          "EnqueueStatus", "Its state, or that it was there already."},
    {"unique_existing", "boolean",       "Whether it was there already."},
    {"unique_job_id?",  "string",        "The one that was there."},
    {"job?",            "JobRef",        "The same, as later clients read it."},
};

static const struct api_answer_member job_ref[] = {
    {"id",     "string",        "The job."},
    {"queue",  "string",        "The queue it is in."},
    {"status", "EnqueueStatus", "Its state, or that it was there already."},
};

static const struct api_answer_member sealed[] = {
    {"status",        "string", "That no more jobs join."},
    {"callback_job?", "JobRef", "The job that tells of the end, when the batch had ended."},
};

static const struct api_answer_member enqueued_batch[] = {
    {"job_ids",  "[string]", "In the order given."},
    {"batch_id", "string",   "The batch they are in; empty when there is none."},
};

static const struct api_answer_member batch_opened[] = {
    {"batch_id", "string", "The new batch."},
};

static const struct api_answer_member batch[] = {
    {"id",                "string",  "The batch."},
    {"total",             "integer", "Jobs in it."},
    {"pending",           "integer", "Jobs that are not finished."},
    {"succeeded",         "integer", "Jobs that were completed."},
    {"failed",            "integer", "Jobs that ended otherwise."},
    {"callback_queue?",   "string",  "Where a job goes when all are finished."},
    {"callback_payload?", "any",     "What that job is given."},
    {"created_at",        "time",    "When it was opened."},
    {"sealed",            "boolean", "Whether no more jobs may join."},
};

static const struct api_answer_member acked[] = {
    {"acked", "integer", "Jobs that were completed."},
};

static const struct api_answer_member failed[] = {
    {"status",             "JobState", "What the job is now."},
    {"next_attempt_at?",   "time",     "When it is tried again."},
    {"attempts_remaining", "integer",  "Attempts it has left."},
    {"attempt",            "integer",  "The attempt that failed."},
};

static const struct api_answer_member beat[] = {
    {"status",            "BeatStatus", "Whether to go on."},
    {"lease_expires_at?", "time",       "When the lease ends unless another heartbeat comes."},
};

static const struct api_answer_member beats[] = {
    {"jobs",     "{Beat}",   "By job."},
    {"acked",    "[string]", "Jobs whose lease was renewed."},
    {"unknown",  "[string]", "Jobs that are not there."},
    {"canceled", "[string]", "Jobs to stop."},
};

/* Bulk operations */

static const struct api_answer_member bulk_done[] = {
    {"affected",    "integer", "Jobs that were changed."},
    {"errors",      "integer", "Jobs that were not."},
    {"duration_ms", "integer", "How long it took."},
    {"matched?",    "integer", "Of a dry run: jobs that are meant."},
    {"applicable?", "integer", "Of a dry run: jobs that would be changed."},
    {"dry_run?",    "boolean", "Nothing was changed."},
};

static const struct api_answer_member bulk_started[] = {
    {"bulk_operation_id", "string",     "The operation, which goes on in the background."},
    {"status",            "BulkStatus", "Where it is."},
    {"estimated_total",   "integer",    "Jobs that are meant."},
    {"progress_url",      "string",     "Events about it."},
};

static const struct api_answer_member bulk[] = {
    {"id",           "string",     "The operation."},
    {"status",       "BulkStatus", "Where it is."},
    {"action",       "BulkTask",   "What it does."},
    {"total",        "integer",    "Jobs that are meant."},
    {"processed",    "integer",    "Jobs that were looked at."},
    {"affected",     "integer",    "Jobs that were changed."},
    {"errors",       "integer",    "Jobs that were not."},
    {"error?",       "string",     "Why it failed."},
    {"created_at",   "time",       "When it was asked for."},
    {"updated_at?",  "time",       "When it got on last."},
    {"finished_at?", "time",       "When it ended."},
};

/* Searching */

static const struct api_answer_member search[] = {
    {"jobs",        "[JobSummary]", "A page of those that fit."},
    {"total",       "integer",      "How many fit."},
    {"cursor?",     "string",       "Asks for the next page."},
    {"has_more",    "boolean",      "Whether there is one."},
    {"duration_ms", "integer",      "How long it took."},
};

static const struct api_answer_member word_hit[] = {
    {"id",         "string",   "The job."},
    {"queue",      "string",   "The queue it is in."},
    {"state",      "JobState", "Its state."},
    {"payload",    "string",   "JSON, as a text."},
    {"tags",       "string",   "JSON, as a text; empty without tags."},
    {"created_at", "time",     "When it was enqueued."},
};

static const struct api_answer_member word_search[] = {
    {"q",       "string",    "What was asked for."},
    {"results", "[WordHit]", "The newest first."},
};

static const struct api_answer_member rebuilt[] = {
    {"status",      "string",  "ok"},
    {"rebuilt",     "boolean", "true"},
    {"duration_ms", "integer", "How long it took."},
};

/* Why */

static const struct api_answer_member holder[] = {
    {"job_id",            "string", "An active job."},
    {"worker_id?",        "string", "Who has it."},
    {"hostname?",         "string", "Where that runs."},
    {"started_at?",       "time",   "Since when."},
    {"lease_expires_at?", "time",   "Until when, at least."},
};

static const struct api_answer_member dependency[] = {
    {"job_id", "string", "A job that must complete first."},
    {"state",  "string", "Its state; gone when it is not there any more."},
};

static const struct api_answer_member reason[] = {
    {"code",             "string",       "The rule."},
    {"message",          "string",       "The rule, for people."},
    {"max_concurrency?", "integer",      "Jobs that may be active at once."},
    {"active?",          "integer",      "Jobs that are."},
    {"held_by?",         "[Holder]",     "Some of them."},
    {"held_by_more?",    "boolean",      "Whether there are more of them."},
    {"rate_limit?",      "integer",      "Jobs that may begin in a window."},
    {"rate_window_ms?",  "integer",      "The window."},
    {"until?",           "time",         "When it is over."},
    {"last_heartbeat?",  "time",         "When a worker was heard of last."},
    {"waits_for?",       "[Dependency]", "Jobs that must complete first."},
    {"count?",           "integer",      "How many they are."},
    {"attempt?",         "integer",      "Attempts that were begun."},
    {"max_retries?",     "integer",      "Attempts in all."},
    {"hold_reason?",     "string",       "Why it is held."},
    {"worker_id?",       "string",       "Who has it."},
    {"hostname?",        "string",       "Where that runs."},
    {"started_at?",      "time",         "Since when."},
    {"at?",              "time",         "When it ended."},
    {"last_error?",      "string",       "What the worker said of the last failure."},
};

static const struct api_answer_member position[] = {
    {"ahead",    "integer", "Jobs of the queue before it."},
    {"at_least", "boolean", "They were not all counted."},
};

static const struct api_answer_member job_explanation[] = {
    {"job_id",     "string",    "The job."},
    {"queue",      "string",    "The queue it is in."},
    {"state",      "JobState",  "Its state."},
    {"reasons",    "[Reason]",  "Why it does not run, or what it waits for."},
    {"runnable",   "boolean",   "Whether a fetch could get it now."},
    {"position?",  "Position",  "Its place in the queue."},
    {"expire_at?", "time",      "Not after then."},
};

static const struct api_answer_member queue_worker[] = {
    {"id",             "string", "Its name."},
    {"hostname?",      "string", "Where it runs."},
    {"last_heartbeat", "time",   "When it was heard of."},
};

static const struct api_answer_member queue_explanation[] = {
    {"queue",         "string",        "The queue."},
    {"reasons",       "[Reason]",      "Why no job of it is handed out."},
    {"runnable",      "boolean",       "Whether a fetch could get one now."},
    {"pending",       "integer",       "Jobs in that state."},
    {"active",        "integer",       "Jobs in that state."},
    {"scheduled",     "integer",       "Jobs in that state."},
    {"retrying",      "integer",       "Jobs in that state."},
    {"held",          "integer",       "Jobs in that state."},
    {"in_line",       "integer",       "Pending jobs that wait for nothing else."},
    {"workers",       "[QueueWorker]", "Some of those that asked for its jobs."},
    {"workers_total", "integer",       "How many they are."},
};

/* Queues, workers, schedules, webhooks */

static const struct api_answer_member queue[] = {
    {"name",               "string",  "Its name."},
    {"paused",             "boolean", "Whether no jobs are handed out."},
    {"max_concurrency?",   "integer", "Jobs that may be active at once."},
    {"rate_limit?",        "integer", "Jobs that may begin in a window."},
    {"rate_window_ms?",    "integer", "The window."},
    {"created_at?",        "time",    "When it was first used."},
    {"pending",            "integer", "Jobs in that state."},
    {"active",             "integer", "Jobs in that state."},
    {"held",               "integer", "Jobs in that state."},
    {"completed",          "integer", "Jobs in that state."},
    {"dead",               "integer", "Jobs in that state."},
    {"scheduled",          "integer", "Jobs in that state."},
    {"retrying",           "integer", "Jobs in that state."},
    {"cancelled",          "integer", "Jobs in that state."},
    {"enqueued",           "integer", "Jobs in all states."},
    {"failed",             "integer", "Attempts that failed, ever."},
    {"oldest_pending_at?", "time",    "When the oldest pending job was enqueued."},
};

static const struct api_answer_member worker[] = {
    {"id",             "string",  "Its name."},
    {"hostname",       "string?", "Where it runs."},
    {"queues",         "string?", "Names of queues: a JSON array, as a text."},
    {"last_heartbeat", "time",    "When it was heard of."},
    {"started_at",     "time",    "When it was first heard of."},
};

static const struct api_answer_member schedule[] = {
    {"id",          "string",  "The schedule."},
    {"name",        "string",  "Its name."},
    {"queue",       "string",  "Where its jobs go."},
    {"cron",        "string",  "When: five fields, or a word with @."},
    {"timezone",    "string",  "In which time zone."},
    {"payload",     "any",     "What its jobs are given."},
    {"unique_key?", "string",  "The unique key of its jobs."},
    {"max_retries", "integer", "Attempts in all of its jobs."},
    {"last_run?",   "time",    "When it last made a job."},
    {"next_run?",   "time",    "When it makes the next one."},
    {"created_at",  "time",    "When it was made."},
    {"updated_at?", "time",    "When it was changed."},
    {"enabled",     "boolean", "Whether it makes jobs."},
    {"priority?",   "integer", "0 critical, 1 high, 2 normal; left out at 2."},
    {"tags?",       "{any}",   "Tags of its jobs."},
};

static const struct api_answer_member webhook[] = {
    {"id",                "string",   "Its name."},
    {"url",               "string",   "Where events are posted to."},
    {"events",            "[string]", "Types of events."},
    {"secret?",           "string",   "*** when there is one."},
    {"enabled",           "boolean",  "Whether events are delivered."},
    {"retry_limit",       "integer",  "Attempts per event."},
    {"created_at",        "time",     "When it was made."},
    {"position",          "integer",  "The last event that is done with."},
    {"last_status_code?", "integer",  "What the receiver answered last."},
    {"last_error?",       "string",   "Why the last delivery failed."},
    {"last_delivery_at?", "time",     "When it was tried last."},
};

static const struct api_answer_member policy[] = {
    {"id",         "string",  "The policy's id."},
    {"name",       "string",  "For people."},
    {"mode",       "string",  "any or all of the checks must hold."},
    {"enabled",    "boolean", "Whether it is tried."},
    {"queue?",     "string",  "A check: the job's queue."},
    {"tag_key?",   "string",  "A check: the job's tag of this name…"},
    {"tag_value?", "string",  "…has this value."},
    {"all_namespaces", "boolean", "Whether it holds jobs of every namespace."},
    {"created_at", "time",    "When it was made."},
};

static const struct api_answer_member webhook_changed[] = {
    {"status", "string", "ok or deleted."},
    {"id",     "string", "The webhook."},
};

/* The system */

static const struct api_answer_member health[] = {
    {"status",     "string",  "ok"},
    {"raft_state", "string",  "Leader, Follower, Candidate or Shutdown."},
    {"leader",     "boolean", "Whether this node leads."},
    {"warnings?",  "[string]", "What the node goes on in spite of, for somebody to look at."},
};

static const struct api_answer_member clock_accepted[] = {
    {"status",   "string",  "ok"},
    {"ahead_ms", "integer", "How far the clock was ahead of the server's time."},
    {"time",     "time",    "The server's time now."},
};

static const struct api_answer_member info[] = {
    {"server_version", "string", "Version of the program."},
    {"api_version",    "string", "Version of this API."},
};

static const struct api_answer_member minute[] = {
    {"minute",    "time",    "When it began."},
    {"enqueued",  "integer", "Jobs enqueued."},
    {"completed", "integer", "Jobs completed."},
    {"failed",    "integer", "Attempts that failed."},
};

static const struct api_answer_member runtime[] = {
    {"goroutines",        "integer", "Threads."},
    {"gomaxprocs",        "integer", "Processors."},
    {"heap_inuse_bytes",  "integer", "Memory in use."},
    {"stack_inuse_bytes", "integer", "Memory of stacks."},
    {"gc_pause_p99_ns",   "integer", "0: nothing is collected."},
    {"cpu_user_ns",       "integer", "Processor time of the program."},
    {"cpu_sys_ns",        "integer", "Processor time of the system for it."},
};

static const struct api_answer_member event[] = {
    {"seq",        "integer",   "Its number; later ones are larger."},
    {"type",       "string",    "An EventType; with job. in front in streams of format=message."},
    {"job_id?",    "string",    "The job."},
    {"queue?",     "string",    "The queue."},
    {"at_ns",      "integer",   "When: nanoseconds since 1970."},
    {"data?",      "any",       "More, by type."},
    {"id",         "integer",   "The same as seq."},
    {"created_at", "time",      "The same as at_ns."},
};

static const struct api_answer_member events[] = {
    {"events", "[Event]", "The oldest first."},
};

#define SUM_MEMBERS                                                                                \
    {"input_tokens",          "integer", "Tokens read."},                                          \
    {"output_tokens",         "integer", "Tokens written."},                                       \
    {"cache_creation_tokens", "integer", "Tokens put into the cache."},                            \
    {"cache_read_tokens",     "integer", "Tokens found in the cache."},                            \
    {"cost_usd",              "number",  "What it cost."}

static const struct api_answer_member usage_sum[] = {
    SUM_MEMBERS,
    {"count",                 "integer", "Reports."},
};

static const struct api_answer_member usage_group[] = {
    {"key",                   "string",  "The queue, model, provider or tag."},
    SUM_MEMBERS,
    {"count",                 "integer", "Reports."},
};

static const struct api_answer_member usage[] = {
    {"period",  "string",       "What was asked for."},
    {"from",    "time",         "Since when."},
    {"to",      "time",         "Until when."},
    {"totals",  "UsageSum",     "Everything."},
    {"groups?", "[UsageGroup]", "The same in parts."},
};

static const struct api_answer_member bill[] = {
    {"namespace",             "string",  "Whose."},
    {"rows",                  "integer", "Reports."},
    SUM_MEMBERS,
};

static const struct api_answer_member billing[] = {
    {"period",  "string", "What was asked for."},
    {"summary", "[Bill]", "By namespace."},
};

static const struct api_answer_member joined[] = {
    {"status",  "string",  "ok"},
    {"added",   "boolean", "Whether it was no member before."},
    {"node_id", "string",  "The node."},
    {"addr",    "string",  "Where peers reach it."},
};

static const struct api_answer_member bucket[] = {
    {"le",    "string",  DURATION_DOC},
    {"count", "integer", "Cases that took no longer, and longer than the bucket before."},
};

static const struct api_answer_member histogram[] = {
    {"count",    "integer",  "Cases."},
    {"avg?",     "string",   DURATION_DOC},
    {"p50?",     "string",   DURATION_DOC},
    {"p90?",     "string",   DURATION_DOC},
    {"p99?",     "string",   DURATION_DOC},
    {"buckets?", "[Bucket]", "By how long they took."},
};

static const struct api_answer_member cluster_node[] = {
    {"id",        "string",  "Its name."},
    {"address",   "string",  "Where others reach it."},
    {"voter",     "boolean", "Whether it has a vote."},
    {"role",      "string",  "leader, follower or candidate."},
    {"status",    "string",  "healthy or degraded."},
    {"self",      "boolean", "Whether it is the one that answers."},
    {"http_url?", "string",  "Where clients reach its API."},
};

static const struct api_answer_member snapshot[] = {
    {"count",         "integer", "Snapshots taken."},
    {"latest_index?", "integer", "The last entry in the latest."},
    {"latest_term?",  "integer", "The term of that entry."},
};

static const struct api_answer_member space[] = {
    {"level",                "string",  "ok, low (new jobs are refused) or full (only deletions are accepted)."},
    {"reason",               "string",  "Why requests are refused; empty when none are."},
    {"free_bytes",           "integer", "Free bytes on the disk of the data directory."},
    {"needed_bytes",         "integer", "Free bytes below which new jobs are refused."},
    {"reserve_bytes",        "integer", "Size of the reserve file; 0 after it was given up."},
    {"log_memory_bytes",     "integer", "Bytes of log entries in memory."},
    {"log_memory_max_bytes", "integer", "Bytes of log entries in memory at which all writes are refused."},
};

static const struct api_answer_member mirror[] = {
    {"async",          "boolean", "It follows behind the state."},
    {"queued",         "integer", "Changes given to it."},
    {"applied",        "integer", "Changes it has made."},
    {"dropped",        "integer", "0: none is."},
    {"lag",            "integer", "Changes it has not made."},
    {"queue_depth",    "integer", "The same."},
    {"queue_capacity", "integer", "0: there is no limit."},
    {"low_space",      "boolean", "It is not written because the disk is nearly full."},
};

static const struct api_answer_member mirror_rebuild[] = {
    {"ran",               "boolean", "Whether it was made anew."},
    {"running",           "boolean", "Whether it is being made anew."},
    {"last_started_at?",  "time",    "When that began."},
    {"last_duration_ms?", "integer", "How long it took."},
    {"last_success?",     "boolean", "Whether it went well."},
    {"last_error?",       "string",  "Why it did not."},
};

static const struct api_answer_member cluster_status[] = {
    {"mode",                           "string",        "cluster"},
    {"status",                         "string",        "healthy, or degraded without a leader."},
    {"state",                          "string",        "Leader, Follower, Candidate or Shutdown."},
    {"node_id",                        "string",        "The node that answers."},
    {"leader_id",                      "string",        "The leader."},
    {"leader_addr",                    "string",        "Where it is."},
    {"term",                           "integer",       "The term."},
    {"applied_index",                  "string",        "The last entry that was applied."},
    {"commit_index",                   "string",        "The last entry that is committed."},
    {"raft_store",                     "string",        "How the log is kept."},
    {"durable",                        "boolean",       "Whether an answer waits for the disk."},
    {"raft_nosync",                    "boolean",       "The opposite."},
    {"pebble_nosync",                  "boolean",       "The state is made again from the log."},
    {"sqlite_mirror_async",            "boolean",       "Whether searches are answered by a view."},
    {"lifecycle_events",               "boolean",       "Whether events are kept."},
    {"snapshot_threshold",             "integer",       "0: bytes count."},
    {"snapshot_log_bytes",             "integer",       "Bytes of log between snapshots."},
    {"snapshot_interval",              "string",        DURATION_DOC},
    {"apply_batch_max",                "integer",       "Operations in an entry, at most."},
    {"apply_batch_extend_at",          "integer",       "0: there is no such limit."},
    {"apply_sub_batch_max",            "integer",       "Operations applied at once, at most."},
    {"apply_max_pending",              "integer",       "Operations under way, at most."},
    {"apply_max_fetch_queue_inflight", "integer",       "0: there is no such limit."},
    {"apply_batch_min_wait",           "string",        DURATION_DOC},
    {"apply_batch_window",             "string",        DURATION_DOC},
    {"apply_pending_now",              "integer",       "Operations under way."},
    {"overload_total",                 "integer",       "Operations refused for want of room."},
    {"fetch_overload_total",           "integer",       "Fetches refused for want of room."},
    {"applied_total",                  "integer",       "Operations applied."},
    {"queue_time_hist",                "Histogram",     "How long operations wait."},
    {"apply_time_hist",                "Histogram",     "How long entries take."},
    {"snapshot",                       "SnapshotInfo",  "Snapshots of the state."},
    {"space",                          "Space",         "Disk space and memory for the log."},
    {"sqlite_mirror",                  "Mirror",        "The view that searches read."},
    {"sqlite_rebuild",                 "MirrorRebuild", "Its being made anew."},
    {"nodes",                          "[ClusterNode]", "The nodes of the cluster."},
    {"pipeline_stats",                 "{integer}",     "Numbers of the write pipeline."},
    {"admission_stats",                "{integer}",     "What waits, and what was refused."},
};

/* Backups */

static const struct api_answer_member backup[] = {
    {"namespace",         "string",   "Whose it is."},
    {"created_at",        "time",     "When it was made."},
    {"queues",            "[any]",    "Queues with their settings."},
    {"schedules",         "[any]",    "Schedules."},
    {"webhooks",          "[any]",    "Webhooks, with their secrets."},
    {"jobs",              "[any]",    "Jobs with everything that belongs to them."},
    {"batches",           "[any]",    "Batches of these jobs."},
    {"budgets",           "[any]",    "Nothing."},
    {"approval_policies", "[any]",    "Approval policies."},
    {"meta",              "{any}",    "Format, number of jobs, checksum."},
};

static const struct api_answer_member restored[] = {
    {"status",        "string",  "ok"},
    {"restored_jobs", "integer", "Jobs that were put back."},
    {"namespace",     "string",  "Into which namespace."},
    {"skipped_jobs?", "integer", "Jobs that were there already."},
    {"failed_jobs?",  "integer", "Jobs that were refused."},
};

#define MEMBERS(list) .members = (list), .count = COUNT_OF(list)

const struct api_answer api_answer_table__rows[] = {
    /* shape                                               name                  what is in it */
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
    {NULL,                                                 "Iteration",          MEMBERS(iteration)},
    {"{iterations}",                                       "Iterations",         MEMBERS(iterations)},
    {"{status}",                                           "Status",             MEMBERS(status)},
    {"enqueued",                                           "Enqueued",           MEMBERS(enqueued)},
    {NULL,                                                 "JobRef",             MEMBERS(job_ref)},
    {"sealed",                                             "Sealed",             MEMBERS(sealed)},
    {"{job_ids, batch_id}",                                "EnqueuedBatch",      MEMBERS(enqueued_batch)},
    {"{batch_id}",                                         "BatchOpened",        MEMBERS(batch_opened)},
    {"batch",                                              "Batch",              MEMBERS(batch)},
    {"{acked}",                                            "Acked",              MEMBERS(acked)},
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
    {"webhook",                                            "Webhook",            MEMBERS(webhook)},
    {"{status, id}",                                       "WebhookChanged",     MEMBERS(webhook_changed)},
    {"policy",                                             "Policy",             MEMBERS(policy)},
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
    {NULL,                                                 "Bill",               MEMBERS(bill)},
    {"{period, summary}",                                  "Billing",            MEMBERS(billing)},
    {"{status, added, node_id, addr}",                     "Joined",             MEMBERS(joined)},
    {NULL,                                                 "Bucket",             MEMBERS(bucket)},
    {NULL,                                                 "Histogram",          MEMBERS(histogram)},
    {NULL,                                                 "ClusterNode",        MEMBERS(cluster_node)},
    {NULL,                                                 "SnapshotInfo",       MEMBERS(snapshot)},
    {NULL,                                                 "Space",              MEMBERS(space)},
    {NULL,                                                 "Mirror",             MEMBERS(mirror)},
    {NULL,                                                 "MirrorRebuild",      MEMBERS(mirror_rebuild)},
    {"cluster status",                                     "ClusterStatus",      MEMBERS(cluster_status)},
    {"{namespace, created_at, jobs, meta}",                "Backup",             MEMBERS(backup)},
    {"{status, restored_jobs, namespace}",                 "Restored",           MEMBERS(restored)},
    {NULL, "JobState",        .words = "pending, active, completed, retrying, dead, cancelled, scheduled, held"},
    {NULL, "EnqueueStatus",   .words = "pending, scheduled, duplicate"},
    {NULL, "Backoff",         .words = "none, fixed, linear, exponential"},
    {NULL, "IterationStatus", .words = "continue, done, hold"},
    {NULL, "BeatStatus",      .words = "ok, cancel"},
    {NULL, "BulkStatus",      .words = "queued, running, completed, failed, cancelled"},
    {NULL, "BulkAction",      .words = "retry, cancel, move, delete, change_priority, requeue, hold, approve, reject"},
    {NULL, "BulkTask",        .words = "retry, cancel, move, delete, change_priority, requeue, hold, approve, reject, clear_queue, delete_queue"},
    {NULL, "EventType",       .words = "enqueued, started, completed, continued, held, approved, rejected, failed, progress, retrying, dead, cancelled,"
                                        " retried, moved, deleted, priority_changed, promoted, reclaimed, expired, queue.paused, queue.resumed, queue.cleared, queue.deleted"},
};
/* clang-format on */

const size_t api_answer_table__count = COUNT_OF(api_answer_table__rows);
