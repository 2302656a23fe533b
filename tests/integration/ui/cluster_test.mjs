// Three nodes that lose one, and then the majority.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { after, before, describe, it } from "node:test";

import { accessibility, closePage, eventually, openBrowser, openPage, Server, visible, visit } from "./harness.mjs";

const NAMES = ["n1", "n2", "n3"];

/** A free port for the other nodes, which have to know it after a restart too. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

describe("a cluster", () => {
  const nodes = [];
  let browser;

  before(async () => {
    for (const name of NAMES) {
      const join = nodes.length === 0 ? [] : ["--join", nodes[0].url];
      const peers = ["--raft-bind", `127.0.0.1:${await freePort()}`, "--cluster-secret", "a secret of sixteen or more characters"];
      nodes.push(await Server.start("--node-id", name, ...peers, ...join));
    }
    await eventually("three healthy voters", async () => {
      const { nodes: members } = await nodes[2].get("/cluster/status");
      return members.length === 3 && members.every((n) => n.voter && n.status === "healthy");
    });
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    for (const node of nodes) {
      await node.kill();
      await rm(node.folder, { recursive: true, force: true });
    }
  });

  const row = (page, name) => page.getByRole("table", { name: "Nodes" }).locator("tbody tr").filter({ hasText: name });

  it("says which node cannot be reached, and what is wrong without a majority", async () => {
    const [first, second, last] = nodes;
    const page = await openPage(browser, last);
    await visit(page, "/ui/cluster");
    await visible(row(page, "n1").getByText("healthy", { exact: true }));
    await visible(page.locator("header").getByText("3 nodes", { exact: true }));
    await page.locator("header .fault, .banner").waitFor({ state: "detached" });

    await first.kill();
    await visible(row(page, "n1").getByText("unreachable", { exact: true }));
    await visible(row(page, "n1").getByText("voter", { exact: true }));
    await visible(row(page, "n1").getByText(/^last contact .* ago$/));
    await visible(row(page, "n1").getByText("Connection refused"));
    await visible(page.locator("header").getByText("3 nodes, 1 unreachable"));
    await visible(page.locator("header .badge").filter({ hasText: "healthy" }));
    await page.getByText("No leader").waitFor({ state: "detached" });
    assert.deepEqual(await accessibility(page), []);
    await visit(page, "/ui/");
    await visible(page.getByRole("region", { name: "Needs attention" }).getByText(/^Node n1 cannot be reached/));

    await second.kill();
    await visible(page.getByText("No leader: writes are not accepted. Only 1 of 3 voting nodes can be reached; 2 are needed."));
    await visible(page.locator("header").getByText("no leader", { exact: true }));
    await visible(page.locator("header .badge").filter({ hasText: "degraded" }));
    assert.deepEqual(await accessibility(page), []);
    await page.getByRole("link", { name: "Cluster status", exact: true }).click();
    await visible(row(page, "n2").getByText("unreachable", { exact: true }));

    await second.restart();
    await page.locator(".banner").waitFor({ state: "detached" });
    await visible(page.locator("header .badge").filter({ hasText: "healthy" }));
    await closePage(page);
  });
});
