// The files of the interface as a browser receives them (http-api.md 20.7, ui.md 1).
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, it } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { Server } from "./harness.mjs";

describe("the files", () => {
  let server;
  before(async () => {
    server = await Server.start();
  });
  after(() => server.close());

  /** Send a raw request: redirects are not followed, and paths and bodies are neither normalized nor decoded. */
  const ask = (path, headers = {}, method = "GET") =>
    new Promise((done, failed) => {
      const req = request({ host: "127.0.0.1", port: server.port, path, method, headers }, (res) => {
        const chunks = [];
        res.on("data", (chunk) => chunks.push(chunk));
        res.on("end", () => done({ status: res.statusCode, headers: res.headers, body: Buffer.concat(chunks) }));
      });
      req.on("error", failed).end();
    });

  const assets = async () => {
    const { body } = await ask("/ui/");
    return [...body.toString().matchAll(/\/ui\/(assets\/[^"]+)/g)].map((match) => match[1]);
  };

  it("are found from the root", async () => {
    const long = `?${"x".repeat(8_000)}`;
    for (const query of ["", "?range=24h&queue=a%2Fb", long]) {
      const root = await ask(`/${query}`);
      assert.deepEqual([root.status, root.headers.location], [302, `/ui/${query}`]);
      const ui = await ask(`/ui${query}`);
      assert.deepEqual([ui.status, ui.headers.location], [301, `/ui/${query}`]);
    }
    assert.equal((await ask("/ui?")).headers.location, "/ui/");
  });

  it("give the same page for every path of the interface", async () => {
    const index = await ask("/ui/");
    assert.equal(index.status, 200);
    assert.equal(index.headers["content-type"], "text/html; charset=utf-8");
    assert.equal(index.headers["cache-control"], "no-cache");
    for (const path of ["/ui/jobs/x", "/ui/queues/a%2Fb", "/ui/queues/App%5CJobs", "/ui/no/such/page/at/all/of/this/depth"]) {
      assert.deepEqual((await ask(path)).body, index.body, path);
    }
  });

  it("are cached for ever where their name has a hash", async () => {
    const names = await assets();
    assert.ok(names.some((name) => name.endsWith(".js")) && names.some((name) => name.endsWith(".css")));
    for (const name of names) {
      const file = await ask(`/ui/${name}`);
      assert.equal(file.headers["cache-control"], "public, max-age=31536000, immutable", name);
      const type = name.endsWith(".js") ? "text/javascript; charset=utf-8" : "text/css; charset=utf-8";
      assert.equal(file.headers["content-type"], type);
    }
    assert.equal((await ask("/ui/favicon.svg")).headers["content-type"], "image/svg+xml");
  });

  it("are compressed as the client wants it", async () => {
    const name = (await assets()).find((n) => n.endsWith(".js"));
    const plain = await ask(`/ui/${name}`);
    const gzip = await ask(`/ui/${name}`, { "Accept-Encoding": "gzip" });
    const br = await ask(`/ui/${name}`, { "Accept-Encoding": "gzip, deflate, br" });
    const no = await ask(`/ui/${name}`, { "Accept-Encoding": "gzip;q=0, br;q=0" });
    assert.deepEqual([plain, gzip, br, no].map((a) => a.headers["content-encoding"]), [undefined, "gzip", "br", undefined]);
    assert.deepEqual(gunzipSync(gzip.body), plain.body);
    assert.deepEqual(brotliDecompressSync(br.body), plain.body);
    assert.deepEqual(no.body, plain.body);
    assert.equal(br.headers.vary, "Accept-Encoding");
  });

  it("are not sent again when they are known", async () => {
    const { headers } = await ask("/ui/");
    const known = await ask("/ui/", { "If-None-Match": `"other", ${headers.etag}` });
    assert.deepEqual([known.status, known.body.length, known.headers.etag], [304, 0, headers.etag]);
    assert.equal((await ask("/ui/", { "If-None-Match": '"other"' })).status, 200);
  });

  it("have a head", async () => {
    const whole = await ask("/ui/");
    const head = await ask("/ui/", {}, "HEAD");
    assert.deepEqual([head.status, head.body.length], [200, 0]);
    assert.equal(head.headers["content-length"], String(whole.body.length));
  });

  it("come with a policy that allows nothing else", async () => {
    const { headers } = await ask("/ui/");
    assert.match(headers["content-security-policy"], /^default-src 'none'; /);
    assert.doesNotMatch(headers["content-security-policy"], /unsafe|http|\*/);
    assert.equal(headers["x-content-type-options"], "nosniff");
  });

  it("lead nowhere else", async () => {
    for (const path of ["/ui/../healthz", "/ui/%2e%2e/%2e%2e/etc/passwd", "/ui/a/..%2fb", "/ui/..%5cx", "/ui/%01"]) {
      assert.equal((await ask(path)).status, 404, path);
    }
    assert.equal((await ask("/ui/", {}, "POST")).status, 405);
  });

  it("are small enough for a first look", async () => {
    const sizes = await Promise.all(
      (await assets()).map(async (name) => (await ask(`/ui/${name}`, { "Accept-Encoding": "gzip" })).body.length),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total <= 200 * 1024, `${total} bytes`);
  });
});
