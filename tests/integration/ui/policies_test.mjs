// Approval policies: creation and deletion in the browser, and their effect on agents.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { accessibility, eventually, toast, visible, visit } from "./harness.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

describe("approval policies", () => {
  const f = fixture();
  const button = (page, name) => page.getByRole("button", { name, exact: true });
  const dialog = (page) => page.getByRole("dialog");
  const row = (page, name) => page.locator("tbody tr").filter({ hasText: name });
  const find = async (name) => (await f.server.get("/approval-policies")).filter((p) => p.name === name);

  /** Create an agent job that has finished an iteration and requests to continue. */
  async function goOn(queue, tags) {
    const id = await f.server.enqueue(queue, { agent: {}, tags });
    await iterate(queue, id);
    return id;
  }
  async function iterate(queue, id) {
    assert.equal((await f.server.fetch(queue)).job_id, id);
    await f.server.post(`/ack/${id}`, { agent_status: "continue" });
  }
  const stateOf = async (id) => (await f.server.job(id)).state;

  it("hold the agents that they match until somebody approves, and none once they are deleted", () =>
    f.withPage(async (page) => {
      const queue = "act.agents";
      await visit(page, "/ui/approval-policies");
      await button(page, "Create Approval Policy").click();
      const create = dialog(page).getByRole("button", { name: "Create", exact: true });
      assert.ok(await create.isDisabled(), "without a name");
      await dialog(page).getByLabel("Name *").fill("ask first");
      assert.ok(await create.isDisabled(), "without anything to match");
      await visible(dialog(page).getByText("A policy without them holds no jobs"));
      assert.ok(await dialog(page).getByLabel("Tag value").isDisabled());
      await dialog(page).getByLabel("Queue").fill(queue);
      await dialog(page).getByLabel("Tag", { exact: true }).fill("risk");
      await dialog(page).getByLabel("Tag value").fill("high");
      await visible(dialog(page).getByText(`if its queue is ${queue} or its tag risk is high.`));
      await dialog(page).getByLabel("Mode").selectOption("all");
      await visible(dialog(page).getByText(`if its queue is ${queue} and its tag risk is high.`));
      assert.deepEqual(await accessibility(page), []);
      await create.click();
      await toast(page, "Approval policy created");
      await dialog(page).waitFor({ state: "detached" });
      await visible(row(page, "ask first").getByText("Enabled"));
      const [{ id: policy, created_at, ...made }] = await find("ask first");
      assert.deepEqual(made, { name: "ask first", mode: "all", enabled: true, all_namespaces: false, queue, tag_key: "risk", tag_value: "high" });

      const passed = await goOn(queue, { risk: "low" });
      assert.equal(await stateOf(passed), "pending", "only one of two checks holds");
      await f.server.post(`/jobs/${passed}/cancel`);
      const held = await goOn(queue, { risk: "high" });
      assert.equal(await stateOf(held), "held");
      await visit(page, "/ui/held");
      const card = page.getByTestId("held-card").filter({ hasText: "approval policy matched: ask first" });
      await card.getByRole("link", { name: "ask first" }).click();
      await page.waitForURL("**/ui/approval-policies");
      await page.goBack();
      await card.getByRole("button", { name: "View" }).click();
      await page.waitForURL(`**/ui/jobs/${held}`);
      await visible(page.getByRole("definition").filter({ hasText: "approval policy matched: ask first" }));
      await button(page, "Approve").click();
      await toast(page, "Job approved");
      await eventually("the approved job", async () => (await stateOf(held)) === "pending");

      await visit(page, "/ui/approval-policies");
      await button(page, "Delete ask first").click();
      await visible(dialog(page).getByText("Jobs that are already held stay held."));
      await dialog(page).getByRole("button", { name: "Cancel" }).click();
      assert.deepEqual((await find("ask first")).map((p) => p.id), [policy]);
      await button(page, "Delete ask first").click();
      await dialog(page).getByRole("button", { name: "Delete approval policy" }).click();
      await toast(page, "Approval policy deleted");
      await row(page, "ask first").waitFor({ state: "detached" });
      assert.deepEqual(await find("ask first"), []);
      await iterate(queue, held);
      assert.equal(await stateOf(held), "pending", "nothing holds it any more");
    }));

  it("are made from others, on a phone", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/approval-policies");
      await button(page, "Clone not reviewed").click();
      assert.equal(await dialog(page).getByLabel("Tag", { exact: true }).inputValue(), "reviewed");
      assert.equal(await dialog(page).getByLabel("Enabled").isChecked(), false);
      await visible(dialog(page).getByText("if its tag reviewed is missing or empty."));
      const inside = await dialog(page).evaluate((d) => d.scrollWidth <= d.clientWidth && d.getBoundingClientRect().right <= innerWidth);
      assert.ok(inside, "the dialog fits");
      await dialog(page).getByLabel("Name *").fill("not reviewed yet");
      await dialog(page).getByLabel("Enabled").check();
      await dialog(page).getByRole("button", { name: "Create", exact: true }).click();
      await toast(page, "Approval policy created");
      const [{ id, created_at, ...made }] = await find("not reviewed yet");
      assert.deepEqual(made, { name: "not reviewed yet", mode: "any", enabled: true, all_namespaces: false, tag_key: "reviewed" });
      assert.equal((await find("not reviewed")).length, 1, "the other stays");
      await f.server.must("DELETE", `/approval-policies/${id}`);
    }, PHONE));

  it("say what the server refuses, and keep what was typed", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/approval-policies");
      await button(page, "Create Approval Policy").click();
      await dialog(page).getByLabel("Name *").fill("n".repeat(256));
      await dialog(page).getByLabel("Queue").fill("act.refused");
      await dialog(page).getByRole("button", { name: "Create", exact: true }).click();
      await toast(page, "Create failed");
      await visible(dialog(page).getByRole("alert").filter({ hasText: "name" }));
      assert.equal(await dialog(page).getByLabel("Queue").inputValue(), "act.refused");
    }));

  it("stay when they cannot be deleted, and the question says why", () =>
    f.withPage(async (page) => {
      const [{ id }] = await find("not reviewed");
      await page.route(`**/api/v1/approval-policies/${id}`, (route) =>
        route.fulfill({ status: 403, json: { error: "not for this key", code: "FORBIDDEN" } }),
      );
      await visit(page, "/ui/approval-policies");
      await button(page, "Delete not reviewed").click();
      await dialog(page).getByRole("button", { name: "Delete approval policy" }).click();
      await visible(dialog(page).getByRole("alert").filter({ hasText: "not for this key" }));
      await dialog(page).getByRole("button", { name: "Cancel" }).click();
      await button(page, "Delete large payments").click();
      await visible(dialog(page).getByText("large payments no longer holds jobs"));
      assert.equal(await dialog(page).getByRole("alert").count(), 0, "that was about another");
    }));

  it("are said to be none, to be on their way, or not to be had", () =>
    f.withPage(async (page) => {
      let answer;
      const asked = new Promise((go) => (answer = go));
      await page.route("**/api/v1/approval-policies", async (route) => route.fulfill(await asked));
      await page.goto("/ui/approval-policies");
      await visible(page.getByText("Loading..."));
      answer({ json: [] });
      await visible(page.getByText("No approval policies found"));
      await page.unroute("**/api/v1/approval-policies");
      await page.route("**/api/v1/approval-policies", (route) =>
        route.fulfill({ status: 403, json: { error: "not for this key", code: "FORBIDDEN" } }),
      );
      await page.reload();
      await visible(page.locator("main").getByText("not for this key"));
    }));
});
