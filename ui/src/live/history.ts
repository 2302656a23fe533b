// What the event log has of one job. The stream begins with what is kept; when it falls silent that
// was all, and it is let go: this tab's own stream brings what comes later.
import { chosenNamespace, keyHeader, namespaceHeader, storedKey } from "../api/key";
import type { LiveEvent } from "../api/types";
import { parseEvent } from "./stream";

const SILENT_MS = 400;
const EVENTS_MAX = 1_000;

/** The events of a piece of a stream, and what is left of an unfinished frame. */
export function framesOf(text: string): { events: LiveEvent[]; rest: string } {
  const frames = text.split("\n\n");
  const rest = frames.pop() ?? "";
  const events = frames
    .map((frame) => frame.split("\n").find((line) => line.startsWith("data: ")))
    .map((line) => (line === undefined ? null : parseEvent(line.slice(6))))
    .filter((event) => event !== null);
  return { events, rest };
}

export async function historyOf(jobId: string): Promise<LiveEvent[]> {
  const abort = new AbortController();
  const key = storedKey();
  const response = await fetch(`/api/v1/events?format=message&job_ids=${encodeURIComponent(jobId)}`, {
    headers: { ...namespaceHeader(chosenNamespace()), ...(key === null ? {} : keyHeader(key)) },
    signal: abort.signal,
  });
  const reader = response.ok ? response.body?.pipeThrough(new TextDecoderStream()).getReader() : undefined;
  const events: LiveEvent[] = [];
  let text = "";
  let timer = setTimeout(() => abort.abort(), SILENT_MS);
  try {
    while (reader !== undefined && events.length < EVENTS_MAX) {
      const { done, value } = await reader.read();
      if (done) {
        break;
      }
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), SILENT_MS);
      const found = framesOf(text + value);
      events.push(...found.events);
      text = found.rest;
    }
  } catch {
    // Silence: that is the end of it.
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
  return events;
}
