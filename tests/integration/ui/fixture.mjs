// A server with data and a browser, shared by the tests of a file.
import { after, before } from "node:test";

import { closePage, openBrowser, openPage, Server } from "./harness.mjs";
import { beat, seed } from "./seed.mjs";

const BEAT_MS = 15_000;

export function fixture(...args) {
  const f = {
    server: null,
    browser: null,
    ids: null,
    /** Run a test with a new page. Problems that the page reports fail the test. */
    async withPage(run, options) {
      const page = await openPage(f.browser, f.server, options);
      try {
        await run(page);
      } catch (error) {
        await page.context().close();
        throw error;
      }
      await closePage(page);
    },
  };
  let worker;
  before(async () => {
    f.server = await Server.start(...args);
    f.ids = await seed(f.server);
    // A slow run takes longer than a lease. Errors are ignored, because a test may have stopped the server.
    worker = setInterval(() => beat(f.server, f.ids).catch(() => {}), BEAT_MS);
    f.browser = await openBrowser();
  });
  after(async () => {
    clearInterval(worker);
    await f.browser?.close();
    await f.server?.close();
  });
  return f;
}
