// Changes while a page is open: events, a server that stops and restarts, a key that becomes necessary.
import assert from "node:assert/strict";
import { mkdir, rm } from "node:fs/promises";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { eventually, toast, visible, visit } from "./harness.mjs";

describe("an open page", () => {
  const f = fixture("--rate-limit-enabled=false");

  it("shows what happens as it happens", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues/live.now");
      await visible(page.getByText("No jobs found"));
      await f.server.enqueue("live.now", { payload: { hello: "world" } });
      await visible(page.getByText('{"hello":"world"}'));
      await visible(page.getByRole("button", { name: "Pause", exact: true }));
    }));

  it("is one stream, whatever is looked at", () =>
    f.withPage(async (page) => {
      const streams = new Set();
      page.on("request", (r) => r.resourceType() === "eventsource" && streams.add(r));
      page.on("requestfailed", (r) => streams.delete(r));
      page.on("requestfinished", (r) => streams.delete(r));
      await visit(page, "/ui/");
      for (const name of ["Queues", "Live Tail", "Held Jobs", "Live Tail"]) {
        await page.getByRole("link", { name, exact: true }).click();
      }
      await visible(page.getByText("connected"));
      await eventually("one stream", () => streams.size === 1);
    }));

  it("tails events, holds still while paused, and can be cleared and narrowed", () =>
    f.withPage(async (page) => {
      const lines = page.locator(".tail li");
      await visit(page, "/ui/events");
      await visible(lines.filter({ hasText: "live.now" }));
      const id = await f.server.enqueue("live.tail");
      await visible(lines.filter({ hasText: "live.tail" }));
      // No type of event has a similar name, such as "queue.paused".
      await page.getByRole("button", { name: "Pause" }).click();
      const before = await lines.count();
      await f.server.post(`/jobs/${id}/cancel`);
      await f.server.enqueue("live.later");
      assert.equal(await lines.count(), before);
      await page.getByRole("button", { name: "Resume" }).click();
      await visible(lines.filter({ hasText: "live.later" }));
      await page.getByRole("checkbox", { name: "Show cancelled", exact: true }).click();
      await visible(page.getByText("Events (1 shown)"));
      await page.getByRole("button", { name: "Clear" }).click();
      await visible(page.getByText("Waiting for events..."));
    }));

  it("tails with filters in its address, errors in its rows, and holds still under the pointer", () =>
    f.withPage(async (page) => {
      const lines = page.locator(".tail li");
      await f.server.enqueue("tail.other");
      const id = await f.server.dead("tail.mine", {}, "mailbox is full");
      await visit(page, "/ui/events?type=failed,dead&queue=tail.mine");
      await visible(lines.filter({ hasText: "mailbox is full" }));
      await visible(page.getByText("Events (2 shown)"));
      await lines.first().hover();
      await visible(page.getByText("Paused while the pointer is over the list"));
      await f.server.dead("tail.mine", {}, "mailbox is gone");
      await visible(page.getByText(/\d+ new events/));
      assert.equal(await lines.count(), 2);
      await page.locator("h1").hover();
      await visible(lines.filter({ hasText: "mailbox is gone" }));
      await page.getByLabel("Queue contains").fill("tail.other");
      await page.waitForURL(/queue=tail.other/);
      await visible(page.getByText("Events (0 shown)"));
      await visit(page, "/ui/events?type=dead&queue=tail.mine");
      await lines.first().getByRole("link").first().click();
      await page.waitForURL(`**/ui/jobs/${id}`);
    }));

  it("does not freeze under a flood of events", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/events");
      await visible(page.getByText("connected"));
      const jobs = Array.from({ length: 2_000 }, (_, n) => ({ queue: "live.flood", payload: { n } }));
      for (let i = 0; i < 10; i++) {
        await f.server.post("/enqueue/batch", { jobs });
      }
      await visible(page.getByText("Events (500 shown)"));
      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await visible(page.getByRole("button", { name: "Resume", exact: true }));
      assert.equal(await page.locator(".tail li").count(), 500);
    }));

  it("survives a restart of its server", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues/live.now");
      await visible(page.getByText("Jobs (1 total)"));
      await f.server.stop();
      await visible(page.getByText(/Connection lost/));
      await visible(page.locator("header .badge").filter({ hasText: "unknown" }));
      await visible(page.getByText('{"hello":"world"}'));
      await f.server.restart();
      await page.getByText(/Connection lost/).waitFor({ state: "detached" });
      await visible(page.locator("header .badge").filter({ hasText: "healthy" }));
      await f.server.enqueue("live.now", { payload: { back: "again" } });
      await visible(page.getByText('{"back":"again"}'));
      page.problems = page.problems.filter((text) => !/ERR_CONNECTION|ERR_INCOMPLETE|EventSource/.test(text));
    }));
});

describe("a server whose data was wiped", () => {
  const f = fixture("--rate-limit-enabled=false");

  it("is tailed from its new beginning", () =>
    f.withPage(async (page) => {
      const lines = page.locator(".tail li");
      await visit(page, "/ui/events");
      await visible(lines.filter({ hasText: "emails.send" }));
      await f.server.stop();
      await visible(page.getByText(/Connection lost/));
      await rm(f.server.folder, { recursive: true });
      await mkdir(f.server.folder);
      await f.server.restart();
      await page.getByText(/Connection lost/).waitFor({ state: "detached" });
      await visible(page.getByText("connected", { exact: true }));
      await f.server.enqueue("wiped.new");
      await visible(lines.filter({ hasText: "wiped.new" }));
      assert.equal(await lines.filter({ hasText: "emails.send" }).count(), 0, "what the old log had");
      page.problems = [];
    }));
});

describe("a page that was not opened yet", () => {
  const f = fixture();

  it("waits for a server that is away", () =>
    f.withPage(async (page) => {
      // Pages are loaded in advance. Prevent this for one page.
      await page.route("**/assets/workers-*.js", (route) => route.abort());
      await visit(page, "/ui/");
      await f.server.stop();
      await page.getByRole("link", { name: "Workers", exact: true }).click();
      await visible(page.getByText("This page could not be shown"));
      await visible(page.getByText(/Connection lost/));
      await page.unrouteAll();
      await f.server.restart();
      await visible(page.getByRole("heading", { name: "Workers" }));
      await visible(page.getByText("worker-a1"));
      page.problems = [];
    }));
});

describe("a server that does not answer", () => {
  const f = fixture();

  it("is said to be gone until it answers again", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues");
      await visible(page.locator("header .badge").filter({ hasText: "healthy" }));
      f.server.process.kill("SIGSTOP");
      try {
        await visible(page.getByText(/Connection lost/));
        await visible(page.locator("header .badge").filter({ hasText: "unknown" }));
      } finally {
        f.server.process.kill("SIGCONT");
      }
      await page.getByText(/Connection lost/).waitFor({ state: "detached" });
      await visible(page.locator("header .badge").filter({ hasText: "healthy" }));
    }));
});

describe("a server that is asked too often", () => {
  const f = fixture("--rate-limit-enabled=false");

  it("does not disturb who reads what is there", () =>
    f.withPage(async (page) => {
      const limited = { status: 429, json: { error: "rate limit exceeded", code: "RATE_LIMITED" } };
      await visit(page, "/ui/queues/emails.send");
      await visible(page.getByText("Jobs (18 total)"));
      let refused = 0;
      await page.route("**/api/v1/jobs/search", (route) => {
        refused++;
        return route.fulfill(limited);
      });
      // Two refusals of the first refresh, and one of the next: by then the page has handled the first refresh.
      await eventually("refreshes", () => refused > 2);
      assert.equal(await page.getByText("rate limit exceeded").count(), 0);
      await visible(page.getByText("Jobs (18 total)"));
    }));
});

describe("a browser that keeps nothing", () => {
  const f = fixture();

  it("changes the theme and copies all the same", () =>
    f.withPage(async (page) => {
      await page.addInitScript(() => {
        const denied = () => {
          throw new DOMException("denied", "SecurityError");
        };
        Object.defineProperty(window, "localStorage", { get: denied });
        navigator.clipboard.writeText = async () => denied();
      });
      await visit(page, `/ui/jobs/${f.ids.dead[0]}`);
      await page.getByRole("button", { name: "Dark theme" }).click();
      await page.locator("html.dark").waitFor();
      await page.getByRole("button", { name: "Copy payload" }).click();
      await visible(page.getByText("Copied"));
    }));
});

describe("a server with a password", () => {
  const password = "right-пароль";
  const f = fixture(`--admin-password=${password}`);

  it("asks for it, takes it, and keeps it for the next time", () =>
    f.withPage(async (page) => {
      await page.goto("/ui/queues");
      const key = page.getByLabel("API Key");
      const signIn = page.getByRole("button", { name: "Sign In" });
      await visible(key);
      assert.equal(await key.getAttribute("type"), "password");
      assert.ok(await signIn.isDisabled());
      await key.fill("wrong");
      await signIn.click();
      await visible(page.getByText("The server does not accept this key."));
      await key.fill(password);
      await signIn.click();
      await toast(page, "API key saved");
      await visible(page.getByText("emails.send"));
      // The session is in a cookie that the page cannot read. The password is not stored anywhere.
      const cookies = await page.context().cookies();
      assert.deepEqual(cookies.map((c) => [c.name, c.httpOnly, c.sameSite]), [["corvo_session", true, "Strict"]]);
      assert.ok(!JSON.stringify([cookies, await page.evaluate(() => ({ ...localStorage }))]).includes(password));
      await page.reload();
      await visible(page.getByText("emails.send"));
      await page.getByRole("link", { name: "Live Tail" }).click();
      await visible(page.locator(".tail li").filter({ hasText: "emails.send" }));
      await page.getByRole("button", { name: "Sign Out" }).click();
      await visible(key);
      assert.deepEqual(await page.context().cookies(), []);
    }));

  it("says that a session has ended, and goes on where it was", () =>
    f.withPage(async (page) => {
      await page.goto("/ui/workers");
      const signIn = async () => {
        await page.getByLabel("API Key").fill(password);
        await page.getByRole("button", { name: "Sign In" }).click();
        await visible(page.getByRole("heading", { name: "Workers" }));
      };
      await visible(page.getByLabel("API Key"));
      assert.equal(await page.getByText("Your session has ended.").count(), 0);
      await signIn();
      await visible(page.getByRole("button", { name: "Sign Out" }));
      for (const { id } of await f.server.get("/auth/sessions")) {
        await f.server.must("DELETE", `/auth/sessions/${id}`);
      }
      await visible(page.getByText("Your session has ended."));
      await signIn();
    }));

  it("takes a key that an earlier version of the page has kept", () =>
    f.withPage(async (page) => {
      await page.addInitScript((kept) => localStorage.setItem("corvo_api_key", kept), password);
      await page.goto("/ui/queues");
      await visible(page.getByText("emails.send"));
    }));
});
