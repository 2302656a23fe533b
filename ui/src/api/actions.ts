// Everything that changes something: the call, its toasts, and what is read again afterwards.
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { toast } from "../lib/toasts";
import { del, messageOf, path, post, put } from "./client";
import { KEY } from "./queries";
import type { BulkDone, BulkRequest, BulkStarted, EnqueueAnswer, EnqueueRequest, Json } from "./types";

const AFTER_ACTION = [
  KEY.search,
  KEY.queues,
  KEY.job,
  KEY.iterations,
  KEY.explain,
  KEY.workers,
  KEY.usage,
  KEY.budgets,
  KEY.schedules,
  KEY.webhooks,
];

interface ActionTexts<R> {
  done: string | ((result: R) => string | null);
  failed: string;
}

export function useAction<V, R>(run: (input: V) => Promise<R>, texts: ActionTexts<R>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: (result) => {
      const text = typeof texts.done === "string" ? texts.done : texts.done(result);
      if (text !== null) {
        toast.good(text);
      }
    },
    onError: (error) => toast.bad(`${texts.failed}: ${messageOf(error)}`),
    // Not waited for: who acted goes on while the pages catch up.
    onSettled: () => {
      for (const key of AFTER_ACTION) {
        void client.invalidateQueries({ queryKey: [key] });
      }
    },
  });
}

export const useEnqueue = () =>
  useAction((request: EnqueueRequest) => post<EnqueueAnswer>("/enqueue", request), {
    done: (answer) => (answer.unique_existing ? "A job with this unique key exists already" : "Job enqueued"),
    failed: "Enqueue failed",
  });

const onJob = (action: string) => (id: string) => post(path`/jobs/${id}/` + action);

export const useRetry = () => useAction(onJob("retry"), { done: "Job retried", failed: "Retry failed" });
export const useCancel = () => useAction(onJob("cancel"), { done: "Job cancelled", failed: "Cancel failed" });
export const useApprove = () =>
  useAction(onJob("approve"), { done: "Job approved", failed: "Approve failed" });
export const useReject = () => useAction(onJob("reject"), { done: "Job rejected", failed: "Reject failed" });
export const useHold = () => useAction(onJob("hold"), { done: "Job held", failed: "Hold failed" });
export const useDeleteJob = () =>
  useAction((id: string) => del(path`/jobs/${id}`), { done: "Job deleted", failed: "Delete failed" });

export const useMove = () =>
  useAction(
    (move: { id: string; queue: string; resetAttempts: boolean }) =>
      post(path`/jobs/${move.id}/move`, {
        queue: move.queue,
        ...(move.resetAttempts ? { reset_attempts: true } : {}),
      }),
    { done: "Job moved", failed: "Move failed" },
  );

export const useReplay = () =>
  useAction((at: { id: string; from: number }) => post<EnqueueAnswer>(path`/jobs/${at.id}/replay`, { from: at.from }), {
    done: "Replay job enqueued",
    failed: "Replay failed",
  });

const onQueue = (action: string) => (name: string) => post(path`/queues/${name}/` + action);

export const usePause = () => useAction(onQueue("pause"), { done: "Queue paused", failed: "Pause failed" });
export const useResume = () => useAction(onQueue("resume"), { done: "Queue resumed", failed: "Resume failed" });
export const useDrain = () => useAction(onQueue("drain"), { done: "Queue draining", failed: "Drain failed" });
export const useClear = () => useAction(onQueue("clear"), { done: "Queue cleared", failed: "Clear failed" });
export const useDeleteQueue = () =>
  useAction((name: string) => del(path`/queues/${name}` + "?confirm=true"), {
    done: "Queue deleted",
    failed: "Delete failed",
  });

export const useConcurrency = () =>
  useAction((set: { name: string; max: number }) => post(path`/queues/${set.name}/concurrency`, { max: set.max }), {
    done: "Concurrency updated",
    failed: "Failed",
  });

export interface Throttle {
  name: string;
  /** null removes the limit. */
  limit: { rate: number; window_ms: number } | null;
}

export const useThrottle = () =>
  useAction(
    ({ name, limit }: Throttle) =>
      limit === null ? del(path`/queues/${name}/throttle`) : post(path`/queues/${name}/throttle`, limit),
    { done: "Throttle updated", failed: "Failed" },
  );

export type BulkAnswer = BulkDone | BulkStarted;

export const isStarted = (answer: BulkAnswer): answer is BulkStarted => "bulk_operation_id" in answer;

export const bulkText = (affected: number, errors: number, ms: number) =>
  `Bulk action: ${affected} affected, ${errors} errors (${ms}ms)`;

export const useBulk = () =>
  useAction((request: BulkRequest) => post<BulkAnswer>("/jobs/bulk", request), {
    // An operation in the background reports for itself when it is done.
    done: (answer) => (isStarted(answer) ? null : bulkText(answer.affected, answer.errors, answer.duration_ms)),
    failed: "Bulk action failed",
  });

export const cancelBulk = (id: string) => del(path`/bulk/${id}`);

export interface ScheduleInput {
  name: string;
  queue: string;
  cron: string;
  timezone: string;
  payload: Json;
  max_retries: number;
  unique_key: string;
  enabled: boolean;
}

export const useSaveSchedule = () =>
  useAction(
    ({ id, ...input }: ScheduleInput & { id: string | null }) =>
      id === null ? post("/schedules", input) : put(path`/schedules/${id}`, input),
    { done: "Schedule saved", failed: "Save failed" },
  );

export const useEnableSchedule = () =>
  useAction((set: { id: string; enabled: boolean }) => put(path`/schedules/${set.id}`, { enabled: set.enabled }), {
    done: "Schedule saved",
    failed: "Save failed",
  });

export const useDeleteSchedule = () =>
  useAction((id: string) => del(path`/schedules/${id}`), { done: "Schedule deleted", failed: "Delete failed" });

export const useRunSchedule = () =>
  useAction((id: string) => post<EnqueueAnswer>(path`/schedules/${id}/run`), {
    done: "Job enqueued",
    failed: "Run failed",
  });

export interface WebhookInput {
  id?: string;
  url: string;
  events: string[];
  secret?: string;
  enabled: boolean;
  retry_limit: number;
}

export const useSaveWebhook = () =>
  useAction((input: WebhookInput) => post("/webhooks", input), { done: "Webhook saved", failed: "Save failed" });

export const useDeleteWebhook = () =>
  useAction((id: string) => del(path`/webhooks/${id}`), { done: "Webhook deleted", failed: "Delete failed" });
