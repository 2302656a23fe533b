// Which data an event makes stale, and when it is refreshed: at once, then at most once a second.
import type { Batch } from "./stream";

const EVERY_MS = 1_000;

/** Return the names of the data sets that a batch of events makes stale. One job is "job:<id>". */
export function touched(batch: Batch): Set<string> {
  const keys = new Set<string>();
  if (batch.overflow) {
    return keys.add("queues").add("search").add("job");
  }
  for (const event of batch.events) {
    keys.add("queues");
    if (!event.type.startsWith("queue.")) {
      keys.add("search");
      if (event.job_id !== undefined) {
        keys.add(`job:${event.job_id}`);
      }
    }
  }
  return keys;
}

/** Calls run(key) for all marked keys, at most once per second for each key. No mark is lost. */
export class Coalescer {
  private readonly lastRun = new Map<string, number>();
  private readonly waiting = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly run: (key: string) => void) {}

  mark(keys: Iterable<string>): void {
    for (const key of keys) {
      this.waiting.add(key);
    }
    this.work();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting.clear();
  }

  private work(): void {
    const now = Date.now();
    let nextMs = Infinity;
    for (const key of [...this.waiting]) {
      const due = (this.lastRun.get(key) ?? -Infinity) + EVERY_MS;
      if (due <= now) {
        this.waiting.delete(key);
        this.lastRun.set(key, now);
        this.run(key);
      } else {
        nextMs = Math.min(nextMs, due - now);
      }
    }
    this.forget(now);
    clearTimeout(this.timer);
    this.timer = nextMs === Infinity ? undefined : setTimeout(() => this.work(), nextMs);
  }

  private forget(now: number): void {
    for (const [key, at] of this.lastRun) {
      if (now - at > EVERY_MS) {
        this.lastRun.delete(key);
      }
    }
  }
}
