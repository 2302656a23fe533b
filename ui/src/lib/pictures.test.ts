import { describe, expect, it } from "vitest";

import type { Job, LiveEvent } from "../api/types";
import { layout } from "./graph";
import { placed, spansOfEvents, spansOfJob } from "./waterfall";

const job = (more: Partial<Job> = {}): Job => ({
  id: "job_1",
  queue: "q",
  state: "pending",
  payload: {},
  priority: 2,
  attempt: 0,
  max_retries: 3,
  retry_backoff: "fixed",
  retry_base_delay_ms: 1,
  retry_max_delay_ms: 1,
  created_at: "2026-01-01T00:00:00Z",
  ...more,
});
const event = (type: string, ms: number, data?: object): LiveEvent => ({ seq: ms, type: `job.${type}`, at_ns: ms * 1e6, job_id: "job_1", data });

describe("the waterfall", () => {
  it("shows a failed attempt, the wait for the next, and the run that lasts", () => {
    const spans = spansOfEvents(
      [
        event("enqueued", 0),
        event("started", 10, { attempt: 1 }),
        event("progress", 15),
        event("failed", 20, { attempt: 1, error: "x" }),
        event("retrying", 20),
        event("promoted", 50),
        event("started", 60, { attempt: 2 }),
      ],
      job({ state: "active" }),
    );
    expect(spans).toEqual([
      { kind: "waiting", from: 0, to: 10 },
      { kind: "running", from: 10, to: 20, attempt: 1, end: "failed" },
      { kind: "retrying", from: 20, to: 50 },
      { kind: "waiting", from: 50, to: 60 },
      { kind: "running", from: 60, to: null, attempt: 2 },
    ]);
    expect(placed(spans, 100).map(({ left, width }) => [left, width])).toEqual([
      [0, 10],
      [10, 10],
      [20, 30],
      [50, 10],
      [60, 40],
    ]);
  });

  it("shows for how long a job was scheduled, also after it has run", () => {
    const kinds = (...types: string[]) =>
      spansOfEvents(types.map((type, i) => event(type, i * 10)), job({ state: "completed" })).map(({ kind }) => kind);
    expect(kinds("enqueued", "promoted", "started", "completed")).toEqual(["scheduled", "waiting", "running"]);
    expect(kinds("enqueued", "retried", "started", "completed")).toEqual(["scheduled", "waiting", "running"]);
    expect(kinds("enqueued", "started", "failed", "retrying", "promoted", "started")).toEqual([
      "waiting",
      "running",
      "retrying",
      "waiting",
      "running",
    ]);
    expect(kinds("enqueued", "held", "approved", "started")).toEqual(["waiting", "held", "waiting", "running"]);
  });

  it("is over when the job is", () => {
    const spans = spansOfEvents([event("enqueued", 0), event("started", 10), event("completed", 30)], job());
    expect(spans.at(-1)).toEqual({ kind: "running", from: 10, to: 30, end: "completed" });
    const held = spansOfEvents([event("enqueued", 0), event("held", 5), event("rejected", 9)], job());
    expect(held.map(({ kind, to }) => [kind, to])).toEqual([["waiting", 5], ["held", 9]]);
  });

  it("knows the last run from the document alone", () => {
    expect(spansOfJob(job({ scheduled_at: "2026-01-01T01:00:00Z" }))[0]?.kind).toBe("scheduled");
    const dead = spansOfJob(
      job({ state: "dead", attempt: 2, started_at: "2026-01-01T00:00:10Z", failed_at: "2026-01-01T00:00:12Z" }),
    );
    expect(dead.map(({ kind, end }) => [kind, end])).toEqual([["retrying", undefined], ["running", "failed"]]);
  });
});

describe("the graph", () => {
  const nodes = ["a", "b", "c", "d"].map((id) => ({ id, queue: "q" }));

  it("puts a job right of all that it waits for", () => {
    const edges = [
      { from: "a", to: "c" },
      { from: "b", to: "c" },
      { from: "c", to: "d" },
      { from: "a", to: "d" },
    ];
    expect(layout(nodes, edges).map(({ column, row }) => [column, row])).toEqual([[0, 0], [0, 1], [1, 0], [2, 0]]);
  });

  it("survives a circle and an edge to nowhere", () => {
    const edges = [
      { from: "a", to: "b" },
      { from: "b", to: "a" },
      { from: "gone", to: "c" },
    ];
    expect(layout(nodes, edges)).toHaveLength(4);
  });
});
