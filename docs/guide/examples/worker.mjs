// A Corvo worker in JavaScript (Node.js 18 or newer), without packages. TypeScript can check the JSDoc types.
//
//   CORVO_URL=http://localhost:8080 node worker.mjs emails [--once]
import { hostname } from "node:os";

const base = `${process.env.CORVO_URL ?? "http://localhost:8080"}/api/v1`;
const worker = `${hostname()}-${process.pid}`;
let stopping = false;
process.on("SIGTERM", () => (stopping = true));

/** @typedef {{ job_id: string, payload: any, attempt: number, lease_token: number, lease_duration: number }} Job */

/** @param {string} path @param {unknown} body */
async function call(path, body) {
  const key = process.env.CORVO_API_KEY;
  const headers = { "Content-Type": "application/json", ...(key ? { "X-API-Key": key } : {}) };
  const answer = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** Your code. Throw to fail the attempt; return a value to store it as the result. @param {Job} job */
async function handle(job) {
  return { greeted: job.payload?.to ?? "nobody" };
}

/** @param {Job} job */
async function work(job) {
  let cancelled = false;
  const beat = setInterval(async () => {
    const answer = await call("/heartbeat", { jobs: { [job.job_id]: {} } }).catch(() => null);
    cancelled ||= answer?.jobs?.[job.job_id]?.status === "cancel";
  }, (job.lease_duration * 1000) / 3);
  let path, outcome;
  try {
    [path, outcome] = ["ack", { result: await handle(job) }];
  } catch (error) {
    [path, outcome] = ["fail", { error: String(error), backtrace: error?.stack }];
  } finally {
    clearInterval(beat);
  }
  if (!cancelled) await call(`/${path}/${job.job_id}`, { ...outcome, lease_token: job.lease_token });
}

const [queue, flag] = process.argv.slice(2);
while (!stopping) {
  try {
    const job = await call("/fetch", { queues: [queue], worker_id: worker, hostname: hostname(), timeout: 30 });
    if (job?.job_id) {
      await work(job);
      if (flag === "--once") break;
    }
  } catch (error) {
    console.error("trying again:", String(error));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
