import { cleanup, render } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, expect, it } from "vitest";

import { ClusterPanel } from "./cluster-panel";

afterEach(cleanup);

it("says that a node cannot be reached, why, since when, and nothing that is not known", () => {
  const node = { voter: true, role: "Follower", self: false };
  const nodes = [
    { ...node, id: "n1", role: "Leader", status: "healthy", self: true },
    { ...node, id: "n2", status: "unreachable", last_contact_ms: 125_000, error: "connect: Connection refused", lag: 14 },
    { ...node, id: "n3", status: "unreachable", lag: 14 },
    { ...node, id: "n4", status: "unknown" },
    { ...node, id: "n5", voter: false, role: "Standby", status: "unreachable", lag: 0 },
    { ...node, id: "n6", status: "healthy", lag: 1 },
  ];
  render(
    <MemoryRouter future={{ v7_startTransition: false, v7_relativeSplatPath: true }}>
      <ClusterPanel group={{ status: "healthy", state: "Leader", nodes }} />
    </MemoryRouter>,
  );
  const rows = [...document.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")].map((td) => td.textContent));
  expect(rows).toEqual([
    ["n1 (this node)", "leader", "healthy", "-", "-"],
    ["n2 ", "voter", "unreachable last contact 2m 5s agoconnect: Connection refused", "-", "-"],
    ["n3 ", "voter", "unreachable no contact since this node started", "-", "-"],
    ["n4 ", "voter", "unknown", "-", "-"],
    ["n5 ", "standby", "unreachable no contact since this node started", "-", "-"],
    ["n6 ", "follower", "healthy", "-", "1 entry behind"],
  ]);
});
