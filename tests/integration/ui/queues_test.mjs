// Actions on queues, schedules and webhooks. Their effects are checked through the API.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { accessibility, eventually, toast, visible, visit } from "./harness.mjs";

describe("queues", () => {
  const f = fixture();
  const button = (page, name) => page.getByRole("button", { name, exact: true });
  const dialog = (page) => page.getByRole("dialog");

  it("are paused, resumed and drained by one click, and cleared after their name was typed", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues/emails.send");
      const badge = (text) => visible(page.locator(".page-title .badge").filter({ hasText: text }));
      await button(page, "Pause").click();
      await toast(page, "Queue paused");
      await badge("Paused");
      assert.equal((await f.server.queue("emails.send")).paused, true);
      await button(page, "Resume").click();
      await toast(page, "Queue resumed");
      await badge("Active");
      await button(page, "Drain").click();
      await toast(page, "Queue draining");
      await badge("Paused");
      const { pending, scheduled } = await f.server.queue("emails.send");
      await button(page, "Clear").click();
      await visible(dialog(page).getByText(`Deletes the ${pending} job`));
      const clear = dialog(page).getByRole("button", { name: `Delete ${pending + scheduled} job` });
      assert.equal(await clear.isDisabled(), true, "before the name is typed");
      await dialog(page).getByLabel("Type emails.send to confirm").fill("emails.sen");
      assert.equal(await clear.isDisabled(), true, "while the name is not complete");
      assert.equal((await f.server.queue("emails.send")).pending, pending);
      await dialog(page).getByLabel("Type emails.send to confirm").fill("emails.send");
      await clear.click();
      await toast(page, "Queue cleared");
      await dialog(page).waitFor({ state: "detached" });
      await eventually("an empty queue", async () => (await f.server.queue("emails.send")).pending === 0);
      await visible(page.getByText("Jobs (6 total)"));
    }));

  it("show in their charts when somebody changed them", () =>
    f.withPage(async (page) => {
      await f.server.enqueue("mark.queue");
      await f.server.post("/queues/mark.queue/pause");
      await eventually("the audit entry", async () =>
        (await f.server.get("/audit-logs?path_prefix=/api/v1/queues/mark.queue/")).audit_logs.length === 1);
      await visit(page, "/ui/queues/mark.queue");
      const chart = page.getByRole("img", { name: /^Jobs per/ });
      // The start of the server has a mark, too, in the same minute or an earlier one.
      await chart.locator(".mark title", { hasText: "mark.queue paused" }).waitFor({ state: "attached" });
    }));

  it("of any name show what was done to them in the charts", () =>
    f.withPage(async (page) => {
      await f.server.enqueue("mark 50%");
      await f.server.post(`/queues/${encodeURIComponent("mark 50%")}/pause`);
      const prefix = encodeURIComponent("/api/v1/queues/mark 50%/");
      await eventually("the entry of the audit log", async () =>
        (await f.server.get(`/audit-logs?path_prefix=${prefix}`)).audit_logs.length === 1);
      for (const path of ["/ui/", `/ui/queues/${encodeURIComponent("mark 50%")}`]) {
        await visit(page, path);
        await page.locator(".mark title", { hasText: "mark 50% paused" }).first().waitFor({ state: "attached" });
      }
      await f.server.must("DELETE", `/queues/${encodeURIComponent("mark 50%")}?confirm=true`);
    }));

  it("of any name have a page of their own, which changes no other", () =>
    f.withPage(async (page) => {
      const names = ["a/b", "a%2Fb", "a b", "ü"];
      const paused = async () => (await f.server.get("/queues")).filter((q) => names.includes(q.name) && q.paused).map((q) => q.name);
      for (const name of names) {
        await f.server.enqueue(name);
      }
      for (const name of names) {
        await visit(page, "/ui/queues");
        await page.getByRole("link", { name, exact: true }).click();
        await visible(page.getByText("Jobs (1 total)"));
        await page.reload();
        await visible(page.getByRole("heading", { name, exact: true }));
        await page.getByRole("button", { name: "Pause", exact: true }).click();
        await toast(page, "Queue paused");
        assert.deepEqual(await paused(), [name]);
        await page.getByRole("button", { name: "Resume", exact: true }).click();
        await visible(page.getByRole("button", { name: "Pause", exact: true }));
        assert.deepEqual(await paused(), []);
      }
      for (const name of names) {
        await f.server.must("DELETE", `/queues/${encodeURIComponent(name)}?confirm=true`);
      }
    }));

  it("have limits", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues/video.encode");
      await button(page, "Concurrency").click();
      const number = dialog(page).getByRole("spinbutton");
      assert.equal(await number.count(), 1);
      await number.fill("7");
      await dialog(page).getByRole("button", { name: "Save" }).click();
      await toast(page, "Concurrency updated");
      await dialog(page).waitFor({ state: "detached" });
      assert.equal((await f.server.queue("video.encode")).max_concurrency, 7);
      await visible(page.getByText("concurrency 1 of 7"));

      await button(page, "Throttle").click();
      await dialog(page).getByRole("button", { name: "Cancel" }).click();
      await dialog(page).waitFor({ state: "detached" });
      await button(page, "Throttle").click();
      await dialog(page).getByLabel("Jobs").fill("5");
      await dialog(page).getByRole("button", { name: "Save" }).click();
      await toast(page, "Throttle updated");
      const { rate_limit, rate_window_ms } = await f.server.queue("video.encode");
      assert.deepEqual([rate_limit, rate_window_ms], [5, 1000]);
      await visible(page.getByText("rate limit 5 per 1 s"));
      await button(page, "Throttle").click();
      await dialog(page).getByRole("button", { name: "Remove" }).click();
      await eventually("no limit", async () => (await f.server.queue("video.encode")).rate_limit === undefined);
    }));

  it("are paused from the table without opening the row", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues");
      await button(page, "Pause ai.extract").click();
      await toast(page, "Queue paused");
      await visible(button(page, "Resume ai.extract"));
      assert.ok(page.url().endsWith("/ui/queues"));
      await page.getByLabel("Filter by name").fill("AI.");
      await visible(page.getByText("All Queues (2)"));
    }));

  it("are deleted after a question", () =>
    f.withPage(async (page) => {
      await f.server.enqueue("act.doomed");
      await visit(page, "/ui/queues/act.doomed");
      await button(page, "Delete queue").click();
      await visible(dialog(page).getByText("every job in it, in any state: 1 job."));
      assert.equal(await dialog(page).getByRole("button", { name: "Delete queue" }).isDisabled(), true);
      await dialog(page).getByLabel("Type act.doomed to confirm").fill("act.doomed");
      await dialog(page).getByRole("button", { name: "Delete queue" }).click();
      await toast(page, "Queue deleted");
      await page.waitForURL("**/ui/queues");
      assert.equal(await f.server.queue("act.doomed"), undefined);
    }));

  it("get jobs from schedules that are made, changed and deleted", () =>
    f.withPage(async (page) => {
      const find = async (name) => (await f.server.get("/schedules")).find((s) => s.name === name);
      await visit(page, "/ui/schedules");
      await button(page, "Create Schedule").click();
      assert.deepEqual(await accessibility(page), []);
      await dialog(page).getByLabel("Name *", { exact: true }).fill("nightly");
      await dialog(page).getByLabel("Queue name *").fill("act.nightly");
      await dialog(page).getByLabel("Cron *").fill("61 * * * *");
      await dialog(page).getByRole("button", { name: "Save" }).click();
      await visible(dialog(page).getByRole("alert"));
      await dialog(page).getByLabel("Cron *").fill("30 2 * * *");
      await dialog(page).getByLabel("Time zone *").fill("Asia/Tokyo");
      await dialog(page).getByRole("button", { name: "Save" }).click();
      await toast(page, "Schedule saved");
      assert.equal((await find("nightly")).timezone, "Asia/Tokyo");
      const row = page.locator("tbody tr").filter({ hasText: "nightly" });
      await visible(row.getByText("02:30:00"));

      await button(page, "Run Now nightly").click();
      await toast(page, "Job enqueued");
      await eventually("a job", async () => (await f.server.queue("act.nightly"))?.pending === 1);
      await button(page, "Disable nightly").click();
      await visible(row.getByText("Disabled"));
      assert.equal((await find("nightly")).enabled, false);
      await button(page, "Edit nightly").click();
      await dialog(page).getByLabel("Queue name *").fill("act.daily");
      await dialog(page).getByRole("button", { name: "Save" }).click();
      await eventually("the change", async () => (await find("nightly")).queue === "act.daily");
      await button(page, "Delete nightly").click();
      await dialog(page).getByRole("button", { name: "Delete schedule" }).click();
      await toast(page, "Schedule deleted");
      assert.equal(await find("nightly"), undefined);
    }));

  it("get jobs from schedules whose numbers survive an edit", () =>
    f.withPage(async (page) => {
      const made = await fetch(`${f.server.url}/api/v1/schedules`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: '{"name": "exact", "queue": "act.exact", "cron": "@daily", "payload": {"id": 12345678901234567890, "rate": 1.0}}',
      });
      const { id } = await made.json();
      await visit(page, "/ui/schedules");
      await button(page, "Edit exact").click();
      await dialog(page).getByLabel("Cron *").fill("@hourly");
      await dialog(page).getByRole("button", { name: "Save" }).click();
      await toast(page, "Schedule saved");
      const text = await (await fetch(`${f.server.url}/api/v1/schedules/${id}`)).text();
      assert.match(text, /"cron":"@hourly"/);
      assert.match(text, /"payload":\{"id":12345678901234567890,"rate":1\.0\}/);
    }));

  it("send webhooks that are made, changed and deleted", () =>
    f.withPage(async (page) => {
      const hooks = () => f.server.get("/webhooks");
      await visit(page, "/ui/webhooks");
      await button(page, "Create Webhook").click();
      const save = dialog(page).getByRole("button", { name: "Save" });
      await dialog(page).getByLabel("URL *").fill("ftp://example.test");
      assert.ok(await save.isDisabled());
      await dialog(page).getByLabel("URL *").fill("http://hooks.example.test/corvo");
      await dialog(page).getByRole("button", { name: "dead", exact: true }).click();
      await dialog(page).getByLabel("Secret").fill("s3cret");
      await save.click();
      await toast(page, "Webhook saved");
      assert.deepEqual((await hooks()).map((h) => [h.url, h.events]), [["http://hooks.example.test/corvo", ["dead"]]]);
      await button(page, "Edit http://hooks.example.test/corvo").click();
      await dialog(page).getByLabel("Enabled").uncheck();
      await dialog(page).getByRole("button", { name: "Save" }).click();
      await eventually("a disabled webhook", async () => (await hooks())[0].enabled === false);
      await button(page, "Delete http://hooks.example.test/corvo").click();
      await dialog(page).getByRole("button", { name: "Delete webhook" }).click();
      await toast(page, "Webhook deleted");
      assert.deepEqual(await hooks(), []);
    }));

  it("are many, and the table has the rows in view: numbered, whole, up to the last", () =>
    f.withPage(async (page) => {
      const names = Array.from({ length: 300 }, (_, i) => `many.${String(i).padStart(3, "0")}`);
      await f.server.post("/enqueue/batch", { jobs: names.map((queue) => ({ queue })) });
      const all = (await f.server.get("/queues")).length;
      await visit(page, "/ui/queues");
      await visible(page.getByText(`All Queues (${all})`));
      const table = page.getByRole("table", { name: "Queues" });
      const row = (name) => table.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
      assert.equal(await table.getAttribute("aria-rowcount"), String(all + 1));
      assert.ok((await table.getByRole("row").count()) < 80, "rows out of view are left out");
      await page.locator("#content").evaluate((content) => content.scrollTo(0, content.scrollHeight));
      await visible(row("many.299"));
      const number = Number(await row("many.299").getAttribute("aria-rowindex"));
      assert.equal(Number(await row("many.298").getAttribute("aria-rowindex")), number - 1);
      await visible(row("many.299").getByText("0/min"));
      await row("many.299").getByRole("img", { name: "0 completed in the last hour" }).waitFor();
      assert.deepEqual(await accessibility(page), []);
    }));

  it("are many, and stay in view whatever appears above the table", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/");
      const body = page.getByRole("table", { name: "Queues" }).locator("tbody");
      const first = body.locator("tr[aria-rowindex='2']");
      await visible(first);
      await page.locator("#content > .page").evaluate((all) => {
        const grown = document.createElement("div");
        grown.style.height = "3000px";
        all.prepend(grown);
      });
      await body.evaluate((rows) => rows.scrollIntoView());
      await visible(first);
      assert.equal(await body.locator("tr").first().getAttribute("aria-rowindex"), "2", "nothing is left out above it");
    }));
});
