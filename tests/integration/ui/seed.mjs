// Create data for every page, through the public API.

export async function seed(server) {
  const ids = { dead: [], held: [], scheduled: [], pending: [] };
  const hour = (n) => new Date(Date.now() + n * 3_600_000).toISOString();

  for (let i = 0; i < 6; i++) {
    const error = ["SMTP connection timeout", "HTTP 503 from upstream", "out of memory"][i % 3];
    ids.dead.push(await server.dead("emails.send", { payload: { to: `user${i}@example.com`, template: "welcome" } }, error));
  }
  for (let i = 0; i < 8; i++) {
    const id = await server.enqueue("reports.generate", { payload: { report: "daily", day: i } });
    await server.fetch("reports.generate");
    await server.post(`/ack/${id}`, { result: { pages: i + 3 } });
  }
  for (let i = 0; i < 12; i++) {
    ids.pending.push(
      await server.enqueue("emails.send", {
        payload: { to: `customer${i}@example.com`, template: i % 2 === 0 ? "welcome" : "invoice", amount: i * 25 },
        priority: ["critical", "high", "normal"][i % 3],
        tags: { tenant: i % 2 === 0 ? "acme" : "globex" },
      }),
    );
  }
  for (let i = 1; i <= 3; i++) {
    ids.scheduled.push(await server.enqueue("reports.generate", { scheduled_at: hour(i * 7), payload: { report: "weekly", n: i } }));
  }
  for (const reason of ["needs a second pair of eyes", "amount over the limit"]) {
    const id = await server.enqueue("payments.capture", { payload: { amount: 1200, reason } });
    await server.post(`/jobs/${id}/hold`, { reason });
    ids.held.push(id);
  }
  await seedAgent(server, ids);
  await seedPolicies(server, ids);
  await seedActive(server, ids);
  await seedChain(server, ids);
  await server.post("/schedules", {
    name: "daily-report",
    queue: "reports.generate",
    cron: "0 9 * * 1-5",
    timezone: "America/New_York",
    payload: { type: "daily" },
  });
  await server.post("/schedules", { name: "cleanup", queue: "maintenance", cron: "@every 6h", payload: {} });
  await server.post("/queues/maintenance/pause");
  await server.post("/queues/emails.send/throttle", { rate: 200, window_ms: 60_000 });
  await server.post("/queues/emails.send/concurrency", { max: 10 });
  return ids;
}

async function seedAgent(server, ids) {
  const usage = (cost) => ({ input_tokens: 5200, output_tokens: 840, cache_read_tokens: 3000, cache_creation_tokens: 900, model: "model-a", provider: "house", cost_usd: cost });
  ids.agent = await server.enqueue("agents.research", {
    payload: { task: "compare offers" },
    agent: { max_iterations: 5, max_cost_usd: 2 },
  });
  for (let i = 1; i <= 2; i++) {
    await server.fetch("agents.research");
    await server.post(`/ack/${ids.agent}`, { agent_status: "continue", checkpoint: { step: i }, usage: usage(0.21 * i) });
  }
}

/** Two policies, and an agent that one of them holds. */
async function seedPolicies(server, ids) {
  const queue = "payments.capture";
  await server.post("/approval-policies", { name: "large payments", mode: "all", queue, tag_key: "risk", tag_value: "high" });
  await server.post("/approval-policies", { name: "not reviewed", tag_key: "reviewed", enabled: false });
  ids.guarded = await server.enqueue(queue, { payload: { payout: 48_000 }, tags: { risk: "high" }, agent: {} });
  await server.fetch(queue);
  await server.post(`/ack/${ids.guarded}`, { agent_status: "continue" });
}

/** Send a heartbeat for the active job, which renews its lease for a minute. */
export const beat = (server, ids, news = {}) => server.post("/heartbeat", { jobs: { [ids.active]: news } });

async function seedActive(server, ids) {
  ids.active = await server.enqueue("video.encode", { payload: { file: "talk.mp4", big: 12345678901 } });
  await server.fetch("video.encode", { worker_id: "worker-b2", hostname: "pod-2" });
  await beat(server, ids, { progress: { current: 450, total: 1000, message: "Encoding segment 45" } });
}

async function seedChain(server, ids) {
  ids.chain = await server.enqueue("ai.extract", {
    payload: { url: "report.pdf" },
    chain: { steps: [{ queue: "ai.extract" }, { queue: "ai.summarize" }] },
  });
  await server.fetch("ai.extract");
  await server.post(`/ack/${ids.chain}`, { result: { pages: 3 } });
}
