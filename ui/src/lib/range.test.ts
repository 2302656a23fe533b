import { describe, expect, it } from "vitest";

import { boundsOf, rangeFromUrl, rangeToUrl } from "./range";

const read = (text: string) => rangeFromUrl(new URLSearchParams(text));

describe("range", () => {
  it("is the last hour unless the address has another", () => {
    expect(read("")).toEqual({ preset: "1h", from: "1h", to: "" });
    expect(read("range=7d")).toEqual({ preset: "7d", from: "7d", to: "" });
    expect(read("range=yesterday").preset).toBe("1h");
  });

  it("is what was brushed, and nothing that is no range", () => {
    const from = "2026-02-11T02:00:00.000Z";
    const to = "2026-02-11T03:00:00.000Z";
    expect(read(`from=${from}&to=${to}`)).toEqual({ preset: null, from, to });
    expect(read(`from=${to}&to=${from}`).preset).toBe("1h");
    expect(read(`from=x&to=${to}`).preset).toBe("1h");
    const query = rangeToUrl({ from: Date.parse(from), to: Date.parse(to) }, new URLSearchParams("queue=a&range=7d"));
    expect(query.toString()).toBe(new URLSearchParams({ queue: "a", from, to }).toString());
    expect(rangeToUrl({ preset: "1h" }, query).toString()).toBe("queue=a");
  });

  it("has a first and a last moment", () => {
    const now = Date.parse("2026-02-11T03:00:00Z");
    expect(boundsOf(read("range=24h"), now)).toEqual({ from: now - 86_400_000, to: now });
    expect(boundsOf(read("range=7d"), now)).toEqual({ from: now - 7 * 86_400_000, to: now });
    expect(boundsOf(read("from=2026-02-11T02:00:00Z&to=2026-02-11T02:30:00Z"), now)).toEqual({ from: now - 3_600_000, to: now - 1_800_000 });
  });
});
