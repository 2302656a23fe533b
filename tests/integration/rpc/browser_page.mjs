// Runs in the browser: bundled by browser_test.mjs, which calls window.run.
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";

const makers = { connect: createConnectTransport, "grpc-web": createGrpcWebTransport };

window.run = async (kind, baseUrl, description, queue) => {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, new Uint8Array(description)));
  const worker = createClient(registry.getService("corvo.v1.WorkerService"), makers[kind]({ baseUrl }));
  const { jobId } = await worker.enqueue({ queue, payloadJson: '{"n":1}' });
  const got = await worker.fetch({ queues: [queue], workerId: "browser" });
  await worker.ack({ jobId, leaseToken: got.leaseToken });
  const types = [];
  const stop = new AbortController();
  for await (const event of worker.subscribe({ jobIds: [jobId] }, { signal: stop.signal })) {
    types.push(event.type);
    if (types.length === 3) {
      break;
    }
  }
  stop.abort();
  const refused = await worker.enqueue({}).catch((error) => Code[ConnectError.from(error).code]);
  return { same: got.jobId === jobId, types, refused };
};
