// All reads from the server, and how often they are repeated.
import {
  keepPreviousData,
  notifyManager,
  QueryClient,
  useInfiniteQuery,
  useQueries,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/react-query";

import { refusalsOf } from "../lib/permissions";
import { ApiError, get, getExact, isForbidden, postExact } from "./client";
import type {
  ApiKey,
  AuditLog,
  AuthStatus,
  Batch,
  BrowserSession,
  Budget,
  ClusterStatus,
  Iteration,
  Job,
  Member,
  Namespace,
  NamespaceQuota,
  Organization,
  OrgKey,
  Permissions,
  PushHost,
  Queue,
  Role,
  SsoSettings,
  SearchAnswer,
  SearchRequest,
  UpcomingRuns,
  UsageSummary,
  Worker,
} from "./types";

const FRESH_MS = 2_000;

/** The names of the data sets: the first part of a query key. Events and actions make data sets stale by name. */
export const KEY = {
  queues: "queues",
  search: "search",
  job: "job",
  batch: "batch",
  iterations: "iterations",
  explain: "explain",
  workers: "workers",
  cluster: "cluster",
  history: "history",
  markers: "markers",
  errors: "errors",
  schedules: "schedules",
  usage: "usage",
  budgets: "budgets",
  pushHosts: "push-hosts",
  webhooks: "webhooks",
  policies: "policies",
  authStatus: "auth-status",
  permissions: "permissions",
  keys: "keys",
  keyRoles: "key-roles",
  roles: "roles",
  namespaces: "namespaces",
  audit: "audit",
  sessions: "sessions",
  sso: "sso",
  org: "org",
} as const;

// Render responses at once. The default is to wait for a timer, which a browser that is busy with a frame delays.
notifyManager.setScheduler(queueMicrotask);

/** False once a read was refused: repeating it would only fill the audit log. Signing in and choosing a namespace begin anew. */
const notRefused = ({ state }: { state: { error: Error | null } }): boolean => !isForbidden(state.error);

/** For "enabled" of a read that also has its own condition. */
const onlyIf = (condition: boolean) => condition && notRefused;

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        enabled: notRefused,
        staleTime: FRESH_MS,
        refetchOnWindowFocus: true,
        retry: (count, error) => count < 1 && !(error instanceof ApiError && isFinal(error.status)),
        retryDelay: 500,
        // A browser that considers itself offline may still reach a server on its own machine.
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
}

/** True if an immediate retry would get the same response. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** A read and the key under which its data is cached. Used by the page, and by ahead.ts before the page opens. */
export interface Read<T = unknown> {
  queryKey: readonly unknown[];
  queryFn: () => Promise<T>;
}

function usePolled<T>(read: Read<T>, everyMs: number): UseQueryResult<T> {
  return useQuery({
    ...read,
    // Do not repeat a read that returned 404: the result would not change within seconds.
    refetchInterval: ({ state }) => (state.error instanceof ApiError && state.error.status === 404 ? false : everyMs),
    placeholderData: keepPreviousData,
  });
}

export const READ = {
  queues: { queryKey: [KEY.queues], queryFn: () => get("/queues") },
  workers: { queryKey: [KEY.workers], queryFn: (): Promise<Worker[]> => get("/workers") },
  cluster: { queryKey: [KEY.cluster], queryFn: (): Promise<ClusterStatus> => get("/cluster/status") },
  schedules: { queryKey: [KEY.schedules], queryFn: () => getExact("/schedules") },
  upcoming: { queryKey: [KEY.schedules, "upcoming"], queryFn: (): Promise<UpcomingRuns[]> => get("/upcoming") },
  webhooks: { queryKey: [KEY.webhooks], queryFn: () => get("/webhooks") },
  policies: { queryKey: [KEY.policies], queryFn: () => get("/approval-policies") },
  budgets: { queryKey: [KEY.budgets], queryFn: (): Promise<Budget[]> => get("/budgets") },
  authStatus: { queryKey: [KEY.authStatus], queryFn: (): Promise<AuthStatus> => get("/auth/status") },
} as const;

export const useQueues = () => usePolled(READ.queues, 3_000);
/** The page of a queue repeats this read even after a 404, because the queue may be created later. */
export const readQueue = (name: string) => ({
  queryKey: [KEY.queues, name],
  queryFn: () => get("/queues/{name}", { params: { name } }),
});
export function useOneQueue(name: string): Queue | undefined {
  const client = useQueryClient();
  const { data, error } = useQuery({
    ...readQueue(name),
    refetchInterval: 3_000,
    placeholderData: () => client.getQueryData<Queue[]>(READ.queues.queryKey)?.find((queue) => queue.name === name),
  });
  return error instanceof ApiError && error.status === 404 ? undefined : data;
}
export const useWorkers = () => usePolled(READ.workers, 5_000);
export const useCluster = () => usePolled(READ.cluster, 5_000);
export const useSchedules = () => usePolled(READ.schedules, 10_000);
export const useUpcoming = () => usePolled(READ.upcoming, 30_000);
export const useWebhooks = () => usePolled(READ.webhooks, 10_000);
export const usePolicies = () => usePolled(READ.policies, 10_000);
export const useBudgets = () => usePolled(READ.budgets, 10_000);

// Read when the page opens and after its own changes. Other changes are rare.
export const useAuthStatus = () => useQuery(READ.authStatus);
/** The queues to which the caller's key is limited. Empty if it may use all queues, or if that is not known. */
export const useScope = (): string => useAuthStatus().data?.queue_scope ?? "";
export const usePermissions = () =>
  useQuery<Permissions>({ queryKey: [KEY.permissions], queryFn: () => get("/auth/permissions") });
/** Push hosts do not belong to a namespace, so keys of a namespace may not read them. */
export function usePushHosts(): UseQueryResult<PushHost[]> {
  const may = useAuthStatus().data?.chooses_namespace === true;
  return useQuery({
    queryKey: [KEY.pushHosts],
    queryFn: () => get("/push/hosts", { query: { limit: "200" } }),
    refetchInterval: 5_000,
    placeholderData: keepPreviousData,
    enabled: onlyIf(may),
  });
}
export const useKeys = () => useQuery<ApiKey[]>({ queryKey: [KEY.keys], queryFn: () => get("/auth/keys") });
export const useKeyRoles = (keyHash: string) =>
  useQuery({
    queryKey: [KEY.keyRoles, keyHash],
    queryFn: () => get("/auth/keys/{key_hash}/roles", { params: { key_hash: keyHash } }),
  });
export const useRoles = () => useQuery<Role[]>({ queryKey: [KEY.roles], queryFn: () => get("/auth/roles") });
export const useNamespaces = () => useQuery<Namespace[]>({ queryKey: [KEY.namespaces], queryFn: () => get("/namespaces") });
/** Not cached: a form is filled with the quota, and must not be filled with an outdated one. */
export const useQuota = (name: string) =>
  useQuery<NamespaceQuota>({
    queryKey: [KEY.namespaces, name, "quota"],
    queryFn: () => get("/namespaces/{name}/quota", { params: { name } }),
    gcTime: 0,
  });
export const useOrg = () => useQuery<Organization>({ queryKey: [KEY.org], queryFn: () => get("/org") });
export const useOrgMembers = () => useQuery<Member[]>({ queryKey: [KEY.org, "members"], queryFn: () => get("/org/members") });
export const useOrgKeys = () => useQuery<OrgKey[]>({ queryKey: [KEY.org, "keys"], queryFn: () => get("/org/api-keys") });
/** Only read by callers that may, because refusals are audited. */
export function useSessions(): UseQueryResult<BrowserSession[]> {
  const { data, isPending } = usePermissions();
  const may = !isPending && refusalsOf(data)("GET /auth/sessions") === undefined;
  return useQuery({ queryKey: [KEY.sessions], queryFn: () => get("/auth/sessions"), enabled: onlyIf(may) });
}
export const useSso = () => useQuery<SsoSettings>({ queryKey: [KEY.sso], queryFn: () => get("/settings/sso") });
/** Another page or filter keeps the rows of the last one until its own arrive. */
export const useAudit = (query: Record<string, string>) =>
  useQuery<AuditLog>({
    queryKey: [KEY.audit, query],
    queryFn: () => get("/audit-logs", { query }),
    placeholderData: keepPreviousData,
  });
/** Actions of callers on queues in a time range. If a queue is given, only on queues whose names begin with its name: the
 *  server filters paths by prefix, and the path of a deletion ends with the name. Not every caller may read them. */
export const useQueueAudit = (query: { since: string; until: string; queue?: string }) =>
  useQuery<AuditLog>({
    queryKey: [KEY.audit, "queues", query],
    queryFn: () =>
      get("/audit-logs", {
        query: {
          since: query.since,
          until: query.until,
          path_prefix: `/api/v1/queues/${query.queue ?? ""}`,
          // marksOf drops the entries of other queues. The higher limit leaves room for them.
          limit: query.queue === undefined ? "200" : "1000",
        },
      }),
    enabled: onlyIf(query.since !== ""),
    retry: false,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.error === null ? 15_000 : false),
  });

/** Actions of callers on one job. An entry appears a moment after its action. */
export const useJobAudit = (id: string) =>
  useQuery<AuditLog>({
    queryKey: [KEY.audit, id],
    queryFn: () => get("/audit-logs", { query: { path_prefix: `/api/v1/jobs/${id}`, limit: "20" } }),
    refetchInterval: ({ state }) => (state.error === null ? 5_000 : false),
  });

export interface HistoryQuery {
  from: string;
  to: string;
  queue?: string;
  step?: string;
  series?: string;
}

/** Leave out empty values, for which the server uses its default. */
const given = (query: object): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "")) as Record<string, string>;

export const readHistory = (query: HistoryQuery) => ({
  queryKey: [KEY.history, query],
  queryFn: () => get("/history", { query: given(query) }),
});
export const useHistory = (query: HistoryQuery) => usePolled(readHistory(query), 15_000);

export const readNodeHistory = (query: { from: string; to: string }) => ({
  queryKey: [KEY.history, "node", query],
  queryFn: () => get("/cluster/history", { query: given(query) }),
});
export const useNodeHistory = (query: { from: string; to: string }) => usePolled(readNodeHistory(query), 15_000);

export const useMarkers = (query: { from: string; to: string; queue?: string }) =>
  useQuery({
    queryKey: [KEY.markers, query],
    queryFn: () => get("/markers", { query }),
    enabled: onlyIf(query.from !== ""),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });

/** Rows of a table request their sparklines at the same moment. Up to LINES_MAX of them share one request. */
const LINES_MAX = 50;
let asking: { queue: string; resolve: (values: number[]) => void; reject: (error: unknown) => void }[] = [];

function askLines(): void {
  const all = asking;
  asking = [];
  for (let i = 0; i < all.length; i += LINES_MAX) {
    const some = all.slice(i, i + LINES_MAX);
    get("/history/queues", { query: { queues: some.map((one) => one.queue).join(","), from: "1h", step: "1m" } }).then(
      ({ queues }) => some.forEach((one, at) => one.resolve(queues[at]?.values ?? [])),
      (error: unknown) => some.forEach((one) => one.reject(error)),
    );
  }
}

/** Count the completed jobs of each queue in a period, by queue name. Covers only the first LINES_MAX queues, the maximum
 *  of one request, and skips names that contain a comma. */
export function useCompletedJobs(queues: readonly string[], period: string): ReadonlyMap<string, number> {
  const names = queues.filter((name) => name !== "" && !name.includes(",")).slice(0, LINES_MAX);
  const answer = useQuery({
    queryKey: [KEY.history, "jobs", period, names],
    queryFn: () => get("/history/queues", { query: { queues: names.join(","), from: period } }),
    enabled: onlyIf(names.length > 0),
    refetchInterval: 30_000,
  }).data;
  return new Map(answer?.queues.map(({ queue, values }) => [queue, values.reduce((sum, n) => sum + n, 0)]));
}

/** Commas separate the names in a request, so a name that contains a comma is requested separately. */
function completedOf(queue: string): Promise<number[]> {
  if (queue.includes(",")) {
    return get("/history", { query: { queue, from: "1h", step: "1m", series: "completed" } }).then(({ points }) =>
      points.map((point) => point.completed ?? 0),
    );
  }
  return new Promise((resolve, reject) => {
    if (asking.length === 0) {
      setTimeout(askLines, 20);
    }
    asking.push({ queue, resolve, reject });
  });
}

/** Completed jobs of a queue per minute in the last hour. */
export const useCompleted = (queue: string) =>
  usePolled({ queryKey: [KEY.history, "completed", queue], queryFn: () => completedOf(queue) }, 30_000);

interface ErrorsQuery {
  from: string;
  to: string;
  queue?: string;
}

export const readErrors = (query: ErrorsQuery) => ({
  queryKey: [KEY.errors, query],
  queryFn: () => get("/errors", { query: given(query) }),
});
export const useErrors = (query: ErrorsQuery) => usePolled(readErrors(query), 15_000);

export const readQueueExplanation = (name: string) => ({
  queryKey: [KEY.explain, "queue", name],
  queryFn: () => get("/queues/{name}/explain", { params: { name } }),
});
export const useQueueExplanation = (name: string) => useQuery({ ...readQueueExplanation(name), refetchInterval: 5_000 });

const readUsage = (period: string, groupBy: string) =>
  get("/usage/summary", { query: groupBy === "" ? { period } : { period, group_by: groupBy } });

export function useUsage(period: string, groupBy = ""): UseQueryResult<UsageSummary> {
  return usePolled({ queryKey: [KEY.usage, period, groupBy], queryFn: () => readUsage(period, groupBy) }, 10_000);
}

/** Spend in equal time steps up to now, oldest first. The API returns only sums up to now, so a step
 * is the difference of two sums. */
export function useSpend(stepHours: number, steps: number): { total: number[]; ready: boolean } {
  const sums = useQueries({
    queries: Array.from({ length: steps }, (_, i) => {
      const period = `${stepHours * (i + 1)}h`;
      return {
        queryKey: [KEY.usage, period, ""],
        queryFn: () => readUsage(period, ""),
        staleTime: 60_000,
        refetchInterval: 60_000,
      };
    }),
  }).map((query) => query.data?.totals.cost_usd);
  const total = sums.map((sum, i) => Math.max(0, (sum ?? 0) - (i === 0 ? 0 : (sums[i - 1] ?? 0)))).reverse();
  return { total, ready: sums.every((sum) => sum !== undefined) };
}

/** Without a placeholder: the data of another job must not be shown under this job's id. */
export const jobQuery = (id: string) => ({
  queryKey: [KEY.job, id],
  queryFn: (): Promise<Job> => getExact("/jobs/{id}", { params: { id } }),
  refetchInterval: 5_000,
});

export const useJob = (id: string): UseQueryResult<Job> => useQuery<Job>(jobQuery(id));

export const useBatch = (id: string): UseQueryResult<Batch> =>
  useQuery<Batch>({ queryKey: [KEY.batch, id], queryFn: () => get("/batch/{id}", { params: { id } }), refetchInterval: 5_000 });

export function useIterations(id: string, enabled: boolean): UseQueryResult<Iteration[]> {
  return useQuery({
    queryKey: [KEY.iterations, id],
    queryFn: async () => (await getExact("/jobs/{id}/iterations", { params: { id } })).iterations,
    refetchInterval: 5_000,
    enabled: onlyIf(enabled),
  });
}

export function useExplanation(id: string, enabled: boolean) {
  return useQuery({
    queryKey: [KEY.explain, id],
    queryFn: () => get("/jobs/{id}/explain", { params: { id } }),
    refetchInterval: 5_000,
    enabled: onlyIf(enabled),
  });
}

export const search = (request: SearchRequest): Promise<SearchAnswer> => postExact("/jobs/search", { body: request });

/** The newest jobs that wait for a decision. */
export const NEWEST_HELD: SearchRequest = { state: ["held"], sort: "created_at", order: "desc", limit: 50 };

export const readSearch = (request: SearchRequest) => ({
  queryKey: [KEY.search, request],
  queryFn: () => search(request),
});

export function useSearch(request: SearchRequest): UseQueryResult<SearchAnswer> {
  return useQuery<SearchAnswer>({ ...readSearch(request), refetchInterval: 5_000, placeholderData: keepPreviousData });
}

/** The pages of a job list. "Load More" adds a page, and a refresh reads all loaded pages again. */
export const readSearchPages = (request: SearchRequest) => ({
  queryKey: [KEY.search, "pages", request],
  queryFn: ({ pageParam }: { pageParam: string }) => search(pageParam === "" ? request : { ...request, cursor: pageParam }),
  initialPageParam: "",
  getNextPageParam: (last: SearchAnswer) => (last.has_more ? last.cursor : undefined),
});

export const useSearchPages = (request: SearchRequest) =>
  useInfiniteQuery({ ...readSearchPages(request), refetchInterval: 5_000, placeholderData: keepPreviousData });
