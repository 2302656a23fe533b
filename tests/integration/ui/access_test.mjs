// Keys, namespaces, roles and the audit log, as used by an administrator.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { toast, visible, visit } from "./harness.mjs";

describe("keys and what belongs to them", () => {
  const f = fixture("--admin-password=secret");
  const signedIn = (work) =>
    f.withPage(async (page) => {
      await page.goto("/ui/api-keys");
      await page.getByLabel("API Key").fill("secret");
      await page.getByRole("button", { name: "Sign In" }).click();
      await visible(page.getByRole("heading", { name: "API Keys", exact: true }));
      await work(page);
    });

  it("are made, shown once, and deleted", () =>
    signedIn(async (page) => {
      await page.getByRole("button", { name: "Create API Key" }).click();
      await page.getByPlaceholder("e.g. production-worker").fill("browser-key");
      await page.getByLabel("Role").selectOption("worker");
      await page.getByLabel("Expires At").fill("2099-01-01T00:00");
      await page.getByRole("button", { name: "Create Key" }).click();
      await toast(page, "API key created");
      await visible(page.getByText("Copy this key now"));
      const secret = await page.locator(".notice code").innerText();
      assert.match(secret, /^sk_[0-9a-f]{40,}$/);
      await page.getByRole("button", { name: "Dismiss" }).click();
      assert.ok(!(await page.content()).includes(secret));
      const row = page.getByRole("row").filter({ hasText: "browser-key" });
      await visible(row.getByText("worker"));
      await visible(row.getByText(/^in \d+d/));
      await row.getByRole("button", { name: "Delete browser-key" }).click();
      await page.getByRole("button", { name: "Delete API key" }).click();
      await toast(page, "API key deleted");
      await row.waitFor({ state: "detached" });
    }));

  it("are shown even if one tries to leave before the answer", () =>
    signedIn(async (page) => {
      let answer;
      const may = new Promise((done) => (answer = done));
      await page.route("**/api/v1/auth/keys", (route) =>
        route.request().method() === "POST" ? may.then(() => route.continue()) : route.continue());
      await page.getByRole("button", { name: "Create API Key" }).click();
      await page.getByPlaceholder("e.g. production-worker").fill("slow-key");
      await page.getByRole("button", { name: "Create Key" }).click();
      await page.getByRole("button", { name: "Cancel", disabled: true }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await page.mouse.click(5, 5);
      answer();
      await visible(page.getByText("Copy this key now"));
      assert.equal(await page.getByRole("dialog").count(), 0);
    }));

  it("namespaces are made, switched to, and deleted", () =>
    signedIn(async (page) => {
      await page.getByRole("link", { name: "Namespaces" }).click();
      await page.getByRole("button", { name: "Create Namespace" }).click();
      await page.getByPlaceholder("e.g. acme").fill("tenant-1");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await toast(page, "Namespace created");
      await page.getByRole("link", { name: "Queues" }).click();
      await visible(page.getByText("emails.send"));
      await page.getByLabel("Namespace").selectOption("tenant-1");
      await page.getByText("emails.send").waitFor({ state: "detached" });
      await page.getByLabel("Namespace").selectOption("default");
      await visible(page.getByText("emails.send"));
    }));

  it("a namespace is chosen for one tab, and the others stay in theirs", () =>
    signedIn(async (page) => {
      await f.server.post("/namespaces", { name: "tenant-2" });
      await visit(page, "/ui/");
      const other = await page.context().newPage();
      await visit(other, "/ui/queues");
      await other.getByLabel("Namespace").selectOption("tenant-2");
      await visible(other.getByText("No queues"));
      await page.getByRole("button", { name: "Enqueue Job" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByPlaceholder("e.g. emails").fill("two.tabs");
      await dialog.getByRole("button", { name: "Enqueue", exact: true }).click();
      await toast(page, "Job enqueued");
      assert.equal((await f.server.queue("two.tabs")).pending, 1);
      // Each tab is reloaded into its own namespace, whichever was chosen last.
      await page.getByLabel("Namespace").selectOption("tenant-2");
      await page.getByLabel("Namespace").selectOption("default");
      await other.reload();
      await visible(other.getByText("No queues"));
      assert.equal(await other.getByLabel("Namespace").inputValue(), "tenant-2");
    }));

  it("a namespace is given a quota, and says how much of it is used", () =>
    signedIn(async (page) => {
      await page.getByRole("link", { name: "Namespaces" }).click();
      await page.getByRole("button", { name: "Quota of default" }).click();
      const jobs = page.getByLabel(/^Jobs that have not ended \([0-9,]+ in use\)$/);
      await jobs.fill("many");
      await visible(page.getByText("Enter a whole number"));
      await jobs.fill("1000000");
      await page.getByRole("button", { name: "Save" }).click();
      await toast(page, "Quota saved");
      await f.server.must("PUT", "/namespaces/default/quota", { max_jobs: 2000000 });
      await page.getByRole("button", { name: "Quota of default" }).click();
      await jobs.waitFor();
      assert.equal(await jobs.inputValue(), "2000000", "as it is now, not as it was read before");
      await jobs.fill("");
      await page.getByRole("button", { name: "Save" }).click();
      await toast(page, "Quota saved");
    }));

  it("a quota that cannot be read is reported", () =>
    signedIn(async (page) => {
      await page.route("**/api/v1/namespaces/default/quota", (route) =>
        route.fulfill({ status: 403, json: { error: "no access to quotas", code: "FORBIDDEN" } }));
      await page.getByRole("link", { name: "Namespaces" }).click();
      await page.getByRole("button", { name: "Quota of default" }).click();
      const dialog = page.getByRole("dialog", { name: "Quota of default" });
      await visible(dialog.getByText("no access to quotas"));
      await dialog.getByRole("button", { name: "Close" }).click();
      await dialog.waitFor({ state: "detached" });
    }));

  /** Run work on a page that is signed in with a new key. */
  const signedInAs = (key, work) =>
    f.withPage(async (page) => {
      const { api_key } = await f.server.post("/auth/keys", { name: "limited", ...key });
      await page.goto("/ui/queues/emails.send");
      await page.getByLabel("API Key").fill(api_key);
      await page.getByRole("button", { name: "Sign In" }).click();
      await visible(page.getByRole("heading", { name: "emails.send", exact: true }));
      await work(page);
    });
  const isRefused = async (button, why) => {
    await button.and(button.page().locator(":disabled")).waitFor();
    assert.equal(await button.getAttribute("title"), why);
  };
  const BY_OPERATORS = (permission) => `Requires the role admin or operator, or a custom role that grants ${permission}`;

  it("a role that only reads is shown what it may not do, and who may", () =>
    signedInAs({ role: "readonly" }, async (page) => {
      const button = (name) => page.getByRole("button", { name, exact: true });
      await isRefused(button("Pause"), BY_OPERATORS("queues: pause"));
      await isRefused(button("Enqueue Job"), "Requires the role admin or operator or worker, or a custom role that grants enqueue: write");
      for (const name of ["Drain", "Concurrency", "Throttle", "Clear", "Delete queue"]) {
        assert.ok(await button(name).isDisabled(), name);
      }
      await page.getByRole("checkbox").first().check();
      await isRefused(page.getByRole("region", { name: "Bulk actions" }).getByRole("button", { name: "Move" }), BY_OPERATORS("jobs: write"));
      await visit(page, `/ui/jobs/${f.ids.dead[0]}`);
      await isRefused(button("Retry"), BY_OPERATORS("jobs: retry"));
      for (const name of ["Clone", "Move", "Delete"]) {
        assert.ok(await button(name).isDisabled(), name);
      }
      await visit(page, "/ui/held");
      await isRefused(button("Approve").first(), BY_OPERATORS("jobs: approve"));
      for (const [path, name] of [
        ["/ui/schedules", "Create Schedule"], ["/ui/webhooks", "Create Webhook"], ["/ui/roles", "Create Role"],
        ["/ui/approval-policies", "Create Approval Policy"], ["/ui/api-keys", "Create API Key"], ["/ui/sso", "Save"],
        ["/ui/namespaces", "Create Namespace"], ["/ui/cost", "Create Budget"], ["/ui/organization", "Add Member"],
      ]) {
        await visit(page, path);
        await button(name).and(page.locator(":disabled")).waitFor();
        assert.match(await button(name).getAttribute("title"), /^Requires the role admin/, name);
      }
      await page.keyboard.press("Control+k");
      await page.keyboard.type("pause emails");
      await visible(page.getByRole("option", { name: "Search payloads" }));
      assert.equal(await page.getByRole("option", { name: "Pause emails.send" }).count(), 0);
    }));

  it("a key that is limited to queues is not told what it cannot know", async () => {
    await f.server.post("/budgets", { scope: "global", daily_usd: 2, on_exceed: "alert_only" });
    await signedInAs({ role: "readonly", queue_scope: "emails.*" }, async (page) => {
      await visit(page, "/ui/");
      await visible(page.getByText("Your key is limited to these queues: emails.*."));
      await visit(page, "/ui/cost");
      await visible(page.locator(".stat").getByText("$2.00 per day"));
      assert.equal(await page.getByText("of $2.00 today").count(), 0);
      await visit(page, "/ui/cluster");
      await visible(page.getByText("The history of the node requires a key without this limit."));
      await visit(page, "/ui/queues");
      await page.getByRole("link", { name: "Cluster", exact: true }).click();
      await visible(page.getByText("The history of the node requires a key without this limit."));
      await visit(page, "/ui/api-keys");
      await page.getByRole("button", { name: "Create API Key" }).and(page.locator(":disabled")).waitFor();
      for (const path of ["history", "cluster/history", "auth/sessions"]) {
        const refused = await f.server.get(`/audit-logs?path_prefix=/api/v1/${path}`);
        assert.deepEqual(refused.audit_logs, [], path);
      }
    });
    await f.server.must("DELETE", "/budgets/global/*");
  });

  it("a custom role has the buttons that it grants", async () => {
    await f.server.post("/auth/roles", { name: "pauser", permissions: [
      { resource: "*", actions: ["read"] }, { resource: "queues", actions: ["pause", "resume"] },
      { resource: "jobs", actions: ["write"] },
    ] });
    await signedInAs({ role: "pauser" }, async (page) => {
      await page.getByRole("button", { name: "Drain" }).and(page.locator(":disabled")).waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await toast(page, "Queue paused");
      await page.getByRole("button", { name: "Resume" }).click();
      await toast(page, "Queue resumed");
      await page.getByRole("button", { name: "Sign Out" }).click();
      await visible(page.getByRole("button", { name: "Sign In" }));
    });
  });

  it("an admin of another namespace is told what is for those of the default one", async () => {
    await signedInAs({ role: "admin", namespace: "tenant-3" }, async (page) => {
      await visit(page, "/ui/namespaces");
      await isRefused(page.getByRole("button", { name: "Create Namespace" }),
        "Requires the role admin, or a custom role that grants namespaces: write, in the default namespace and without a queue scope");
      await visit(page, "/ui/webhooks");
      assert.ok(await page.getByRole("button", { name: "Create Webhook" }).isEnabled());
    });
  });

  it("namespaces are managed from whichever is chosen", () =>
    signedIn(async (page) => {
      await f.server.post("/namespaces", { name: "tenant-4" });
      await visit(page, "/ui/namespaces");
      await page.getByLabel("Namespace", { exact: true }).selectOption("tenant-4");
      await page.getByRole("button", { name: "Create Namespace" }).click();
      await page.getByPlaceholder("e.g. acme").fill("tenant-5");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await toast(page, "Namespace created");
      await page.getByLabel("Namespace", { exact: true }).selectOption("default");
    }));

  it("single sign-on is set up, with what is wrong said at once", () =>
    signedIn(async (page) => {
      await page.getByRole("link", { name: "SSO" }).click();
      await page.getByLabel("Provider").selectOption("oidc");
      await page.getByLabel("Issuer URL *").fill("id.example.com");
      await page.getByLabel("Client ID *").fill("corvo");
      await page.getByRole("button", { name: "Save" }).click();
      await visible(page.locator(".card").getByText(/oidc_issuer_url/));
      await page.getByLabel("Issuer URL *").fill("http://127.0.0.1:9");
      await page.getByRole("button", { name: "Add mapping" }).click();
      await page.getByLabel("Group", { exact: true }).fill("ops");
      await page.getByLabel("Role", { exact: true }).selectOption("operator");
      await page.getByRole("button", { name: "Save" }).click();
      await toast(page, "SSO settings saved");
      await visible(page.getByText("users cannot sign in yet"));
      await page.reload();
      await visible(page.getByLabel("Remove ops"));
      assert.equal(await page.getByLabel("Issuer URL *").inputValue(), "http://127.0.0.1:9");
      await page.getByLabel("Provider").selectOption("");
      await page.getByRole("button", { name: "Save" }).click();
      await toast(page, "SSO settings saved");
    }));

  it("roles are made, and everything is in the audit log", () =>
    signedIn(async (page) => {
      await page.getByRole("link", { name: "Roles" }).click();
      await page.getByRole("button", { name: "Create Role" }).click();
      await page.getByLabel("Name *").fill("viewer");
      await page.getByRole("button", { name: "Save" }).click();
      await toast(page, "Role saved");
      await visible(page.getByText("queues: read"));
      await page.getByRole("link", { name: "Audit Logs" }).click();
      await visible(page.getByRole("row").filter({ hasText: "/api/v1/auth/roles" }).first());
      await visible(page.getByText(/Page 1 of/));
    }));

  it("the audit log keeps its rows until those of the next page are there", () =>
    signedIn(async (page) => {
      for (let i = 0; i < 60; i++) {
        await f.server.post(`/queues/emails.send/${i % 2 === 0 ? "pause" : "resume"}`);
      }
      await visit(page, "/ui/audit-logs");
      await visible(page.getByText(/Page 1 of/));
      let answer;
      const may = new Promise((done) => (answer = done));
      await page.route("**/api/v1/audit-logs?*offset=50*", (route) => may.then(() => route.continue()));
      const pages = (await page.getByText(/Page 1 of/).textContent()).slice("Page 1 of ".length);
      await page.getByRole("button", { name: "Next" }).click();
      await visible(page.getByText(`Page 2 of ${pages}`));
      assert.equal(await page.locator("tbody tr").count(), 50);
      assert.equal(await page.getByText("Entries (0)").count(), 0);
      answer();
    }));

  it("the names of keys can be read beside the sidebar of a laptop", () =>
    signedIn(async (page) => {
      await f.server.post("/auth/keys", { name: "a-key-with-a-rather-long-name", role: "operator", queue_scope: "emails.*" });
      await page.setViewportSize({ width: 1024, height: 768 });
      await visit(page, "/ui/api-keys");
      const cell = page.locator("td.wide").filter({ hasText: "a-key-with" }).first();
      assert.ok((await cell.boundingBox()).width >= 130);
      const hidden = await page.getByRole("table", { name: "API Keys" }).evaluate((e) => e.parentElement.scrollWidth - e.parentElement.clientWidth);
      assert.ok(hidden <= 0, `${hidden} pixels are out of sight`);
    }));
});
