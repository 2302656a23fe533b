// Take the screenshots of docs/ui: every page, light and dark, on a desktop and on a phone.
//
//   CORVO_BINARY=… CORVO_UI_MODULES=… node pictures.mjs FOLDER [NAME OF A PICTURE …]
import { join } from "node:path";

import { makeClock } from "./clock.mjs";
import { beatDay, liveDay } from "./day.mjs";
import { openBrowser, openPage, Server, settled, visible } from "./harness.mjs";
import { beat, seed } from "./seed.mjs";

const [folder, ...wanted] = process.argv.slice(2);
const clock = await makeClock();
clock.set(-24 * 3600);
const server = await Server.startWith(clock.env, "--rate-limit-enabled=false");
await liveDay(server, clock);
const ids = await seed(server);
await server.post("/budgets", { scope: "global", daily_usd: 2, on_exceed: "alert_only" });
await server.post("/webhooks", { url: "https://hooks.example.com/corvo", events: ["dead", "completed"], enabled: false });
const browser = await openBrowser();

/** Complete jobs while the page is open, so that its charts have data. Only a few for each screenshot,
 * because thousands would push the events of other jobs out of the event log. */
async function work(page) {
  const latency = page.getByRole("region", { name: "Write latency" }).getByText("p99").first();
  for (let done = false; !done; done = await latency.isVisible()) {
    const ids = (await server.post("/enqueue/batch", { jobs: Array(20).fill({ queue: "reports.generate" }) })).job_ids;
    await server.fetch("reports.generate");
    await server.post("/fetch/batch", { queues: ["reports.generate"], count: 19, timeout: 1 });
    await server.post("/ack/batch", { acks: ids.map((job_id) => ({ job_id })) });
    await page.waitForResponse("**/api/v1/cluster/status");
  }
}

/** Wait for a text of the timeline that is shown only after the event log has been read. */
const told = (text) => (page) => visible(page.locator(".timeline").getByText(text));

/** Wait for the sparklines of the queues, which are read after the table. */
const charts = (page) => page.locator(".spark polyline[points*=',']").first().waitFor({ state: "attached" });

const dialog = (page) => page.getByRole("dialog");
const PAGES = {
  dashboard: ["/ui/", work],
  queues: ["/ui/queues", charts],
  queue: ["/ui/queues/emails.send"],
  search: [
    "/ui/queues/emails.send?state=dead,pending&tag=tenant%3Dacme&payload_jq=.amount+%3E+100",
    // Wait for the charts above the panel, which would otherwise move it away again.
    async (page) => {
      await visible(page.getByRole("img", { name: /^Jobs per/ }));
      await page.getByRole("region", { name: "Search" }).evaluate((panel) => panel.scrollIntoView());
    },
  ],
  bulk: [
    "/ui/queues/emails.send?state=dead",
    async (page) => {
      await page.getByRole("checkbox").first().check();
      await page.locator(".sticky.bottom-0").getByRole("button", { name: "Retry" }).click();
      await visible(dialog(page));
    },
  ],
  enqueue: [
    "/ui/",
    async (page) => {
      await page.getByRole("button", { name: "Enqueue Job" }).click();
      await dialog(page).getByPlaceholder("e.g. emails").fill("emails.send");
    },
  ],
  "job-active": [`/ui/jobs/${ids.active}`, told("Progress:")],
  "job-dead": [`/ui/jobs/${ids.dead[0]}`, told("Failed: attempt 1")],
  "job-agent": [`/ui/jobs/${ids.agent}`, told("Continued")],
  "job-held": [`/ui/jobs/${ids.guarded}`, told("Held:")],
  "job-scheduled": [`/ui/jobs/${ids.scheduled[0]}`],
  "job-chain": [`/ui/jobs/${ids.chain}`, told("Completed")],
  jobs: ["/ui/jobs"],
  worker: ["/ui/workers/worker-b2"],
  palette: [
    "/ui/",
    async (page) => {
      await page.keyboard.press("Control+k");
      await visible(dialog(page));
      await page.keyboard.type("emails");
    },
  ],
  "dead-letter": ["/ui/dead-letter"],
  errors: ["/ui/errors"],
  scheduled: ["/ui/scheduled"],
  schedules: ["/ui/schedules"],
  held: ["/ui/held"],
  events: ["/ui/events", (page) => visible(page.locator(".tail li"))],
  cost: ["/ui/cost", (page) => visible(page.getByText("Spend per day"))],
  workers: ["/ui/workers"],
  cluster: ["/ui/cluster"],
  "approval-policies": ["/ui/approval-policies"],
  "create-policy": [
    "/ui/approval-policies",
    async (page) => {
      await page.getByRole("button", { name: "Clone large payments" }).click();
      await visible(dialog(page));
    },
  ],
  webhooks: ["/ui/webhooks"],
  organization: ["/ui/organization"],
  "api-keys": ["/ui/api-keys"],
  namespaces: ["/ui/namespaces"],
  roles: ["/ui/roles"],
  sso: ["/ui/sso"],
  "audit-logs": ["/ui/audit-logs"],
  "not-found": ["/ui/nowhere"],
};
const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

for (const [size, viewport] of Object.entries(SIZES)) {
  for (const colorScheme of ["light", "dark"]) {
    const page = await openPage(browser, server, { viewport, colorScheme, reducedMotion: "reduce" });
    for (const [name, [path, prepare]] of Object.entries(PAGES)) {
      if (wanted.length > 0 && !wanted.includes(name)) {
        continue;
      }
      await beat(server, ids);
      await beatDay(server);
      await page.goto(path);
      await settled(page);
      await prepare?.(page);
      await page.waitForLoadState("load");
      await page.mouse.move(0, 0);
      await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) });
    }
    await page.context().close();
  }
}
await browser.close();
await server.close();
await clock.remove();
