// Charts and graphs: the life of a job, related jobs, deliveries, the day of a schedule, spending.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { accessibility, eventually, toast, visible, visit } from "./harness.mjs";

describe("pictures", () => {
  const f = fixture("--rate-limit-enabled=false");
  const card = (page, name) => page.getByRole("region", { name, exact: true });
  const node = (page, queue) => page.locator(".graph-node").filter({ hasText: queue });
  const clean = async (page) => assert.deepEqual(await accessibility(page), []);
  let target;
  before(
    () =>
      new Promise((done) => {
        target = createServer((request, response) => {
          response.writeHead(request.url === "/bad" ? 503 : 200, { "Content-Type": "application/json" });
          response.end('{"ok":true}');
        }).listen(0, "127.0.0.1", done);
      }),
  );
  after(() => {
    target.close();
    target.closeAllConnections();
  });

  it("of a job that is retried: each wait and each attempt", () =>
    f.withPage(async (page) => {
      const id = await f.server.enqueue("pic.retry", { max_retries: 2, retry_backoff: "none" });
      for (const n of [1, 2]) {
        assert.equal((await f.server.fetch("pic.retry", { timeout: 20 })).job_id, id);
        await f.server.post(`/fail/${id}`, { error: `no. ${n}` });
      }
      await visit(page, `/ui/jobs/${id}`);
      const bars = card(page, "Waiting and running").locator("li");
      await visible(bars.filter({ hasText: "Attempt 1" }).filter({ hasText: "failed" }));
      await visible(bars.filter({ hasText: "Attempt 2" }).filter({ hasText: "failed" }));
      const texts = await bars.allTextContents();
      assert.match(texts[0], /^Waiting\d/);
      assert.ok(texts.findIndex((t) => t.startsWith("Attempt 1")) < texts.findIndex((t) => t.startsWith("Attempt 2")));
    }));

  it("of dependents: found from the job that they wait for, with the states of now", () =>
    f.withPage(async (page) => {
      const first = await f.server.enqueue("fan.first");
      const left = await f.server.enqueue("fan.left", { depends_on: [first] });
      const right = await f.server.enqueue("fan.right", { depends_on: [first] });
      const last = await f.server.enqueue("fan.last", { depends_on: [left, right] });
      await visit(page, `/ui/jobs/${first}`);
      await visible(node(page, "fan.left"));
      await f.server.post(`/jobs/${right}/cancel`);
      await visible(node(page, "fan.right").getByText("Cancelled"));
      await node(page, "fan.left").click();
      await page.waitForURL(`**/ui/jobs/${left}`);
      await visible(node(page, "fan.first"));
      await node(page, "fan.last").click();
      await page.waitForURL(`**/ui/jobs/${last}`);
    }));

  it("of dependencies: walked from the last to the first and back, with the states of now", () =>
    f.withPage(async (page) => {
      const [a, b] = [await f.server.enqueue("dep.left"), await f.server.enqueue("dep.right")];
      const join = await f.server.enqueue("dep.join", { depends_on: [a, b] });
      const last = await f.server.enqueue("dep.last", { depends_on: [join] });
      await visit(page, `/ui/jobs/${last}`);
      for (const queue of ["dep.left", "dep.right", "dep.join", "dep.last"]) {
        await visible(node(page, queue));
      }
      await clean(page);
      await f.server.fetch("dep.left");
      await f.server.post(`/ack/${a}`);
      await visible(node(page, "dep.left").getByText("Completed"));
      await node(page, "dep.join").click();
      await page.waitForURL(`**/ui/jobs/${join}`);
      await visible(page.locator(".graph-node.self").filter({ hasText: "dep.join" }));
      await node(page, "dep.last").click();
      await page.waitForURL(`**/ui/jobs/${last}`);
    }));

  it("of a chain: steps that are to come and handlers, too", () =>
    f.withPage(async (page) => {
      const id = await f.server.enqueue("chain.one", {
        chain: { steps: [{ queue: "chain.one" }, { queue: "chain.two" }], on_failure: { queue: "chain.oops" } },
      });
      await visit(page, `/ui/jobs/${id}`);
      await visible(node(page, "chain.two").getByText("not started"));
      await visible(node(page, "chain.oops").getByText("On failure"));
      await f.server.fetch("chain.one");
      await f.server.post(`/ack/${id}`);
      await node(page, "chain.two").filter({ hasText: "Pending" }).click();
      await visible(page.locator(".graph-node.self").filter({ hasText: "Step 2" }));
    }));

  it("of a batch: how far it is, and each of its jobs", () =>
    f.withPage(async (page) => {
      const { batch_id } = await f.server.post("/batch", { callback_queue: "batch.done" });
      const ids = [];
      for (let i = 0; i < 3; i++) {
        ids.push(await f.server.enqueue("batch.job", { batch_id, max_retries: 1 }));
      }
      await f.server.post(`/batch/${batch_id}/seal`);
      await f.server.fetch("batch.job");
      await f.server.post(`/ack/${ids[0]}`);
      await visit(page, `/ui/jobs/${ids[1]}`);
      await visible(card(page, "Batch").getByText("1 of 3 jobs finished: 1 succeeded, 0 failed, 2 to go"));
      await visible(card(page, "Batch").getByRole("link", { name: "batch.done" }));
      await clean(page);
      await page.getByRole("link", { name: `${ids[0]}, completed` }).click();
      await page.waitForURL(`**/ui/jobs/${ids[0]}`);
    }));

  it("of a delivery: where to, and each attempt with its status and time", () =>
    f.withPage(async (page) => {
      const url = `http://127.0.0.1:${target.address().port}/bad`;
      const push = { url, headers: { "X-Secret": "hush" } };
      const id = await f.server.enqueue("push.bad", { max_retries: 2, retry_backoff: "none", push });
      await eventually("dead", async () => (await f.server.job(id)).state === "dead");
      await visit(page, `/ui/jobs/${id}`);
      const delivery = card(page, "Delivery");
      await visible(delivery.getByText(`POST ${url}`));
      await visible(delivery.getByText("X-Secret"));
      const rows = delivery.locator("tbody tr");
      assert.equal(await rows.count(), 2);
      await visible(rows.first().getByRole("cell", { name: "503", exact: true }));
      await visible(rows.first().getByText("failed"));
      assert.equal(await page.getByText("hush").count(), 0);
      await clean(page);
    }));

  it("of an agent: what it has used of its limits", () =>
    f.withPage(async (page) => {
      await visit(page, `/ui/jobs/${f.ids.agent}`);
      const view = card(page, "Agent iterations");
      await visible(view.getByText("2 finished, at most 5"));
      assert.equal(await view.getByRole("progressbar", { name: "Cost", exact: true }).getAttribute("aria-valuenow"), "32");
    }));

  it("of the day of a schedule: its runs and which comes first", () =>
    f.withPage(async (page) => {
      await f.server.post("/schedules", { name: "every-six", queue: "day.six", cron: "0 */6 * * *", payload: {} });
      await visit(page, "/ui/schedules");
      const day = card(page, "Next 24 hours");
      await visible(day.getByRole("img", { name: "every-six: 4 runs in the next 24 hours" }));
      await visible(day.getByRole("table", { name: "Upcoming runs" }).getByRole("row").filter({ hasText: "every-six" }));
      await clean(page);
    }));

  it("of spending: a budget that is made, its forecast, and its end", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/cost");
      await page.getByRole("button", { name: "Create Budget" }).click();
      const dialog = page.getByRole("dialog");
      await clean(page);
      assert.ok(await dialog.getByRole("button", { name: "Save" }).isDisabled());
      await dialog.getByLabel("Daily limit (USD)").fill("1000");
      await dialog.getByRole("button", { name: "Save" }).click();
      await toast(page, "Budget saved");
      const budgets = card(page, "Budgets");
      await visible(budgets.getByText("$0.63 of $1000.00 today"));
      await visible(budgets.getByText(/At this rate/));
      await page.getByRole("button", { name: "Delete budget: All queues" }).click();
      await dialog.getByRole("button", { name: "Delete budget" }).click();
      await toast(page, "Budget deleted");
      await visible(budgets.getByText("No budgets set"));
    }));
});

describe("the organization", () => {
  const f = fixture();

  it("is named, and its members and keys come and go", () =>
    f.withPage(async (page) => {
      const dialog = page.getByRole("dialog");
      const button = (name) => page.getByRole("button", { name, exact: true });
      await visit(page, "/ui/organization");
      await button("Rename").click();
      await dialog.getByLabel("Name *").fill("Example Corp");
      await dialog.getByRole("button", { name: "Save" }).click();
      await toast(page, "Organization renamed");
      assert.equal((await f.server.get("/org")).name, "Example Corp");
      await button("Add Member").click();
      await dialog.getByLabel("Name *").fill("Ada");
      await dialog.getByLabel("Email").fill("ada@example.com");
      await dialog.getByRole("button", { name: "Add", exact: true }).click();
      await toast(page, "Member added");
      await visible(page.getByRole("row").filter({ hasText: "ada@example.com" }));
      await button("Remove Ada").click();
      await dialog.getByRole("button", { name: "Remove member" }).click();
      await toast(page, "Member removed");
      await button("Create Key").click();
      await dialog.getByLabel("Name *").fill("deploy");
      await dialog.getByRole("button", { name: "Create Key" }).click();
      await visible(page.getByText("Copy this key now"));
      // It was the first key of an open server: this page continues with the key, other callers are refused.
      const secret = await page.locator(".notice code").textContent();
      await visible(page.getByRole("row").filter({ hasText: "deploy" }).getByText(`${secret.slice(0, 8)}…`));
      assert.equal((await f.server.call("GET", "/api/v1/org")).status, 401);
      await button("Dismiss").click();
      assert.deepEqual(await accessibility(page), []);
      await button("Delete deploy").click();
      await dialog.getByRole("button", { name: "Delete key" }).click();
      await toast(page, "Organization key deleted");
      await eventually("an open server", async () => (await f.server.call("GET", "/api/v1/org")).status === 200);
    }));
});
