/*
 * Responses of the cluster routes. A part of rest_answer_table.c.
 */
#pragma once

#include "rest/describe/rest_answer_int.h"

#define DURATION_DOC "Duration, such as 1.5ms."

/* clang-format off */
static const struct rest_answer_member joined[] = {
    {"status",  "string",  "ok"},
    {"added",   "boolean", "Whether the node was added. False if it was already a member."},
    {"node_id", "string",  "Name of the node."},
    {"addr",    "string",  "Address for the other nodes."},
    {"cluster_id", "string", "Cluster ID, 16 hex digits."},
};

static const struct rest_answer_member bucket[] = {
    {"le",    "string",  DURATION_DOC},
    {"count", "integer", "Number of samples in this bucket: at most le, and above the previous bucket."},
};

static const struct rest_answer_member histogram[] = {
    {"count",    "integer",  "Number of samples."},
    {"avg?",     "string",   DURATION_DOC},
    {"p50?",     "string",   DURATION_DOC},
    {"p90?",     "string",   DURATION_DOC},
    {"p99?",     "string",   DURATION_DOC},
    {"buckets?", "[Bucket]", "Samples by duration."},
};

static const struct rest_answer_member cluster_node[] = {
    {"id",        "string",  "Name of the node."},
    {"address",   "string",  "Address for the other nodes."},
    {"voter",     "boolean", "Whether the node votes."},
    {"role",      "string",  "Role: Leader, Follower, Candidate, Standby, Spare or Joining."},
    {"status",    "string",  "Status: healthy, degraded, catching up, unreachable, unknown, leaving, differs, quarantined, removed or outdated."},
    {"self",      "boolean", "Whether this is the node that answered the request."},
    {"raft_id",   "string",  "Raft ID, 16 hex digits."},
    {"http_url?", "string",  "URL of the API."},
    {"version?",  "string",  "Version of the server."},
    {"match_index?", "integer", "Last log entry that the node is known to have. Reported by the leader only."},
    {"lag?",      "integer", "Number of log entries that the node is missing. Reported by the leader only."},
    {"last_contact_ms?", "integer", "Milliseconds since the answering node last heard from this node."},
    {"error?",    "string",  "Why the node is unreachable."},
};

static const struct rest_answer_member state_hash[] = {
    {"index",          "integer", "Log entry after which the hash was taken."},
    {"hash",           "string",  "Hash of everything written up to that entry, 16 hex digits."},
    {"compared_total", "integer", "Number of comparisons with other nodes."},
    {"differed_total", "integer", "Number of comparisons that found a difference."},
};

static const struct rest_answer_member checkpoint_fetch[] = {
    {"running",       "boolean", "Whether a checkpoint is being fetched."},
    {"bytes_total",   "integer", "Size of the current or last checkpoint, in bytes."},
    {"bytes_done",    "integer", "Bytes received so far."},
    {"fetched_total", "integer", "Number of checkpoints fetched."},
    {"error?",        "string",  "Why the last fetch failed."},
};

static const struct rest_answer_member snapshot[] = {
    {"count",         "integer", "Number of snapshots taken."},
    {"latest_index?", "integer", "Last log entry in the newest snapshot."},
    {"latest_term?",  "integer", "Term of that entry."},
};

static const struct rest_answer_member space[] = {
    {"level",                "string",  "Level: ok, low (new jobs are refused) or full (only deletions are accepted)."},
    {"reason",               "string",  "Why requests are refused. Empty if none are."},
    {"free_bytes",           "integer", "Free bytes on the disk of the data directory."},
    {"needed_bytes",         "integer", "Free bytes below which new jobs are refused."},
    {"reserve_bytes",        "integer", "Size of the reserve file. 0 after it was removed to free space."},
    {"log_memory_bytes",     "integer", "Memory used by log entries, in bytes."},
    {"log_memory_max_bytes", "integer", "Memory of log entries at which all writes are refused, in bytes."},
};

static const struct rest_answer_member mirror[] = {
    {"async",          "boolean", "Whether the index is updated in the background."},
    {"queued",         "integer", "Number of changes passed to the index."},
    {"applied",        "integer", "Number of changes applied to the index."},
    {"dropped",        "integer", "Always 0: no change is dropped."},
    {"lag",            "integer", "Number of changes not applied yet."},
    {"queue_depth",    "integer", "Same as lag."},
    {"queue_capacity", "integer", "Nominal capacity. There is no such limit."},
    {"low_space",      "boolean", "Whether updates are paused because the disk is nearly full."},
};

static const struct rest_answer_member mirror_rebuild[] = {
    {"ran",               "boolean", "Whether the index has been rebuilt since the start."},
    {"running",           "boolean", "Whether a rebuild is running."},
    {"last_started_at?",  "time",    "Start of the last rebuild."},
    {"last_duration_ms?", "integer", "Duration of the last rebuild, in milliseconds."},
    {"last_success?",     "boolean", "Whether the last rebuild succeeded."},
    {"last_error?",       "string",  "Why the last rebuild failed."},
};

static const struct rest_answer_member cluster_status[] = {
    {"mode",                           "string",        "cluster"},
    {"status",                         "string",        "healthy, or degraded if there is no leader."},
    {"state",                          "string",        "Raft state: Leader, Follower, Candidate or Shutdown."},
    {"node_id",                        "string",        "Node that answered the request."},
    {"leader_id",                      "string",        "Name of the leader."},
    {"leader_addr",                    "string",        "Address of the leader for the other nodes."},
    {"leader_url",                     "string",        "URL of the leader's API."},
    {"term",                           "integer",       "Current Raft term."},
    {"applied_index",                  "string",        "Last log entry applied."},
    {"commit_index",                   "string",        "Last log entry committed."},
    {"raft_store",                     "string",        "Storage of the Raft log."},
    {"durable",                        "boolean",       "Whether writes are flushed to disk before they are acknowledged."},
    {"raft_nosync",                    "boolean",       "Opposite of durable."},
    {"pebble_nosync",                  "boolean",       "Always true: the state is rebuilt from the log after a crash."},
    {"sqlite_mirror_async",            "boolean",       "Whether searches use the search index."},
    {"lifecycle_events",               "boolean",       "Whether the event log is enabled."},
    {"snapshot_threshold",             "integer",       "Value of the setting. It has no effect: snapshots depend on snapshot_log_bytes."},
    {"snapshot_log_bytes",             "integer",       "Bytes of log between two snapshots."},
    {"snapshot_interval",              "string",        "Value of the setting, for example 1m0s. It has no effect."},
    {"apply_batch_max",                "integer",       "Maximum number of operations per log entry."},
    {"apply_batch_extend_at",          "integer",       "Value of the setting. It has no effect."},
    {"apply_sub_batch_max",            "integer",       "Maximum number of operations applied at once."},
    {"apply_max_pending",              "integer",       "Maximum number of operations in progress."},
    {"apply_max_fetch_queue_inflight", "integer",       "Value of the setting raft-max-fetch-inflight. It has no effect."},
    {"apply_batch_min_wait",           "string",        "Value of the setting, for example 100µs. It has no effect."},
    {"apply_batch_window",             "string",        "Value of the setting, for example 8ms. It has no effect."},
    {"apply_pending_now",              "integer",       "Number of operations in progress."},
    {"overload_total",                 "integer",       "Operations refused because the write pipeline was full."},
    {"fetch_overload_total",           "integer",       "Always 0: fetches have no limit of their own."},
    {"applied_total",                  "integer",       "Number of operations applied."},
    {"queue_time_hist",                "Histogram",     "Time until an operation is written to a log entry."},
    {"apply_time_hist",                "Histogram",     "Time until a log entry is committed and applied."},
    {"snapshot",                       "SnapshotInfo",  "Snapshots of the state."},
    {"space",                          "Space",         "Disk space, and memory of the log."},
    {"sqlite_mirror",                  "Mirror",        "State of the search index."},
    {"sqlite_rebuild",                 "MirrorRebuild", "Rebuilds of the search index."},
    {"nodes",                          "[ClusterNode]", "Nodes of the cluster."},
    {"cluster_id",                     "string",        "Cluster ID, 16 hex digits."},
    {"removed",                        "boolean",       "Whether this node was removed from the cluster."},
    {"quarantined",                    "boolean",       "Whether this node is quarantined because its data differs from the majority."},
    {"unreadable?",                    "string",        "What this node's version cannot read in the messages of the leader."},
    {"elections",                      "integer",       "Number of leader changes seen by this node."},
    {"state_hash",                     "StateHash",     "Hash of the state, compared between nodes."},
    {"checkpoint_fetch",               "CheckpointFetch", "Transfer of a checkpoint to this node."},
    {"pipeline_stats",                 "{integer}",     "Counters of the write pipeline."},
    {"admission_stats",                "{integer}",     "Requests waiting and refused, and request memory."},
};

/* Backups */
/* clang-format on */
