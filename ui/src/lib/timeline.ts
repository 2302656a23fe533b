// The history of a job, in order: from the job's document, or from the event log, which contains more.
import type { Job, LiveEvent } from "../api/types";
import { isObject } from "./exact-json";
import { attempts, capitalise } from "./format";

export interface Moment {
  at: string;
  kind: string;
  text: string;
}

export function timelineOf(job: Job): Moment[] {
  const list: Moment[] = [{ at: job.created_at, kind: "enqueued", text: "Enqueued" }];
  for (const error of job.errors ?? []) {
    list.push({ at: error.created_at, kind: "failed", text: `Attempt ${error.attempt} failed: ${error.error}` });
  }
  if (job.started_at !== undefined) {
    const by = job.worker_id === undefined ? "" : ` by ${job.worker_id}`;
    list.push({ at: job.started_at, kind: "started", text: `Started${by} (attempt ${job.attempt})` });
  }
  if (job.completed_at !== undefined) {
    list.push({ at: job.completed_at, kind: "completed", text: "Completed" });
  }
  if (job.state === "dead" && job.failed_at !== undefined) {
    list.push({ at: job.failed_at, kind: "dead", text: `Dead after attempt ${attempts(job)}` });
  }
  if (job.cancelled_at !== undefined) {
    list.push({ at: job.cancelled_at, kind: "cancelled", text: "Cancelled" });
  }
  if (job.scheduled_at !== undefined) {
    const text = job.state === "retrying" ? "Next attempt due" : "Scheduled to run";
    list.push({ at: job.scheduled_at, kind: "scheduled", text });
  }
  return sorted(list);
}

const sorted = (list: Moment[]): Moment[] => list.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));

/** Return the details of an event besides its type: worker, attempt, error. */
export function eventDetail(event: LiveEvent): string {
  const data = event.data;
  if (!isObject(data)) {
    return "";
  }
  const text = (name: string): string | null => {
    const value = data[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : null;
  };
  const parts = [
    text("worker_id") && `by ${text("worker_id") ?? ""}`,
    text("attempt") && `attempt ${text("attempt") ?? ""}`,
    text("error"),
    text("reason"),
    text("from") && `${text("from") ?? ""} → ${text("to") ?? ""}`,
    text("current") && `${text("current") ?? ""}/${text("total") ?? "?"}`,
    text("message"),
  ];
  return parts.filter(Boolean).join(", ");
}

export const bareType = (type: string): string => (type.startsWith("job.") ? type.slice(4) : type);

/** Clearer names for event types that users may not understand. */
const NAMES: Record<string, string> = {
  retrying: "waiting to retry",
  promoted: "ready to run",
  retried: "retried manually",
  reclaimed: "lease expired, returned to the queue",
};

/** Return the timeline from the job's events. It contains everything that timelineOf finds in the document, and more. */
export function timelineOfEvents(events: readonly LiveEvent[]): Moment[] {
  return sorted(
    events.map((event) => {
      const kind = bareType(event.type);
      const more = eventDetail(event);
      const name = NAMES[kind] ?? kind.replaceAll("_", " ");
      return {
        at: new Date(event.at_ns / 1e6).toISOString(),
        kind,
        text: capitalise(name) + (more === "" ? "" : `: ${more}`),
      };
    }),
  );
}
