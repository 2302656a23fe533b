// Every page with data: its content in light and dark, on a desktop and on a phone, and its
// accessibility.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { accessibility, eventually, visible, visit } from "./harness.mjs";
import { beat } from "./seed.mjs";

describe("pages", () => {
  const f = fixture();

  const PAGES = [
    ["/ui/", "Dashboard", ["Total Pending", "Max Latency", "emails.send", "Throughput", "Recent failures"]],
    ["/ui/queues", "Queues", ["All Queues (8)", "agents.research", "Paused"]],
    ["/ui/queues/emails.send", "emails.send", ["Jobs (18 total)", "rate limit 200 per 1m", "Concurrency"]],
    ["/ui/dead-letter", "Dead Letter Queue", ["Dead Jobs (6 total)", "HTTP 503 from upstream", "out of memory"]],
    ["/ui/jobs", "Jobs", ["Jobs (", "emails.send", "Advanced filters"]],
    ["/ui/errors", "Errors", ["failures in", "HTTP # from upstream", "Retry these"]],
    ["/ui/workers/worker-a1", "worker-a1", ["Host", "pod-1", "Jobs of this worker", "Recent activity"]],
    ["/ui/scheduled", "Scheduled Jobs", ["Runs In", /in 6h 5\dm/]],
    ["/ui/schedules", "Schedules", ["daily-report", "America/New_York", "09:00:00", "Next 24 hours", "Runs in"]],
    ["/ui/held", "Held Jobs", ["amount over the limit", "large payments", "Approve", "Reject", "View"]],
    ["/ui/events", "Live Events Tail", ["queue.paused", "connected"]],
    ["/ui/cost", "AI Cost Dashboard", ["$0.6300", "77%", "model-a", "Cost per job", "By tag", "No budgets set"]],
    ["/ui/workers", "Workers", ["Active Workers (2)", "worker-a1", "worker-b2", "Healthy"]],
    ["/ui/cluster", "Cluster Status", ["leader", "node-1", "Write pipeline", "p99", "Waiting to be written to the Raft log"]],
    [
      "/ui/approval-policies",
      "Approval Policies",
      ["All Approval Policies (2)", "large payments", "queue is payments.capture", "tag risk is high", "tag reviewed is missing or empty", "Disabled"],
    ],
    ["/ui/webhooks", "Webhooks", ["No webhooks found"]],
    ["/ui/dead-letter?group=error", "Dead Letter Queue", ["HTTP # from upstream", "Retry these", "2 dead"]],
    ["/ui/api-keys", "API Keys", ["No API keys found", "No admin password is set"]],
    ["/ui/namespaces", "Namespaces", ["All Namespaces"]],
    ["/ui/roles", "Roles", ["Built-in Roles", "Full access."]],
    ["/ui/audit-logs", "Audit Logs", ["Entries"]],
    ["/ui/organization", "Organization", ["My Organization", "No members yet", "No organization keys"]],
    ["/ui/nowhere", "Page not found", []],
  ];
  const jobPages = () => [
    [`/ui/jobs/${f.ids.active}`, f.ids.active, ["450/1000 (45%)", "Encoding segment 45", "worker-b2 on pod-2", "Started: by worker-b2"]],
    [`/ui/jobs/${f.ids.dead[0]}`, f.ids.dead[0], ["SMTP connection timeout", "at send (mail.js:42)", "user0@example.com", "Failed: attempt 1"]],
    [`/ui/jobs/${f.ids.agent}`, f.ids.agent, ["Agent iterations", "3 of 5", "$0.6300 of $2.0000", "model-a / house", "Replay"]],
    [`/ui/jobs/${f.ids.guarded}`, f.ids.guarded, ["Hold reason", "large payments", "Why it is not running", "risk=high"]],
    [`/ui/jobs/${f.ids.chain}`, f.ids.chain, ["Chain", "Step 2", "ai.summarize", "1 of 2"]],
  ];

  const LOOKS = {
    "light on a desk": {},
    "dark on a desk": { colorScheme: "dark" },
    "light on a phone": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  };
  for (const [look, options] of Object.entries(LOOKS)) {
    it(`show what there is, ${look}, without anything to stumble over`, () =>
      f.withPage(async (page) => {
        for (const [path, heading, texts] of [...PAGES, ...jobPages()]) {
          await visit(page, path);
          assert.equal(await page.locator("h1").first().textContent(), heading, path);
          for (const text of texts) {
            await visible(page.locator("main").getByText(text));
          }
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
          assert.ok(wide <= 0, `${path} is ${wide} pixels too wide`);
          assert.deepEqual(await accessibility(page), [], path);
        }
      }, options));
  }

  it("have room for the namespaces in the header of a phone", () =>
    f.withPage(async (page) => {
      const name = "a-tenant-with-a-rather-long-name";
      await f.server.post("/namespaces", { name });
      await visit(page, "/ui/queues");
      await page.getByLabel("Namespace").selectOption(name);
      const [wide, right] = await page.evaluate(() => [
        document.documentElement.scrollWidth - window.innerWidth,
        Math.max(...[...document.querySelectorAll("header *")].map((e) => e.getBoundingClientRect().right)) - window.innerWidth,
      ]);
      assert.ok(wide <= 0 && right <= 0, `${wide} and ${right} pixels too wide`);
      await f.server.must("DELETE", `/namespaces/${name}`);
    }, { viewport: { width: 390, height: 844 } }));

  it("show what failed of a dead job to the last word, also on a phone", () =>
    f.withPage(async (page) => {
      const error = "connect ETIMEDOUT 10.0.3.17:587 after 30000 ms while sending to the last word";
      await f.server.dead("dead.long", { payload: { to: "someone@example.com" } }, error);
      await visit(page, "/ui/dead-letter");
      const row = page.locator("tbody tr").filter({ hasText: "to the last word" });
      await visible(row.getByText("someone@example.com"));
      await visible(row.getByRole("link", { name: "dead.long" }));
      const hidden = await row.locator(".danger-text").evaluate((e) => e.scrollHeight - e.clientHeight);
      assert.ok(hidden <= 1, `${hidden} pixels of the error are cut off`);
      await f.server.must("DELETE", "/queues/dead.long?confirm=true");
    }, { viewport: { width: 390, height: 844 } }));

  it("have the actions of a row in view, however long a name is", () =>
    f.withPage(async (page) => {
      const name = `long.${"name-".repeat(24)}end`;
      await f.server.enqueue(name);
      await f.server.post("/schedules", { name: `${name}-daily`, queue: name, cron: "0 0 1 * *", payload: {} });
      for (const width of [1024, 1280, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        for (const path of ["/ui/queues", "/ui/schedules"]) {
          await visit(page, path);
          await visible(page.getByRole("button", { name: path.endsWith("queues") ? `Pause ${name}` : `Delete ${name}-daily` }));
          const hidden = await page.locator(".table-wrap").first().evaluate((e) => e.scrollWidth - e.clientWidth);
          assert.ok(hidden <= 0, `${hidden} pixels of ${path} are out of sight at ${width}`);
        }
      }
      const id = (await f.server.get("/schedules")).find((s) => s.queue === name).id;
      await f.server.must("DELETE", `/schedules/${id}`);
      await f.server.must("DELETE", `/queues/${name}?confirm=true`);
    }));

  it("have all columns of the jobs in view beside the sidebar of a laptop", () =>
    f.withPage(async (page) => {
      for (const [path, queue] of [["jobs", "reports.generate"], ["scheduled", "reports.generate"], ["dead-letter", "emails.send"], ["queues/emails.send", ""]]) {
        await visit(page, `/ui/${path}`);
        const table = page.getByRole("table", { name: "Jobs" });
        await visible(table.getByRole("link", { name: /^job_/ }));
        if (queue !== "") {
          await visible(table.getByRole("link", { name: queue }));
        }
        const [hidden, payload] = await table.evaluate((e) => [
          e.parentElement.scrollWidth - e.parentElement.clientWidth,
          e.querySelector("td.wide").clientWidth,
        ]);
        assert.ok(hidden <= 0, `${hidden} pixels of ${path} are out of sight`);
        assert.ok(payload >= 150, `${path} has ${payload} pixels for the payload`);
      }
    }, { viewport: { width: 1024, height: 768 } }));

  it("show the times of a job in one piece, also on a phone", () =>
    f.withPage(async (page) => {
      await visit(page, `/ui/jobs/${f.ids.dead[0]}`);
      await visible(page.locator(".timeline").getByText("Failed: attempt 1"));
      const lines = await page.locator(".timeline time").evaluateAll((all) =>
        all.map((time) => {
          const text = document.createRange();
          text.selectNodeContents(time);
          return new Set([...text.getClientRects()].map((line) => line.top)).size;
        }));
      // The first one begins with its date, which has a line of its own.
      assert.deepEqual(lines, [2, 1, 1, 1]);
    }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }));

  it("show the type and the job of an event beside each other, or below, on every phone", () =>
    f.withPage(async (page) => {
      await f.server.post("/jobs/bulk", { action: "change_priority", priority: "high", job_ids: [f.ids.pending[0]] });
      await visit(page, "/ui/events");
      const row = page.locator(".tail li").filter({ hasText: "priority_changed" });
      await visible(row);
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 844 });
        // In one step, because the list scrolls when an event arrives.
        const [type, job] = await row.evaluate((li) => [".badge", "a"].map((e) => li.querySelector(e).getBoundingClientRect().toJSON()));
        const apart = job.top >= type.bottom || job.left >= type.right;
        assert.ok(apart, `at ${width}: ${JSON.stringify({ type, job })}`);
      }
    }, { viewport: { width: 320, height: 844 }, hasTouch: true, isMobile: true }));

  it("say nothing of a pointer to those who have none", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/events");
      await page.getByText("Hover over the list to pause it.").waitFor({ state: "hidden" });
    }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }));

  it("show all that is said of a budget, also on a phone", () =>
    f.withPage(async (page) => {
      await f.server.post("/budgets", { scope: "queue", target: "emails.send", daily_usd: 5 });
      await visit(page, "/ui/cost");
      const text = page.getByRole("table", { name: "Budgets" }).getByText("Nothing was spent in the last hour.");
      const cut = await text.evaluate((e) => e.closest("td").scrollWidth - e.closest("td").clientWidth);
      assert.ok(cut <= 0, `${cut} pixels are cut off`);
      await f.server.must("DELETE", "/budgets/queue/emails.send");
    }, { viewport: { width: 390, height: 844 } }));

  it("are no cause for alarm for a role that may not see them", () =>
    f.withPage(async (page) => {
      await page.route("**/api/v1/**", (route) =>
        route.fulfill({ status: 403, json: { error: "insufficient role permissions", code: "FORBIDDEN" } }));
      await page.goto("/ui/");
      await visible(page.getByText("Your role does not allow this."));
      await visible(page.locator(".stat").first().and(page.getByText("Total Pending-", { exact: true })));
      await visible(page.getByRole("region", { name: "Write latency" }).getByText("Your role does not allow this."));
      assert.equal(await page.locator("header .badge").count(), 0);
    }));

  it("give no number for what a role may not see", () =>
    f.withPage(async (page) => {
      await page.route("**/api/v1/**", (route) =>
        route.fulfill({ status: 403, json: { error: "insufficient role permissions", code: "FORBIDDEN" } }));
      for (const [path, texts, not] of [
        ["", ["Workers"], "connected"],
        ["workers", ["Active Workers"], "(0)"],
        ["audit-logs", ["Entries"], "Page 1"],
        ["cost", ["Total Spend", "Daily budget"], "No daily budget is set"],
      ]) {
        await page.goto(`/ui/${path}`);
        await visible(page.getByText("Your role does not allow this."));
        const text = await page.locator("main").textContent();
        texts.forEach((part) => assert.ok(text.includes(part), `${path}: ${part}`));
        assert.ok(!text.includes(not), `${path}: ${not}`);
      }
      const stats = async () => (await page.locator(".stat").allTextContents()).join();
      await eventually("the numbers of a role that may read none", async () => (await stats()) === "Total Spend-,Daily budget-,Cache Hit Rate-");
    }));

  it("are about their own queue and states, whatever the address says", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/dead-letter?state=completed");
      await visible(page.getByText("Dead Jobs (6 total)"));
      await visit(page, "/ui/queues/emails.send?queue=reports.generate&state=dead");
      await visible(page.getByText("Jobs (6 total)"));
    }));

  it("show a job whatever its worker reports as progress", () =>
    f.withPage(async (page) => {
      const report = (progress) =>
        fetch(`${f.server.url}/api/v1/heartbeat`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: `{"jobs": {"${f.ids.active}": {"progress": ${progress}}}}`,
        });
      await report('{"current": 4.0, "total": 10.0, "message": {"at": "the fourth"}}');
      await visit(page, `/ui/jobs/${f.ids.active}`);
      await visible(page.getByText("4/10 (40%)"));
      for (const odd of ['["some", "list"]', '"half"', '{"total": {"of": 3}, "message": 1.50}']) {
        await report(odd);
        await visit(page, `/ui/jobs/${f.ids.active}`);
        assert.equal(await page.locator("h1").textContent(), f.ids.active, odd);
      }
      await beat(f.server, f.ids, { progress: { current: 450, total: 1000, message: "Encoding segment 45" } });
    }));

  it("show a job of an old backup, with a chain that is none", () =>
    f.withPage(async (page) => {
      const chain_config = { steps: { first: 1 }, depends_on: "all of them" };
      const id = await f.server.enqueue("ai.own");
      const jobs = [{ ...(await f.server.job(id)), chain_id: "own", chain_config }];
      await f.server.must("DELETE", `/jobs/${id}`);
      await f.server.post("/admin/restore", { namespace: "default", jobs, meta: { format: 2 } });
      assert.deepEqual((await f.server.job(id)).chain_config, chain_config);
      await visit(page, `/ui/jobs/${id}`);
      await visible(page.getByText("No linked chain jobs found."));
      assert.equal(await page.locator("h1").textContent(), id);
      await f.server.must("DELETE", "/queues/ai.own?confirm=true");
    }));

  it("have room for many tags, and for what costs millions", () =>
    f.withPage(async (page) => {
      const tags = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key-${i}`, `value-${i}`]));
      const id = await f.server.enqueue("odd.tags", { tags });
      await f.server.fetch("odd.tags");
      await f.server.post(`/ack/${id}`, { usage: { model: "model-x", cost_usd: 1_000_000 } });
      await visit(page, `/ui/jobs/${id}`);
      const box = (text) => page.getByText(text, { exact: true }).boundingBox();
      assert.equal((await box("key-0=value-0")).y, (await box("key-4=value-4")).y, "in one row");
      await visit(page, "/ui/cost");
      await visible(page.getByText("$2.0M"));
      const axis = await page.getByText("$2.0M").boundingBox();
      const card = await page.getByRole("region", { name: "Spend over time" }).boundingBox();
      assert.ok(axis.x >= card.x, `${axis.x} is left of ${card.x}`);
    }));

  it("are sorted by what the form shows, whatever the address says", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/jobs?sort=nope&order=sideways&priority=urgent&created_after=soon");
      await visible(page.getByRole("table", { name: "Jobs" }).getByRole("link"));
    }));

  it("say so when there is no such job or queue", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/jobs/job_00000000000000000000000000");
      await visible(page.getByText("Job not found"));
      await visit(page, "/ui/queues/no.such.queue");
      await visible(page.getByText("No jobs found"));
      assert.equal(await page.getByRole("button", { name: "Pause" }).count(), 0);
    }));

  it("are reached by the sidebar, which closes after navigation on a phone", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/");
      const menu = page.getByRole("button", { name: "Menu" });
      await menu.click();
      await page.getByRole("link", { name: "Dead Letter" }).click();
      await page.waitForURL("**/ui/dead-letter");
      await page.locator("nav.sidebar").waitFor({ state: "hidden" });
      // The menu also closes if the link leads to the open page.
      await menu.click();
      await page.getByRole("link", { name: "Dead Letter" }).click();
      await page.locator("nav.sidebar").waitFor({ state: "hidden" });
    }, LOOKS["light on a phone"]));

  it("are reached by keys on a narrow screen too", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/");
      const menu = page.getByRole("button", { name: "Menu" });
      await menu.press("Enter");
      await page.locator("nav.sidebar a:focus").waitFor();
      await page.keyboard.press("Escape");
      await page.locator("nav.sidebar").waitFor({ state: "hidden" });
      await page.locator(".menu-button :focus").waitFor();
      await menu.press("Enter");
      await page.locator("nav.sidebar a:focus").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/ui/queues");
    }, LOOKS["light on a phone"]));

  it("open a row by a click on it", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/queues");
      await page.locator("tbody tr").filter({ hasText: "emails.send" }).locator("td").nth(1).click();
      await page.waitForURL("**/ui/queues/emails.send");
      await visit(page, "/ui/dead-letter");
      await page.locator("tbody tr").first().locator("td.wide").click();
      await page.waitForURL("**/ui/jobs/job_*");
    }));

  it("keep the chosen theme, and follow the system without one", () =>
    f.withPage(async (page) => {
      const dark = () => page.evaluate(() => document.documentElement.classList.contains("dark"));
      await visit(page, "/ui/");
      assert.equal(await dark(), false);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.locator("html.dark").waitFor();
      await page.getByRole("button", { name: "Light theme" }).click();
      assert.equal(await dark(), false);
      await page.reload();
      assert.equal(await dark(), false);
      assert.equal(await page.evaluate(() => localStorage.getItem("theme")), "light");
    }));

  it("have a help that keys open and close", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/");
      await page.keyboard.press("?");
      const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
      await visible(help);
      assert.deepEqual(await accessibility(page), []);
      await page.keyboard.press("Escape");
      await help.waitFor({ state: "detached" });
    }));
});

describe("names of any length", () => {
  const f = fixture();
  const long = (what) => what + "x".repeat(250 - what.length);

  for (const [look, viewport] of Object.entries({ phone: { width: 360, height: 740 }, "large screen": { width: 1920, height: 1080 } })) {
    it(`leave the rest of a table and the page in view, on a ${look}`, () =>
      f.withPage(async (page) => {
        const [queue, tag] = [long(`${look}.queue.`), long("tag.")];
        const id = await f.server.enqueue(queue, { tags: { tenant: tag }, max_retries: 1 });
        await f.server.fetch(queue, { worker_id: long("worker."), hostname: long("host.") });
        await f.server.post(`/fail/${id}`, { error: long("error.") });
        const held = await f.server.enqueue(queue, { tags: { tenant: tag } });
        await f.server.post(`/jobs/${held}/hold`, { reason: long("reason.") });
        const chain = await f.server.enqueue(long("chain."), { chain: { steps: [{ queue: long("chain.") }, { queue }] } });
        await f.server.fetch(long("chain."));
        await f.server.post(`/ack/${chain}`);
        const agent = await f.server.enqueue(long("agent."), { agent: {} });
        await f.server.fetch(long("agent."));
        await f.server.post(`/heartbeat`, { jobs: { [agent]: { progress: { current: 1, total: 2, message: long("at.") } } } });
        await f.server.post(`/ack/${agent}`, { agent_status: "hold", usage: { model: long("model."), provider: long("by.") } });
        await f.server.post("/schedules", { name: long(`${look}.`), queue, cron: "@daily", payload: {} });
        const pages = [
          ["", "Recent failures"],
          ["queues", "All Queues"],
          ["dead-letter", "error.x"],
          ["workers", "worker.x"],
          ["schedules", `${look}.x`],
          ["held", "reason.x"],
          [`jobs/${id}`, "Attempt 1"],
          [`jobs/${held}`, "Held until someone"],
          [`jobs/${chain}`, "Step 2"],
          [`jobs/${agent}`, "model.x"],
          [`queues/${queue}`, "Jobs (3 total)"],
          [`jobs?${new URLSearchParams({ queue, tag: `tenant=${tag}` })}`, "Jobs (2 total)"],
          [`errors?queue=${queue}`, "Most recent"],
          ["dead-letter?group=error", "Most recent"],
          [`workers/${long("worker.")}`, "Running since"],
          ["cost", "By queue"],
        ];
        for (const [path, text] of pages) {
          await visit(page, `/ui/${path}`);
          await visible(page.locator("main").getByText(text));
          const [wide, table] = await page.locator("#content").evaluate((content) => [
            content.scrollWidth - content.clientWidth,
            Math.max(0, ...[...content.querySelectorAll("table")].map((t) => t.offsetWidth)),
          ]);
          assert.ok(wide <= 0, `${path} is ${wide} pixels too wide`);
          assert.ok(table <= 1500, `${path} has a table of ${table} pixels`);
        }
      }, { viewport }));
  }
});
