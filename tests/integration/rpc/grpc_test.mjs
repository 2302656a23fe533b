// The RPC service with @grpc/grpc-js and the schema file.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { PROTO_ROOT, require, Server, unique, workThrough } from "./harness.mjs";

const grpc = require("@grpc/grpc-js");
const { loadSync } = require("@grpc/proto-loader");

const { WorkerService } = grpc.loadPackageDefinition(
  loadSync("corvo/v1/worker.proto", { includeDirs: [PROTO_ROOT], longs: String, defaults: true })).corvo.v1;

let server, client, call;
before(async () => {
  server = await Server.start();
  client = new WorkerService(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
  call = (method, message, options = {}) => promisify(client[method].bind(client))(message, options);
});
after(async () => {
  client.close();
  await server.close();
});

const next = (stream) => new Promise((done, failed) => {
  stream.once("error", failed);
  stream.once("data", (answer) => {
    stream.pause();
    stream.removeListener("error", failed);
    done(answer);
  });
  stream.resume();
});

test("every unary method", async () => {
  const queue = unique();
  const { jobId } = await call("enqueue", { queue, payloadJson: '{"n":1}' });
  const got = await call("fetch", { queues: [queue], workerId: "w" });
  assert.deepEqual([got.found, got.jobId, got.payloadJson], [true, jobId, '{"n":1}']);
  const beat = await call("heartbeat", { jobs: { [jobId]: {}, job_none: {} } });
  assert.deepEqual([beat.jobs[jobId].status, beat.jobs.job_none.status], ["ok", "cancel"]);
  await call("ack", { jobId, leaseToken: got.leaseToken });
  await call("enqueue", { queue });
  await call("enqueue", { queue });
  const { jobs } = await call("fetchBatch", { queues: [queue], count: 2 });
  assert.equal((await call("fail", { jobId: jobs[0].jobId, error: "e" })).status, "retrying");
  assert.equal((await call("ackBatch", { items: jobs.map((job) => ({ jobId: job.jobId })) })).acked, 1);
  assert.match((await call("getServerInfo", {})).serverVersion, /^\d+\./);
});

test("errors, deadline, cancellation", async () => {
  const queue = unique();
  await assert.rejects(call("enqueue", {}), { code: grpc.status.INVALID_ARGUMENT, details: "queue is required" });
  assert.equal((await call("fetch", { queues: [queue] }, { deadline: Date.now() + 4000 })).found, false);
  await assert.rejects(new Promise((done, failed) => {
    const fetch = client.fetch({ queues: [queue] }, (error) => failed(error));
    setImmediate(() => fetch.cancel());
  }), { code: grpc.status.CANCELLED });
  const { jobId } = await call("enqueue", { queue });
  assert.equal((await call("fetch", { queues: [queue] })).jobId, jobId);
});

test("a stream with a thousand jobs, and half-close", async () => {
  const queue = unique(), stream = client.streamLifecycle();
  await workThrough((frame) => {
    stream.write(frame);
    return next(stream);
  }, queue);
  const status = new Promise((ended) => stream.once("status", ended));
  stream.end();
  stream.resume();
  assert.equal((await status).code, grpc.status.OK);
  assert.equal((await server.queue(queue)).completed, 1000);
});

test("a stream that is cancelled takes no job, and one has a deadline", async () => {
  const queue = unique(), waiting = client.streamLifecycle();
  waiting.write({ requestId: 1 });
  assert.equal((await next(waiting)).requestId, "1");
  waiting.write({ requestId: 2, queues: [queue], fetchCount: 1 });
  const answer = next(waiting);
  setImmediate(() => waiting.cancel());
  await assert.rejects(answer, { code: grpc.status.CANCELLED });
  const { jobId } = await call("enqueue", { queue });
  assert.equal((await call("fetch", { queues: [queue] })).jobId, jobId);
  await assert.rejects(next(client.streamLifecycle({ deadline: Date.now() + 300 })),
    { code: grpc.status.DEADLINE_EXCEEDED });
});

test("events, and a server that comes back", async () => {
  const queue = unique();
  const { jobId } = await call("enqueue", { queue });
  const events = client.subscribe({ queues: [queue] });
  const first = await next(events);
  assert.deepEqual([first.type, first.jobId], ["enqueued", jobId]);
  const ended = new Promise((done) => events.once("error", done));
  events.resume();
  const stream = client.streamLifecycle();
  stream.write({ requestId: 1 });
  assert.equal((await next(stream)).requestId, "1");
  const streamEnded = new Promise((done) => stream.once("status", done));
  stream.resume();
  await server.restart();
  assert.equal((await ended).code, grpc.status.UNAVAILABLE);
  assert.equal((await streamEnded).code, grpc.status.OK);
  await new Promise((done, failed) => client.waitForReady(Date.now() + 30_000, (e) => (e ? failed(e) : done())));
  const again = client.subscribe({ queues: [queue], lastEventId: first.seq });
  await call("fetch", { queues: [queue] });
  assert.equal((await next(again)).type, "started");
  again.once("error", () => undefined);
  again.cancel();
});
