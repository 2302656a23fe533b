// Actions on jobs: on the page of a job, in the table, and in bulk. Their effects are checked through
// the API.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { accessibility, eventually, openBrowser, openPage, settled, toast, visible, visit } from "./harness.mjs";

describe("jobs", () => {
  const f = fixture("--rate-limit-enabled=false");
  const button = (page, name) => page.getByRole("button", { name, exact: true });
  const dialog = (page) => page.getByRole("dialog");

  it("are enqueued from a dialog that starts empty each time", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/");
      await button(page, "Enqueue Job").click();
      await visible(dialog(page).getByText("Enqueue Job"));
      assert.deepEqual(await accessibility(page), []);
      const submit = dialog(page).getByRole("button", { name: "Enqueue", exact: true });
      assert.ok(await submit.isDisabled());
      await dialog(page).getByPlaceholder("e.g. emails").fill("ui.enqueued");
      assert.ok(await submit.isEnabled());
      await dialog(page).getByLabel("Payload JSON").fill('{"id": 12345678901234567890, "a": 1');
      await visible(dialog(page).getByText("Invalid JSON"));
      assert.ok(await submit.isDisabled());
      await dialog(page).getByLabel("Payload JSON").fill('{"id": 12345678901234567890, "a": 1}');
      await dialog(page).getByLabel("Tags").fill("tenant=acme");
      await dialog(page).getByLabel("Priority").selectOption("high");
      await submit.click();
      await toast(page, "Job enqueued");
      await dialog(page).waitFor({ state: "detached" });
      const claimed = await fetch(`${f.server.url}/api/v1/fetch`, {
        method: "POST",
        body: JSON.stringify({ queues: ["ui.enqueued"], timeout: 1 }),
      });
      const text = await claimed.text();
      assert.match(text, /"id":12345678901234567890/, "a number keeps its digits");
      assert.deepEqual(JSON.parse(text).tags, { tenant: "acme" });

      await button(page, "Enqueue Job").click();
      await dialog(page).getByPlaceholder("e.g. emails").fill("forgotten");
      await dialog(page).getByRole("button", { name: "Cancel" }).click();
      await button(page, "Enqueue Job").click();
      assert.equal(await dialog(page).getByPlaceholder("e.g. emails").inputValue(), "");
      await page.keyboard.press("Escape");
      await dialog(page).waitFor({ state: "detached" });
    }));

  it("are not lost half typed by a click on the scroll bar of the dialog", async () => {
    const browser = await openBrowser({ ignoreDefaultArgs: ["--hide-scrollbars"] });
    try {
      const page = await openPage(browser, f.server, { viewport: { width: 1280, height: 500 } });
      await visit(page, "/ui/");
      await button(page, "Enqueue Job").click();
      await dialog(page).getByPlaceholder("e.g. emails").fill("half.typed");
      const box = await dialog(page).boundingBox();
      const bar = await dialog(page).evaluate((d) => d.offsetWidth - d.clientWidth);
      assert.ok(bar > 4, "there is a scroll bar");
      await page.mouse.click(box.x + box.width - bar / 2, box.y + box.height / 2);
      assert.equal(await dialog(page).getByPlaceholder("e.g. emails").inputValue(), "half.typed");
      await page.mouse.click(box.x - 20, box.y + box.height / 2);
      await dialog(page).waitFor({ state: "detached" });
    } finally {
      await browser.close();
    }
  });

  it("are enqueued and deleted once by a double click", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/");
      await button(page, "Enqueue Job").click();
      await dialog(page).getByPlaceholder("e.g. emails").fill("act.twice");
      await dialog(page).getByRole("button", { name: "Enqueue", exact: true }).dblclick();
      await dialog(page).waitFor({ state: "detached" });
      await visit(page, "/ui/queues/act.twice");
      await visible(page.getByText("Jobs (1 total)"));
      await page.locator("tbody tr").first().locator("td.wide").click();
      await page.waitForURL("**/ui/jobs/**");
      await button(page, "Delete").click();
      // Both clicks happen before the response. After it the next page is opened, and would receive the second click.
      let answer;
      const clicked = new Promise((resolve) => (answer = resolve));
      let deletions = 0;
      await page.route("**/api/v1/jobs/*", async (route) => {
        if (route.request().method() === "DELETE") {
          deletions++;
          await clicked;
        }
        return route.continue();
      });
      await dialog(page).getByRole("button", { name: "Delete job" }).dblclick();
      answer();
      await page.waitForURL("**/ui/queues/act.twice*");
      assert.equal(deletions, 1);
      assert.deepEqual(await page.locator(".toast").allInnerTexts(), ["Job deleted"]);
    }));

  it("are left once they are deleted, whatever the page hears first", () =>
    f.withPage(async (page) => {
      const id = await f.server.enqueue("act.late");
      await visit(page, "/ui/queues/act.late");
      await page.locator("tbody tr").first().locator("td.wide").click();
      await page.waitForURL(`**/ui/jobs/${id}`);
      await button(page, "Delete").click();
      // The event of the deletion arrives, and the job is read again, before the response to the deletion.
      const gone = page.waitForResponse((r) => r.url().endsWith(`/jobs/${id}`) && r.status() === 404);
      await page.route(`**/api/v1/jobs/${id}`, async (route) => {
        if (route.request().method() !== "DELETE") {
          return route.continue();
        }
        const response = await route.fetch();
        await gone;
        await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => setTimeout(next))));
        return route.fulfill({ response });
      });
      await dialog(page).getByRole("button", { name: "Delete job" }).click();
      await toast(page, "Job deleted");
      await page.waitForURL("**/ui/queues/act.late*");
    }));

  it("are retried, cancelled, held, approved, rejected and deleted", () =>
    f.withPage(async (page) => {
      const steps = [
        [await f.server.dead("act.retry"), "Retry", "Job retried", "pending"],
        [await f.server.enqueue("act.cancel"), "Cancel", "Job cancelled", "cancelled"],
        [await f.server.enqueue("act.hold"), "Hold", "Job held", "held"],
        [f.ids.scheduled[0], "Run Now", "Job retried", "pending"],
      ];
      for (const [id, name, text, state] of steps) {
        await visit(page, `/ui/jobs/${id}`);
        await button(page, name).click();
        await toast(page, text);
        assert.equal((await f.server.job(id)).state, state, name);
        await visible(page.locator(".page-title .badge").filter({ hasText: state[0].toUpperCase() + state.slice(1) }));
      }
      const doomed = await f.server.enqueue("act.delete");
      await visit(page, "/ui/queues/act.delete");
      await page.locator("tbody tr").first().locator("td.wide").click();
      await page.waitForURL(`**/ui/jobs/${doomed}`);
      await button(page, "Delete").click();
      await visible(dialog(page).getByText(`Deletes job ${doomed} (pending, in act.delete)`));
      assert.equal((await f.server.job(doomed)).state, "pending", "before it was confirmed");
      await dialog(page).getByRole("button", { name: "Delete job" }).click();
      await toast(page, "Job deleted");
      await page.waitForURL("**/ui/queues/act.delete");
      assert.equal((await f.server.call("GET", `/api/v1/jobs/${doomed}`)).status, 404);
    }));

  it("are not run a second time by one click once they have completed", () =>
    f.withPage(async (page) => {
      const id = await f.server.enqueue("once.more");
      await f.server.fetch("once.more");
      await f.server.post(`/ack/${id}`);
      await visit(page, `/ui/jobs/${id}`);
      await page.getByRole("button", { name: "Retry" }).click();
      const dialog = page.getByRole("dialog");
      await visible(dialog.getByText("a second time"));
      assert.equal((await f.server.job(id)).state, "completed");
      await dialog.getByRole("button", { name: "Run again" }).click();
      await toast(page, "Job retried");
      assert.equal((await f.server.job(id)).state, "pending");
      await f.server.must("DELETE", "/queues/once.more?confirm=true");
    }));

  it("are listed by when they are due, and by when they died", () =>
    f.withPage(async (page) => {
      const due = (hours) => ({ scheduled_at: new Date(Date.now() + hours * 3_600_000).toISOString() });
      const ids = [await f.server.enqueue("in.order", due(41)), await f.server.enqueue("in.order", due(40))];
      const first = await f.server.dead("died.twice");
      const other = await f.server.dead("died.twice");
      await f.server.post(`/jobs/${first}/retry`);
      await f.server.fetch("died.twice");
      await f.server.post(`/fail/${first}`, { error: "SMTP connection timeout" });
      for (const [path, before, after] of [["/ui/scheduled", ids[1], ids[0]], ["/ui/dead-letter", first, other]]) {
        await visit(page, path);
        const rows = await page.locator("tbody tr").evaluateAll((all) => all.map((row) => row.dataset.to));
        const at = [before, after].map((id) => rows.indexOf(`/jobs/${id}`));
        assert.ok(at[0] >= 0 && at[0] < at[1], `${path}: rows ${at}`);
      }
      for (const queue of ["in.order", "died.twice"]) {
        await f.server.must("DELETE", `/queues/${queue}?confirm=true`);
      }
    }));

  it("are decided on the page of held ones", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/held");
      const card = (text) => page.getByTestId("held-card").filter({ hasText: text });
      await card("amount over the limit").getByRole("button", { name: "Approve" }).click();
      await toast(page, "Job approved");
      await card("amount over the limit").waitFor({ state: "detached" });
      assert.equal((await f.server.job(f.ids.held[1])).state, "pending");
      await card("second pair").getByRole("button", { name: "View" }).click();
      await page.waitForURL(`**/ui/jobs/${f.ids.held[0]}`);
      await visible(button(page, "Reject"));
      await visit(page, "/ui/held");
      await card("second pair").getByRole("button", { name: "Reject" }).click();
      await toast(page, "Job rejected");
      assert.equal((await f.server.job(f.ids.held[0])).state, "dead");
    }));

  it("are cloned and moved", () =>
    f.withPage(async (page) => {
      const id = await f.server.enqueue("act.clone", { payload: { big: 1, note: "copy me" }, unique_key: "only" });
      await visit(page, `/ui/jobs/${id}`);
      await button(page, "Clone").click();
      assert.equal(await dialog(page).getByPlaceholder("e.g. emails").inputValue(), "act.clone");
      assert.match(await dialog(page).getByLabel("Payload JSON").inputValue(), /copy me/);
      assert.equal(await dialog(page).getByLabel("Unique key").inputValue(), "only");
      await dialog(page).getByLabel("Unique key").fill("");
      await dialog(page).getByRole("button", { name: "Clone", exact: true }).click();
      await toast(page, "Job enqueued");
      assert.equal((await f.server.queue("act.clone")).pending, 2);

      await button(page, "Move").click();
      const move = dialog(page).getByRole("button", { name: "Move", exact: true });
      assert.ok(await move.isDisabled());
      await dialog(page).getByPlaceholder(/queue name/i).fill("act.moved");
      await move.click();
      await toast(page, "Job moved");
      assert.equal((await f.server.job(id)).queue, "act.moved");
    }));

  it("have a timeline of what happened before the page was opened", () =>
    f.withPage(async (page) => {
      const id = await f.server.enqueue("told.from");
      await f.server.post(`/jobs/${id}/move`, { queue: "told.to" });
      await f.server.post(`/jobs/${id}/hold`, { reason: "later" });
      await visit(page, `/ui/jobs/${id}`);
      const timeline = page.locator(".timeline");
      await visible(timeline.getByText("Moved: told.from → told.to"));
      await visible(timeline.getByText("Held"));
    }));

  it("are filtered in the address, which survives a reload", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues/emails.send");
      await button(page, "Dead").click();
      await visible(page.getByText("Jobs (6 total)"));
      await page.keyboard.press("/");
      await page.getByLabel("Payload contains").fill("user3");
      await visible(page.getByText("Jobs (1 total)"));
      assert.equal(new URL(page.url()).search, "?payload_contains=user3&state=dead");
      await page.reload();
      await settled(page);
      await visible(page.getByText("Jobs (1 total)"));
      assert.equal(await page.getByLabel("Payload contains").inputValue(), "user3");
      assert.equal(await button(page, "Dead").getAttribute("aria-pressed"), "true");
      await page.getByRole("button", { name: "Reset" }).click();
      await visible(page.getByText("Jobs (18 total)"));
      assert.equal(new URL(page.url()).search, "");

      await page.getByLabel("jq filter").fill(".amount > 100");
      await visible(page.getByText("Jobs (7 total)"));
      await page.getByLabel("jq filter").fill("nonsense");
      await visible(page.locator(".field .error"));
      await page.getByLabel("jq filter").fill("");
      await page.getByLabel(/^Tag/).fill("tenant=acme");
      await page.getByLabel(/^Tag/).press("Enter");
      await visible(page.getByText("Jobs (6 total)"));
    }));

  it("are filtered by instants, which an address shares with other time zones", async () => {
    const field = (page) => page.getByLabel("Created after");
    let path;
    await f.withPage(async (page) => {
      await visit(page, "/ui/jobs");
      await page.keyboard.press("/");
      await field(page).fill("2026-02-10T09:00");
      await field(page).focus();
      // Each key changes the filter, and must not disturb the next: the year is 2, 20, 202 and then 2026.
      await page.keyboard.type("02102026");
      await page.keyboard.press("Tab");
      await page.keyboard.type("0800A");
      assert.equal(await field(page).inputValue(), "2026-02-10T08:00");
      path = page.url().slice(f.server.url.length);
      assert.equal(path, "/ui/jobs?created_after=2026-02-10T07%3A00%3A00.000Z");
    });
    await f.withPage(async (page) => {
      const asked = page.waitForRequest("**/api/v1/jobs/search");
      await visit(page, path);
      assert.equal(await field(page).inputValue(), "2026-02-10T02:00");
      assert.equal((await asked).postDataJSON().created_after, "2026-02-10T07:00:00.000Z");
    }, { timezoneId: "America/New_York" });
  });

  it("of several queues are narrowed to one", () =>
    f.withPage(async (page) => {
      const id = await f.server.dead("act.narrow");
      await visit(page, "/ui/dead-letter");
      await page.getByRole("button", { name: "Advanced filters" }).click();
      await page.getByLabel("Queue", { exact: true }).fill("act.narrow");
      await visible(page.getByText("Dead Jobs (1 total)"));
      await visible(page.locator(`tbody .short-id[title=${id}]`));
      assert.equal(new URL(page.url()).search, "?queue=act.narrow");
    }));

  it("are walked through and opened by keys", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/dead-letter");
      const rows = page.locator("tbody tr");
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      await page.keyboard.press("j");
      assert.match(await rows.nth(1).getAttribute("class"), /focused/);
      const title = await rows.nth(1).locator(".short-id").getAttribute("title");
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/ui/jobs/${title}`);
    }));

  it("are exported all, not only those that are shown, with payload and error", () =>
    f.withPage(async (page) => {
      const jobs = Array.from({ length: 1203 }, (_, n) => ({ queue: "act.export", payload: { n } }));
      await f.server.post("/enqueue/batch", { jobs });
      await f.server.dead("act.export", { payload: { n: "bad" } }, 'no "mailbox", here');
      await visit(page, "/ui/queues/act.export");
      const download = async (name) => {
        const [file] = await Promise.all([page.waitForEvent("download"), button(page, name).click()]);
        return [file.suggestedFilename(), await readFile(await file.path(), "utf8")];
      };
      const [csvName, csv] = await download("CSV");
      assert.equal(csvName, "act.export-jobs.csv");
      const lines = csv.trim().split("\r\n");
      assert.equal(lines[0], "id,queue,state,priority,attempt,max_retries,created_at,started_at,completed_at,failed_at,last_error,payload");
      assert.equal(lines.length, 1 + 1204);
      assert.match(csv, /,"no ""mailbox"", here","{""n"":""bad""}"\r\n/);
      const [jsonName, json] = await download("JSON");
      assert.equal(jsonName, "act.export-jobs.json");
      const all = JSON.parse(json);
      assert.equal(new Set(all.map((job) => job.id)).size, 1204);
      assert.deepEqual(all.find((job) => job.state === "dead").payload, { n: "bad" });
    }));

  it("keep the digits of their numbers, in the table and in a file", () =>
    f.withPage(async (page) => {
      const enqueue = (payload) =>
        fetch(`${f.server.url}/api/v1/enqueue`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: `{"queue": "act.digits", "payload": ${payload}}`,
        });
      await enqueue('{"id":12345678901234567890}');
      await visit(page, "/ui/queues/act.digits");
      await visible(page.getByText('{"id":12345678901234567890}'));
      // Another job in the same place: its data must not be mixed up with the data read before.
      await enqueue('{"id":98765432109876543210}');
      await visible(page.getByText('{"id":98765432109876543210}'));
      const [file] = await Promise.all([page.waitForEvent("download"), button(page, "JSON").click()]);
      const numbers = (await readFile(await file.path(), "utf8")).match(/\d{20}/g);
      assert.deepEqual(numbers, ["98765432109876543210", "12345678901234567890"]);
    }));

  it("are looked for by one value of a tag", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues/emails.send?tag=tenant%3Dacme");
      await visible(page.getByText("Jobs (6 total)"));
      await page.getByLabel(/^Tag/).fill("tenant=nobody");
      await page.getByLabel(/^Tag/).press("Enter");
      await visible(page.getByText("Jobs (0 total)"));
      assert.deepEqual(new URL(page.url()).searchParams.getAll("tag"), ["tenant=nobody"]);
    }));

  it("come in pages that are added to one another", () =>
    f.withPage(async (page) => {
      await f.server.post("/enqueue/batch", {
        jobs: Array.from({ length: 230 }, (_, n) => ({ queue: "act.many", payload: { n } })),
      });
      await visit(page, "/ui/queues/act.many");
      const shown = page.getByText(/^\d+ of 230$/);
      await visible(shown.filter({ hasText: "50 of 230" }));
      for (const count of [100, 150, 200]) {
        await page.getByRole("button", { name: "Load More" }).click();
        await visible(shown.filter({ hasText: `${count} of 230` }));
      }
      await page.getByRole("button", { name: "Load More" }).click();
      await page.getByRole("button", { name: "Load More" }).waitFor({ state: "detached" });
      const rows = await page.locator("tbody tr:not(.space)").count();
      assert.ok(rows < 230, `of 230 rows only those in view are in the document, not ${rows}`);
      await page.locator("#content").evaluate((content) => content.scrollTo(0, content.scrollHeight));
      await visible(page.getByText('{"n":0}', { exact: true }));
    }));

  it("are changed many at a time, by ticks and by filter", () =>
    f.withPage(async (page) => {
      const ids = (
        await f.server.post("/enqueue/batch", {
          jobs: Array.from({ length: 60 }, (_, n) => ({ queue: "act.bulk", payload: { n } })),
        })
      ).job_ids;
      await visit(page, "/ui/queues/act.bulk");
      const bar = page.locator(".sticky.bottom-0");
      assert.equal(await bar.count(), 0);
      await page.getByRole("checkbox").nth(1).check();
      await page.getByRole("checkbox").nth(2).check();
      await visible(bar.getByText("2 selected"));
      await bar.getByRole("button", { name: "Move" }).click();
      await visible(dialog(page).getByText("Bulk Move"));
      assert.equal(await dialog(page).getByRole("listitem").count(), 2);
      const confirm = dialog(page).getByRole("button", { name: /move 2 jobs/i });
      assert.ok(await confirm.isDisabled());
      await dialog(page).getByPlaceholder(/queue name/i).fill("act.elsewhere");
      await confirm.click();
      await toast(page, "Bulk action: 2 affected, 0 errors");
      await dialog(page).waitFor({ state: "detached" });
      await bar.waitFor({ state: "detached" });
      assert.equal((await f.server.queue("act.elsewhere")).pending, 2);

      await page.getByRole("checkbox").first().check();
      await visible(bar.getByText("50 selected"));
      await bar.getByRole("button", { name: "Select all 58 matching" }).click();
      await visible(bar.getByText("58 selected"));
      await bar.getByRole("button", { name: "Cancel", exact: true }).click();
      await visible(dialog(page).getByText("and 53 more"));
      await dialog(page).getByRole("button", { name: "Cancel 58 jobs" }).click();
      await toast(page, "Bulk action: 58 affected");
      await eventually("58 cancelled jobs", async () => (await f.server.queue("act.bulk")).pending === 0);
      assert.equal((await f.server.job(ids[0])).state, "cancelled");
    }));

  it("are not counted by a filter that was changed meanwhile", () =>
    f.withPage(async (page) => {
      await f.server.post("/enqueue/batch", {
        jobs: Array.from({ length: 60 }, (_, n) => ({ queue: "act.slow", payload: { n }, priority: n < 55 ? "normal" : "high" })),
      });
      await visit(page, "/ui/queues/act.slow");
      await visible(page.getByText("Jobs (60 total)"));
      let answer;
      const may = new Promise((done) => (answer = done));
      const asked = page.waitForRequest((r) => r.url().endsWith("/search") && r.postDataJSON().priority === "high");
      await page.route("**/api/v1/jobs/search", (route) => may.then(() => route.continue()));
      await page.getByRole("button", { name: "Advanced filters" }).click();
      await page.getByLabel("Priority").selectOption("high");
      await asked;
      await page.getByRole("checkbox").first().check();
      await visible(page.getByText("50 selected"));
      assert.equal(await page.getByRole("button", { name: /Select all \d+/ }).count(), 0);
      answer();
      await visible(page.getByText("Jobs (5 total)"));
    }));

  it("are selected in one filter and one namespace only", () =>
    f.withPage(async (page) => {
      await f.server.post("/enqueue/batch", { jobs: Array.from({ length: 60 }, (_, n) => ({ queue: "act.chosen", payload: { n } })) });
      await f.server.post("/namespaces", { name: "act-other" });
      const bar = page.locator(".sticky.bottom-0");
      const selectAll = async () => {
        await page.getByRole("checkbox").first().check();
        await page.getByRole("button", { name: /^Select all \d+ matching$/ }).click();
        await visible(bar);
      };
      await visit(page, "/ui/jobs?queue=act.chosen");
      await visible(page.getByText("Jobs (60 total)"));
      await selectAll();
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      await bar.waitFor({ state: "detached" });
      await page.goBack();
      await visible(page.getByText("Jobs (60 total)"));
      assert.equal(await bar.count(), 0);
      await selectAll();
      await page.getByLabel("Namespace").selectOption("act-other");
      await visible(page.getByText("No jobs found"));
      assert.equal(await bar.count(), 0);
      await page.getByLabel("Namespace").selectOption("default");
      await visible(page.getByText("Jobs (60 total)"));
      assert.equal(await bar.count(), 0);
      await f.server.must("DELETE", "/namespaces/act-other");
    }));

  it("are changed in the background when they are very many, with progress", () =>
    f.withPage(async (page) => {
      const jobs = Array.from({ length: 2_100 }, (_, n) => ({ queue: "act.masses", payload: { n } }));
      for (let i = 0; i < 5; i++) {
        await f.server.post("/enqueue/batch", { jobs });
      }
      await visit(page, "/ui/queues/act.masses");
      await visible(page.getByText("Jobs (10,500 total)"));
      await page.getByRole("checkbox").first().check();
      await page.getByRole("button", { name: "Select all 10,500 matching" }).click();
      await page.locator(".sticky.bottom-0").getByRole("button", { name: "Delete" }).click();
      await dialog(page).getByRole("button", { name: "Delete 10,500 jobs" }).click();
      await visible(dialog(page).getByText("10,500 / 10,500 processed"));
      await visible(dialog(page).getByText("Completed: 10,500 jobs changed."));
      await toast(page, "Bulk action: 10500 affected, 0 errors");
      await dialog(page).getByRole("button", { name: "Close" }).click();
      await visible(page.getByText("No jobs found"));
    }));

  it("are changed in the background out of sight, which says how it ended", () =>
    f.withPage(async (page) => {
      const jobs = Array.from({ length: 2_100 }, (_, n) => ({ queue: "act.unseen", payload: { n } }));
      for (let i = 0; i < 5; i++) {
        await f.server.post("/enqueue/batch", { jobs });
      }
      // The page learns of the operation's end only when this test allows it, after the dialog has been closed.
      let end;
      const may = new Promise((done) => (end = done));
      await page.route("**/api/v1/bulk/*/progress", (route) => route.abort());
      await page.route(/\/api\/v1\/bulk\/[^/]+$/, (route) => may.then(() => route.continue()));
      await visit(page, "/ui/queues/act.unseen");
      await page.getByRole("checkbox").first().check();
      await page.getByRole("button", { name: "Select all 10,500 matching" }).click();
      await page.locator(".sticky.bottom-0").getByRole("button", { name: "Cancel", exact: true }).click();
      await dialog(page).getByRole("button", { name: "Cancel 10,500 jobs" }).click();
      await dialog(page).getByRole("button", { name: "Continue in background" }).click();
      await dialog(page).waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Workers" }).click();
      await visible(page.getByRole("heading", { name: "Workers" }));
      end();
      await toast(page, "Bulk action: 10500 affected, 0 errors");
      assert.equal(await dialog(page).count(), 0);
    }));

  it("are changed in the background from the page of errors, with progress", () =>
    f.withPage(async (page) => {
      await f.server.dead("act.error", {}, "a very common error");
      await page.route("**/api/v1/jobs/bulk", (route) =>
        route.fulfill({ status: 202, json: { bulk_operation_id: "bulk_1", status: "queued", estimated_total: 20_000, progress_url: "" } }));
      await page.route("**/api/v1/bulk/*/progress", (route) => route.abort());
      await page.route(/\/api\/v1\/bulk\/[^/]+$/, (route) =>
        route.fulfill({ json: { id: "bulk_1", status: "completed", action: "retry", total: 20_000, processed: 20_000, affected: 20_000, errors: 0 } }));
      await visit(page, "/ui/errors?queue=act.error");
      await page.getByRole("button", { name: "Retry these" }).click();
      await dialog(page).getByRole("button", { name: "Retry 1 job" }).click();
      await visible(dialog(page).getByText("Completed: 20,000 jobs changed."));
      await toast(page, "Bulk action: 20000 affected, 0 errors");
    }));

  it("say why they do not run", () =>
    f.withPage(async (page) => {
      const id = await f.server.enqueue("maintenance");
      await visit(page, `/ui/jobs/${id}`);
      await visible(page.getByRole("region", { name: "Why it is not running" }));
      await visible(page.locator("main").getByText(/paused/));
    }));
});
