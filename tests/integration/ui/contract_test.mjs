// The assertions of ui.md 12, one by one, written only from the contract: elements are found by role
// and name, which must match a single element. The data is created by `corvo seed demo`.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";

import { closePage, environment, openBrowser, openPage, Server } from "./harness.mjs";

describe("the contract", () => {
  let server;
  let browser;
  before(async () => {
    server = await Server.start();
    await promisify(execFile)(process.env.CORVO_BINARY, ["seed", "demo", "--count", "20", "--server", server.url], {
      env: environment(),
    });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  /** Run a test on a new page, opened at the path, after all "Loading..." texts have disappeared. */
  const at = (path, run) => async () => {
    const page = await openPage(browser, server);
    try {
      await page.goto(path);
      await page.getByRole("heading").first().waitFor();
      await page.getByText("Loading...").first().waitFor({ state: "detached" });
      await run(page);
    } catch (error) {
      await page.context().close();
      throw error;
    }
    await closePage(page);
  };
  const heading = (page, name) => page.getByRole("heading", { name }).waitFor();
  const button = (scope, name) => scope.getByRole("button", { name });
  const dialog = (page) => page.getByRole("dialog");
  const rows = (page) => page.locator("table tbody").first().locator("tr");
  const said = (page, text) => page.getByText(text, { exact: true }).first().waitFor();
  /** Return the id of a job of the queue in the state. */
  const find = async (queue, state) => {
    const { jobs } = await server.post("/jobs/search", { queue, state: [state], limit: 1 });
    assert.equal(jobs.length, 1, `a ${state} job in ${queue}`);
    return jobs[0].id;
  };

  it("Dashboard: heading, queue names, cards, the button", at("/ui", async (page) => {
    await heading(page, "Dashboard");
    for (const text of ["emails.send", "reports.generate", "Total Pending", "Max Latency", "Queues"]) {
      await page.locator("main").getByText(text, { exact: true }).first().waitFor();
    }
    await button(page, "Enqueue Job").waitFor();
  }));

  it("Queues: heading, names, the card; a row opens its queue", at("/ui/queues", async (page) => {
    await heading(page, "Queues");
    await page.getByText("All Queues").waitFor();
    for (const name of ["emails.send", "reports.generate", "agents.research"]) {
      await page.getByText(name, { exact: true }).waitFor();
    }
    await rows(page).filter({ hasText: "emails.send" }).click();
    await page.waitForURL("**/ui/queues/emails.send");
  }));

  it("Dead letter: heading, rows; a row opens its job", at("/ui/dead-letter", async (page) => {
    await heading(page, /dead letter/i);
    await rows(page).first().click();
    await page.waitForURL("**/ui/jobs/*");
    await page.getByText("Payload", { exact: true }).waitFor();
    assert.equal(await page.getByText("Job not found").count(), 0);
  }));

  const HEADINGS = [
    ["/ui/held", /held/i, (page) => page.getByTestId("held-card").or(page.getByText("No held jobs"))],
    ["/ui/scheduled", "Scheduled Jobs", (page) => rows(page)],
    ["/ui/workers", "Workers", (page) => page.getByText("Active Workers")],
    ["/ui/cluster", "Cluster Status", (page) => page.locator("main").getByText("leader")],
    ["/ui/cost", "AI Cost Dashboard", (page) => page.getByText("Total Spend")],
    ["/ui/events", "Live Events Tail", (page) => page.getByText(/\(\d+ shown\)/)],
  ];
  for (const [path, name, content] of HEADINGS) {
    it(`${path}: one heading of that name, and content`, at(path, async (page) => {
      await heading(page, name);
      await content(page).first().waitFor();
    }));
  }

  it("Enqueue dialog: opens, waits for a queue, says so, closes; opens empty again", at("/ui", async (page) => {
    await button(page, "Enqueue Job").click();
    await dialog(page).getByText("Enqueue Job").waitFor();
    const submit = button(dialog(page), "Enqueue");
    assert.ok(await submit.isDisabled());
    await page.getByPlaceholder("e.g. emails").fill("contract.enqueue");
    await submit.click();
    await said(page, "Job enqueued");
    await dialog(page).waitFor({ state: "detached" });
    await button(page, "Enqueue Job").click();
    await page.getByPlaceholder("e.g. emails").fill("left");
    await button(dialog(page), "Cancel").click();
    await button(page, "Enqueue Job").click();
    assert.equal(await page.getByPlaceholder("e.g. emails").inputValue(), "");
  }));

  it("Queue actions", at("/ui/queues/reports.generate", async (page) => {
    await button(page, "Pause").click();
    await said(page, "Queue paused");
    await said(page, "Paused");
    await button(page, "Resume").click();
    await said(page, "Queue resumed");
    await said(page, "Active");
    await button(page, "Drain").click();
    await said(page, "Queue draining");
    await button(page, "Concurrency").click();
    await heading(page, "Set Concurrency");
    await dialog(page).locator("input[type=number]").fill("5");
    await button(dialog(page), "Save").click();
    await said(page, "Concurrency updated");
    await dialog(page).waitFor({ state: "detached" });
    await button(page, "Throttle").click();
    await heading(page, "Set Rate Limit");
    await button(dialog(page), "Cancel").click();
    await dialog(page).waitFor({ state: "detached" });
    await button(page, "Clear").click();
    await dialog(page).getByLabel(/^Type .* to confirm$/).fill("reports.generate");
    await button(dialog(page), /^Delete \d+ jobs?$/).click();
    await said(page, "Queue cleared");
  }));

  it("Job actions", at("/ui", async (page) => {
    const open = async (id) => {
      await page.goto(`/ui/jobs/${id}`);
      await heading(page, id);
    };
    await open(await find("emails.send", "dead"));
    await button(page, "Retry").click();
    await said(page, "Job retried");
    const id = await find("emails.send", "pending");
    await open(id);
    await button(page, "Clone").click();
    assert.equal(await page.getByPlaceholder("e.g. emails").inputValue(), "emails.send");
    await button(dialog(page), "Clone").click();
    await said(page, "Job enqueued");
    await button(page, "Move").click();
    await page.getByPlaceholder(/queue name/i).fill("contract.moved");
    await button(dialog(page), "Move").click();
    await said(page, "Job moved");
    await button(page, "Cancel").click();
    await said(page, "Job cancelled");
    await button(page, "Delete").click();
    await button(dialog(page), "Delete job").click();
    await said(page, "Job deleted");
  }));

  it("Bulk: the first checkbox is for all; the bar, the question, the toast", at("/ui/dead-letter", async (page) => {
    const bar = page.locator(".sticky.bottom-0");
    await page.getByRole("checkbox").first().check();
    const n = await rows(page).count();
    await bar.getByText(`${n} selected`).waitFor();
    await button(bar, "Move").click();
    await page.getByPlaceholder(/Queue name/).fill("contract.bulk");
    await button(dialog(page), new RegExp(`^move ${n} jobs$`, "i")).click();
    await page.getByText(/Bulk action: \d+ affected, \d+ errors \(\d+ms\)/).waitFor();
    await bar.waitFor({ state: "detached" });
    await server.enqueue("contract.later", { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
    for (const [path, name] of [
      ["/ui/scheduled", "Run Now"],
      ["/ui/queues/contract.bulk", "Retry"],
      ["/ui/queues/contract.bulk", "Cancel"],
      ["/ui/queues/contract.bulk", "Delete"],
    ]) {
      await page.goto(path);
      await rows(page).first().getByRole("link").first().waitFor();
      await page.getByRole("checkbox").first().check();
      await button(bar, name).click();
      await button(dialog(page), new RegExp(`^${name} \\d+ jobs$`, "i")).click();
      await page.getByText("Bulk action").waitFor();
    }
  }));

  it("Held: approve, reject and view", at("/ui/held", async (page) => {
    const cards = page.getByTestId("held-card");
    await button(cards.first(), "View").click();
    await page.waitForURL("**/ui/jobs/*");
    await page.goBack();
    await button(cards.first(), "Approve").click();
    await said(page, "Job approved");
    const held = await find("", "held").catch(() => server.enqueue("contract.held"));
    if ((await server.job(held)).state !== "held") {
      await server.post(`/jobs/${held}/hold`);
    }
    await page.goto("/ui/held");
    await button(cards.first(), "Reject").click();
    await said(page, "Job rejected");
  }));
});
