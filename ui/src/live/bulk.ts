// Bulk operations that the server runs in the background. The store is outside React, so an operation is followed to its
// end whichever page is open.
import { ApiError, del, get, messageOf } from "../api/client";
import { chosenNamespace, openStream } from "../api/key";
import type { BulkStarted } from "../api/types";
import { jobCount } from "../lib/format";
import { toast } from "../lib/toasts";

export interface BulkRun {
  id: string;
  /** "Delete", "Run Now". */
  label: string;
  namespace: string;
  startedAt: number;
  /** null while it runs. */
  endedAt: number | null;
  /** Hidden with "Continue in background". */
  away: boolean;
  status: string;
  processed: number;
  total: number;
  affected: number;
  errors: number;
  error: string | null;
}

const ENDED = new Set(["completed", "failed", "cancelled"]);
const POLL_MS = 1_000;

let runs: readonly BulkRun[] = [];
const listeners = new Set<() => void>();

function set(list: readonly BulkRun[]): void {
  runs = list;
  listeners.forEach((listener) => listener());
}

const merge = (id: string, change: Partial<BulkRun>): void =>
  set(runs.map((run) => (run.id === id ? { ...run, ...change } : run)));

/** asked: the number of jobs that were selected, if not by a filter. */
export function bulkText(affected: number, errors: number, ms: number, asked = 0): string {
  const text = `Bulk action: ${affected} affected, ${errors} errors (${ms}ms)`;
  const skipped = asked - affected - errors;
  return skipped > 0 ? `${text}. ${jobCount(skipped)} ${skipped === 1 ? "was" : "were"} skipped.` : text;
}

function end(id: string, change: Partial<BulkRun>, text?: string): void {
  merge(id, { ...change, endedAt: Date.now() });
  const run = runs.find((one) => one.id === id);
  if (run?.endedAt != null) {
    const { status, affected, errors, startedAt, endedAt } = run;
    toast[status === "failed" ? "bad" : "good"](text ?? bulkText(affected, errors, endedAt - startedAt));
  }
  if (run?.away === true) {
    dismissBulk(id);
  }
}

/** True if the server no longer has the operation, or no longer shows it to this caller. */
const isGone = (error: unknown): boolean => error instanceof ApiError && (error.status === 404 || error.status === 403);

async function poll(id: string, namespace: string): Promise<void> {
  try {
    const state = await get("/bulk/{id}", { params: { id }, namespace });
    const { status, processed, total, affected, errors, error = null } = state;
    const change = { status, processed, total, affected, errors, error };
    if (ENDED.has(status)) {
      end(id, change);
      return;
    }
    merge(id, change);
  } catch (error) {
    if (isGone(error)) {
      end(id, { status: "failed", error: messageOf(error) }, `Bulk action failed: ${messageOf(error)}`);
      return;
    }
    merge(id, { error: messageOf(error) });
  }
  setTimeout(() => void poll(id, namespace), POLL_MS);
}

/** Follow an operation through its event stream. Without a stream it is polled. At the end it is also read once, because the
 *  stream leaves out zero values. */
export function followBulk(task: BulkStarted, label: string): void {
  const id = task.bulk_operation_id;
  const namespace = chosenNamespace();
  const run: BulkRun = {
    id,
    label,
    namespace,
    startedAt: Date.now(),
    endedAt: null,
    away: false,
    status: task.status,
    processed: 0,
    total: task.estimated_total,
    affected: 0,
    errors: 0,
    error: null,
  };
  set([...runs, run]);
  const source = openStream(`/api/v1/bulk/${encodeURIComponent(id)}/progress`);
  const pollInstead = () => {
    source.close();
    void poll(id, namespace);
  };
  const onProgress = (event: MessageEvent<string>) => {
    const { processed, total, affected, errors } = { ...run, ...(JSON.parse(event.data) as Partial<BulkRun>) };
    merge(id, { processed, total, affected, errors });
  };
  source.addEventListener("bulk.async.started", onProgress);
  source.addEventListener("bulk.async.progress", onProgress);
  source.addEventListener("bulk.async.completed", pollInstead);
  source.addEventListener("bulk.async.failed", pollInstead);
  source.onerror = pollInstead;
}

export const cancelBulk = ({ id, namespace }: BulkRun) => del("/bulk/{id}", { params: { id }, namespace });

export const putBulkAway = (id: string): void => merge(id, { away: true });

export const dismissBulk = (id: string): void => set(runs.filter((run) => run.id !== id));

export const bulkStore = {
  get: () => runs,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
