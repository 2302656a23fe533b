/*
 * Rpc_message: the messages of corvo.v1 as structs and tables (rpc.md 15).
 *
 * Structs are what a decoder fills and an encoder reads; texts are views. Field numbers and names
 * are those of proto/corvo/v1/worker.proto, which a test compares with these rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/str.h"
#include "proto/proto.h"

struct rpc_agent_config {
    int32_t max_iterations;
    double max_cost_usd;
    struct str iteration_timeout;
};

struct rpc_agent_state {
    int32_t max_iterations;
    double max_cost_usd;
    struct str iteration_timeout;
    int32_t iteration;
    double total_cost_usd;
};

struct rpc_usage {
    int64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
    struct str model, provider;
    double cost_usd;
};

/* EnqueueRequest, and LifecycleEnqueueItem, which has the same fields. */
struct rpc_enqueue {
    struct str queue;
    struct str payload_json;
    struct rpc_agent_config *agent;
};

struct rpc_enqueued {
    struct str job_id;
    struct str status;
    bool unique_existing;
};

/* FetchRequest and FetchBatchRequest; only the batch has a count. */
struct rpc_fetch {
    struct str *queues;
    size_t queue_count;
    struct str worker_id, hostname;
    int32_t lease_duration;
    int32_t count;
};

/* FetchResponse and FetchBatchJob; only the response has found. */
struct rpc_job {
    bool found;
    struct str job_id, queue, payload_json;
    int32_t attempt, max_retries, lease_duration;
    struct str checkpoint_json, tags_json;
    struct rpc_agent_state *agent;
    uint64_t lease_token; /* for fencing; 0: none */
};

struct rpc_jobs {
    struct rpc_job *jobs;
    size_t job_count;
};

/* AckRequest and AckBatchItem. The item has job_id, result_json, usage and lease_token. */
struct rpc_ack {
    struct str job_id, result_json;
    struct rpc_usage *usage;
    struct str checkpoint_json, agent_status, hold_reason, trace_json;
    uint64_t lease_token;
};

struct rpc_acks {
    struct rpc_ack *items;
    size_t item_count;
};

struct rpc_acked {
    int32_t acked;
};

/* LifecycleStreamRequest. */
struct rpc_frame {
    uint64_t request_id;
    struct str *queues;
    size_t queue_count;
    struct str worker_id, hostname;
    int32_t lease_duration, fetch_count;
    struct rpc_ack *acks;
    size_t ack_count;
    struct rpc_enqueue *enqueues;
    size_t enqueue_count;
};

/* LifecycleStreamResponse. */
struct rpc_frame_answer {
    uint64_t request_id;
    struct rpc_job *jobs;
    size_t job_count;
    int32_t acked;
    struct str error;
    struct str *enqueued_job_ids;
    size_t enqueued_count;
    struct str leader_addr;
};

struct rpc_fail {
    struct str job_id, error, backtrace;
    uint64_t lease_token;
};

struct rpc_failed {
    struct str status;
    struct wall next_attempt_at;
    int32_t attempts_remaining;
};

struct rpc_job_update {
    struct str progress_json, checkpoint_json;
    struct rpc_usage *usage;
    struct str stream_delta;
    uint64_t lease_token;
};

/* An entry of the map in HeartbeatRequest. A repeated key has several entries; the last one wins.
 */
struct rpc_heartbeat_entry {
    struct str key;
    struct rpc_job_update *value; /* NULL: the default message */
};

struct rpc_heartbeat {
    struct rpc_heartbeat_entry *jobs;
    size_t job_count;
};

struct rpc_job_status {
    struct str status;
};

struct rpc_heartbeat_answer_entry {
    struct str key;
    struct rpc_job_status *value;
};

struct rpc_heartbeat_answer {
    struct rpc_heartbeat_answer_entry *jobs;
    size_t job_count;
};

struct rpc_subscribe {
    struct str *queues;
    size_t queue_count;
    struct str *job_ids;
    size_t job_id_count;
    struct str *types;
    size_t type_count;
    uint64_t last_event_id;
};

struct rpc_event {
    uint64_t seq;
    struct str type, job_id, queue;
    uint64_t at_ns;
    struct str data_json;
};

struct rpc_nothing {
    char unused; /* a struct has at least one member; no row names this one */
};

struct rpc_server_info {
    struct str server_version, api_version;
};

/* The tables, named as in the schema. */
extern const struct proto_message rpc_message_enqueue_request, rpc_message_enqueue_response,
    rpc_message_fetch_request, rpc_message_fetch_response, rpc_message_fetch_batch_request,
    rpc_message_fetch_batch_response, rpc_message_ack_request, rpc_message_ack_response,
    rpc_message_ack_batch_request, rpc_message_ack_batch_response, rpc_message_lifecycle_request,
    rpc_message_lifecycle_response, rpc_message_fail_request, rpc_message_fail_response,
    rpc_message_heartbeat_request, rpc_message_heartbeat_response, rpc_message_subscribe_request,
    rpc_message_subscribe_event, rpc_message_server_info_request, rpc_message_server_info_response;

/* Every message above, for tests and fuzzing: NULL ends the list. */
extern const struct proto_message *const rpc_message_all[];
