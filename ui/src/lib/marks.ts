// Changes of queues by people and programs, as marks in the charts: what was done when the line bent.
import type { AuditEntry } from "../api/types";

const WORDS: Record<string, string> = {
  pause: "paused",
  resume: "resumed",
  drain: "drained",
  clear: "cleared",
  concurrency: "concurrency limit changed",
  throttle: "rate limit changed",
  delete: "deleted",
};

/** "emails.send paused by ada"; null for what changed nothing, or no queue. */
export function markText({ method, path, principal, status_code }: AuditEntry): string | null {
  const [, , , kind, name, action] = path.split("/");
  const word = WORDS[method === "DELETE" && action === undefined ? "delete" : (action ?? "")];
  if (kind !== "queues" || name === undefined || word === undefined || status_code >= 300) {
    return null;
  }
  return `${decodeURIComponent(name)} ${word}${principal === null ? "" : ` by ${principal}`}`;
}

export interface Mark {
  /** The step that it fell into. */
  index: number;
  text: string;
}

/** Marks of the steps that begin at these times; several of one step are one. */
export function marksOf(entries: readonly AuditEntry[], starts: readonly number[], stepMs: number): Mark[] {
  const texts = new Map<number, string[]>();
  for (const entry of [...entries].reverse()) {
    const text = markText(entry);
    const index = Math.floor((Date.parse(entry.created_at) - (starts[0] ?? 0)) / stepMs);
    if (text !== null && index >= 0 && index < starts.length) {
      texts.set(index, [...(texts.get(index) ?? []), text]);
    }
  }
  return [...texts].map(([index, list]) => ({ index, text: list.join("; ") }));
}
