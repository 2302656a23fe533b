// A Corvo worker in TypeScript, without packages. Node.js 22.18 and newer run it directly. For older
// versions compile it first: tsc worker.ts --target es2022 --module esnext --moduleResolution bundler
//
//   CORVO_URL=http://localhost:8080 node worker.ts emails [--once]
import { hostname } from "node:os";

interface Job {
  job_id: string;
  payload: { to?: string };
  attempt: number;
  lease_token: number;
  lease_duration: number;
}

interface Heartbeat {
  jobs: Record<string, { status: "ok" | "cancel" | "not_found" }>;
}

const base = `${process.env.CORVO_URL ?? "http://localhost:8080"}/api/v1`;
const workerId = `${hostname()}-${process.pid}`;
let stopping = false;
process.on("SIGTERM", () => (stopping = true));

async function call<Answer>(path: string, body: unknown): Promise<Answer | null> {
  const key = process.env.CORVO_API_KEY;
  const headers = { "Content-Type": "application/json", ...(key ? { "X-API-Key": key } : {}) };
  const answer = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text === "" ? null : (JSON.parse(text) as Answer);
}

/** Your code. Throw to fail the attempt; return a value to store it as the result. */
async function handle(job: Job, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  return { greeted: job.payload?.to ?? "nobody" };
}

async function work(job: Job): Promise<void> {
  const cancelled = new AbortController();
  const timer = setInterval(async () => {
    const answer = await call<Heartbeat>("/heartbeat", { jobs: { [job.job_id]: {} } }).catch(() => null);
    if (answer?.jobs[job.job_id]?.status === "cancel") cancelled.abort();
  }, (job.lease_duration * 1000) / 3);
  let path: string, outcome: object;
  try {
    [path, outcome] = ["ack", { result: await handle(job, cancelled.signal) }];
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    [path, outcome] = ["fail", { error: message, backtrace: stack }];
  } finally {
    clearInterval(timer);
  }
  if (!cancelled.signal.aborted) await call(`/${path}/${job.job_id}`, { ...outcome, lease_token: job.lease_token });
}

const [queue, flag] = process.argv.slice(2);
while (!stopping) {
  try {
    const want = { queues: [queue], worker_id: workerId, hostname: hostname(), timeout: 30 };
    const job = await call<Job>("/fetch", want);
    if (job?.job_id) {
      await work(job);
      if (flag === "--once") break;
    }
  } catch (error) {
    console.error("trying again:", String(error));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
