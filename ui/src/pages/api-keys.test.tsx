import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { KEY, newQueryClient } from "../api/queries";
import { KeyDialog } from "./api-keys";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it.each([
  [true, "admin"],
  [false, "readonly"],
])("proposes a role: on a server that is open (%s) %s", async (open, role) => {
  const made: unknown[] = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (init.method === "POST") {
      made.push(JSON.parse(init.body as string));
    }
    const status = url.endsWith("/auth/status") ? { open } : [];
    return Promise.resolve(Response.json(init.method === "POST" ? { status: "ok", api_key: "sk_1" } : status));
  });
  const client = newQueryClient();
  render(
    <QueryClientProvider client={client}>
      <KeyDialog onMade={() => undefined} onClose={() => undefined} />
    </QueryClientProvider>,
  );
  await waitFor(() => expect(client.getQueryData([KEY.authStatus])).toEqual({ open }));
  await waitFor(() => expect(screen.queryByText(/closes the server to callers without a key/) !== null).toBe(open));
  await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>("Role").value).toBe(role));
  fireEvent.change(screen.getByLabelText("Name *"), { target: { value: "first" } });
  fireEvent.submit(screen.getByLabelText("Name *"));
  await waitFor(() => expect(made).toMatchObject([{ name: "first", role }]));
});
