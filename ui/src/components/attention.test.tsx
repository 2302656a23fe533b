import { cleanup, render } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, expect, it } from "vitest";

import type { ClusterNode, Queue } from "../api/types";
import { Attention } from "./attention";

afterEach(cleanup);

const queue = (name: string, more: Partial<Queue>): Queue => ({
  name,
  paused: false,
  created_at: "2026-02-20T10:00:00Z",
  pending: 0,
  active: 0,
  held: 0,
  completed: 0,
  dead: 0,
  scheduled: 0,
  retrying: 0,
  cancelled: 0,
  enqueued: 0,
  failed: 0,
  ...more,
});

const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
const stuck = (n: number): Queue => queue(`stuck-${n}`, { pending: 1, oldest_pending_at: ago(3_600_000 * (n + 1)) });
const many = (n: number, one: (i: number) => Queue): Queue[] => Array.from({ length: n }, (_, i) => one(i));

function rows(queues: Queue[], nodes: ClusterNode[] = []): (string | null)[] {
  render(
    <MemoryRouter future={{ v7_startTransition: false, v7_relativeSplatPath: true }}>
      <Attention queues={queues} nodes={nodes} />
    </MemoryRouter>,
  );
  return [...document.querySelectorAll("li")].map((li) => li.textContent);
}

it("shows the most serious kinds first, however many there are of the others", () => {
  const queues = [
    ...many(40, stuck),
    queue("held", { held: 1 }),
    queue("paused", { paused: true, pending: 2, oldest_pending_at: ago(90_000_000_000) }),
    queue("dead", { dead: 3 }),
  ];
  const nodes: ClusterNode[] = [
    { id: "n1", status: "healthy", self: true },
    { id: "n2", status: "unreachable", last_contact_ms: 61_000 },
    { id: "n3", status: "unknown" },
  ];
  expect(rows(queues, nodes)).toEqual([
    "Node n2 cannot be reached (last contact 1m 1s ago)",
    "dead has 3 dead jobs",
    "stuck-39 has a job that has been waiting for 40h 0m",
    "stuck-38 has a job that has been waiting for 39h 0m",
    "stuck-37 has a job that has been waiting for 38h 0m",
    "37 more queues have jobs that have been waiting for more than 5m 0s",
    "paused is paused with 2 jobs pending",
    "1 held job waits for approval",
  ]);
});

it("counts the queues and the dead jobs that have no row", () => {
  expect(rows(many(9, (n) => queue(`dead-${n}`, { dead: n + 1 })))).toEqual([
    "dead-8 has 9 dead jobs",
    "dead-7 has 8 dead jobs",
    "dead-6 has 7 dead jobs",
    "6 more queues have 21 dead jobs",
  ]);
});

it("has a row for each of a few", () => {
  expect(rows(many(4, stuck))).toHaveLength(4);
  cleanup();
  expect(rows([queue("fine", { pending: 1, oldest_pending_at: ago(1_000) })])).toEqual([]);
});
