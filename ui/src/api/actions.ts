// All actions that change data: the call, its toasts, and the data sets that are refreshed afterwards.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef } from "react";

import { toast } from "../lib/toasts";
import { bulkText, followBulk } from "../live/bulk";
import { del, get, messageOf, post, put } from "./client";
import { beginSession } from "./key";
import { KEY } from "./queries";
import type {
  BudgetInput,
  BulkDone,
  BulkRequest,
  BulkStarted,
  EnqueueRequest,
  KeyInput,
  MemberInput,
  PolicyInput,
  RoleInput,
  ScheduleInput,
  SsoInput,
  WebhookInput,
} from "./types";

const AFTER_ACTION = [
  KEY.search,
  KEY.queues,
  KEY.job,
  KEY.iterations,
  KEY.explain,
  KEY.errors,
  KEY.workers,
  KEY.usage,
  KEY.budgets,
  KEY.schedules,
  KEY.webhooks,
  KEY.policies,
  KEY.authStatus,
  KEY.permissions,
  KEY.keys,
  KEY.keyRoles,
  KEY.roles,
  KEY.namespaces,
  KEY.sessions,
  KEY.sso,
  KEY.org,
];

interface ActionTexts<V, R> {
  done: string | ((result: R, input: V) => string | null);
  failed: string;
}

/** Ignores calls while the action is running: a double click can be faster than the disabling of its button. */
export function useAction<V, R>(run: (input: V) => Promise<R>, texts: ActionTexts<V, R>) {
  const client = useQueryClient();
  const running = useRef(false);
  const action = useMutation({
    mutationFn: run,
    onSuccess: (result, input) => {
      const text = typeof texts.done === "string" ? texts.done : texts.done(result, input);
      if (text !== null) {
        toast.good(text);
      }
    },
    onError: (error) => toast.bad(`${texts.failed}: ${messageOf(error)}`),
    // Not awaited: the user can continue while the pages refresh.
    onSettled: () => {
      running.current = false;
      for (const key of AFTER_ACTION) {
        void client.invalidateQueries({ queryKey: [key] });
      }
    },
  });
  const { mutate } = action;
  const once = useCallback<typeof mutate>(
    (...args) => {
      if (!running.current) {
        running.current = true;
        mutate(...args);
      }
    },
    [mutate],
  );
  return { ...action, mutate: once };
}

export const useEnqueue = () =>
  useAction((request: EnqueueRequest) => post("/enqueue", { body: request }), {
    done: (answer) =>
      "unique_existing" in answer && answer.unique_existing ? "A job with this unique key already exists" : "Job enqueued",
    failed: "Enqueue failed",
  });

type JobAction = "retry" | "cancel" | "hold";
const onJob = (action: JobAction) => (id: string) => post(`/jobs/{id}/${action}` as const, { params: { id } });

export const useRetry = () => useAction(onJob("retry"), { done: "Job retried", failed: "Retry failed" });
export const useCancel = () => useAction(onJob("cancel"), { done: "Job cancelled", failed: "Cancel failed" });

/** A decision about a held job. The server keeps the comment of an approval in the audit log, the reason of a rejection
 *  with the job. */
interface Decision {
  id: string;
  comment?: string;
}
export const useApprove = () =>
  useAction(
    ({ id, comment = "" }: Decision) =>
      post("/jobs/{id}/approve", { params: { id }, ...(comment === "" ? {} : { query: { comment } }) }),
    { done: "Job approved", failed: "Approve failed" },
  );
export const useReject = () =>
  useAction(
    ({ id, comment = "" }: Decision) =>
      post("/jobs/{id}/reject", { params: { id }, ...(comment === "" ? {} : { body: { reason: comment } }) }),
    { done: "Job rejected", failed: "Reject failed" },
  );
export const useHold = () => useAction(onJob("hold"), { done: "Job held", failed: "Hold failed" });
export const useDeleteJob = () =>
  useAction((id: string) => del("/jobs/{id}", { params: { id } }), { done: "Job deleted", failed: "Delete failed" });

export const useMove = () =>
  useAction(
    (move: { id: string; queue: string; resetAttempts: boolean }) =>
      post("/jobs/{id}/move", {
        params: { id: move.id },
        body: { queue: move.queue, ...(move.resetAttempts ? { reset_attempts: true } : {}) },
      }),
    { done: "Job moved", failed: "Move failed" },
  );

export const useReplay = () =>
  useAction(
    ({ id, from }: { id: string; from: number }) => post("/jobs/{id}/replay", { params: { id }, body: { from } }),
    { done: "Replay job enqueued", failed: "Replay failed" },
  );

type QueueAction = "pause" | "resume" | "drain" | "clear";
const onQueue = (action: QueueAction) => (name: string) => post(`/queues/{name}/${action}` as const, { params: { name } });

export const usePause = () => useAction(onQueue("pause"), { done: "Queue paused", failed: "Pause failed" });
export const useResume = () => useAction(onQueue("resume"), { done: "Queue resumed", failed: "Resume failed" });
export const useDrain = () => useAction(onQueue("drain"), { done: "Queue draining", failed: "Drain failed" });
export const useClear = () => useAction(onQueue("clear"), { done: "Queue cleared", failed: "Clear failed" });
export const useDeleteQueue = () =>
  useAction((name: string) => del("/queues/{name}", { params: { name }, query: { confirm: "true" } }), {
    done: "Queue deleted",
    failed: "Delete failed",
  });

export const useConcurrency = () =>
  useAction(
    ({ name, max }: { name: string; max: number }) =>
      post("/queues/{name}/concurrency", { params: { name }, body: { max } }),
    { done: "Concurrency updated", failed: "Failed" },
  );

export interface Throttle {
  name: string;
  /** null removes the limit. */
  limit: { rate: number; window_ms: number } | null;
}

export const useThrottle = () =>
  useAction(
    ({ name, limit }: Throttle) =>
      limit === null
        ? del("/queues/{name}/throttle", { params: { name } })
        : post("/queues/{name}/throttle", { params: { name }, body: limit }),
    { done: "Throttle updated", failed: "Failed" },
  );

type BulkAnswer = BulkDone | BulkStarted;

const isStarted = (answer: BulkAnswer): answer is BulkStarted => "bulk_operation_id" in answer;

/** If very many jobs match, the server runs the action in the background. It is then followed under this label. */
export const useBulk = (label: string) =>
  useAction(
    async (request: BulkRequest) => {
      const answer = await post("/jobs/bulk", { body: request });
      if (isStarted(answer)) {
        followBulk(answer, label);
      }
      return answer;
    },
    {
      done: (answer, request) => (isStarted(answer) ? null : bulkText(answer.affected, answer.errors, answer.duration_ms, request.job_ids?.length)),
      failed: "Bulk action failed",
    },
  );

export const useSaveSchedule = () =>
  useAction(
    ({ id, ...input }: ScheduleInput & { id: string | null }) =>
      id === null ? post("/schedules", { body: input }) : put("/schedules/{id}", { params: { id }, body: input }),
    { done: "Schedule saved", failed: "Save failed" },
  );

export const useEnableSchedule = () =>
  useAction(
    ({ id, enabled }: { id: string; enabled: boolean }) => put("/schedules/{id}", { params: { id }, body: { enabled } }),
    { done: "Schedule saved", failed: "Save failed" },
  );

export const useDeleteSchedule = () =>
  useAction((id: string) => del("/schedules/{id}", { params: { id } }), { done: "Schedule deleted", failed: "Delete failed" });

export const useRunSchedule = () =>
  useAction((id: string) => post("/schedules/{id}/run", { params: { id } }), {
    done: "Job enqueued",
    failed: "Run failed",
  });

export const useSaveWebhook = () =>
  useAction((input: WebhookInput) => post("/webhooks", { body: input }), { done: "Webhook saved", failed: "Save failed" });

/** The path parameter is the webhook's id. The OpenAPI description names it "queue", after POST, which enqueues a job. */
export const useDeleteWebhook = () =>
  useAction((id: string) => del("/webhooks/{queue}", { params: { queue: id } }), { done: "Webhook deleted", failed: "Delete failed" });

export const useCreatePolicy = () =>
  useAction((input: PolicyInput) => post("/approval-policies", { body: input }), {
    done: "Approval policy created",
    failed: "Create failed",
  });

export const useDeletePolicy = () =>
  useAction((id: string) => del("/approval-policies/{id}", { params: { id } }), {
    done: "Approval policy deleted",
    failed: "Delete failed",
  });

/** After the first key is created, the server refuses all callers without a key. This page therefore signs in with it. The
 *  response has a note if the key is the first one. */
async function createKey(input: KeyInput) {
  const made = await post("/auth/keys", { body: input });
  if (made.note !== undefined) {
    await beginSession(made.api_key);
  }
  return made;
}

export const useCreateKey = () => useAction(createKey, { done: "API key created", failed: "Create failed" });

export const useDeleteKey = () =>
  useAction((keyHash: string) => del("/auth/keys", { body: { key_hash: keyHash } }), {
    done: "API key deleted",
    failed: "Delete failed",
  });

export const useRotateKey = () =>
  useAction((keyHash: string) => post("/auth/keys/{key_hash}/rotate", { params: { key_hash: keyHash }, body: {} }), {
    done: "API key rotated",
    failed: "Rotate failed",
  });

export const useAssignRole = () =>
  useAction(
    ({ keyHash, role }: { keyHash: string; role: string }) =>
      post("/auth/keys/{key_hash}/roles", { params: { key_hash: keyHash }, body: { role } }),
    { done: "Role assigned", failed: "Assign failed" },
  );

export const useUnassignRole = () =>
  useAction(
    ({ keyHash, role }: { keyHash: string; role: string }) =>
      del("/auth/keys/{key_hash}/roles/{role}", { params: { key_hash: keyHash, role } }),
    { done: "Role removed", failed: "Remove failed" },
  );

export const useSaveRole = () =>
  useAction((input: RoleInput) => post("/auth/roles", { body: input }), { done: "Role saved", failed: "Save failed" });

export const useDeleteRole = () =>
  useAction((name: string) => del("/auth/roles/{name}", { params: { name } }), {
    done: "Role deleted",
    failed: "Delete failed",
  });

export const useSaveSso = () =>
  useAction((input: SsoInput) => post("/settings/sso", { body: input }), { done: "SSO settings saved", failed: "Save failed" });

export const useCreateNamespace = () =>
  useAction((name: string) => post("/namespaces", { body: { name } }), {
    done: "Namespace created",
    failed: "Create failed",
  });

export const useDeleteNamespace = () =>
  useAction((name: string) => del("/namespaces/{name}", { params: { name } }), {
    done: "Namespace deleted",
    failed: "Delete failed",
  });

export interface QuotaInput {
  name: string;
  max_jobs: number;
  max_payload_bytes: number;
  max_queues: number;
}

export const useSaveQuota = () =>
  useAction(({ name, ...body }: QuotaInput) => put("/namespaces/{name}/quota", { params: { name }, body }), {
    done: "Quota saved",
    failed: "Save failed",
  });

export const useSaveBudget = () =>
  useAction((input: BudgetInput) => post("/budgets", { body: input }), { done: "Budget saved", failed: "Save failed" });

export const useDeleteBudget = () =>
  useAction(
    ({ scope, target }: { scope: string; target: string }) => del("/budgets/{scope}/{target}", { params: { scope, target } }),
    { done: "Budget deleted", failed: "Delete failed" },
  );

export const useRenameOrg = () =>
  useAction((name: string) => put("/org", { body: { name } }), { done: "Organization renamed", failed: "Rename failed" });

export const useAddMember = () =>
  useAction((input: MemberInput) => post("/org/members", { body: input }), { done: "Member added", failed: "Add failed" });

export const useRemoveMember = () =>
  useAction((id: string) => del("/org/members/{id}", { params: { id } }), { done: "Member removed", failed: "Remove failed" });

/** An organization key can be the first key, too. */
async function createOrgKey(name: string) {
  const { open } = await get("/auth/status");
  const made = await post("/org/api-keys", { body: { name } });
  if (open) {
    await beginSession(made.key);
  }
  return made;
}

export const useCreateOrgKey = () =>
  useAction(createOrgKey, { done: "Organization key created", failed: "Create failed" });

export const useDeleteOrgKey = () =>
  useAction((id: string) => del("/org/api-keys/{id}", { params: { id } }), {
    done: "Organization key deleted",
    failed: "Delete failed",
  });

export const useRevokeSession = () =>
  useAction((id: string) => del("/auth/sessions/{id}", { params: { id } }), {
    done: "Session ended",
    failed: "Could not end the session",
  });

export const useSignOut = () =>
  useAction(() => del("/auth/session"), { done: "Signed out", failed: "Sign out failed" });
