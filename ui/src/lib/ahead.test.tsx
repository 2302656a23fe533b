import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render } from "@testing-library/react";
import { BrowserRouter } from "react-router-dom";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { newQueryClient, READ } from "../api/queries";
import type { AuthStatus } from "../api/types";
import { App } from "../app";
import { PAGES, readAhead, watchPresses } from "./ahead";

const FUTURE = { v7_startTransition: false, v7_relativeSplatPath: true };
const asked: string[] = [];

/** No request gets a response: only the requests themselves are checked. */
beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    asked.push(`${url} ${typeof init.body === "string" ? init.body : ""}`);
    return new Promise(() => undefined);
  });
  // jsdom does not have these.
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
  Element.prototype.scrollTo = () => undefined;
});

afterEach(() => {
  cleanup();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

/** "a%2Fb c" */
const NAME = "a%252Fb%20c";
const QUERIES = ["", "?range=7d", "?state=dead&queue=mail&payload_contains=x", "?group=error"];

it.each(Object.keys(PAGES).flatMap((path) => QUERIES.map((query) => path.replace(":name", NAME) + query)))(
  "asks ahead for what %s reads, and the page does not ask again",
  async (to) => {
    window.history.pushState(null, "", `/ui${to}`);
    const client = newQueryClient();
    readAhead(client, to);
    const ahead = [...asked];
    expect(ahead.length).toBeGreaterThan(0);
    render(
      <QueryClientProvider client={client}>
        <BrowserRouter basename="/ui" future={FUTURE}>
          <App />
        </BrowserRouter>
      </QueryClientProvider>,
    );
    // The page uses everything that was read ahead.
    const unwanted = () => client.getQueryCache().getAll().filter((query) => query.getObserversCount() === 0);
    await vi.waitFor(() => expect(unwanted().map((query) => query.queryKey)).toEqual([]), 30_000);
    expect(new Set(asked).size).toBe(asked.length);
  },
);

it("listens for presses on links, and on what says where it leads", () => {
  const client = newQueryClient();
  const stop = watchPresses(client);
  document.body.innerHTML =
    '<a href="/ui/workers"><b>Workers</b></a><a href="/docs">Docs</a>' +
    '<table><tr data-to="/queues/mail"><td>mail</td><td><button>Pause</button></td></tr></table>' +
    '<button class="chip" data-to="?range=7d">Last week</button><a href="/ui" class="home">Dashboard</a>';
  const press = (selector: string, more = {}) =>
    fireEvent.click(document.querySelector(selector) ?? document.body, { button: 0, ...more });
  window.history.pushState(null, "", "/ui/errors");
  press("[href='/docs']");
  press("tr button");
  press("b", { ctrlKey: true });
  expect(asked).toEqual([]);
  press("b");
  expect(asked).toEqual([expect.stringContaining("/api/v1/workers")]);
  press("b");
  expect(asked).toHaveLength(1); // the request is still running
  press("td");
  expect(asked).toContainEqual(expect.stringContaining("/api/v1/queues/mail/explain"));
  press(".chip");
  expect(asked.at(-1)).toContain("/api/v1/errors?from=7d");
  for (const [address, range] of [["/ui", "7d"], ["/ui/", "30d"]]) {
    window.history.pushState(null, "", address);
    document.querySelector(".chip")?.setAttribute("data-to", `?range=${range}`);
    press(".chip");
    expect(asked).toContainEqual(expect.stringContaining(`/api/v1/history?from=${range}`));
  }
  press(".home");
  expect(asked.at(-1)).toContain("/api/v1/history?from=1h");
  stop();
  const before = asked.length;
  press("[href='/ui/workers']");
  expect(asked).toHaveLength(before);
});

it("does not ask again for what was refused", async () => {
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    return Promise.resolve(Response.json({ error: "no", code: "FORBIDDEN" }, { status: 403 }));
  });
  const client = newQueryClient();
  readAhead(client, "/workers");
  await vi.waitFor(() => expect(client.getQueryState(READ.workers.queryKey)?.status).toBe("error"), 30_000);
  readAhead(client, "/workers");
  expect(asked).toHaveLength(1);
});

it("asks for the history of all queues and of the node only with a key that may read it", () => {
  const client = newQueryClient();
  client.setQueryData(READ.authStatus.queryKey, { queue_scope: "mail" } as AuthStatus);
  readAhead(client, "/");
  expect(asked).toEqual([expect.stringContaining("/api/v1/queues")]);
  readAhead(client, "/queues/mail");
  expect(asked).toContainEqual(expect.stringContaining("/api/v1/history?from=1h&queue=mail"));
  readAhead(client, "/cluster");
  expect(asked).toContainEqual(expect.stringContaining("/api/v1/cluster/status"));
  expect(asked).not.toContainEqual(expect.stringContaining("/api/v1/cluster/history"));
});
