import { describe, expect, it } from "vitest";

import { forecast, ratePeriod, todayPeriod } from "./forecast";

const at = (text: string): number => Date.parse(`2026-02-11T${text}Z`);

describe("the forecast of a budget", () => {
  it("says when the limit is reached at the rate of the last hour", () => {
    // 6 dollars are left, at 2 an hour.
    expect(forecast(4, 2, 10, at("13:40:00"))).toEqual({ kind: "limit", at: at("16:40:00") });
  });

  it("says what the day comes to if that is less", () => {
    expect(forecast(4, 1, 100, at("20:00:00"))).toEqual({ kind: "below", total: 8 });
  });

  it("takes the day while it is shorter than an hour", () => {
    expect(forecast(1, 1, 3, at("00:30:00"))).toEqual({ kind: "limit", at: at("01:30:00") });
    expect([todayPeriod(at("00:30:00")), ratePeriod(at("00:30:00"))]).toEqual(["30m", "30m"]);
    expect([todayPeriod(at("13:40:00")), ratePeriod(at("13:40:00"))]).toEqual(["820m", "60m"]);
  });

  it("has nothing to say of no spending, and of a limit that is reached", () => {
    expect(forecast(4, 0, 10, at("12:00:00"))).toEqual({ kind: "idle" });
    expect(forecast(10, 1, 10, at("12:00:00"))).toEqual({ kind: "reached", resetsAt: Date.parse("2026-02-12T00:00:00Z") });
    expect(forecast(0, 0, 0, at("12:00:00")).kind).toBe("reached");
  });
});
