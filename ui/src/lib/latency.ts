// Percentiles of the time to commit and apply entries, sampled while the page is open and kept for ten minutes.
import type { ClusterStatus, Histogram } from "../api/types";
import { between, type Percentiles } from "./histogram";

export interface LatencySample extends Percentiles {
  at: number;
}

const KEPT_MS = 10 * 60_000;

export class Latencies {
  private last: Histogram | undefined;
  private lastAt = 0;
  private list: readonly LatencySample[] = [];

  add(status: ClusterStatus, now: number): void {
    const hist = status.apply_time_hist;
    if (hist === undefined || now === this.lastAt) {
      return;
    }
    const before = this.last;
    this.last = hist;
    this.lastAt = now;
    // The first reading only serves as the base of the second.
    if (before === undefined) {
      return;
    }
    const sample = between(before, hist) ?? { count: 0, p50: 0, p90: 0, p99: 0 };
    this.list = [...this.list.filter((s) => now - s.at <= KEPT_MS), { at: now, ...sample }];
  }

  get samples(): readonly LatencySample[] {
    return this.list;
  }
}

export const latencies = new Latencies();
