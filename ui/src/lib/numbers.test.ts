import { describe, expect, it } from "vitest";

import type { ClusterStatus, Histogram, JobSummary, SearchAnswer, SearchRequest } from "../api/types";
import { linePath, roundUp, roundUpSpan, tops } from "../components/chart";
import { exportAll } from "./export";
import { between } from "./histogram";
import { Latencies } from "./latency";

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

  it.each([
    [0, 1],
    [37, 50],
    [1_001, 2_000],
    [76_000, 120_000],
    [125_000, 240_000],
    [3_600_001, 7_200_000],
    [50 * 3_600_000, 120 * 3_600_000],
  ])("round a span of %d ms up to %d", (ms, round) => expect(roundUpSpan(ms)).toBe(round));

  it("add up what is stacked", () => {
    const series = [1, 2, 3].map((n) => ({ name: String(n), colour: "", values: [n, n] }));
    expect(tops(series, true)).toEqual([[1, 1], [3, 3], [6, 6]]);
    expect(tops(series, false)).toEqual([[1, 1], [2, 2], [3, 3]]);
  });

  it("leave out what was not measured", () => {
    const draw = (line: (number | null)[]) => linePath(line, (i) => i, (value) => value);
    expect(draw([1, 2, 3])).toBe("M0.0,1.0L1.0,2.0L2.0,3.0");
    expect(draw([1, 2, null, 4, null, 6, 7])).toBe("M0.0,1.0L1.0,2.0M3.0,4.0M5.0,6.0L6.0,7.0");
    expect(draw([null, null])).toBe("");
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

  /** A server with these jobs, which returns them in pages of two. */
  const pages = (jobs: JobSummary[]) => (request: SearchRequest) => {
    const from = Number(request.cursor ?? 0);
    const more = from + 2 < jobs.length;
    return Promise.resolve({
      jobs: jobs.slice(from, from + 2),
      total: jobs.length,
      has_more: more,
      duration_ms: 0,
      ...(more ? { cursor: String(from + 2) } : {}),
    } as SearchAnswer);
  };
  const text = async (format: "csv" | "json", jobs: JobSummary[]) => {
    const blob = await exportAll(format, {}, pages(jobs), () => undefined);
    return new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.readAsText(blob);
    });
  };

  it("quotes what a CSV reader would take apart", async () =>
    expect(await text("csv", [{ ...job, last_error: "no, really", payload: { a: [1] } }])).toBe(
      "id,queue,state,priority,attempt,max_retries,created_at,started_at,completed_at,failed_at,last_error,payload\r\n" +
        'job_1,"a,""b""\nc",dead,0,2,3,2026-02-20T10:00:00Z,,,,"no, really","{""a"":[1]}"\r\n',
    ));

  it("does not let a queue's name be a formula", async () =>
    expect(await text("csv", [{ ...job, queue: "=1+1" }])).toContain("job_1,'=1+1,dead"));

  it("writes JSON that can be read back, of every page", async () => {
    const jobs = [1, 2, 3, 4, 5].map((n) => ({ ...job, id: `job_${n}` }));
    expect(JSON.parse((await text("json", jobs)) as string)).toEqual(jobs);
    expect(JSON.parse((await text("json", [])) as string)).toEqual([]);
    expect(((await text("csv", jobs)) as string).split("\r\n")).toHaveLength(7);
  });

  it("does not go round and round when a server does", () =>
    expect(
      exportAll("json", {}, () => Promise.resolve({ jobs: [], total: 9, has_more: true, cursor: "x", duration_ms: 0 }), () => undefined),
    ).rejects.toThrow("the same page twice"));
});
