import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { newQueryClient, useMarkers, useNamespaces, useQueues } from "./queries";

const answer = { status: 403, asked: [] as string[] };

beforeEach(() => {
  vi.useFakeTimers();
  answer.asked = [];
  vi.stubGlobal("fetch", (url: string) => {
    answer.asked.push(new URL(url, "http://localhost").pathname);
    return Promise.resolve(Response.json({ error: "no", code: "FORBIDDEN" }, { status: answer.status }));
  });
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function Page() {
  useMarkers({ from: "1h", to: "" });
  const errors = [useQueues().error, useNamespaces().error];
  return <p>{errors.map((error) => error?.message).join()}</p>;
}

const minute = () => act(() => vi.advanceTimersByTimeAsync(60_000));

async function lookAround() {
  const client = newQueryClient();
  const page = (
    <QueryClientProvider client={client}>
      <Page />
    </QueryClientProvider>
  );
  const shown = render(page);
  await minute();
  window.dispatchEvent(new Event("visibilitychange"));
  await minute();
  shown.unmount();
  render(page);
  await minute();
  expect(screen.getByText("no,no")).toBeTruthy();
  return client;
}

const ALL = ["/api/v1/markers", "/api/v1/namespaces", "/api/v1/queues"];

it("does not repeat a read that was refused, except for another namespace", async () => {
  answer.status = 403;
  const client = await lookAround();
  expect([...answer.asked].sort()).toEqual(ALL);
  void client.resetQueries();
  await minute();
  expect([...answer.asked].sort()).toEqual([...ALL, ...ALL].sort());
});

it("repeats a read that failed", async () => {
  answer.status = 500;
  await lookAround();
  for (const path of ALL) {
    expect(answer.asked.filter((asked) => asked === path).length).toBeGreaterThan(2);
  }
});
