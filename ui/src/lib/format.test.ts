import { describe, expect, it } from "vitest";

import * as format from "./format";

const NOW = Date.parse("2026-02-20T12:00:00Z");
const before = (ms: number) => new Date(NOW - ms).toISOString();
const after = (ms: number) => new Date(NOW + ms).toISOString();

it("counts jobs as one says it", () => {
  expect([0, 1, 2, 10_500].map(format.jobCount)).toEqual(["0 jobs", "1 job", "2 jobs", "10,500 jobs"]);
});

it("shows JSON in the order in which it is written", () => {
  const text = "\u202eabc\u2069";
  expect(format.preview({ text })).toBe('{"text":"\\u202eabc\\u2069"}');
  expect(JSON.parse(format.inOrder(JSON.stringify({ text })))).toEqual({ text });
  expect(format.preview("\u0645\u200f")).toBe('"\u0645\u200f"');
});

describe("relative time", () => {
  it.each([
    [0, "just now"],
    [4_999, "just now"],
    [5_000, "5s ago"],
    [59_999, "59s ago"],
    [60_000, "1m ago"],
    [3_600_000, "1h ago"],
    [86_400_000, "1d ago"],
    [30 * 86_400_000, "30d ago"],
    [-60_000, "just now"], // a clock that is behind
  ])("%d ms ago is %s", (ms, text) => expect(format.relativeTime(before(ms), NOW)).toBe(text));

  it("becomes a date after 30 days", () => {
    const at = before(31 * 86_400_000);
    expect(format.relativeTime(at, NOW)).toBe(new Date(at).toLocaleDateString());
  });
});

describe("counts", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1_000, "1.0K"],
    [1_234, "1.2K"],
    [999_949, "999.9K"],
    [999_950, "1.0M"],
    [1_250_000, "1.3M"],
  ])("%d is %s", (n, text) => expect(format.count(n)).toBe(text));
});

describe("spans", () => {
  it.each([
    [0, "0s"],
    [59_999, "59s"],
    [65_000, "1m 5s"],
    [7_260_000, "2h 1m"],
    [90_000_000, "25h 0m"],
    [-5, "0s"],
  ])("a latency of %d ms is %s", (ms, text) => expect(format.latency(ms)).toBe(text));

  it.each([
    [0.05, "50 µs"],
    [2, "2 ms"],
    [2.26, "2.3 ms"],
    [450, "450 ms"],
    [5_000, "5 s"],
    [600_000, "10m"],
  ])("%d ms is %s", (ms, text) => expect(format.span(ms)).toBe(text));

  it.each([
    [undefined, "-"],
    [before(1), "overdue"],
    [after(30_000), "in 30s"],
    [after(5 * 60_000), "in 5m"],
    [after(2 * 3_600_000 + 60_000), "in 2h 1m"],
    [after(3 * 86_400_000), "in 3d"],
    ["nonsense", "-"],
  ])("counts down to %s", (at, text) => expect(format.countdown(at, NOW)).toBe(text));
});

describe("other values", () => {
  it("shows attempts against at least one", () => {
    expect(format.attempts({ attempt: 1, max_retries: 0 })).toBe("1 / 1");
    expect(format.attempts({ attempt: 5, max_retries: 5 })).toBe("5 / 5");
  });

  it("cuts ids and payloads", () => {
    expect(format.shortId("job_01hx7y2k3m4n")).toBe("job_01hx7y2k…");
    expect(format.shortId("short")).toBe("short");
    expect(format.preview({ a: "x".repeat(80) })).toHaveLength(61);
    expect(format.preview(null)).toBe("null");
    expect(format.preview("😀".repeat(40))).toBe(`"${"😀".repeat(29)}…`);
  });

  it("writes money, parts and priorities", () => {
    expect(format.money(0.23)).toBe("$0.2300");
    expect(format.money(12.345, 2)).toBe("$12.35");
    expect(format.percent(1, 3)).toBe(33);
    expect(format.percent(5, 0)).toBe(0);
    expect(format.percent(9, 3)).toBe(100);
    expect([0, 1, 2].map(format.priorityName)).toEqual(["Critical", "High", "Normal"]);
  });

  it("writes a moment in a zone", () => {
    expect(format.moment("2026-07-01T00:30:00Z", "America/New_York")).toBe("2026-06-30 20:30:00");
    expect(format.moment("2026-07-01T00:30:00Z", "UTC")).toBe("2026-07-01 00:30:00");
    expect(format.moment("2026-02-11T09:05:03Z")).toBe(format.moment("2026-02-11T09:05:03Z", format.localZone()));
    expect(format.moment("nonsense")).toBe("-");
  });

  it.each(["2026-02-10T08:00", "0002-02-10T08:00"])("converts the field %s to an instant and back", (text) => {
    expect(format.toInstant(text)).toMatch(/Z$/);
    expect(format.toField(format.toInstant(text))).toBe(text);
  });

  it("converts no text that is not a time", () => {
    expect([format.toInstant(""), format.toInstant("soon"), format.toField("")]).toEqual(["", "", ""]);
  });

  it.each([
    ["50µs", 0.05],
    ["1h30m", 5_400_000],
    ["1.5s", 1_500],
    ["0", 0],
    ["", null],
    ["5", null],
    ["+Inf", null],
  ])("reads the duration %s", (text, ms) => expect(format.parseDuration(text)).toBe(ms));
});
