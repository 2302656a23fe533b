// The RPC service with @connectrpc/connect-web in Chromium, from a page of another origin.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { describe, require, Server, uiRequire, unique } from "./harness.mjs";

const { create, toBinary } = require("@bufbuild/protobuf");
const { FileDescriptorSetSchema } = require("@bufbuild/protobuf/wkt");

let server, pages, browser, page, description, restarting;
before(async () => {
  const { build } = uiRequire("esbuild");
  const { chromium } = uiRequire("playwright-core");
  server = await Server.start();
  const { file } = await describe(server);
  description = [...toBinary(FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [...file.dependencies.map((f) => f.proto), file.proto] }))];
  const bundle = await build({
    entryPoints: [fileURLToPath(new URL("browser_page.mjs", import.meta.url))],
    bundle: true, write: false, format: "iife",
    nodePaths: [`${process.env.CORVO_RPC_MODULES}/node_modules`],
  });
  pages = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html>"));
  await new Promise((done) => pages.listen(0, "127.0.0.1", done));
  browser = await chromium.launch({ executablePath: process.env.CORVO_CHROMIUM ?? "/usr/bin/chromium-headless-shell",
    args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  page = await browser.newPage();
  await page.exposeFunction("restarted", () => restarting());
  await page.goto(`http://127.0.0.1:${pages.address().port}/`);
  await page.addScriptTag({ content: bundle.outputFiles[0].text });
});
after(async () => {
  await browser?.close();
  pages?.close();
  await server?.close();
});

const run = (name, ...args) => page.evaluate(([fn, ...rest]) => window[fn](...rest), [name, ...args]);

for (const kind of ["connect", "grpc-web"]) {
  test(`connect-web: ${kind}`, async () => {
    assert.deepEqual(await run("methods", kind, server.url, description, unique()), {
      same: true, beats: ["ok", "cancel"], failed: "retrying", acked: 1, version: true,
      types: ["enqueued", "started", "progress", "completed"], resumed: ["progress", "completed"],
    });
  });

  test(`connect-web: ${kind}: errors, deadlines, cancellation`, async () => {
    assert.deepEqual(await run("endings", kind, server.url, description, unique()), {
      refused: "InvalidArgument", late: false, lateEvents: "DeadlineExceeded", cancelled: "Canceled", next: true,
    });
  });

  test(`connect-web: ${kind}: a server that comes back is used again`, async () => {
    restarting = () => server.restart();
    assert.deepEqual(await run("restart", kind, server.url, description, unique()),
      { ended: true, same: true, next: "started" });
  });
}

test("a frame as a call", async () => {
  assert.deepEqual(await run("exchange", server.url, unique()), [2, 2, 2]);
});
