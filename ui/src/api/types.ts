// Documents of the API (http-api.md). Fields that the server leaves out when unset are optional.

export const JOB_STATES = [
  "pending",
  "active",
  "completed",
  "retrying",
  "dead",
  "cancelled",
  "scheduled",
  "held",
] as const;
export type JobState = (typeof JOB_STATES)[number];

export const PRIORITIES = ["critical", "high", "normal"] as const;
export type PriorityName = (typeof PRIORITIES)[number];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Progress {
  current?: number;
  total?: number;
  message?: string;
}

export interface Agent {
  max_iterations?: number;
  max_cost_usd?: number;
  iteration_timeout?: string;
  iteration?: number;
  total_cost_usd?: number;
}

export interface JobError {
  id: number;
  job_id: string;
  attempt: number;
  error: string;
  backtrace?: string;
  created_at: string;
}

/** What search and the dead letters answer with. */
export interface JobSummary {
  id: string;
  queue: string;
  state: JobState;
  payload: Json;
  priority: number;
  attempt: number;
  max_retries: number;
  unique_key?: string;
  batch_id?: string;
  worker_id?: string;
  tags?: Record<string, Json>;
  parent_id?: string;
  chain_id?: string;
  chain_step?: number;
  scheduled_at?: string;
  created_at: string;
  started_at?: string;
  completed_at?: string;
  failed_at?: string;
  expire_at?: string;
  hold_reason?: string;
  last_error?: string;
  agent?: Agent;
  progress?: Json;
}

export interface ChainConfig {
  steps?: { queue: string; payload?: Json }[];
  depends_on?: string[];
}

export interface Job extends JobSummary {
  retry_backoff: string;
  retry_base_delay_ms: number;
  retry_max_delay_ms: number;
  hostname?: string;
  checkpoint?: Json;
  result?: Json;
  lease_expires_at?: string;
  cancelled_at?: string;
  chain_config?: ChainConfig;
  errors?: JobError[];
  schedule_id?: string;
}

export interface Iteration {
  id: number;
  job_id: string;
  iteration: number;
  status: string;
  created_at: string;
  checkpoint?: Json;
  hold_reason?: string;
  result?: Json;
  input_tokens?: number;
  output_tokens?: number;
  model?: string;
  provider?: string;
  cost_usd?: number;
}

export interface ExplainReason {
  code: string;
  message: string;
}

export interface Explanation {
  job_id: string;
  state: JobState;
  runnable: boolean;
  reasons: ExplainReason[];
  /** How many stand before it in its queue; at_least: they were not all counted. */
  position?: { ahead: number; at_least: boolean };
}

export interface SearchFilter {
  queue?: string;
  state?: JobState[];
  priority?: string;
  payload_contains?: string;
  payload_jq?: string;
  error_contains?: string;
  tags?: Record<string, string>;
  job_id_prefix?: string;
  batch_id?: string;
  worker_id?: string;
  unique_key?: string;
  chain_id?: string;
  created_after?: string;
  created_before?: string;
}

export interface SearchRequest extends SearchFilter {
  sort?: string;
  order?: string;
  cursor?: string;
  limit?: number;
}

export interface SearchAnswer {
  jobs: JobSummary[];
  total: number;
  cursor?: string;
  has_more: boolean;
  duration_ms: number;
}

export interface Queue {
  name: string;
  paused: boolean;
  max_concurrency?: number;
  rate_limit?: number;
  rate_window_ms?: number;
  created_at?: string;
  pending: number;
  active: number;
  held: number;
  completed: number;
  dead: number;
  scheduled: number;
  retrying: number;
  enqueued: number;
  failed?: number;
  cancelled?: number;
  oldest_pending_at?: string;
}

export interface Worker {
  id: string;
  hostname: string | null;
  /** A JSON array in a text. */
  queues: string | null;
  last_heartbeat: string;
  started_at: string;
  active_jobs?: number;
}

export interface ThroughputMinute {
  minute: string;
  enqueued: number;
  completed: number;
  failed: number;
}

export interface Histogram {
  count: number;
  avg?: string;
  p50?: string;
  p90?: string;
  p99?: string;
  buckets?: { le: string; count: number }[];
}

export interface ClusterNode {
  id?: string;
  address?: string;
  voter?: boolean;
  role?: string;
  status?: string;
  self?: boolean;
  http_url?: string;
  log_index?: number | string;
  lag?: number;
}

export interface ClusterGroup {
  shard?: number;
  mode?: string;
  status?: string;
  state?: string;
  node_id?: string;
  leader_id?: string;
  leader_addr?: string;
  term?: number;
  applied_index?: string;
  commit_index?: string;
  durable?: boolean;
  raft_store?: string;
  nodes?: ClusterNode[];
  snapshot?: Record<string, Json>;
  sqlite_mirror?: Record<string, Json>;
  pipeline_stats?: Record<string, Json>;
  admission_stats?: Record<string, Json>;
  queue_time_hist?: Histogram;
  apply_time_hist?: Histogram;
}

export interface ClusterStatus extends ClusterGroup {
  shards?: number;
  groups?: ClusterGroup[];
}

export interface Schedule {
  id: string;
  name: string;
  queue: string;
  cron: string;
  timezone: string;
  payload: Json;
  unique_key?: string;
  max_retries: number;
  last_run?: string;
  next_run?: string;
  created_at: string;
  updated_at?: string;
  enabled?: boolean;
  priority?: number;
  tags?: Record<string, Json>;
}

export interface UsageTotals {
  input_tokens: number;
  output_tokens: number;
  cache_creation_tokens: number;
  cache_read_tokens: number;
  cost_usd: number;
  count: number;
}

export interface UsageSummary {
  period: string;
  from: string;
  to: string;
  totals: UsageTotals;
  groups?: (UsageTotals & { key: string })[];
}

export interface Budget {
  id: string;
  scope: string;
  target: string;
  daily_usd?: number;
  per_job_usd?: number;
  on_exceed: string;
}

export interface Webhook {
  id: string;
  url: string;
  events: string[];
  secret?: string;
  enabled: boolean;
  retry_limit: number;
  created_at: string;
  last_status_code?: number;
  last_error?: string;
  last_delivery_at?: string;
}

export interface EnqueueRequest {
  queue: string;
  payload: Json;
  priority?: PriorityName;
  max_retries?: number;
  scheduled_at?: string;
  unique_key?: string;
  expire_after?: string;
  tags?: Record<string, string>;
  retry_backoff?: string;
  retry_base_delay?: string;
  retry_max_delay?: string;
}

export interface EnqueueAnswer {
  job_id: string;
  status: string;
  unique_existing: boolean;
}

export const BULK_ACTIONS = ["retry", "cancel", "move", "delete", "change_priority", "requeue"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export interface BulkRequest {
  action: BulkAction;
  job_ids?: string[];
  filter?: SearchFilter;
  move_to_queue?: string;
  priority?: string;
}

export interface BulkDone {
  affected: number;
  errors: number;
  duration_ms: number;
}

export interface BulkStarted {
  bulk_operation_id: string;
  status: string;
  estimated_total: number;
  progress_url: string;
}

export interface BulkTask {
  id: string;
  status: "queued" | "running" | "completed" | "failed" | "cancelled";
  action: string;
  total: number;
  processed: number;
  affected: number;
  errors: number;
  error?: string;
}

/** An event of the stream; in the message dialect job events are named "job.<type>". */
export interface LiveEvent {
  seq: number;
  type: string;
  at_ns: number;
  job_id?: string;
  queue?: string;
  data?: Json;
}

export const EVENT_TYPES = [
  "enqueued",
  "started",
  "completed",
  "continued",
  "held",
  "approved",
  "rejected",
  "failed",
  "progress",
  "retrying",
  "dead",
  "cancelled",
  "retried",
  "moved",
  "deleted",
  "priority_changed",
  "promoted",
  "reclaimed",
  "expired",
  "queue.paused",
  "queue.resumed",
  "queue.cleared",
  "queue.deleted",
] as const;
