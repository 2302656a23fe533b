// Jobs per minute of each queue, from how its counters grew in the last minute. The server has no
// such number; what is kept here is a minute of samples.
import type { Queue } from "../api/types";

const WINDOW_MS = 60_000;

interface Sample {
  at: number;
  done: number;
}

export class Rates {
  private readonly samples = new Map<string, Sample[]>();

  add(queues: readonly Queue[], now: number): void {
    const known = new Set<string>();
    for (const queue of queues) {
      known.add(queue.name);
      const list = this.samples.get(queue.name) ?? [];
      const last = list.at(-1);
      if (last?.at !== now) {
        // A counter that shrank was purged or deleted from: what was counted before is void.
        const kept = last !== undefined && queue.completed < last.done ? [] : list;
        kept.push({ at: now, done: queue.completed });
        while (kept.length > 2 && now - (kept[0]?.at ?? now) > WINDOW_MS) {
          kept.shift();
        }
        this.samples.set(queue.name, kept);
      }
    }
    for (const name of this.samples.keys()) {
      if (!known.has(name)) {
        this.samples.delete(name);
      }
    }
  }

  /** null until there are two samples. */
  perMinute(name: string): number | null {
    const list = this.samples.get(name);
    const first = list?.[0];
    const last = list?.at(-1);
    if (first === undefined || last === undefined || last.at <= first.at) {
      return null;
    }
    return Math.round(((last.done - first.done) / (last.at - first.at)) * WINDOW_MS);
  }
}

/** The whole app's: pages come and go, a minute's samples stay. */
export const rates = new Rates();
