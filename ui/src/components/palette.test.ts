import { describe, expect, it } from "vitest";

import { asJobId, matches } from "./palette";

describe("palette", () => {
  const places = ["reports.emails", "emails.send", "video"].map((name) => ({ kind: "Queue", name, to: name }));

  it("finds by every word, and what begins with the text first", () => {
    expect(matches(places, "email").map((p) => p.name)).toEqual(["emails.send", "reports.emails"]);
    expect(matches(places, "queue vid").map((p) => p.name)).toEqual(["video"]);
    expect(matches(places, "nothing")).toEqual([]);
  });

  it("knows the id of a job", () => {
    expect(asJobId(" job_01jcz0v5h8e9rk7w2n4m6p8q0s ")).toBe("job_01jcz0v5h8e9rk7w2n4m6p8q0s");
    expect(asJobId("job_1")).toBe(null);
    expect(asJobId("emails")).toBe(null);
  });
});
