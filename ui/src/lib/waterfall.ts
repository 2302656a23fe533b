// The life of a job as spans of time: how long it waited, ran, and waited to be tried again.
import type { Job, LiveEvent } from "../api/types";
import { isObject } from "./exact-json";
import { bareType } from "./timeline";

export type SpanKind = "scheduled" | "waiting" | "running" | "retrying" | "held";

export interface Span {
  kind: SpanKind;
  from: number;
  /** null while it lasts. */
  to: number | null;
  /** Of a run: which attempt. */
  attempt?: number;
  /** Of a run that ended: how. */
  end?: "completed" | "failed" | "continued" | "cancelled";
}

/** What a job does after an event; null: it is over. */
const AFTER: Record<string, SpanKind | null> = {
  enqueued: "waiting",
  started: "running",
  completed: null,
  continued: "waiting",
  held: "held",
  approved: "waiting",
  rejected: null,
  retrying: "retrying",
  dead: null,
  cancelled: null,
  retried: "waiting",
  promoted: "waiting",
  reclaimed: "waiting",
  expired: null,
};

const ENDS: Record<string, Span["end"]> = {
  completed: "completed",
  continued: "continued",
  failed: "failed",
  reclaimed: "failed",
  dead: "failed",
  retrying: "failed",
  expired: "failed",
  cancelled: "cancelled",
};

function attemptOf(event: LiveEvent): number | undefined {
  const attempt = isObject(event.data) ? event.data.attempt : undefined;
  return typeof attempt === "number" ? attempt : undefined;
}

/** The job was due later than it came. */
const isLater = (job: Job): boolean =>
  job.scheduled_at !== undefined && Date.parse(job.scheduled_at) > Date.parse(job.created_at);

/** From the events of the job, which are in order and begin with its enqueueing. */
export function spansOfEvents(events: readonly LiveEvent[], job: Job): Span[] {
  const spans: Span[] = [];
  let open: Span | undefined;
  let before = "";
  const close = (at: number, type: string) => {
    if (open !== undefined) {
      open.to = at;
      // The job itself forgets its time when it is due, or run by hand before.
      if (open.kind === "waiting" && (type === "promoted" || (type === "retried" && before === "enqueued"))) {
        open.kind = "scheduled";
      }
      const end = ENDS[type];
      if (open.kind === "running" && end !== undefined) {
        open.end = end;
      }
      spans.push(open);
      open = undefined;
    }
  };
  for (const event of events) {
    const type = bareType(event.type);
    const at = event.at_ns / 1e6;
    if (type === "failed") {
      // What comes of it is said by the event after; until then it is over.
      close(at, type);
      continue;
    }
    const next = AFTER[type];
    if (next === undefined) {
      continue;
    }
    close(at, type);
    before = type;
    if (next !== null) {
      const attempt = next === "running" ? attemptOf(event) : undefined;
      const kind = type === "enqueued" && isLater(job) && job.state !== "retrying" ? "scheduled" : next;
      open = { kind, from: at, to: null, ...(attempt === undefined ? {} : { attempt }) };
    }
  }
  if (open !== undefined) {
    spans.push(open);
  }
  return spans;
}

/** As far as the document tells: the last run, and what came before it. */
export function spansOfJob(job: Job): Span[] {
  const time = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));
  const created = Date.parse(job.created_at);
  const started = time(job.started_at);
  const over = time(job.completed_at) ?? time(job.cancelled_at) ?? (job.state === "active" ? null : time(job.failed_at));
  const idle: SpanKind = job.state === "held" ? "held" : isLater(job) ? "scheduled" : "waiting";
  if (started === null) {
    return [{ kind: idle, from: created, to: over }];
  }
  const end = job.state === "completed" ? "completed" : job.state === "cancelled" ? "cancelled" : "failed";
  const last: Span = { kind: "running", from: started, to: job.state === "active" ? null : (over ?? started), attempt: job.attempt };
  return [
    { kind: job.attempt > 1 ? "retrying" : "waiting", from: created, to: started },
    job.state === "active" ? last : { ...last, end },
  ];
}

/** Each as a part of the whole, in percent. */
export function placed(spans: readonly Span[], now: number): { span: Span; left: number; width: number; ms: number }[] {
  const first = Math.min(...spans.map((span) => span.from));
  const last = Math.max(...spans.map((span) => span.to ?? now), first + 1);
  const part = (ms: number): number => (ms / (last - first)) * 100;
  return spans.map((span) => {
    const ms = Math.max(0, (span.to ?? now) - span.from);
    return { span, left: part(span.from - first), width: part(ms), ms };
  });
}
