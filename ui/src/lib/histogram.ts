// Percentiles of the samples between two readings of a histogram whose counts only grow.
import type { Histogram } from "../api/types";
import { parseDuration } from "./format";

export interface Percentiles {
  count: number;
  p50: number;
  p90: number;
  p99: number;
}

interface Bucket {
  upToMs: number;
  count: number;
}

function buckets(h: Histogram): Bucket[] {
  return (h.buckets ?? []).map((b) => ({
    upToMs: b.le === "+Inf" ? Infinity : (parseDuration(b.le) ?? Infinity),
    count: b.count,
  }));
}

function rank(list: readonly Bucket[], total: number, part: number): number {
  let seen = 0;
  let below = 0;
  for (const bucket of list) {
    if (bucket.count > 0 && seen + bucket.count >= total * part) {
      // Samples in the last bucket have no upper bound. Return its lower bound.
      if (bucket.upToMs === Infinity) {
        return below;
      }
      return below + (bucket.upToMs - below) * ((total * part - seen) / bucket.count);
    }
    seen += bucket.count;
    below = bucket.upToMs;
  }
  return below;
}

/** Null if there are no samples in between, or if the server has restarted. */
export function between(before: Histogram | undefined, after: Histogram): Percentiles | null {
  const now = buckets(after);
  const then = before === undefined ? [] : buckets(before);
  const grown = now.map((b, i) => ({ upToMs: b.upToMs, count: b.count - (then[i]?.count ?? 0) }));
  const total = grown.reduce((sum, b) => sum + b.count, 0);
  if (total <= 0 || grown.some((b) => b.count < 0)) {
    return null;
  }
  return { count: total, p50: rank(grown, total, 0.5), p90: rank(grown, total, 0.9), p99: rank(grown, total, 0.99) };
}
