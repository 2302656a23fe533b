// Common tasks of users, starting from the dashboard, and the number of clicks they take.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { eventually, toast, visible, visit } from "./harness.mjs";

describe("what people come for", () => {
  const f = fixture();

  /** Run a test that counts its clicks. A drag across a chart counts as one click. */
  const counted = (most, test) => () =>
    f.withPage(async (page) => {
      let clicks = 0;
      const click = async (locator) => {
        clicks += 1;
        await locator.click();
      };
      await visit(page, "/ui/");
      await test(page, click, () => (clicks += 1));
      assert.ok(clicks <= most, `${clicks} clicks, at most ${most} were meant`);
    });
  const link = (page, name) => page.getByRole("navigation").getByRole("link", { name, exact: true });
  const button = (where, name) => where.getByRole("button", { name });
  const dialog = (page) => page.getByRole("dialog");

  it("why is it not running: two clicks", counted(2, async (page, click) => {
    await f.server.enqueue("task.stuck");
    await page.reload();
    await click(page.getByRole("table", { name: "Queues" }).getByRole("link", { name: "task.stuck" }));
    await visible(page.getByRole("status").filter({ hasText: "1 job is waiting." }));
    await visible(page.getByText(/no worker/i));
  }));

  it("retry the dead jobs of an error: three clicks", counted(3, async (page, click) => {
    const ids = [];
    for (const n of [1, 2]) {
      ids.push(await f.server.dead("task.dead", {}, `mailbox ${n} is full`));
    }
    await click(link(page, "Errors"));
    const group = page.getByTestId("error-group").filter({ hasText: "mailbox # is full" });
    await click(button(group, "Retry these"));
    await click(button(dialog(page), "Retry 2 jobs"));
    await toast(page, "Bulk action: 2 affected");
    await eventually("both pending", async () => {
      const states = await Promise.all(ids.map(async (id) => (await f.server.job(id)).state));
      return states.every((state) => state === "pending");
    });
  }));

  it("cancel the jobs that would fail again: three clicks", counted(3, async (page, click) => {
    const id = await f.server.enqueue("task.again", { max_retries: 5, retry_base_delay: "1h" });
    await f.server.fetch("task.again");
    await f.server.post(`/fail/${id}`, { error: "certificate of host 7 has expired" });
    await click(link(page, "Errors"));
    const group = page.getByTestId("error-group").filter({ hasText: "certificate of host" });
    await click(button(group, "Cancel these"));
    await click(button(dialog(page), "Cancel 1 job"));
    await toast(page, "Bulk action: 1 affected");
    await eventually("cancelled", async () => (await f.server.job(id)).state === "cancelled");
  }));

  it("see that no job would fail again: nothing to cancel", counted(2, async (page, click) => {
    const id = await f.server.enqueue("task.helped", { max_retries: 2, retry_backoff: "none" });
    await f.server.fetch("task.helped");
    await f.server.post(`/fail/${id}`, { error: "lock of table 7 was held" });
    await f.server.fetch("task.helped", { timeout: 20 });
    await f.server.post(`/ack/${id}`);
    await click(link(page, "Errors"));
    const group = page.getByTestId("error-group").filter({ hasText: "lock of table" });
    await click(button(group, "Cancel these"));
    await visible(dialog(page).getByText("No job with this error is waiting for another attempt."));
    assert.equal(await button(dialog(page), "Cancel 0 jobs").isDisabled(), true);
  }));

  it("read the backtrace of an error: two clicks", counted(2, async (page, click) => {
    await click(link(page, "Errors"));
    const group = page.getByTestId("error-group").filter({ hasText: "out of memory" });
    await click(group.getByText("Backtrace"));
    await visible(group.getByText("at send (mail.js:42)"));
  }));

  it("see that held jobs wait for approval, and open them: one click", counted(1, async (page, click) => {
    await click(page.getByRole("link", { name: /^\d+ held jobs?$/ }));
    await visible(page.getByTestId("held-card"));
  }));

  it("what happened last night between two and three: two clicks", counted(2, async (page, click, drag) => {
    await click(page.getByRole("button", { name: "Last day" }));
    await page.waitForURL(/range=24h/);
    const chart = page.getByRole("img", { name: /^Jobs per/ });
    await visible(chart);
    const box = await chart.boundingBox();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.36, box.y + 60, { steps: 4 });
    await page.mouse.up();
    drag();
    await page.waitForURL(/from=.*&to=/);
    const query = new URL(page.url()).searchParams;
    const hours = (Date.parse(query.get("to")) - Date.parse(query.get("from"))) / 3_600_000;
    assert.ok(hours > 0.4 && hours < 4, `${hours} hours`);
    await visible(page.getByRole("img", { name: /^Jobs per/ }));
  }));

  it("which tenant costs most: one click", counted(1, async (page, click) => {
    for (const [tenant, cost_usd] of [["small", 0.1], ["large", 5], ["middle", 2]]) {
      const id = await f.server.enqueue("task.cost", { tags: { tenant } });
      await f.server.fetch("task.cost");
      await f.server.post(`/ack/${id}`, { usage: { model: "model-a", cost_usd } });
    }
    // The cost per job must not depend on the number of usage reports.
    const id = await f.server.enqueue("task.cost");
    await f.server.fetch("task.cost");
    for (let i = 0; i < 4; i++) {
      await f.server.post("/heartbeat", { jobs: { [id]: { usage: { model: "model-a", cost_usd: 0.2 } } } });
    }
    await f.server.post(`/ack/${id}`, { usage: { model: "model-a", cost_usd: 0.1 } });
    await click(link(page, "Cost"));
    await visible(page.getByText("Cost per job"));
    const cells = page.getByRole("table", { name: "By queue" }).getByRole("row").filter({ hasText: "task.cost" }).getByRole("cell");
    await visible(cells.nth(2).getByText("4", { exact: true }));
    assert.deepEqual((await cells.allTextContents()).slice(1), ["$8.0000", "4", "$2.0000"]);
    await visible(page.getByText("agents.research"));
    const tenants = page.getByRole("table", { name: "By tag" }).locator("tbody tr");
    await visible(tenants.filter({ hasText: "large" }));
    assert.match(await tenants.first().textContent(), /large.*\$5\.0000/);
  }));

  it("approve a held job with a comment, and find it again: four clicks", counted(4, async (page, click) => {
    await click(link(page, "Held Jobs"));
    const card = page.getByTestId("held-card").filter({ hasText: "second pair" });
    await click(card.getByRole("textbox"));
    await page.keyboard.type("checked with legal & finance");
    await click(button(card, "Approve"));
    await toast(page, "Job approved");
    await eventually("the audit entry", async () =>
      JSON.stringify((await f.server.call("GET", "/api/v1/audit-logs")).body).includes("comment="));
    await click(link(page, "Audit Logs"));
    await visible(page.getByText("“checked with legal & finance”"));
    const approved = (await f.server.call("GET", "/api/v1/audit-logs")).body.audit_logs.find(({ path }) => path.endsWith("/approve"));
    await page.goto(`/ui/jobs/${approved.path.split("/")[4]}`);
    await visible(page.getByRole("list", { name: "User actions" }).getByText("checked with legal & finance"));
  }));

  it("find a job by an address in its payload: by keys alone", counted(1, async (page, click) => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("customer7@example.com");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/ui\/jobs\?payload_contains=/);
    await visible(page.getByText("Jobs (1 total)"));
    await click(page.locator("tbody tr").first().locator("td.wide"));
    await page.waitForURL(`**/ui/jobs/${f.ids.pending[7]}`);
  }));

  it("pause a queue, and come back to what was opened last: by keys alone", counted(0, async (page) => {
    const keys = async (text) => {
      await page.keyboard.press("Control+k");
      await visible(dialog(page));
      await page.keyboard.type(text);
    };
    await f.server.enqueue("task.keys");
    await visit(page, "/ui/");
    await keys("task.keys");
    await visible(page.getByRole("option", { name: "task.keys Queue" }));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/queues\/task\.keys$/);
    await keys("pause task.k");
    await page.keyboard.press("Enter");
    await toast(page, "Queue paused");
    assert.equal((await f.server.queue("task.keys")).paused, true);
    await visit(page, "/ui/");
    await keys("");
    await visible(page.getByRole("option", { name: "task.keys Recent queue" }));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/queues\/task\.keys$/);
    await keys("enqueue");
    await page.keyboard.press("Enter");
    await visible(dialog(page).getByPlaceholder("e.g. emails"));
  }));

  it("an id that is pasted anywhere opens its job", counted(0, async (page) => {
    await page.evaluate((id) => {
      const data = new DataTransfer();
      data.setData("text", id);
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
    }, f.ids.dead[0]);
    await page.waitForURL(`**/ui/jobs/${f.ids.dead[0]}`);
  }));
});
