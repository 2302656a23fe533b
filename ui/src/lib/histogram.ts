// Percentiles of what happened between two readings of a histogram that only grows.
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
      // Beyond the last bound nothing is known but that.
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

/** null when nothing happened in between, or the server began anew. */
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
