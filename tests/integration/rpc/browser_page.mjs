// Runs in the browser: bundled by browser_test.mjs, which calls the functions below on window.
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";

const makers = { connect: createConnectTransport, "grpc-web": createGrpcWebTransport };

const codeOf = (promise) => promise.then(() => "", (error) => Code[ConnectError.from(error).code]);

/** Return a client for one protocol. A page cannot send streams, because its fetch() does not support streaming bodies. */
const clientOf = (kind, baseUrl, description) => {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, new Uint8Array(description)));
  return createClient(registry.getService("corvo.v1.WorkerService"), makers[kind]({ baseUrl }));
};

async function events(worker, question, count, options) {
  const found = [];
  for await (const event of worker.subscribe(question, options)) {
    if (event.type !== "" && found.push(event) === count) {
      break;
    }
  }
  return found;
}

/** Every unary method, and Subscribe. */
window.methods = async (kind, baseUrl, description, queue) => {
  const worker = clientOf(kind, baseUrl, description);
  const { jobId } = await worker.enqueue({ queue, payloadJson: '{"n":1}' });
  const got = await worker.fetch({ queues: [queue], workerId: "browser" });
  const beat = await worker.heartbeat({ jobs: { [jobId]: { progressJson: '{"at":1}' }, job_none: {} } });
  await worker.ack({ jobId, leaseToken: got.leaseToken });
  for (let i = 0; i < 2; i += 1) {
    await worker.enqueue({ queue });
  }
  const { jobs } = await worker.fetchBatch({ queues: [queue], count: 2 });
  const failed = await worker.fail({ jobId: jobs[0].jobId, error: "broken" });
  const { acked } = await worker.ackBatch({ items: jobs.map((job) => ({ jobId: job.jobId })) });
  const info = await worker.getServerInfo({});
  const seen = await events(worker, { jobIds: [jobId] }, 4);
  const rest = await events(worker, { jobIds: [jobId], lastEventId: seen[1].seq }, 2);
  return {
    same: got.jobId === jobId,
    beats: [beat.jobs[jobId].status, beat.jobs.job_none.status],
    failed: failed.status,
    acked,
    version: /^\d+\./.test(info.serverVersion),
    types: seen.map((event) => event.type),
    resumed: rest.map((event) => event.type),
  };
};

/** Wait until this many fetches are waiting: calls of a page use separate connections and arrive in any order. */
async function fetchesWait(baseUrl, count) {
  for (;;) {
    const status = await (await fetch(`${baseUrl}/api/v1/cluster/status`)).json();
    if (status.admission_stats.fetches_waiting === count) {
      return;
    }
  }
}

/** Errors, deadlines and cancellation. */
window.endings = async (kind, baseUrl, description, queue) => {
  const worker = clientOf(kind, baseUrl, description), stop = new AbortController();
  const refused = await codeOf(worker.enqueue({}));
  const late = await worker.fetch({ queues: [queue] }, { timeoutMs: 4000 });
  const lateEvents = await codeOf(events(worker, { queues: [queue] }, 1, { timeoutMs: 300 }));
  const waiting = codeOf(worker.fetch({ queues: [queue] }, { signal: stop.signal }));
  await fetchesWait(baseUrl, 1);
  stop.abort();
  const cancelled = await waiting;
  await fetchesWait(baseUrl, 0);
  const { jobId } = await worker.enqueue({ queue });
  const next = await worker.fetch({ queues: [queue] });
  return { refused, late: late.found, lateEvents, cancelled, next: next.jobId === jobId };
};

/** A subscription during a restart of the server. restarted() returns after the restart, when the subscription has ended. */
window.restart = async (kind, baseUrl, description, queue) => {
  const worker = clientOf(kind, baseUrl, description);
  const { jobId } = await worker.enqueue({ queue });
  const [first] = await events(worker, { queues: [queue] }, 1);
  const ended = codeOf(events(worker, { queues: [queue], lastEventId: first.seq }, 1));
  await window.restarted();
  const code = await ended;
  const got = await worker.fetch({ queues: [queue] });
  const [next] = await events(worker, { queues: [queue], lastEventId: first.seq }, 1);
  return { ended: code !== "", same: got.jobId === jobId, next: next.type };
};

/** Lifecycle frames as unary calls (rpc.md 11.9), for workers without streams. */
window.exchange = async (baseUrl, queue) => {
  const frame = async (message) => {
    const answer = await fetch(`${baseUrl}/corvo.v1.WorkerService/StreamLifecycle`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(message) });
    return answer.json();
  };
  const made = await frame({ requestId: "1", enqueues: [{ queue }, { queue }] });
  const got = await frame({ requestId: "2", queues: [queue], fetchCount: 2 });
  const done = await frame({ requestId: "3", acks: got.jobs.map(({ jobId }) => ({ jobId })) });
  return [made.enqueuedJobIds.length, got.jobs.length, done.acked];
};
