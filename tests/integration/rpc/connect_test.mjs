// The RPC service with @connectrpc/connect-node, over each of its transports.
import assert from "node:assert/strict";
import { after, before, describe as group, test } from "node:test";

import { describe, Frames, require, Server, unique, workThrough } from "./harness.mjs";

const { Code, ConnectError, createClient } = require("@connectrpc/connect");
const { createConnectTransport, createGrpcTransport, createGrpcWebTransport, compressionGzip } =
  require("@connectrpc/connect-node");

let server, service;
before(async () => {
  server = await Server.start("--no-compression=false");
  service = await describe(server);
});
after(() => server.close());

const transports = {
  "Connect, HTTP/2": (url, more) => createConnectTransport({ baseUrl: url, httpVersion: "2", ...more }),
  "Connect, HTTP/2, JSON": (url, more) =>
    createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: false, ...more }),
  "Connect, HTTP/1.1": (url, more) => createConnectTransport({ baseUrl: url, httpVersion: "1.1", ...more }),
  gRPC: (url, more) => createGrpcTransport({ baseUrl: url, ...more }),
  "gRPC, gzip": (url, more) => createGrpcTransport({ baseUrl: url, sendCompression: compressionGzip,
    compressMinBytes: 0, ...more }),
  "gRPC-Web, HTTP/2": (url, more) => createGrpcWebTransport({ baseUrl: url, httpVersion: "2", ...more }),
  "gRPC-Web, HTTP/1.1": (url, more) => createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", ...more }),
};

async function fails(code, promise) {
  await assert.rejects(promise, (error) => {
    assert.equal(Code[ConnectError.from(error).code], Code[code], error);
    return true;
  });
}

/** Skip keepalive events, which the server may send at any time. */
async function* told(events) {
  for await (const event of events) {
    if (event.type !== "") {
      yield event;
    }
  }
}

for (const [name, transport] of Object.entries(transports)) {
  group(name, () => {
    const client = (more) => createClient(service, transport(server.url, more));

    test("every unary method", async () => {
      const queue = unique(), worker = client();
      const job = await worker.enqueue({ queue, payloadJson: '{"n":1}' });
      assert.equal(job.status, "pending");
      const got = await worker.fetch({ queues: [queue], workerId: "w", leaseDuration: 30 });
      assert.deepEqual([got.found, got.jobId, got.payloadJson, got.attempt], [true, job.jobId, '{"n":1}', 1]);
      const beat = await worker.heartbeat({ jobs: { [job.jobId]: { progressJson: '{"at":1}' }, job_none: {} } });
      assert.deepEqual([beat.jobs[job.jobId].status, beat.jobs.job_none.status], ["ok", "cancel"]);
      await worker.ack({ jobId: job.jobId, resultJson: "{}", leaseToken: got.leaseToken });
      const ids = [];
      for (let i = 0; i < 3; i += 1) {
        ids.push((await worker.enqueue({ queue })).jobId);
      }
      const batch = await worker.fetchBatch({ queues: [queue], count: 3 });
      assert.deepEqual(batch.jobs.map((one) => one.jobId), ids);
      const failed = await worker.fail({ jobId: ids[0], error: "broken" });
      assert.deepEqual([failed.status, failed.attemptsRemaining], ["retrying", 2]);
      assert.ok(failed.nextAttemptAt.seconds > 0n);
      assert.equal((await worker.ackBatch({ items: ids.map((jobId) => ({ jobId })) })).acked, 2);
      assert.match((await worker.getServerInfo({})).serverVersion, /^\d+\./);
    });

    test("errors, deadlines, cancellation", async () => {
      const queue = unique(), worker = client();
      await fails(Code.InvalidArgument, worker.enqueue({}));
      await fails(Code.NotFound, worker.ack({ jobId: `job_${"0".repeat(26)}` }));
      assert.equal((await worker.fetch({ queues: [queue] }, { timeoutMs: 4000 })).found, false);
      const stop = new AbortController();
      const waiting = worker.fetch({ queues: [queue] }, { signal: stop.signal });
      setImmediate(() => stop.abort());
      await fails(Code.Canceled, waiting);
      const job = await worker.enqueue({ queue });
      assert.equal((await worker.fetch({ queues: [queue] })).jobId, job.jobId);
    });

    test("subscribe", async () => {
      const queue = unique(), worker = client(), seen = [];
      const jobs = [await worker.enqueue({ queue }), await worker.enqueue({ queue })];
      const stop = new AbortController();
      for await (const event of told(worker.subscribe({ queues: [queue], types: ["enqueued"] }, { signal: stop.signal }))) {
        seen.push(event);
        if (seen.length === 2) {
          break;
        }
      }
      assert.deepEqual(seen.map((event) => event.jobId), jobs.map((job) => job.jobId));
      const rest = told(worker.subscribe({ queues: [queue], lastEventId: seen[0].seq }));
      for await (const event of rest) {
        assert.equal(event.seq, seen[1].seq);
        break;
      }
      await fails(Code.DeadlineExceeded, (async () => {
        for await (const event of worker.subscribe({ queues: [unique()] }, { timeoutMs: 200 })) {
          assert.equal(event.type, "");
        }
      })());
    });

    if (!name.includes("1.1")) {
      const open = (options, worker = client()) => {
        const frames = new Frames();
        const answers = worker.streamLifecycle(frames, options)[Symbol.asyncIterator]();
        const exchange = async ({ requestId, ...frame }) => {
          frames.put({ requestId: BigInt(requestId), ...frame });
          return (await answers.next()).value;
        };
        return { frames, answers, exchange };
      };

      test("a stream with a thousand jobs, and half-close", async () => {
        const queue = unique(), { frames, answers, exchange } = open();
        await workThrough(exchange, queue);
        frames.end();
        assert.equal((await answers.next()).done, true);
        assert.equal((await server.queue(queue)).completed, 1000);
      });

      test("a stream that is cancelled takes no job, and one has a deadline", async () => {
        // Both calls use one connection, so the next call arrives after the cancellation.
        const queue = unique(), worker = client(), stop = new AbortController();
        const waiting = open({ signal: stop.signal }, worker);
        assert.equal((await waiting.exchange({ requestId: 1 })).requestId, 1n);
        const answer = waiting.exchange({ requestId: 2, queues: [queue], fetchCount: 1 });
        setImmediate(() => stop.abort());
        await fails(Code.Canceled, answer);
        const job = await worker.enqueue({ queue });
        assert.equal((await worker.fetch({ queues: [queue] })).jobId, job.jobId);
        await fails(Code.DeadlineExceeded, open({ timeoutMs: 300 }).answers.next());
      });
    }

    test("a server that comes back is used again", async (t) => {
      const own = await Server.start("--no-compression=false"), queue = unique();
      t.after(() => own.close());
      const worker = createClient(service, transport(own.url));
      const job = await worker.enqueue({ queue });
      const events = worker.subscribe({ queues: [queue] })[Symbol.asyncIterator]();
      const first = (await events.next()).value;
      const frames = new Frames(), streams = !name.includes("1.1");
      const answers = streams ? worker.streamLifecycle(frames)[Symbol.asyncIterator]() : undefined;
      if (streams) {
        frames.put({ requestId: 1n });
        assert.equal((await answers.next()).value.requestId, 1n);
      }
      const ended = Promise.all([fails(Code.Unavailable, events.next()),
        streams ? answers.next().then(({ done }) => assert.ok(done)) : undefined]);
      await own.restart();
      await ended;
      frames.end();
      assert.equal((await worker.fetch({ queues: [queue] })).jobId, job.jobId);
      for await (const event of worker.subscribe({ queues: [queue], lastEventId: first.seq })) {
        assert.deepEqual([event.type, event.seq], ["started", first.seq + 1n]);
        break;
      }
    });
  });
}
