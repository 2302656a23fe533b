// Measure the interface with a large server, and over a long time.
//
//   CORVO_BINARY=… CORVO_UI_MODULES=… node soak.mjs [--queues 1000] [--jobs 1000000] [--minutes 60]
//       [--rate 200] [--rounds 10] [--only PART,…] [--hours 168] [--data FOLDER] [--out FILE]
//
// The script starts a server, fills it through the API and keeps it working: jobs are enqueued, fetched
// and completed at --rate per second while the browser has pages open. The first completed jobs are
// spread over --hours of history: the server's clock is set back and moved forward step by step
// (failover/nemesis.c). --data keeps the filled data folder. An existing folder is used unchanged, so
// that several versions can be measured with the same data. Three things are measured.
//
// Response time of the interface: the script performs every interaction on the dashboard, the list of
// queues, a queue's page, the jobs of all queues and the errors. The browser's Event Timing measures
// the time from the input to the next frame, in --rounds rounds (of all parts, or of those in --only:
// dashboard, queues, queue, history, jobs). Data that is read from the server appears later and is
// measured from the click to the data. The limit is 100 ms for the median. The result also contains
// the longest time, and the processor time of the page from the input until it is idle, refreshes
// included. If other programs keep the machine busy, most of the time is spent waiting for a
// processor. The times are then shown but not judged.
//
// Server cost per request: before the traffic begins, each request of the pages is sent several times
// by itself. The processor time of the server is read from the system.
//
// Memory growth: pages stay open for --minutes. Once a minute their garbage is collected, and the
// browser reports what is left: heap, nodes of the document, listeners. The first minutes are not
// compared, because charts and lists fill up to their limits.
//
// The result is printed to standard output as Markdown tables. The exit status is 1 if a limit is
// exceeded.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { makeClock } from "./clock.mjs";
import { eventually, openBrowser, openPage, Server, settled, visible } from "./harness.mjs";

const LIMIT_MS = 100;
const BATCH = 5_000;
const WARM_UP_MINUTES = 2;
/** The allowed growth after an hour, for reasons outside the interface: compiled code, caches. */
const GROWTH = { heap: 1.1, heapBytes: 2 << 20, nodes: 1.1, listeners: 1.1 };

const { values: options } = parseArgs({
  options: {
    queues: { type: "string", default: "1000" },
    jobs: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "60" },
    rate: { type: "string", default: "200" },
    rounds: { type: "string", default: "10" },
    only: { type: "string", default: "dashboard,queues,queue,history,jobs" },
    hours: { type: "string", default: "168" },
    data: { type: "string" },
    out: { type: "string" },
  },
});
const QUEUES = Number(options.queues);
const JOBS = Number(options.jobs);
const MINUTES = Number(options.minutes);
const RATE = Number(options.rate);
const ROUNDS = Number(options.rounds);
const HOURS = Number(options.hours);

const BIG = "mail.send";
const queueName = (i) => (i === 0 ? BIG : `tenant-${String(i).padStart(4, "0")}.work`);
const say = (text) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

/** Complete one job in every queue per step, from --hours ago until now. A step is an hour, or ten minutes in the last two
 * days, whose history is kept by the minute. About every thirtieth job fails. */
async function history(server, clock) {
  const steps = [];
  for (let ago = HOURS * 3600; ago > 0; ago -= ago > 48 * 3600 ? 3600 : 600) {
    steps.push(ago);
  }
  const names = Array.from({ length: QUEUES }, (_, i) => queueName(i));
  let jobs = 0;
  for (const [n, ago] of steps.entries()) {
    clock.set(-ago);
    await server.post("/enqueue/batch", { jobs: names.map((queue) => ({ queue, payload: { n }, max_retries: 1 })) });
    for (let at = 0; at < names.length; at += 50) {
      const { jobs: claimed } = await server.post("/fetch/batch", {
        queues: names.slice(at, at + 50), count: 50, worker_id: `w${at % 4}`, timeout: 1,
      });
      const [failed, done] = [claimed.filter((_, i) => i % 30 === 0), claimed.filter((_, i) => i % 30 !== 0)];
      await server.post("/ack/batch", { acks: done.map(({ job_id }) => ({ job_id })) });
      await Promise.all(failed.map(({ job_id }) =>
        server.post(`/fail/${job_id}`, { error: `HTTP ${500 + (n % 4)} from ${job_id}` })));
      jobs += claimed.length;
    }
    if (n % 50 === 0) {
      say(`${jobs} jobs of history, ${Math.round(ago / 3600)} hours ago`);
    }
  }
  clock.set(0);
  return jobs;
}

/** Enqueue half of the jobs to one queue, and the other half evenly to all queues. */
async function fill(server, JOBS) {
  const half = Math.floor(JOBS / 2);
  const queueOf = (i) => (i < half ? BIG : queueName(i % QUEUES));
  let next = 0;
  const work = async () => {
    while (next < JOBS) {
      const from = next;
      next = Math.min(JOBS, next + BATCH);
      const jobs = Array.from({ length: next - from }, (_, i) => ({
        queue: queueOf(from + i),
        payload: { to: `user${from + i}@example.com`, template: ["welcome", "invoice"][i % 2], n: from + i },
        priority: ["critical", "high", "normal"][i % 3],
        max_retries: 1,
      }));
      await server.post("/enqueue/batch", { jobs });
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  for (let i = 0; i < 60; i++) {
    const { job_id } = await server.fetch(BIG);
    await server.post(`/fail/${job_id}`, { error: "SMTP connection timeout" });
  }
}

const viewIsCurrent = async (server) => (await server.get("/cluster/status")).sqlite_mirror.lag === 0;

/** Start normal traffic on the server. Returns a function that stops it and returns the number of completed jobs. */
function traffic(server) {
  let stopped = false;
  let done = 0;
  const size = Math.max(1, Math.round(RATE / 4));
  const turn = async () => {
    const queue = queueName(1 + (done % (QUEUES - 1)));
    await server.post("/enqueue/batch", { jobs: Array(size).fill({ queue, payload: { n: done } }) });
    const { jobs } = await server.post("/fetch/batch", { queues: [queue], count: size, worker_id: "w", timeout: 1 });
    await server.post("/ack/batch", { acks: jobs.map(({ job_id }) => ({ job_id })) });
    done += jobs.length;
  };
  const ended = (async () => {
    while (!stopped) {
      const begun = Date.now();
      await turn();
      await new Promise((wake) => setTimeout(wake, Math.max(0, 250 - (Date.now() - begun))));
    }
    return done;
  })();
  return () => {
    stopped = true;
    return ended;
  };
}

/** Runs in the page before its own scripts. */
function watch() {
  const kept = { events: [], tasks: [] };
  const observe = (type, list, more) => {
    const observer = new PerformanceObserver((found) => list.push(...found.getEntries().map((e) => e.toJSON())));
    observer.observe({ type, buffered: true, ...more });
    return observer;
  };
  const observers = [
    observe("event", kept.events, { durationThreshold: 16 }),
    observe("longtask", kept.tasks, {}),
  ];
  window.measured = async () => {
    // The entry of an event arrives after the frame that the event caused.
    for (let i = 0; i < 3; i++) {
      await new Promise((next) => requestAnimationFrame(() => setTimeout(next, 20)));
    }
    for (const [i, list] of [kept.events, kept.tasks].entries()) {
      list.push(...observers[i].takeRecords().map((e) => e.toJSON()));
    }
    const events = kept.events.splice(0).filter((e) => e.interactionId > 0);
    const tasks = kept.tasks.splice(0);
    const longest = (list) => Math.round(Math.max(0, ...list.map((e) => e.duration)));
    return { event: longest(events), kinds: [...new Set(events.map((e) => e.name))], task: longest(tasks) };
  };
}

/** Return the processor time that the page has used, in ms. */
async function cpuOf(page) {
  page.session ??= await page.context().newCDPSession(page);
  if (!page.ticking) {
    await page.session.send("Performance.enable", { timeDomain: "threadTicks" });
    page.ticking = true;
  }
  const { metrics } = await page.session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
}

/** Return a function that performs an interaction and records the browser's measurements. */
function stopwatch(page, seen) {
  return async (where, what, act) => {
    await page.evaluate(() => window.measured());
    const before = await cpuOf(page);
    await act();
    const { event, task } = await page.evaluate(() => window.measured());
    const name = `${where} | ${what}`;
    const row = seen.get(name) ?? { events: [], tasks: [], cpu: [] };
    seen.set(name, row);
    row.events.push(event);
    row.tasks.push(task);
    row.cpu.push(Math.round((await cpuOf(page)) - before));
    say(`${where}, ${what}: ${event} ms${task > 0 ? `, a task of ${task} ms` : ""}`);
  };
}

/** Runs in the page: measure the time from the next click until an element has a new text, and when its request was sent
 * and answered. Polling from outside would be less exact, because the pauses between polls grow to half a second. */
function fromClickToData([selector, path]) {
  // For a link, use its address: its text is the beginning of an id, and ids created at the same time begin alike.
  const text = () => {
    const element = document.querySelector(selector);
    return element?.getAttribute("href") ?? element?.textContent;
  };
  const before = text();
  window.waited = new Promise((done) => {
    const onClick = (event) => {
      const observer = new MutationObserver(() => {
        if (![undefined, before].includes(text())) {
          observer.disconnect();
          const took = performance.now() - event.timeStamp;
          const request = performance
            .getEntriesByType("resource")
            .filter((e) => e.name.includes(path) && e.startTime > event.timeStamp - 500)
            .at(-1);
          const since = (at) => (at === undefined ? "?" : Math.round(at - event.timeStamp));
          done({ took, sent: since(request?.startTime), answered: since(request?.responseEnd) });
        }
      });
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    };
    document.addEventListener("click", onClick, { capture: true, once: true });
  });
}

/** Return a function that clicks and records the time until data from the server is shown. */
function waiting(page, seen) {
  return async (where, what, act, selector, path) => {
    const before = await cpuOf(page);
    await page.evaluate(() => performance.clearResourceTimings());
    await page.evaluate(fromClickToData, [selector, path]);
    await act();
    const { took: exactly, sent, answered } = await page.evaluate(() => window.waited);
    const took = Math.round(exactly);
    const name = `${where} | ${what}, until the data is there`;
    const row = seen.get(name) ?? { events: [], tasks: [0], cpu: [] };
    seen.set(name, row);
    row.events.push(took);
    row.cpu.push(Math.round((await cpuOf(page)) - before));
    say(`${where}, ${what}: asked after ${sent} ms, answered after ${answered}, data after ${took}`);
  };
}

/** Return the median. Of two middle values, the smaller one. */
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) / 2)];

/** Measure all parts in rounds. Each round uses a new page. */
async function interact(browser, server) {
  const seen = new Map();
  const problems = [];
  for (let round = 0; round < ROUNDS; round++) {
    const page = await openPage(browser, server);
    await page.addInitScript(watch);
    const time = stopwatch(page, seen);
    const wait = waiting(page, seen);
    for (const part of options.only.split(",")) {
      await PARTS[part](page, time, wait);
    }
    problems.push(...page.problems);
    await page.context().close();
  }
  const rows = [...seen].map(([name, { events, tasks, cpu }]) => ({
    name,
    cpu: median(cpu),
    median: median(events),
    worst: Math.max(...events),
    task: Math.max(...tasks),
  }));
  return { rows, problems };
}

/** Turn the mouse wheel twelve times, once per frame. */
async function scroll(page) {
  await page.mouse.move(700, 500);
  for (let i = 0; i < 12; i++) {
    await page.mouse.wheel(0, 900);
    await page.evaluate(() => new Promise((next) => requestAnimationFrame(next)));
  }
}

async function useDashboard(page, time) {
  const head = (name) => page.locator("thead").first().getByRole("button", { name });
  await page.goto("/ui/");
  await settled(page);
  await visible(page.getByRole("link", { name: BIG, exact: true }));
  for (const name of ["Pending", "Latency", "Name", "Name"]) {
    await time("dashboard", `sort by ${name.toLowerCase()}`, () => head(name).click());
  }
  await time("dashboard", "scroll 1,000 queues", () => scroll(page));
  await page.evaluate(() => document.getElementById("content").scrollTo(0, 0));
  await time("dashboard", "open the enqueue dialog", () => page.getByRole("button", { name: "Enqueue Job" }).click());
  await time("dashboard", "type into it", () => page.getByPlaceholder("e.g. emails").pressSequentially("mail.send"));
  await time("dashboard", "close it", () => page.keyboard.press("Escape"));
  await time("dashboard", "change the theme", () => page.getByRole("button", { name: "Dark theme" }).click());
  await page.getByRole("button", { name: "Light theme" }).click();
  await time("dashboard", "pause a queue", () => page.getByRole("button", { name: /^Pause / }).first().click());
  await page.getByRole("button", { name: /^Resume / }).first().click();
}

const nav = (page, name) => page.getByRole("navigation").getByRole("link", { name, exact: true });

/** Open the dashboard if no previous part has opened a page. */
async function begin(page) {
  if (page.url() === "about:blank") {
    await page.goto("/ui/");
    await settled(page);
    await visible(page.getByRole("img", { name: /^Jobs per/ }));
  }
}

async function useQueues(page, time) {
  await begin(page);
  await time("queues", "come from the dashboard", () => nav(page, "Queues").click());
  await visible(page.getByText(`All Queues (${QUEUES})`));
  const filter = page.getByLabel("Filter by name");
  await time("queues", "type a filter", () => filter.pressSequentially("tenant-09", { delay: 30 }));
  await time("queues", "clear the filter", () => filter.fill(""));
  await time("queues", "scroll 1,000 queues", () => scroll(page));
  await filter.fill(BIG);
  await time("queues", "open a queue", () => page.locator("tbody tr").first().click());
  await page.waitForURL(`**/ui/queues/${BIG}`);
  await visible(page.locator("tbody a"));
}

async function useQueue(page, time, wait) {
  const button = (name) => page.getByRole("button", { name, exact: true });
  const rows = page.locator("tbody tr");
  await begin(page);
  await nav(page, "Queues").click();
  await page.getByLabel("Filter by name").fill(BIG);
  const row = page.locator("tbody tr").first();
  await visible(row.getByText(BIG));
  await wait("queue", "open", () => row.click(), "table[aria-label=Jobs] tbody a", "/jobs/search");
  await visible(page.locator("tbody a"));
  await wait("queue", "filter by state", () => button("Dead").click(), "table[aria-label=Jobs] tbody a", "/jobs/search");
  await visible(page.locator("tbody").getByText("Dead"));
  await time("queue", "remove the filter", () => page.getByRole("button", { name: /^Dead/ }).click());
  await time("queue", "open the filters", () => page.getByRole("button", { name: /^Advanced filters/ }).click());
  const payload = page.getByLabel("Payload contains");
  await time("queue", "type a payload filter", () => payload.pressSequentially("user4242@", { delay: 30 }));
  await visible(page.getByText(/Jobs \(\d total\)/));
  await time("queue", "reset", () => button("Reset").click());
  await eventually("all jobs again", async () => (await rows.count()) >= 50);
  for (let pages = 2; pages <= 10; pages++) {
    await time("queue", `page ${pages}`, () => button("Load More").click());
    await visible(page.getByText(`${pages * 50} of`));
  }
  await time("queue", "scroll 500 jobs", () => scroll(page));
  await page.evaluate(() => document.getElementById("content").scrollTo(0, 0));
  await time("queue", "select 500 jobs", () => page.getByRole("checkbox").first().check());
  await time("queue", "ask for a bulk action", () =>
    page.locator(".sticky.bottom-0").getByRole("button", { name: "Move" }).click(),
  );
  await time("queue", "close it", () => page.keyboard.press("Escape"));
  await time("queue", "unselect", () => page.getByRole("checkbox").first().uncheck());
  await page.getByRole("heading", { level: 1 }).click();
  await time("queue", "walk by keyboard", async () => {
    for (let i = 0; i < 10; i++) {
      await page.keyboard.press("j");
    }
  });
  await time("queue", "open a job by a key", () => page.keyboard.press("Enter"));
  await page.waitForURL("**/ui/jobs/*");
  await page.goBack();
  await visible(page.locator("tbody a"));
  await wait("queue", "open a job", () => page.locator("tbody a").first().click(), ".facts", "/jobs/job_");
  await page.goBack();
  const other = await page.context().newPage();
  await other.goto("about:blank");
  await other.bringToFront();
  await time("queue", "come back to the tab", async () => {
    await page.bringToFront();
    await page.getByRole("heading", { level: 1 }).click();
  });
  await other.close();
}

/** Time ranges on the dashboard. */
async function useHistory(page, time, wait) {
  const range = (name) => page.getByRole("button", { name, exact: true });
  const charts = () => page.getByRole("img", { name: /^Jobs per/ });
  await begin(page);
  await nav(page, "Dashboard").click();
  await visible(charts());
  for (const name of ["Last day", "Last week", "Last 30 days"]) {
    await wait("history", name.toLowerCase(), () => range(name).click(), ".grid-2 .card", "/history?");
    await visible(charts());
  }
  // The data of these ranges is still in the page's cache, so it appears without waiting for the server.
  await time("history", "last hour again", () => range("Last hour").click());
  await visible(charts());
  await time("history", "last week again", () => range("Last week").click());
  await visible(charts());
  const box = await charts().first().boundingBox();
  await time("history", "drag across a chart", async () => {
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 });
    await page.mouse.up();
  });
  await page.waitForURL(/from=.*&to=/);
}

/** The jobs of all queues, the errors, and the palette. */
async function useJobs(page, time, wait) {
  const state = (name) => page.getByRole("button", { name, exact: true });
  await begin(page);
  await wait("jobs", "open", () => nav(page, "Jobs").click(), "table[aria-label=Jobs] tbody a", "/jobs/search");
  await wait("jobs", "filter by state", () => state("Dead").click(), "table[aria-label=Jobs] tbody a", "/jobs/search");
  await visible(page.locator("tbody a"));
  await wait("errors", "open", () => nav(page, "Errors").click(), "[data-testid=error-group]", "/errors?");
  await time("palette", "open", () => page.keyboard.press("Control+k"));
  const last = queueName(QUEUES - 1);
  await time("palette", "type", () => page.keyboard.type(last));
  await visible(page.getByRole("option", { name: new RegExp(last) }));
  await time("palette", "go to the queue", () => page.keyboard.press("Enter"));
  await page.waitForURL(`**/ui/queues/${last}`);
}

const PARTS = { dashboard: useDashboard, queues: useQueues, queue: useQueue, history: useHistory, jobs: useJobs };

/** Collect the garbage of a page and return what is left. */
async function left(session) {
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name) => metrics.find((m) => m.name === name).value;
  return { heap: of("JSHeapUsedSize"), nodes: of("Nodes"), listeners: of("JSEventListeners") };
}

async function soak(browser, server) {
  const addresses = { dashboard: "/ui/", "queue page": `/ui/queues/${BIG}`, "live tail": "/ui/events" };
  const open = [];
  for (const [name, address] of Object.entries(addresses)) {
    // One context per page, because a tab in the background would be idle.
    const page = await openPage(browser, server);
    await page.goto(address);
    await settled(page);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    open.push({ name, page, session, samples: [] });
  }
  for (let minute = 0; minute <= MINUTES; minute++) {
    if (minute > 0) {
      await new Promise((wake) => setTimeout(wake, 60_000));
    }
    for (const { name, session, samples } of open) {
      samples.push(await left(session));
      const { heap, nodes, listeners } = samples.at(-1);
      say(`minute ${minute}, ${name}: ${(heap / 1e6).toFixed(2)} MB, ${nodes} nodes, ${listeners} listeners`);
    }
  }
  const rows = open.map(({ name, samples, page }) => {
    const warm = samples.slice(Math.min(WARM_UP_MINUTES, samples.length - 1));
    const part = Math.max(1, Math.floor(warm.length / 4));
    // A single sample may be taken between two frames, while objects of the previous one still exist. Use medians.
    const middle = (list, of) => median(list.map((sample) => sample[of]));
    const both = (of) => [middle(warm.slice(0, part), of), middle(warm.slice(-part), of)];
    return { name, heap: both("heap"), nodes: both("nodes"), listeners: both("listeners"), problems: page.problems };
  });
  await Promise.all(open.map(({ page }) => page.context().close()));
  return rows;
}

const grew = ({ heap, nodes, listeners }) =>
  heap[1] > heap[0] * GROWTH.heap + GROWTH.heapBytes ||
  nodes[1] > nodes[0] * GROWTH.nodes + 50 ||
  listeners[1] > listeners[0] * GROWTH.listeners + 20;

/** True if other programs keep the machine so busy that the measured times are meaningless. */
const isBusy = () => loadavg()[0] > 2 * availableParallelism();

/** Measure the server's processor time for each request of the pages, one at a time. */
async function requestCosts(server) {
  // In ns, summed over all threads. The ticks of /proc/PID/stat are longer than most requests.
  const tasks = `/proc/${server.process.pid}/task`;
  const ofThread = (id) => Number(readFileSync(`${tasks}/${id}/schedstat`, "utf8").split(" ")[0]);
  const used = () => readdirSync(tasks).reduce((sum, id) => sum + ofThread(id), 0) / 1e6;
  const searches = [{ limit: 50 }, { state: ["dead"], limit: 50 }, { queue: BIG, limit: 50, sort: "priority" }];
  const requests = [
    ["GET", "/queues"], ["GET", "/workers"], ["GET", "/history?from=1h"], ["GET", "/history?from=24h"],
    ["GET", "/history?from=7d"], ["GET", `/history?from=7d&queue=${BIG}`], ["GET", "/errors?from=24h"],
    ["GET", "/errors?from=7d"], ...searches.map((body) => ["POST", "/jobs/search", body]),
  ];
  const costs = [];
  for (const [method, path, body] of requests) {
    const times = 20;
    const before = used();
    for (let i = 0; i < times; i++) {
      await server.must(method, path, body);
    }
    costs.push({ path: body === undefined ? path : `${path} ${JSON.stringify(body)}`, ms: (used() - before) / times });
    say(`${costs.at(-1).path}: ${costs.at(-1).ms.toFixed(2)} ms`);
  }
  return costs;
}

function report(rows, pages, costs, done) {
  const lines = [
    `${QUEUES} queues, ${JOBS} jobs, ${RATE} jobs a second enqueued, fetched and completed (${done} in all).`,
    "",
    `From the input to the next picture, in ms, in ${ROUNDS} rounds:`,
    "",
    "| Page | Interaction | Median | Longest | Longest task | Processor time |",
    "|---|---|---|---|---|---|",
    ...rows.map((r) => `| ${r.name} | ${r.median || "< 16"} | ${r.worst || "< 16"} | ${r.task || "< 50"} | ${r.cpu} |`),
    "",
    "Processor time of the server per request, in ms:",
    "",
    "| Request | ms |",
    "|---|---|",
    ...costs.map(({ path, ms }) => `| \`${path}\` | ${ms.toFixed(1)} |`),
    "",
    `Open for ${MINUTES} minutes; medians of the first and the last quarter after ${WARM_UP_MINUTES} minutes:`,
    "",
    "| Page | Heap, MB | Nodes | Listeners |",
    "|---|---|---|---|",
    ...pages.map(({ name, heap, nodes, listeners }) => {
      const pair = ([a, b], digits) => `${a.toFixed(digits)} → ${b.toFixed(digits)}`;
      return `| ${name} | ${pair(heap.map((b) => b / 1e6), 2)} | ${pair(nodes, 0)} | ${pair(listeners, 0)} |`;
    }),
    "",
  ];
  return lines.join("\n");
}

const filled = options.data !== undefined && existsSync(options.data);
const clock = await makeClock();
clock.set(filled ? 0 : -HOURS * 3600); // before the server starts, because its time never goes back
const server = await Server.startIn(options.data, clock.env, "--rate-limit-enabled=false", "--max-clock-jump=2h");
const browser = await openBrowser();
let broken = [];
let stop = () => Promise.resolve(0);
try {
  if (!filled) {
    say(`filling ${QUEUES} queues with ${JOBS} jobs`);
    const past = HOURS > 0 ? await history(server, clock) : 0;
    say(`${past} jobs of the past`);
    await fill(server, Math.max(0, JOBS - past));
  }
  await eventually("the view", () => viewIsCurrent(server), 600_000);
  say("filled");
  const costs = await requestCosts(server);
  stop = traffic(server);
  const busy = isBusy();
  if (busy) {
    say("other programs keep this machine busy: the times of the pages are not judged");
  }
  const { rows, problems } = await interact(browser, server);
  const pages = MINUTES > 0 ? await soak(browser, server) : [];
  const text = report(rows, pages, costs, await stop());
  process.stdout.write(text);
  if (options.out !== undefined) {
    await writeFile(options.out, text);
  }
  broken = [
    ...rows.filter((r) => !busy && r.median > LIMIT_MS).map((r) => `${r.name}: ${r.median} ms`),
    ...costs.filter(({ ms }) => ms > LIMIT_MS).map(({ path, ms }) => `${path}: ${ms} ms`),
    ...pages.filter(grew).map((r) => `${r.name} grew`),
    ...problems,
    ...pages.flatMap((p) => p.problems),
  ];
} finally {
  await stop();
  await browser.close();
  await server.close();
  await clock.remove();
}
if (broken.length > 0) {
  say(`broken:\n${broken.join("\n")}`);
  process.exitCode = 1;
}
