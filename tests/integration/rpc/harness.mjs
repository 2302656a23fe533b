// The harness of the RPC tests: a server, the schema, and packages that are installed elsewhere.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const need = (name) => {
  assert.ok(process.env[name], `${name} is not set`);
  return process.env[name];
};

export const require = createRequire(join(need("CORVO_RPC_MODULES"), "package.json"));
export const uiRequire = process.env.CORVO_UI_MODULES
  ? createRequire(join(process.env.CORVO_UI_MODULES, "package.json")) : undefined;
export const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));
export const SERVICE = "corvo.v1.WorkerService";

const { createFileRegistry, create, fromBinary } = require("@bufbuild/protobuf");
const { FileDescriptorProtoSchema, FileDescriptorSetSchema } = require("@bufbuild/protobuf/wkt");

export class Server {
  static async start(...args) {
    const server = new Server();
    server.args = args;
    server.folder = await mkdtemp(join(tmpdir(), "corvo-rpc-"));
    await server.run("127.0.0.1:0");
    return server;
  }

  /** The same with TLS. The certificate for 127.0.0.1 is self-signed; clients trust it through `ca`. */
  static async startTls(...args) {
    const folder = await mkdtemp(join(tmpdir(), "corvo-rpc-tls-"));
    const [cert, key] = ["cert.pem", "key.pem"].map((name) => join(folder, name));
    execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
      "-keyout", key, "-out", cert], { stdio: "ignore" });
    const server = await Server.start("--tls-cert", cert, "--tls-key", key, ...args);
    server.ca = await readFile(cert);
    server.url = server.url.replace("http:", "https:");
    await rm(folder, { recursive: true });
    return server;
  }

  async run(bind) {
    const command = ["server", "--bind", bind, "--data-dir", this.folder, "--free-space-min", "0",
      "--rate-limit-enabled=false", "--segment-bytes", String(4 << 20), ...this.args];
    this.process = spawn(need("CORVO_BINARY"), command,
      { env: { PATH: process.env.PATH, LANG: "C.UTF-8" }, stdio: ["ignore", "ignore", "pipe"] });
    this.exited = new Promise((done) => this.process.once("exit", done));
    this.port = await new Promise((done, failed) => {
      createInterface(this.process.stderr).on("line", (line) => {
        if (line.includes('"msg":"corvo server ready"')) {
          done(JSON.parse(line).port);
        }
      });
      this.process.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
    });
    this.url = `http://127.0.0.1:${this.port}`;
  }

  /** Stop the server and start it again on the same port with the same data. */
  async restart() {
    await this.stop();
    await this.run(`127.0.0.1:${this.port}`);
  }

  async stop() {
    this.process.kill("SIGTERM");
    assert.equal(await this.exited, 0, "the exit code of the server");
  }

  async close() {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async queue(name) {
    const answer = await fetch(`${this.url}/api/v1/queues/${name}`);
    return answer.json();
  }
}

/** Return the description of the service, from which clients are created. Read from the server through reflection. */
export async function describe(server) {
  const { Client, credentials } = require("@grpc/grpc-js");
  const client = new Client(`127.0.0.1:${server.port}`,
    server.ca ? credentials.createSsl(server.ca) : credentials.createInsecure());
  const text = (number, value) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), Buffer.from(value)]);
  const files = [];
  const call = client.makeBidiStreamRequest("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    (question) => question, (bytes) => bytes);
  call.write(text(3, "google/protobuf/timestamp.proto"));
  call.write(text(4, SERVICE));
  call.end();
  for await (const answer of call) {
    files.push(fromBinary(FileDescriptorProtoSchema, fileOf(answer)));
  }
  client.close();
  return createFileRegistry(create(FileDescriptorSetSchema, { file: files })).getService(SERVICE);
}

/** The first file in a ServerReflectionResponse: field 1 of field 4. */
function fileOf(answer) {
  const { BinaryReader } = require("@bufbuild/protobuf/wire");
  const bytesOf = (bytes, wanted) => {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag();
      if (number === wanted) {
        return reader.bytes();
      }
      reader.skip(wire, number);
    }
    throw new Error(`no field ${wanted}`);
  };
  return bytesOf(bytesOf(answer, 4), 1);
}

/** Enqueue, fetch and ack a thousand jobs with lifecycle frames. exchange() sends a frame and returns the response. */
export async function workThrough(exchange, queue, jobs = 1000) {
  const made = await exchange({ requestId: 1, enqueues: Array(jobs).fill({ queue }) });
  assert.equal(made.enqueuedJobIds.length, jobs);
  let done = 0, acks = [];
  for (let requestId = 2; done < jobs; requestId += 1) {
    const answer = await exchange({ requestId, queues: [queue], fetchCount: 100, acks });
    assert.deepEqual([Number(answer.requestId), answer.error], [requestId, ""]);
    done += answer.acked;
    acks = answer.jobs.map(({ jobId, leaseToken }) => ({ jobId, leaseToken }));
  }
}

let names = 0;
export const unique = () => `q.${process.pid}.${(names += 1)}`;

/** A queue of frames, as the async iterable that clients require. */
export class Frames {
  frames = [];
  wake = () => undefined;
  ended = false;

  put(frame) {
    this.frames.push(frame);
    this.wake();
  }

  end() {
    this.ended = true;
    this.wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.frames.length > 0) {
        yield this.frames.shift();
      }
      if (this.ended) {
        return;
      }
      await new Promise((done) => (this.wake = done));
    }
  }
}
