import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { Link, MemoryRouter, useLocation } from "react-router-dom";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { newQueryClient } from "../api/queries";
import type { JobSummary, SearchRequest } from "../api/types";
import { NO_FILTERS } from "../lib/filters";
import { toast } from "../lib/toasts";
import { parseTags } from "./enqueue-dialog";
import { JobList } from "./job-list";

const ALL = 120;

const jobAt = (i: number): JobSummary => ({
  id: `job_${String(i).padStart(26, "0")}`,
  queue: "emails",
  state: "dead",
  payload: { n: i },
  priority: 2,
  attempt: 1,
  max_retries: 1,
  created_at: "2026-02-20T10:00:00Z",
});

const good = vi.spyOn(toast, "good");
const searches: SearchRequest[] = [];
const bulks: unknown[] = [];
let client = newQueryClient();
/** The number of jobs at the beginning of the list that no longer exist. */
let gone = 0;

/** A server that pages through its jobs as the contract specifies. */
function answer(url: string, init: RequestInit): Response {
  const body = JSON.parse(init.body as string) as SearchRequest;
  if (url.endsWith("/jobs/bulk")) {
    bulks.push(body);
    return Response.json({ affected: 2, errors: 0, duration_ms: 3 });
  }
  searches.push(body);
  if (body.payload_jq === "nonsense") {
    return Response.json({ error: "unsupported payload_jq expression", code: "VALIDATION_ERROR" }, { status: 400 });
  }
  const from = Number(body.cursor ?? 0);
  const to = Math.min(ALL, from + (body.limit ?? 50));
  const jobs = Array.from({ length: to - from }, (_, i) => jobAt(gone + from + i));
  return Response.json({ jobs, total: ALL, has_more: to < ALL, cursor: String(to), duration_ms: 1 });
}

const Where = () => <output data-testid="where">{useLocation().search}</output>;

beforeEach(() => {
  searches.length = bulks.length = gone = 0;
  client = newQueryClient();
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => Promise.resolve(answer(url, init)));
  render(
    <QueryClientProvider client={client}>
      <MemoryRouter future={{ v7_startTransition: false, v7_relativeSplatPath: true }}>
        <JobList defaults={{ ...NO_FILTERS, queue: "emails" }} title="Jobs" fileName="emails-jobs" />
        <Where />
        <Link to="?state=dead">Elsewhere</Link>
      </MemoryRouter>
    </QueryClientProvider>,
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const rows = () => document.querySelectorAll("tbody tr").length;
const where = () => screen.getByTestId("where").textContent;

it("shows a page, and Load More adds the next", async () => {
  await screen.findByText("Jobs (120 total)");
  await waitFor(() => expect(rows()).toBe(50));
  fireEvent.click(screen.getByText("Load More"));
  await waitFor(() => expect(rows()).toBe(100));
  expect(searches.at(-1)).toMatchObject({ queue: "emails", cursor: "50" });
});

it("puts filters into the address and sends them", async () => {
  await screen.findByText("Jobs (120 total)");
  fireEvent.click(screen.getByRole("button", { name: "Dead" }));
  expect(where()).toBe("?state=dead");
  await waitFor(() => expect(searches.at(-1)?.state).toEqual(["dead"]));
  fireEvent.click(screen.getByText("Reset"));
  expect(where()).toBe("");
});

it("shows beside the field what the server says about a jq filter", async () => {
  await screen.findByText("Jobs (120 total)");
  fireEvent.click(screen.getByText("Advanced filters"));
  fireEvent.change(screen.getByLabelText("jq filter"), { target: { value: "nonsense" } });
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toBe("unsupported payload_jq expression");
});

it("sends ticked jobs by id and all matching ones by filter", async () => {
  await screen.findByText("Jobs (120 total)");
  const [all, first, second] = screen.getAllByRole("checkbox");
  if (all === undefined || first === undefined || second === undefined) {
    throw new Error("there are no checkboxes");
  }
  fireEvent.click(first);
  fireEvent.click(second);
  expect(screen.getByText("2 selected")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Retry" }));
  fireEvent.click(screen.getByRole("button", { name: "Retry 2 jobs" }));
  await waitFor(() => expect(bulks).toHaveLength(1));
  expect(bulks[0]).toEqual({ action: "retry", job_ids: [jobAt(0).id, jobAt(1).id] });
  await waitFor(() => expect(screen.queryByText("2 selected")).toBeNull());
  await waitFor(() => expect(good).toHaveBeenLastCalledWith("Bulk action: 2 affected, 0 errors (3ms)"));

  fireEvent.click(all);
  fireEvent.click(screen.getByText("Select all 120 matching"));
  fireEvent.click(screen.getByRole("button", { name: "Move" }));
  const confirm = screen.getByRole<HTMLButtonElement>("button", { name: "Move 120 jobs" });
  expect(confirm.disabled).toBe(true);
  fireEvent.change(screen.getByPlaceholderText("Queue name..."), { target: { value: "later" } });
  fireEvent.click(confirm);
  await waitFor(() => expect(bulks).toHaveLength(2));
  expect(bulks[1]).toEqual({ action: "move", filter: { queue: "emails" }, move_to_queue: "later" });
});

it("counts the selected jobs that an action has skipped", async () => {
  await screen.findByText("Jobs (120 total)");
  fireEvent.click(screen.getAllByRole("checkbox")[0] ?? document.body);
  fireEvent.click(screen.getByRole("button", { name: "Retry" }));
  fireEvent.click(screen.getByRole("button", { name: "Retry 50 jobs" }));
  await waitFor(() => expect(good).toHaveBeenLastCalledWith("Bulk action: 2 affected, 0 errors (3ms). 48 jobs were skipped."));
});

it("drops the selection and its confirmation when the address changes the filter", async () => {
  await screen.findByText("Jobs (120 total)");
  const [all] = screen.getAllByRole("checkbox");
  fireEvent.click(all ?? document.body);
  fireEvent.click(screen.getByText("Select all 120 matching"));
  expect(screen.getByText("120 selected")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Retry" }));
  expect(screen.getByRole("button", { name: "Retry 120 jobs" })).toBeTruthy();
  fireEvent.click(screen.getByText("Elsewhere"));
  expect(where()).toBe("?state=dead");
  expect(screen.queryByText("120 selected")).toBeNull();
  expect(screen.queryByRole("button", { name: "Retry 120 jobs" })).toBeNull();
});

it("acts on the jobs that were confirmed, though the rows have changed since", async () => {
  await screen.findByText("Jobs (120 total)");
  for (const box of screen.getAllByRole("checkbox").slice(1, 3)) {
    fireEvent.click(box);
  }
  fireEvent.click(screen.getByRole("button", { name: "Retry" }));
  gone = 60;
  await client.invalidateQueries();
  await screen.findByText('{"n":60}');
  expect(screen.queryByText("2 selected")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Retry 2 jobs" }));
  await waitFor(() => expect(bulks).toEqual([{ action: "retry", job_ids: [jobAt(0).id, jobAt(1).id] }]));
});

it("walks the rows with j and k, but not while typing", async () => {
  await screen.findByText("Jobs (120 total)");
  const focused = () => document.querySelectorAll("tr.focused").length;
  fireEvent.keyDown(document.body, { key: "j" });
  expect(focused()).toBe(1);
  fireEvent.keyDown(document.body, { key: "/" });
  const payload = await screen.findByLabelText("Payload contains");
  await waitFor(() => expect(document.activeElement).toBe(payload));
  fireEvent.keyDown(payload, { key: "j" });
  expect(document.querySelector("tbody tr")?.classList.contains("focused")).toBe(true);
});

it("reads tags", () => {
  expect(parseTags("a=b, c=d=e")).toEqual({ a: "b", c: "d=e" });
  expect(parseTags(" ")).toEqual({});
  expect(parseTags("a")).toBeNull();
  expect(parseTags("=b")).toBeNull();
});
