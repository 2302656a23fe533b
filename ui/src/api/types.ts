// Short names for the documents of the API. Their types are generated from the server's OpenAPI
// description (openapi.ts). Types that the description leaves open are written out here.
import type { components } from "./openapi";

type Schemas = components["schemas"];

/** Return all words of a type as a list. If a word is missing, the code does not compile. */
const every =
  <Word extends string>() =>
  <const List extends readonly Word[]>(list: [Word] extends [List[number]] ? List : never): List =>
    list;

export type JobState = Schemas["JobState"];
export const JOB_STATES = every<JobState>()([
  "pending",
  "active",
  "completed",
  "retrying",
  "dead",
  "cancelled",
  "scheduled",
  "held",
]);

export type EventType = Schemas["EventType"];
export const EVENT_TYPES = every<EventType>()([
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
  "budget.exceeded",
]);

export type EnqueueRequest = Schemas["PostEnqueueRequest"];
export type PriorityName = Extract<EnqueueRequest["priority"], string>;
export const PRIORITIES = every<PriorityName>()(["critical", "high", "normal"]);

export type Backoff = Schemas["Backoff"];
export type Job = Schemas["Job"];
export type JobSummary = Schemas["JobSummary"];
export type Position = Schemas["Position"];
export type PushAttempt = Schemas["PushAttempt"];
export type Batch = Schemas["Batch"];
export type Iteration = Schemas["Iteration"];
export type Queue = Schemas["Queue"];
export type Histogram = Schemas["Histogram"];
export type Schedule = Schemas["Schedule"];
export type ScheduleInput = Schemas["PostSchedulesRequest"];
export type HistoryAnswer = Schemas["History"];
export type HistoryPoint = Schemas["HistoryPoint"];
export type Marker = Schemas["Marker"];
export type ErrorGroup = Schemas["ErrorGroup"];
export type UsageTotals = Schemas["UsageSum"];
export type UsageSummary = Schemas["Usage"];
export type Webhook = Schemas["Webhook"];
export type WebhookInput = Schemas["PostWebhooksRequest"];
export type Policy = Schemas["Policy"];
export type PolicyInput = Schemas["PostApprovalPoliciesRequest"];
export type BulkDone = Schemas["BulkDone"];
export type BulkStarted = Schemas["BulkStarted"];
export type SearchAnswer = Schemas["SearchAnswer"];
/** An event of the stream. With format=message, job events are named "job.<type>". */
export type LiveEvent = Omit<Schemas["Event"], "id" | "created_at">;

type Search = Schemas["PostJobsSearchRequest"];

/** The server also accepts comma-separated states. Here states are always a list. */
export interface SearchRequest extends Omit<Search, "state" | "priority" | "tags"> {
  state?: JobState[];
  priority?: PriorityName;
  tags?: Record<string, string>;
}
export type SearchFilter = Omit<SearchRequest, "sort" | "order" | "cursor" | "limit">;

/** The bulk actions that the interface offers. The API has more. */
export type BulkAction = Exclude<Schemas["BulkAction"], "hold" | "approve" | "reject">;

export interface BulkRequest extends Omit<Schemas["PostJobsBulkRequest"], "filter"> {
  action: BulkAction;
  filter?: SearchFilter;
}

/** The conventional form of a worker's progress report, which may be any JSON. */
export interface Progress {
  current?: number;
  total?: number;
  message?: string;
}

/** Read the steps and dependencies of a job. A caller may have set chain_config itself, to any JSON object. */
export function chainOf(job: Job): { steps: unknown[]; depends_on: string[] } {
  const { steps, depends_on }: { steps?: unknown; depends_on?: unknown } = job.chain_config ?? {};
  return {
    steps: Array.isArray(steps) ? steps : [],
    depends_on: Array.isArray(depends_on) ? depends_on.filter((id) => typeof id === "string") : [],
  };
}

// A server with several nodes and shards returns more members than this server (ui.md 6.10, 6.11).

export type Worker = Schemas["Worker"] & { active_jobs?: number };

export interface ClusterNode extends Partial<Schemas["ClusterNode"]> {
  lag?: number;
}

export interface ClusterGroup extends Partial<Omit<Schemas["ClusterStatus"], "nodes">> {
  shard?: number;
  nodes?: ClusterNode[];
}

export interface ClusterStatus extends ClusterGroup {
  groups?: ClusterGroup[];
}

/** A spending limit. A server without budgets responds with 404. */
export type Budget = Schemas["Budget"];
export type BudgetInput = Schemas["PostBudgetsRequest"];
export type PushHost = Schemas["PushHost"];
export type UpcomingRuns = Schemas["UpcomingRuns"];
export type Organization = Schemas["Organisation"];
export type Member = Schemas["Member"];
export type MemberInput = Schemas["PostOrgMembersRequest"];
export type OrgKey = Schemas["OrganisationKey"];

export type Permissions = Schemas["Permissions"];
export type AuthStatus = Schemas["AuthStatus"];
export type ApiKey = Schemas["Key"];
export type KeyInput = Schemas["PostAuthKeysRequest"];
export type Role = Schemas["Role"];
export type RoleInput = Schemas["PostAuthRolesRequest"];
export type Namespace = Schemas["Namespace"];
export type NamespaceQuota = Schemas["NamespaceQuota"];
export type AuditLog = Schemas["AuditLog"];
export type AuditEntry = Schemas["AuditEntry"];
export type SsoSettings = Schemas["SsoSettings"];
export type SsoInput = Schemas["PostSettingsSsoRequest"];
export type BrowserSession = Schemas["Session"];
