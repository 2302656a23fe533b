import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { newQueryClient } from "../api/queries";
import { WebhookDialog } from "./webhooks";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it("saves the attempts that the user entered, or nothing", async () => {
  const saved: unknown[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    if (init.method === "POST") {
      saved.push(JSON.parse(init.body as string));
    }
    return Promise.resolve(Response.json({ status: "ok", id: "wh_1" }));
  });
  render(
    <QueryClientProvider client={newQueryClient()}>
      <WebhookDialog hook={null} onClose={() => undefined} />
    </QueryClientProvider>,
  );
  const url = screen.getByLabelText("URL *");
  fireEvent.change(url, { target: { value: "http://hooks.example.test/" } });
  for (const value of ["0", "", "-1", "1.5", "26"]) {
    fireEvent.change(screen.getByLabelText("Attempts"), { target: { value } });
    expect(screen.getByRole("alert").textContent).toBe("Enter a whole number from 1 to 25.");
    fireEvent.submit(url);
  }
  fireEvent.change(screen.getByLabelText("Attempts"), { target: { value: "25" } });
  expect(screen.queryByRole("alert")).toBeNull();
  fireEvent.submit(url);
  await waitFor(() => expect(saved).toMatchObject([{ retry_limit: 25 }]));
});
