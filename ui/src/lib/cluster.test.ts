import { describe, expect, it } from "vitest";

import type { ClusterGroup, ClusterNode } from "../api/types";
import { faultOf, healthOf, isSilent, problemOf } from "./cluster";

const ME: ClusterNode = { id: "n1", status: "healthy", voter: true, self: true };
const FINE: ClusterNode = { id: "n2", status: "healthy", voter: true, self: false };
const LOST: ClusterNode = { id: "n3", status: "unknown", voter: true, self: false, last_contact_ms: 8_000, role: "Follower" };

describe("the fault of a node", () => {
  const lead = (leader_id: string, ...nodes: ClusterNode[]): ClusterGroup => ({ mode: "cluster", leader_id, nodes });

  it.each<[string, ClusterGroup | undefined, string | undefined]>([
    ["an unknown status", undefined, undefined],
    ["a server without a cluster", { mode: "single", status: "healthy" }, undefined],
    ["a leader", lead("n2", ME, FINE, LOST), undefined],
    [
      "no majority",
      lead("", ME, LOST, { ...LOST, id: "n2" }),
      "No leader: writes are not accepted. Only 1 of 3 voting nodes can be reached; 2 are needed.",
    ],
    [
      "no majority of the voters, though the others are there",
      lead("", ME, LOST, { ...LOST, id: "n2" }, { ...FINE, id: "s1", voter: false }),
      "No leader: writes are not accepted. Only 1 of 3 voting nodes can be reached; 2 are needed.",
    ],
    ["an election", lead("", ME, FINE, LOST), "No leader: writes are not accepted. The nodes are electing one."],
    ["a node that has just started", lead("", ME, { id: "n2", status: "unknown", voter: true }, { id: "n3", status: "unknown", voter: true }), "No leader: writes are not accepted."],
    ["a node that was removed", { ...lead("", ME), removed: true }, "This node was removed from the cluster. It accepts no writes, and its data is out of date."],
    ["a quarantined node", { ...lead("n2", ME), quarantined: true }, "The data of this node differs from the majority. Use another node."],
  ])("with %s", (_, group, text) => expect(faultOf(group)?.text).toBe(text));
});

describe("a node", () => {
  it("is silent if it cannot be reached, but not if nothing is known of it yet", () => {
    expect([ME, FINE, LOST].map(isSilent)).toEqual([false, false, true]);
    expect(isSilent({ status: "unreachable" })).toBe(true);
    expect(isSilent({ status: "unknown" })).toBe(false);
    expect(isSilent({ status: "unknown", error: "connect: Connection refused" })).toBe(true);
  });

  it("has problems that are named", () => {
    expect(problemOf(FINE)).toBeUndefined();
    expect(problemOf({ status: "catching up" })).toBeUndefined();
    expect(problemOf(LOST)).toBe("cannot be reached (last contact 8s ago)");
    expect(problemOf({ status: "unreachable" })).toBe("cannot be reached (no contact since this node started)");
    expect(problemOf({ status: "degraded" })).toBe("is low on disk space");
  });
});

describe("health", () => {
  it.each<[ClusterGroup | undefined, string, boolean]>([
    [undefined, "unknown", false],
    [{ status: "healthy", state: "Follower" }, "healthy", true],
    [{ status: "degraded", state: "Follower" }, "degraded", false],
    [{ state: "Leader" }, "healthy", true],
    [{ state: "Candidate" }, "Candidate", false],
  ])("of %o is %s", (status, text, good) => expect(healthOf(status)).toEqual({ text, good }));
});
