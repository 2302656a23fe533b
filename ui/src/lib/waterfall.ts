// The life of a job as time spans: waiting, running, and waiting for a retry.
import type { Job, LiveEvent } from "../api/types";
import { isObject } from "./exact-json";
import { bareType } from "./timeline";

export type SpanKind = "scheduled" | "waiting" | "running" | "retrying" | "held";

export interface Span {
  kind: SpanKind;
  from: number;
  /** null while the span lasts. */
  to: number | null;
  /** For a run: the attempt. */
  attempt?: number;
  /** For a run that has ended: its outcome. */
  end?: "completed" | "failed" | "continued" | "cancelled";
}

/** The span that begins with an event. null: the job has ended. */
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

/** True if the job is scheduled for a time after its creation. */
const isLater = (job: Job): boolean =>
  job.scheduled_at !== undefined && Date.parse(job.scheduled_at) > Date.parse(job.created_at);

/** Return the spans from the job's events. They must be in order and begin with "enqueued". */
export function spansOfEvents(events: readonly LiveEvent[], job: Job): Span[] {
  const spans: Span[] = [];
  let open: Span | undefined;
  let before = "";
  const close = (at: number, type: string) => {
    if (open !== undefined) {
      open.to = at;
      // The job loses its scheduled_at when it is due or is run by hand earlier.
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
      // The next event shows what follows. Until then no span is open.
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

/** Return the spans from the document alone: the last run, and the time before it. */
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

/** Return the position and width of each span, in percent of the whole time. */
export function placed(spans: readonly Span[], now: number): { span: Span; left: number; width: number; ms: number }[] {
  const first = Math.min(...spans.map((span) => span.from));
  const last = Math.max(...spans.map((span) => span.to ?? now), first + 1);
  const part = (ms: number): number => (ms / (last - first)) * 100;
  return spans.map((span) => {
    const ms = Math.max(0, (span.to ?? now) - span.from);
    return { span, left: part(span.from - first), width: part(ms), ms };
  });
}
