import { describe, expect, it } from "vitest";

import type { ClusterStatus, Histogram, JobSummary, Queue } from "../api/types";
import { roundUp, tops } from "../components/chart";
import { toCsv, toJson } from "./export";
import { between } from "./histogram";
import { Latencies } from "./latency";
import { Rates } from "./rates";

const queue = (name: string, completed: number): Queue => ({
  name,
  completed,
  paused: false,
  pending: 0,
  active: 0,
  held: 0,
  dead: 0,
  scheduled: 0,
  retrying: 0,
  cancelled: 0,
  failed: 0,
  enqueued: completed,
});

describe("rates", () => {
  it("need two samples, then say jobs per minute", () => {
    const rates = new Rates();
    rates.add([queue("a", 100)], 0);
    expect(rates.perMinute("a")).toBeNull();
    rates.add([queue("a", 130)], 30_000);
    expect(rates.perMinute("a")).toBe(60);
    expect(rates.perMinute("unknown")).toBeNull();
  });

  it("look at the last minute only", () => {
    const rates = new Rates();
    [0, 30_000, 60_000, 90_000, 120_000].forEach((at, i) => rates.add([queue("a", i < 2 ? 0 : 100)], at));
    expect(rates.perMinute("a")).toBe(0);
  });

  it("begin anew when a counter shrinks and forget queues that are gone", () => {
    const rates = new Rates();
    rates.add([queue("a", 100)], 0);
    rates.add([queue("a", 5)], 10_000);
    expect(rates.perMinute("a")).toBeNull();
    rates.add([], 20_000);
    rates.add([queue("a", 50)], 30_000);
    expect(rates.perMinute("a")).toBeNull();
  });
});

const hist = (counts: number[]): Histogram => ({
  count: counts.reduce((a, b) => a + b, 0),
  buckets: ["1ms", "2ms", "5ms", "+Inf"].map((le, i) => ({ le, count: counts[i] ?? 0 })),
});

describe("histograms", () => {
  it("give percentiles of what came in between", () => {
    const found = between(hist([1000, 0, 0, 0]), hist([1000, 100, 0, 0]));
    expect(found?.count).toBe(100);
    expect(found?.p50).toBeCloseTo(1.5);
    expect(found?.p99).toBeCloseTo(1.99);
  });

  it("say nothing when nothing came, or the server began anew", () => {
    expect(between(hist([5, 0, 0, 0]), hist([5, 0, 0, 0]))).toBeNull();
    expect(between(hist([5, 5, 0, 0]), hist([9, 0, 0, 0]))).toBeNull();
  });

  it("stop at the last bound", () => expect(between(hist([0, 0, 0, 0]), hist([0, 0, 0, 4]))?.p99).toBe(5));

  it("become samples of ten minutes", () => {
    const latencies = new Latencies();
    const status = (n: number): ClusterStatus => ({ apply_time_hist: hist([n, 0, 0, 0]) });
    latencies.add(status(0), 1);
    latencies.add(status(10), 5_001);
    latencies.add(status(10), 10_001);
    expect(latencies.samples.map((s) => s.count)).toEqual([10, 0]);
    latencies.add(status(11), 700_000);
    expect(latencies.samples).toHaveLength(1);
  });
});

describe("charts", () => {
  it.each([
    [0, 1],
    [1, 1],
    [1.2, 2],
    [37, 50],
    [51, 100],
    [0.03, 0.05],
  ])("round %d up to %d", (value, round) => expect(roundUp(value)).toBeCloseTo(round));

  it("add up what is stacked", () => {
    const series = [1, 2, 3].map((n) => ({ name: String(n), colour: "", values: [n, n] }));
    expect(tops(series, true)).toEqual([[1, 1], [3, 3], [6, 6]]);
    expect(tops(series, false)).toEqual([[1, 1], [2, 2], [3, 3]]);
  });
});

describe("export", () => {
  const job: JobSummary = {
    id: "job_1",
    queue: 'a,"b"\nc',
    state: "dead",
    payload: {},
    priority: 0,
    attempt: 2,
    max_retries: 3,
    created_at: "2026-02-20T10:00:00Z",
  };

  it("quotes what a CSV reader would take apart", () =>
    expect(toCsv([job])).toBe(
      "id,queue,state,priority,attempt,max_retries,created_at,started_at,completed_at,failed_at\r\n" +
        'job_1,"a,""b""\nc",dead,0,2,3,2026-02-20T10:00:00Z,,,\r\n',
    ));

  it("does not let a queue's name be a formula", () =>
    expect(toCsv([{ ...job, queue: "=1+1" }])).toContain("job_1,'=1+1,dead"));

  it("writes JSON that can be read back", () => expect(JSON.parse(toJson([job]))).toEqual([job]));
});
