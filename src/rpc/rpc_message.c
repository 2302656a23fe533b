#include "rpc/rpc_message.h"

/* clang-format off */

/* Parts of other messages. */

static const struct proto_field agent_config[] = {
    PROTO_ROW(struct rpc_agent_config, 1, I32, max_iterations),
    PROTO_ROW(struct rpc_agent_config, 2, F64, max_cost_usd),
    PROTO_ROW(struct rpc_agent_config, 3, STR, iteration_timeout),
};
static const struct proto_message agent_config_message =
    PROTO_MESSAGE_OF(struct rpc_agent_config, "corvo.v1.AgentConfig", agent_config);

static const struct proto_field agent_state[] = {
    PROTO_ROW(struct rpc_agent_state, 1, I32, max_iterations),
    PROTO_ROW(struct rpc_agent_state, 2, F64, max_cost_usd),
    PROTO_ROW(struct rpc_agent_state, 3, STR, iteration_timeout),
    PROTO_ROW(struct rpc_agent_state, 4, I32, iteration),
    PROTO_ROW(struct rpc_agent_state, 5, F64, total_cost_usd),
};
static const struct proto_message agent_state_message =
    PROTO_MESSAGE_OF(struct rpc_agent_state, "corvo.v1.AgentState", agent_state);

static const struct proto_field usage[] = {
    PROTO_ROW(struct rpc_usage, 1, I64, input_tokens),
    PROTO_ROW(struct rpc_usage, 2, I64, output_tokens),
    PROTO_ROW(struct rpc_usage, 3, I64, cache_creation_tokens),
    PROTO_ROW(struct rpc_usage, 4, I64, cache_read_tokens),
    PROTO_ROW(struct rpc_usage, 5, STR, model),
    PROTO_ROW(struct rpc_usage, 6, STR, provider),
    PROTO_ROW(struct rpc_usage, 7, F64, cost_usd),
};
static const struct proto_message usage_message =
    PROTO_MESSAGE_OF(struct rpc_usage, "corvo.v1.UsageReport", usage);

/* Enqueue. */

static const struct proto_field enqueue_request[] = {
    PROTO_ROW(struct rpc_enqueue, 1, STR, queue),
    PROTO_ROW(struct rpc_enqueue, 2, STR, payload_json),
    PROTO_ONE_OF(struct rpc_enqueue, 3, agent, struct rpc_agent_config, &agent_config_message),
};
const struct proto_message rpc_message_enqueue_request =
    PROTO_MESSAGE_OF(struct rpc_enqueue, "corvo.v1.EnqueueRequest", enqueue_request);

static const struct proto_field enqueue_response[] = {
    PROTO_ROW(struct rpc_enqueued, 1, STR, job_id),
    PROTO_ROW(struct rpc_enqueued, 2, STR, status),
    PROTO_ROW(struct rpc_enqueued, 3, BOOL, unique_existing),
};
const struct proto_message rpc_message_enqueue_response =
    PROTO_MESSAGE_OF(struct rpc_enqueued, "corvo.v1.EnqueueResponse", enqueue_response);

/* Fetch. */

static const struct proto_field fetch_request[] = {
    PROTO_STRS(struct rpc_fetch, 1, queues, queue_count),
    PROTO_ROW(struct rpc_fetch, 2, STR, worker_id),
    PROTO_ROW(struct rpc_fetch, 3, STR, hostname),
    PROTO_ROW(struct rpc_fetch, 4, I32, lease_duration),
};
const struct proto_message rpc_message_fetch_request =
    PROTO_MESSAGE_OF(struct rpc_fetch, "corvo.v1.FetchRequest", fetch_request);

static const struct proto_field fetch_response[] = {
    PROTO_ROW(struct rpc_job, 1, BOOL, found),
    PROTO_ROW(struct rpc_job, 2, STR, job_id),
    PROTO_ROW(struct rpc_job, 3, STR, queue),
    PROTO_ROW(struct rpc_job, 4, STR, payload_json),
    PROTO_ROW(struct rpc_job, 5, I32, attempt),
    PROTO_ROW(struct rpc_job, 6, I32, max_retries),
    PROTO_ROW(struct rpc_job, 7, I32, lease_duration),
    PROTO_ROW(struct rpc_job, 8, STR, checkpoint_json),
    PROTO_ROW(struct rpc_job, 9, STR, tags_json),
    PROTO_ONE_OF(struct rpc_job, 10, agent, struct rpc_agent_state, &agent_state_message),
    PROTO_ROW(struct rpc_job, 11, U64, lease_token),
};
const struct proto_message rpc_message_fetch_response =
    PROTO_MESSAGE_OF(struct rpc_job, "corvo.v1.FetchResponse", fetch_response);

static const struct proto_field fetch_batch_request[] = {
    PROTO_STRS(struct rpc_fetch, 1, queues, queue_count),
    PROTO_ROW(struct rpc_fetch, 2, STR, worker_id),
    PROTO_ROW(struct rpc_fetch, 3, STR, hostname),
    PROTO_ROW(struct rpc_fetch, 4, I32, lease_duration),
    PROTO_ROW(struct rpc_fetch, 5, I32, count),
};
const struct proto_message rpc_message_fetch_batch_request =
    PROTO_MESSAGE_OF(struct rpc_fetch, "corvo.v1.FetchBatchRequest", fetch_batch_request);

static const struct proto_field fetch_batch_job[] = {
    PROTO_ROW(struct rpc_job, 1, STR, job_id),
    PROTO_ROW(struct rpc_job, 2, STR, queue),
    PROTO_ROW(struct rpc_job, 3, STR, payload_json),
    PROTO_ROW(struct rpc_job, 4, I32, attempt),
    PROTO_ROW(struct rpc_job, 5, I32, max_retries),
    PROTO_ROW(struct rpc_job, 6, I32, lease_duration),
    PROTO_ROW(struct rpc_job, 7, STR, checkpoint_json),
    PROTO_ROW(struct rpc_job, 8, STR, tags_json),
    PROTO_ONE_OF(struct rpc_job, 9, agent, struct rpc_agent_state, &agent_state_message),
    PROTO_ROW(struct rpc_job, 10, U64, lease_token),
};
static const struct proto_message fetch_batch_job_message =
    PROTO_MESSAGE_OF(struct rpc_job, "corvo.v1.FetchBatchJob", fetch_batch_job);

static const struct proto_field fetch_batch_response[] = {
    PROTO_LIST_OF(struct rpc_jobs, 1, jobs, job_count, struct rpc_job, &fetch_batch_job_message),
};
const struct proto_message rpc_message_fetch_batch_response =
    PROTO_MESSAGE_OF(struct rpc_jobs, "corvo.v1.FetchBatchResponse", fetch_batch_response);

/* Ack. */

static const struct proto_field ack_request[] = {
    PROTO_ROW(struct rpc_ack, 1, STR, job_id),
    PROTO_ROW(struct rpc_ack, 2, STR, result_json),
    PROTO_ONE_OF(struct rpc_ack, 3, usage, struct rpc_usage, &usage_message),
    PROTO_ROW(struct rpc_ack, 4, STR, checkpoint_json),
    PROTO_ROW(struct rpc_ack, 5, STR, agent_status),
    PROTO_ROW(struct rpc_ack, 6, STR, hold_reason),
    PROTO_ROW(struct rpc_ack, 7, STR, trace_json),
    PROTO_ROW(struct rpc_ack, 8, U64, lease_token),
};
const struct proto_message rpc_message_ack_request =
    PROTO_MESSAGE_OF(struct rpc_ack, "corvo.v1.AckRequest", ack_request);

const struct proto_message rpc_message_ack_response = {.name = "corvo.v1.AckResponse",
                                                       .size = sizeof(struct rpc_nothing)};

static const struct proto_field ack_batch_item[] = {
    PROTO_ROW(struct rpc_ack, 1, STR, job_id),
    PROTO_ROW(struct rpc_ack, 2, STR, result_json),
    PROTO_ONE_OF(struct rpc_ack, 3, usage, struct rpc_usage, &usage_message),
    PROTO_ROW(struct rpc_ack, 4, U64, lease_token),
};
static const struct proto_message ack_batch_item_message =
    PROTO_MESSAGE_OF(struct rpc_ack, "corvo.v1.AckBatchItem", ack_batch_item);

static const struct proto_field ack_batch_request[] = {
    PROTO_LIST_OF(struct rpc_acks, 1, items, item_count, struct rpc_ack, &ack_batch_item_message),
};
const struct proto_message rpc_message_ack_batch_request =
    PROTO_MESSAGE_OF(struct rpc_acks, "corvo.v1.AckBatchRequest", ack_batch_request);

static const struct proto_field ack_batch_response[] = {
    PROTO_ROW(struct rpc_acked, 1, I32, acked),
};
const struct proto_message rpc_message_ack_batch_response =
    PROTO_MESSAGE_OF(struct rpc_acked, "corvo.v1.AckBatchResponse", ack_batch_response);

/* StreamLifecycle. */

static const struct proto_field lifecycle_enqueue_item[] = {
    PROTO_ROW(struct rpc_enqueue, 1, STR, queue),
    PROTO_ROW(struct rpc_enqueue, 2, STR, payload_json),
    PROTO_ONE_OF(struct rpc_enqueue, 3, agent, struct rpc_agent_config, &agent_config_message),
};
static const struct proto_message lifecycle_enqueue_item_message =
    PROTO_MESSAGE_OF(struct rpc_enqueue, "corvo.v1.LifecycleEnqueueItem", lifecycle_enqueue_item);

static const struct proto_field lifecycle_request[] = {
    PROTO_ROW(struct rpc_frame, 1, U64, request_id),
    PROTO_STRS(struct rpc_frame, 2, queues, queue_count),
    PROTO_ROW(struct rpc_frame, 3, STR, worker_id),
    PROTO_ROW(struct rpc_frame, 4, STR, hostname),
    PROTO_ROW(struct rpc_frame, 5, I32, lease_duration),
    PROTO_ROW(struct rpc_frame, 6, I32, fetch_count),
    PROTO_LIST_OF(struct rpc_frame, 7, acks, ack_count, struct rpc_ack, &ack_batch_item_message),
    PROTO_LIST_OF(struct rpc_frame, 8, enqueues, enqueue_count, struct rpc_enqueue,
                  &lifecycle_enqueue_item_message),
};
const struct proto_message rpc_message_lifecycle_request =
    PROTO_MESSAGE_OF(struct rpc_frame, "corvo.v1.LifecycleStreamRequest", lifecycle_request);

static const struct proto_field lifecycle_response[] = {
    PROTO_ROW(struct rpc_frame_answer, 1, U64, request_id),
    PROTO_LIST_OF(struct rpc_frame_answer, 2, jobs, job_count, struct rpc_job,
                  &fetch_batch_job_message),
    PROTO_ROW(struct rpc_frame_answer, 3, I32, acked),
    PROTO_ROW(struct rpc_frame_answer, 4, STR, error),
    PROTO_STRS(struct rpc_frame_answer, 5, enqueued_job_ids, enqueued_count),
    PROTO_ROW(struct rpc_frame_answer, 6, STR, leader_addr),
};
const struct proto_message rpc_message_lifecycle_response =
    PROTO_MESSAGE_OF(struct rpc_frame_answer, "corvo.v1.LifecycleStreamResponse",
                     lifecycle_response);

/* Fail. */

static const struct proto_field fail_request[] = {
    PROTO_ROW(struct rpc_fail, 1, STR, job_id),
    PROTO_ROW(struct rpc_fail, 2, STR, error),
    PROTO_ROW(struct rpc_fail, 3, STR, backtrace),
    PROTO_ROW(struct rpc_fail, 4, U64, lease_token),
};
const struct proto_message rpc_message_fail_request =
    PROTO_MESSAGE_OF(struct rpc_fail, "corvo.v1.FailRequest", fail_request);

static const struct proto_field fail_response[] = {
    PROTO_ROW(struct rpc_failed, 1, STR, status),
    PROTO_ROW(struct rpc_failed, 2, TIME, next_attempt_at),
    PROTO_ROW(struct rpc_failed, 3, I32, attempts_remaining),
};
const struct proto_message rpc_message_fail_response =
    PROTO_MESSAGE_OF(struct rpc_failed, "corvo.v1.FailResponse", fail_response);

/* Heartbeat. */

static const struct proto_field job_update[] = {
    PROTO_ROW(struct rpc_job_update, 1, STR, progress_json),
    PROTO_ROW(struct rpc_job_update, 2, STR, checkpoint_json),
    PROTO_ONE_OF(struct rpc_job_update, 3, usage, struct rpc_usage, &usage_message),
    PROTO_ROW(struct rpc_job_update, 4, STR, stream_delta),
    PROTO_ROW(struct rpc_job_update, 5, U64, lease_token),
};
static const struct proto_message job_update_message =
    PROTO_MESSAGE_OF(struct rpc_job_update, "corvo.v1.HeartbeatJobUpdate", job_update);

static const struct proto_field heartbeat_entry[] = {
    PROTO_ROW(struct rpc_heartbeat_entry, 1, STR, key),
    PROTO_ONE_OF(struct rpc_heartbeat_entry, 2, value, struct rpc_job_update, &job_update_message),
};
static const struct proto_message heartbeat_entry_message =
    PROTO_MESSAGE_OF(struct rpc_heartbeat_entry, "corvo.v1.HeartbeatRequest.JobsEntry",
                     heartbeat_entry);

static const struct proto_field heartbeat_request[] = {
    PROTO_MAP_OF(struct rpc_heartbeat, 1, jobs, job_count, struct rpc_heartbeat_entry,
                 &heartbeat_entry_message),
};
const struct proto_message rpc_message_heartbeat_request =
    PROTO_MESSAGE_OF(struct rpc_heartbeat, "corvo.v1.HeartbeatRequest", heartbeat_request);

static const struct proto_field job_status[] = {
    PROTO_ROW(struct rpc_job_status, 1, STR, status),
};
static const struct proto_message job_status_message =
    PROTO_MESSAGE_OF(struct rpc_job_status, "corvo.v1.HeartbeatJobResponse", job_status);

static const struct proto_field heartbeat_answer_entry[] = {
    PROTO_ROW(struct rpc_heartbeat_answer_entry, 1, STR, key),
    PROTO_ONE_OF(struct rpc_heartbeat_answer_entry, 2, value, struct rpc_job_status,
                 &job_status_message),
};
static const struct proto_message heartbeat_answer_entry_message =
    PROTO_MESSAGE_OF(struct rpc_heartbeat_answer_entry, "corvo.v1.HeartbeatResponse.JobsEntry",
                     heartbeat_answer_entry);

static const struct proto_field heartbeat_response[] = {
    PROTO_MAP_OF(struct rpc_heartbeat_answer, 1, jobs, job_count,
                 struct rpc_heartbeat_answer_entry, &heartbeat_answer_entry_message),
};
const struct proto_message rpc_message_heartbeat_response =
    PROTO_MESSAGE_OF(struct rpc_heartbeat_answer, "corvo.v1.HeartbeatResponse", heartbeat_response);

/* Subscribe. */

static const struct proto_field subscribe_request[] = {
    PROTO_STRS(struct rpc_subscribe, 1, queues, queue_count),
    PROTO_STRS(struct rpc_subscribe, 2, job_ids, job_id_count),
    PROTO_STRS(struct rpc_subscribe, 3, types, type_count),
    PROTO_ROW(struct rpc_subscribe, 4, U64, last_event_id),
};
const struct proto_message rpc_message_subscribe_request =
    PROTO_MESSAGE_OF(struct rpc_subscribe, "corvo.v1.SubscribeRequest", subscribe_request);

static const struct proto_field subscribe_event[] = {
    PROTO_ROW(struct rpc_event, 1, U64, seq),
    PROTO_ROW(struct rpc_event, 2, STR, type),
    PROTO_ROW(struct rpc_event, 3, STR, job_id),
    PROTO_ROW(struct rpc_event, 4, STR, queue),
    PROTO_ROW(struct rpc_event, 5, U64, at_ns),
    PROTO_ROW(struct rpc_event, 6, STR, data_json),
};
const struct proto_message rpc_message_subscribe_event =
    PROTO_MESSAGE_OF(struct rpc_event, "corvo.v1.SubscribeEvent", subscribe_event);

/* GetServerInfo. */

const struct proto_message rpc_message_server_info_request = {
    .name = "corvo.v1.GetServerInfoRequest", .size = sizeof(struct rpc_nothing)};

static const struct proto_field server_info_response[] = {
    PROTO_ROW(struct rpc_server_info, 1, STR, server_version),
    PROTO_ROW(struct rpc_server_info, 2, STR, api_version),
};
const struct proto_message rpc_message_server_info_response =
    PROTO_MESSAGE_OF(struct rpc_server_info, "corvo.v1.GetServerInfoResponse",
                     server_info_response);

/* clang-format on */

const struct proto_message *const rpc_message_all[] = {
    &rpc_message_enqueue_request,
    &rpc_message_enqueue_response,
    &rpc_message_fetch_request,
    &rpc_message_fetch_response,
    &rpc_message_fetch_batch_request,
    &rpc_message_fetch_batch_response,
    &rpc_message_ack_request,
    &rpc_message_ack_response,
    &rpc_message_ack_batch_request,
    &rpc_message_ack_batch_response,
    &rpc_message_lifecycle_request,
    &rpc_message_lifecycle_response,
    &rpc_message_fail_request,
    &rpc_message_fail_response,
    &rpc_message_heartbeat_request,
    &rpc_message_heartbeat_response,
    &rpc_message_subscribe_request,
    &rpc_message_subscribe_event,
    &rpc_message_server_info_request,
    &rpc_message_server_info_response,
    NULL,
};
