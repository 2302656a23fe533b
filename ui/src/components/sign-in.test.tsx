import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { newQueryClient, useCluster, useQueues } from "../api/queries";
import { SignInGate } from "./sign-in";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Pages() {
  useCluster();
  return <h1>{(useQueues().data ?? []).length} queues</h1>;
}

/** Show the gate in front of a server that answers each API request with a status. Returns the paths that are asked for. */
function show(status: number): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    return Promise.resolve(url.endsWith("/info") ? Response.json({}) : Response.json([], { status }));
  });
  render(
    <QueryClientProvider client={newQueryClient()}>
      <SignInGate>
        <Pages />
      </SignInGate>
    </QueryClientProvider>,
  );
  return asked;
}

it("asks once who the caller is, before anything that would be refused and audited", async () => {
  const asked = show(401);
  await screen.findByLabelText("API Key");
  await waitFor(() => expect(asked).toEqual(["/api/v1/auth/status", "/api/v1/info"]));
});

it.each([200, 403, 503])("leaves any other answer (%i) to the pages", async (status) => {
  const asked = show(status);
  await screen.findByRole("heading", { name: "0 queues" });
  await waitFor(() => expect(asked).toContain("/api/v1/queues"));
  expect(asked[0]).toBe("/api/v1/auth/status");
});
