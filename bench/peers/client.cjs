// Clients of the peers with JavaScript libraries: enqueue jobs with CONCURRENCY requests in flight,
// then process all of them. Prints one line of JSON with the duration of each phase in seconds.
//
//   client.cjs bullmq|pg-boss PORT JOBS CONCURRENCY BATCH
"use strict";

const [peer, port, jobs, concurrency, batch] = process.argv.slice(2).map((text) => (/^\d+$/.test(text) ? Number(text) : text));
const payload = { to: "user@example.com", template: "welcome", n: 12345 };
const NAME = "bench";

// Distribute all jobs over `concurrency` loops, in steps of up to `step` jobs.
async function spread(step, work) {
  let left = jobs;
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (left > 0) {
      const count = Math.min(step, left);
      left -= count;
      await work(count);
    }
  }));
}

async function seconds(work) {
  const from = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - from) / 1e9;
}

const peers = {
  async bullmq() {
    const { Queue, Worker } = require("bullmq");
    const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
    const queue = new Queue(NAME, { connection });
    await queue.waitUntilReady();
    const enqueue = batch === 1
      ? () => queue.add(NAME, payload)
      : (count) => queue.addBulk(Array.from({ length: count }, () => ({ name: NAME, data: payload })));
    // BullMQ's worker fetches by itself: completing a job also fetches the next one.
    let worker = null;
    const work = () => new Promise((resolve, reject) => {
      let done = 0;
      worker = new Worker(NAME, async () => null, { connection, concurrency });
      worker.on("error", reject);
      worker.on("completed", () => {
        done += 1;
        if (done === jobs) {
          resolve();
        }
      });
    });
    return {
      enqueue: await seconds(() => spread(batch, enqueue)),
      process: await seconds(work),
      left: await queue.count(),
      close: async () => { await worker.close(); await queue.close(); },
    };
  },

  async "pg-boss"() {
    const PgBoss = require("pg-boss");
    const boss = new PgBoss({ host: "127.0.0.1", port, user: "postgres", database: "postgres", max: concurrency, supervise: false, noScheduling: true });
    await boss.start();
    const enqueue = batch === 1
      ? () => boss.send(NAME, payload)
      : (count) => boss.insert(Array.from({ length: count }, () => ({ name: NAME, data: payload })));
    const work = async (count) => {
      let missing = count;
      while (missing > 0) {
        const got = batch === 1 ? [await boss.fetch(NAME)] : await boss.fetch(NAME, missing);
        const ids = (got ?? []).filter(Boolean).map((job) => job.id);
        if (ids.length > 0) {
          await boss.complete(batch === 1 ? ids[0] : ids);
        }
        missing -= ids.length;
      }
    };
    // Without statistics a fetch scans the whole table. Autovacuum would collect them within a minute.
    const analyze = async () => {
      const { Client } = require("pg");
      const client = new Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
      await client.connect();
      await client.query("ANALYZE");
      await client.end();
    };
    const enqueued = await seconds(() => spread(batch, enqueue));
    await analyze();
    return {
      enqueue: enqueued,
      process: await seconds(() => spread(batch, work)),
      left: await boss.getQueueSize(NAME),
      close: () => boss.stop({ graceful: false }),
    };
  },
};

peers[peer]().then(async ({ enqueue, process: processed, left, close }) => {
  console.log(JSON.stringify({ enqueue, process: processed, left }));
  await close();
  process.exit(0);
}).catch((error) => {
  console.error(error);
  process.exit(1);
});
