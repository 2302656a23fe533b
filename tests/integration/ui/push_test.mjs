// Push targets: the page of schedules shows each host that jobs are delivered to, and its circuit breaker.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { visit } from "./harness.mjs";

const opened = (server) => new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const closed = (server) => new Promise((done) => server.close(done));

describe("push targets", () => {
  const f = fixture();
  const push = (port, more = {}) =>
    f.server.post("/enqueue", { queue: "push", payload: {}, retry_base_delay: "10ms", push: { url: `http://127.0.0.1:${port}/` }, ...more });

  it("are not there while nothing is delivered, and then say how they do", () =>
    f.withPage(async (page) => {
      await visit(page, "/ui/schedules");
      assert.equal(await page.getByText("Push targets").count(), 0);
      const good = createServer((request, response) => response.end());
      const goodPort = await opened(good);
      const nobody = createTcpServer();
      const badPort = await opened(nobody);
      await closed(nobody);
      await push(goodPort);
      await Promise.all(Array.from({ length: 20 }, () => push(badPort, { max_retries: 1000 })));
      const row = (port) => page.getByRole("table", { name: "Push targets" }).getByRole("row", { name: `127.0.0.1:${port}` });
      await row(goodPort).getByText("closed").waitFor();
      await row(badPort).getByText(/^(half-)?open$/).waitFor();
      assert.match(await row(badPort).textContent(), /onnect/);
      await closed(good);
    }));
});
