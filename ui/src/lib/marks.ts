// Marks in the charts, which may explain a change in a line: changes of queues, deployments, and new
// versions of the server and of workers.
import type { AuditEntry, Marker } from "../api/types";

const WORDS: Record<string, string> = {
  pause: "paused",
  resume: "resumed",
  drain: "drained",
  clear: "cleared",
  concurrency: "concurrency limit changed",
  throttle: "rate limit changed",
  delete: "deleted",
};

/** The audit log contains decoded paths, so a queue name may contain any character, including slashes. */
const CHANGE = /^\/api\/v1\/queues\/(.+)\/(\w+)$/s;
const WHOLE = /^\/api\/v1\/queues\/(.+)$/s;

/** "emails.send paused by ada". Null if the request failed or did not change a queue, or not the given one. */
export function markText({ method, path, principal, status_code }: AuditEntry, queue?: string): string | null {
  const whole = method === "DELETE" && !path.endsWith("/throttle");
  const [, name, action] = (whole ? WHOLE : CHANGE).exec(path) ?? [];
  const word = WORDS[whole ? "delete" : (action ?? "")];
  if (name === undefined || word === undefined || status_code >= 300 || (queue !== undefined && name !== queue)) {
    return null;
  }
  return `${name} ${word}${principal === null ? "" : ` by ${principal}`}`;
}

export interface Mark {
  /** The step of the chart in which it happened. */
  index: number;
  text: string;
}

/** "deployed 1.4.2 by ada", "server 0.4.0 first seen". */
export function markerText({ kind, text, queue, by }: Marker): string {
  return kind === "deploy"
    ? `${queue === undefined ? "" : `${queue}: `}${text}${by === undefined ? "" : ` by ${by}`}`
    : `${kind} ${text} first seen`;
}

/** Return the marks of the steps that begin at these times. Marks of the same step are merged. If a queue is given, changes
 *  of other queues are left out. */
export function marksOf(
  entries: readonly AuditEntry[],
  markers: readonly Marker[],
  starts: readonly number[],
  stepMs: number,
  queue?: string,
): Mark[] {
  const texts = new Map<number, string[]>();
  const all = [
    ...entries.map((entry) => ({ at: Date.parse(entry.created_at), text: markText(entry, queue) })),
    ...markers.map((marker) => ({ at: Date.parse(marker.at), text: markerText(marker) })),
  ].sort((a, b) => a.at - b.at);
  for (const { at, text } of all) {
    const index = Math.floor((at - (starts[0] ?? 0)) / stepMs);
    if (text !== null && index >= 0 && index < starts.length) {
      texts.set(index, [...(texts.get(index) ?? []), text]);
    }
  }
  return [...texts].map(([index, list]) => ({ index, text: list.join("; ") }));
}
