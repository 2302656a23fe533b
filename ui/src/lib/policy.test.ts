import { describe, expect, it } from "vitest";

import type { Policy } from "../api/types";
import { checksOf, formOf, joiner, policyOfReason, toInput } from "./policy";

const BOTH: Policy = {
  id: "ap_1",
  name: "second look",
  mode: "all",
  all_namespaces: false,
  enabled: false,
  queue: "agents.research",
  tag_key: "risk",
  tag_value: "high",
  created_at: "2026-02-20T10:00:00Z",
};

describe("a policy's form", () => {
  it("says of a policy what would make it again", () => {
    expect(toInput(formOf(BOTH))).toEqual({
      name: "second look",
      mode: "all",
      enabled: false,
      queue: "agents.research",
      tag_key: "risk",
      tag_value: "high",
    });
  });

  it("keeps whose jobs it holds", () => {
    expect(toInput(formOf({ ...BOTH, all_namespaces: true })).all_namespaces).toBe(true);
    expect(toInput(formOf(BOTH))).not.toHaveProperty("all_namespaces");
  });

  it("begins as the server's defaults are", () => {
    expect(toInput({ ...formOf(null), name: " a " })).toEqual({ name: "a", mode: "any", enabled: true });
  });

  it("leaves out blanks, and a value without a tag", () => {
    const form = { ...formOf(BOTH), queue: "  ", tagKey: " " };
    expect(toInput(form)).toEqual({ name: "second look", mode: "all", enabled: false });
    expect(toInput({ ...form, tagKey: "risk", tagValue: " " })).toMatchObject({ tag_key: "risk", tag_value: "" });
  });
});

describe("what a policy looks for", () => {
  const CASES: [string, Parameters<typeof checksOf>[0], string[]][] = [
    ["nothing", {}, []],
    ["a queue", { queue: "agents" }, ["queue is agents"]],
    ["a tag", { tag_key: "risk", tag_value: "high" }, ["tag risk is high"]],
    ["a tag without a value", { tag_key: "reviewed" }, ["tag reviewed is missing or empty"]],
    ["both", BOTH, ["queue is agents.research", "tag risk is high"]],
    ["a value without a tag, which is nothing", { tag_value: "high" }, []],
  ];
  it.each(CASES)("is %s", (_, policy, checks) => expect(checksOf(policy)).toEqual(checks));

  it("is joined as the mode says; any is the default", () => {
    expect([joiner("all"), joiner("any"), joiner(undefined)]).toEqual(["and", "or", "or"]);
  });
});

it("a reason names the policy, unless it is somebody's own", () => {
  expect(policyOfReason("approval policy matched: big: spender")).toBe("big: spender");
  expect(policyOfReason("max_iterations exceeded (5)")).toBeNull();
});
