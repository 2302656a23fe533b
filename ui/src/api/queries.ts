// Everything that is read from the server, and how often it is read again.
import {
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useQueries,
  useQuery,
  type UseQueryResult,
} from "@tanstack/react-query";

import { ApiError, call, get, getExact, postExact } from "./client";
import type {
  Budget,
  ClusterStatus,
  Iteration,
  Job,
  SearchAnswer,
  SearchRequest,
  UsageSummary,
  Worker,
} from "./types";

const FRESH_MS = 2_000;

/** The data sets, as the first part of a query key: what an event or an action makes stale. */
export const KEY = {
  queues: "queues",
  search: "search",
  job: "job",
  iterations: "iterations",
  explain: "explain",
  workers: "workers",
  cluster: "cluster",
  throughput: "throughput",
  schedules: "schedules",
  usage: "usage",
  budgets: "budgets",
  webhooks: "webhooks",
  policies: "policies",
} as const;

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        refetchOnWindowFocus: true,
        retry: (count, error) => count < 1 && !(error instanceof ApiError && isFinal(error.status)),
        retryDelay: 500,
        // A browser that believes itself offline may still reach a server on its own machine.
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
}

/** Asking again at once would get the same answer. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

function usePolled<T>(key: readonly unknown[], read: () => Promise<T>, everyMs: number): UseQueryResult<T> {
  return useQuery({
    queryKey: key,
    queryFn: read,
    // What a server does not have it will not have in three seconds either.
    refetchInterval: ({ state }) => (state.error instanceof ApiError && state.error.status === 404 ? false : everyMs),
    placeholderData: keepPreviousData,
  });
}

export const useQueues = () => usePolled([KEY.queues], () => get("/queues"), 3_000);
export const useWorkers = () => usePolled<Worker[]>([KEY.workers], () => get("/workers"), 5_000);
export const useCluster = () => usePolled<ClusterStatus>([KEY.cluster], () => get("/cluster/status"), 5_000);
export const useThroughput = () => usePolled([KEY.throughput], () => get("/metrics/throughput"), 10_000);
export const useSchedules = () => usePolled([KEY.schedules], () => getExact("/schedules"), 10_000);
export const useWebhooks = () => usePolled([KEY.webhooks], () => get("/webhooks"), 10_000);
export const usePolicies = () => usePolled([KEY.policies], () => get("/approval-policies"), 10_000);
/** Not every server has budgets, and the description of this one does not know them. */
export const useBudgets = () => usePolled([KEY.budgets], () => call<Budget[]>("GET", "/budgets"), 10_000);

const readUsage = (period: string, groupBy: string) =>
  get("/usage/summary", { query: groupBy === "" ? { period } : { period, group_by: groupBy } });

export function useUsage(period: string, groupBy = ""): UseQueryResult<UsageSummary> {
  return usePolled([KEY.usage, period, groupBy], () => readUsage(period, groupBy), 10_000);
}

/** Spend in equal steps of time up to now, the oldest first. The API sums up to now only, so a step
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

/** No placeholder here: another job's data must not be shown under this one's name. */
export function useJob(id: string): UseQueryResult<Job> {
  return useQuery<Job>({
    queryKey: [KEY.job, id],
    queryFn: () => getExact("/jobs/{id}", { params: { id } }),
    refetchInterval: 5_000,
  });
}

export function useIterations(id: string, enabled: boolean): UseQueryResult<Iteration[]> {
  return useQuery({
    queryKey: [KEY.iterations, id],
    queryFn: async () => (await getExact("/jobs/{id}/iterations", { params: { id } })).iterations,
    refetchInterval: 5_000,
    enabled,
  });
}

export function useExplanation(id: string, enabled: boolean) {
  return useQuery({
    queryKey: [KEY.explain, id],
    queryFn: () => get("/jobs/{id}/explain", { params: { id } }),
    refetchInterval: 5_000,
    enabled,
  });
}

export const search = (request: SearchRequest): Promise<SearchAnswer> => postExact("/jobs/search", { body: request });

export function useSearch(request: SearchRequest): UseQueryResult<SearchAnswer> {
  return useQuery<SearchAnswer>({
    queryKey: [KEY.search, request],
    queryFn: () => search(request),
    refetchInterval: 5_000,
    placeholderData: keepPreviousData,
  });
}

/** Pages that are added to one another; a refresh reads all of those that are shown again. */
export function useSearchPages(request: SearchRequest) {
  return useInfiniteQuery({
    queryKey: [KEY.search, "pages", request],
    queryFn: ({ pageParam }) => search(pageParam === "" ? request : { ...request, cursor: pageParam }),
    initialPageParam: "",
    getNextPageParam: (last) => (last.has_more ? last.cursor : undefined),
    refetchInterval: 5_000,
    placeholderData: keepPreviousData,
  });
}
