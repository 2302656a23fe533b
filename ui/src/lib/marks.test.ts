import { describe, expect, it } from "vitest";

import type { AuditEntry, Marker } from "../api/types";
import { markerText, marksOf, markText } from "./marks";

const entry = (more: Partial<AuditEntry>): AuditEntry => ({
  id: 1,
  created_at: "2026-11-17T10:01:30Z",
  method: "POST",
  path: "/api/v1/queues/emails.send/pause",
  namespace: "default",
  principal: "ada",
  role: "admin",
  status_code: 200,
  metadata: {},
  ...more,
});

describe("marks", () => {
  it("say what was done to which queue, and by whom", () => {
    expect(markText(entry({}))).toBe("emails.send paused by ada");
    expect(markText(entry({ principal: null, path: "/api/v1/queues/a b/clear" }))).toBe("a b cleared");
    expect(markText(entry({ method: "DELETE", path: "/api/v1/queues/q", principal: null }))).toBe("q deleted");
    expect(markText(entry({ method: "DELETE", path: "/api/v1/queues/q/throttle", principal: null }))).toBe("q rate limit changed");
  });

  it("take the name of a queue as the log has it", () => {
    expect(markText(entry({ principal: null, path: "/api/v1/queues/50%/pause" }))).toBe("50% paused");
    expect(markText(entry({ principal: null, path: "/api/v1/queues/a%20b/pause" }))).toBe("a%20b paused");
    expect(markText(entry({ principal: null, path: "/api/v1/queues/eu/mail/pause" }))).toBe("eu/mail paused");
    expect(markText(entry({ method: "DELETE", path: "/api/v1/queues/eu/mail", principal: null }))).toBe("eu/mail deleted");
  });

  it("leave out what changed no queue", () => {
    expect(markText(entry({ status_code: 404 }))).toBeNull();
    expect(markText(entry({ path: "/api/v1/jobs/job_1/cancel" }))).toBeNull();
    expect(markText(entry({ path: "/api/v1/queues/q/explain" }))).toBeNull();
  });

  it("contain only the changes of the given queue, including its deletion", () => {
    const start = Date.parse("2026-11-17T10:00:00Z");
    const of = (queue: string) =>
      marksOf(
        [
          entry({ path: "/api/v1/queues/eu/pause" }),
          entry({ method: "DELETE", path: "/api/v1/queues/eu/throttle" }),
          entry({ method: "DELETE", path: "/api/v1/queues/eu" }),
          entry({ path: "/api/v1/queues/eu/mail/pause" }),
          entry({ method: "DELETE", path: "/api/v1/queues/eu/mail" }),
          entry({ path: "/api/v1/queues/europe/pause" }),
          entry({ path: "/api/v1/queues/eu%2Fmail/clear" }),
        ].map((one) => ({ ...one, principal: null })),
        [],
        [start],
        3_600_000,
        queue,
      ).map(({ text }) => text);
    expect(of("eu")).toEqual(["eu paused; eu rate limit changed; eu deleted"]);
    expect(of("eu/mail")).toEqual(["eu/mail paused; eu/mail deleted"]);
    expect(of("eu%2Fmail")).toEqual(["eu%2Fmail cleared"]);
    expect(of("e")).toEqual([]);
  });

  it("stand at their step, those of one step together in the order of time", () => {
    const start = Date.parse("2026-11-17T10:00:00Z");
    const entries = [
      entry({ created_at: "2026-11-17T10:01:50Z", path: "/api/v1/queues/q/resume", principal: null }),
      entry({ created_at: "2026-11-17T10:01:10Z", path: "/api/v1/queues/q/pause", principal: null }),
      entry({ created_at: "2026-11-17T09:59:00Z" }),
    ];
    expect(marksOf(entries, [], [start, start + 60_000], 60_000)).toEqual([{ index: 1, text: "q paused; q resumed" }]);
    expect(marksOf([], [], [], 60_000)).toEqual([]);
    const deploy: Marker = { id: "d1", kind: "deploy", at: "2026-11-17T10:01:20Z", text: "deployed 1.4.2", by: "ada" };
    expect(marksOf(entries, [deploy], [start, start + 60_000], 60_000)).toEqual([
      { index: 1, text: "q paused; deployed 1.4.2 by ada; q resumed" },
    ]);
  });

  it("say which version was new", () => {
    const seen: Marker = { id: "w::1", kind: "worker", at: "2026-11-17T10:01:20Z", text: "1.4.2" };
    expect(markerText(seen)).toBe("worker 1.4.2 first seen");
    expect(markerText({ ...seen, kind: "deploy", queue: "emails", text: "new provider" })).toBe("emails: new provider");
  });
});
