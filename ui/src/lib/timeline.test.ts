import { describe, expect, it } from "vitest";

import type { Job, LiveEvent } from "../api/types";
import { parseExact } from "./exact-json";
import { timelineOf, timelineOfEvents } from "./timeline";

const job: Job = {
  id: "job_1",
  queue: "emails",
  state: "dead",
  payload: {},
  priority: 2,
  attempt: 2,
  max_retries: 2,
  retry_backoff: "exponential",
  retry_base_delay_ms: 5000,
  retry_max_delay_ms: 600000,
  created_at: "2026-02-20T10:00:00Z",
  started_at: "2026-02-20T10:00:10Z",
  failed_at: "2026-02-20T10:00:11Z",
  errors: [
    { id: 1, job_id: "job_1", attempt: 1, error: "first", created_at: "2026-02-20T10:00:05Z" },
    { id: 2, job_id: "job_1", attempt: 2, error: "second", created_at: "2026-02-20T10:00:11Z" },
  ],
};

describe("the timeline of a job", () => {
  it("is what its document tells, in order", () =>
    expect(timelineOf(job).map((m) => m.text)).toEqual([
      "Enqueued",
      "Attempt 1 failed: first",
      "Started (attempt 2)",
      "Attempt 2 failed: second",
      "Dead after attempt 2 / 2",
    ]));

  it("ends with what is due", () => {
    const waiting: Job = { ...job, state: "retrying", scheduled_at: "2026-02-20T10:01:00Z" };
    expect(timelineOf(waiting).at(-1)?.text).toBe("Next attempt due");
  });

  it("is told by the log where there is one", () => {
    const at = (s: number) => Date.parse("2026-02-20T10:00:00Z") * 1e6 + s * 1e9;
    const events: LiveEvent[] = [
      { seq: 3, type: "job.failed", at_ns: at(2), data: { attempt: 1, error: "SMTP timeout" } },
      { seq: 1, type: "job.enqueued", at_ns: at(0) },
      { seq: 2, type: "job.started", at_ns: at(1), data: { worker_id: "w1", attempt: 1 } },
      { seq: 4, type: "job.moved", at_ns: at(3), data: { from: "a", to: "b" } },
      { seq: 5, type: "job.priority_changed", at_ns: at(4) },
    ];
    expect(timelineOfEvents(events).map((m) => m.text)).toEqual([
      "Enqueued",
      "Started: by w1, attempt 1",
      "Failed: attempt 1, SMTP timeout",
      "Moved: a → b",
      "Priority changed",
    ]);
  });
});

it("parses JSON as JSON", () => {
  expect(parseExact('{"a":[1,2.5,true,null,"x"]}')).toEqual({ a: [1, 2.5, true, null, "x"] });
  expect(() => parseExact("{")).toThrow();
});
