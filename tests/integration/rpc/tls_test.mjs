// The RPC service over TLS, on the same port as all other services. Clients negotiate HTTP/2 or HTTP/1.1 with ALPN.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { describe, Frames, PROTO_ROOT, require, Server, unique, workThrough } from "./harness.mjs";

const grpc = require("@grpc/grpc-js");
const { loadSync } = require("@grpc/proto-loader");
const { createClient } = require("@connectrpc/connect");
const { createConnectTransport, createGrpcTransport, createGrpcWebTransport } = require("@connectrpc/connect-node");

let server, service;
before(async () => {
  server = await Server.startTls();
  service = await describe(server);
});
after(() => server?.close());

const transports = {
  "Connect, HTTP/2": (more) => createConnectTransport({ httpVersion: "2", ...more }),
  "Connect, HTTP/1.1": (more) => createConnectTransport({ httpVersion: "1.1", ...more }),
  gRPC: (more) => createGrpcTransport(more),
  "gRPC-Web, HTTP/2": (more) => createGrpcWebTransport({ httpVersion: "2", ...more }),
  "gRPC-Web, HTTP/1.1": (more) => createGrpcWebTransport({ httpVersion: "1.1", ...more }),
};

for (const [name, transport] of Object.entries(transports)) {
  test(name, async () => {
    const queue = unique(), worker = createClient(service, transport({ baseUrl: server.url, nodeOptions: { ca: server.ca } }));
    const job = await worker.enqueue({ queue, payloadJson: '{"n":1}' });
    assert.equal((await worker.fetch({ queues: [queue] })).jobId, job.jobId);
    await worker.ack({ jobId: job.jobId });
    const types = [];
    for await (const event of worker.subscribe({ jobIds: [job.jobId] })) {
      if (types.push(event.type) === 3) {
        break;
      }
    }
    assert.deepEqual(types, ["enqueued", "started", "completed"]);
    if (!name.includes("1.1")) {
      const frames = new Frames(), answers = worker.streamLifecycle(frames)[Symbol.asyncIterator]();
      await workThrough(async ({ requestId, ...frame }) => {
        frames.put({ requestId: BigInt(requestId), ...frame });
        return (await answers.next()).value;
      }, unique());
      frames.end();
      assert.equal((await answers.next()).done, true);
    }
  });
}

test("@grpc/grpc-js", async () => {
  const { WorkerService } = grpc.loadPackageDefinition(
    loadSync("corvo/v1/worker.proto", { includeDirs: [PROTO_ROOT], longs: String, defaults: true })).corvo.v1;
  const client = new WorkerService(`127.0.0.1:${server.port}`, grpc.credentials.createSsl(server.ca));
  const queue = unique();
  const { jobId } = await promisify(client.enqueue.bind(client))({ queue });
  assert.equal((await promisify(client.fetch.bind(client))({ queues: [queue] })).jobId, jobId);
  const stream = client.streamLifecycle();
  await workThrough((frame) => {
    stream.write(frame);
    return new Promise((done, failed) => {
      stream.once("error", failed);
      stream.once("data", (answer) => {
        stream.pause();
        stream.removeListener("error", failed);
        done(answer);
      });
      stream.resume();
    });
  }, unique());
  const status = new Promise((ended) => stream.once("status", ended));
  stream.end();
  stream.resume();
  assert.equal((await status).code, grpc.status.OK);
  client.close();
});

test("who does not trust the certificate is not served", async () => {
  const worker = createClient(service, createGrpcTransport({ baseUrl: server.url }));
  await assert.rejects(worker.getServerInfo({}), /self-signed certificate/);
});
