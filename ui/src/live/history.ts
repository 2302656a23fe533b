// The events of one job in the event log. The stream begins with the stored events. When it goes
// silent, there are no more, and it is closed: later events arrive on this tab's own stream.
import { chosenNamespace, keyHeader, namespaceHeader, storedKey } from "../api/key";
import type { LiveEvent } from "../api/types";
import { parseEvent } from "./stream";

const SILENT_MS = 400;
const EVENTS_MAX = 1_000;

/** Parse a piece of a stream. Returns its events, and the text of an unfinished frame as the rest. */
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
    // Aborted after silence, or the connection was lost: return the events so far.
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
  return events;
}
