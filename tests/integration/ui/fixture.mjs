// One server with data and one browser for the tests of a file.
import { after, before } from "node:test";

import { closePage, openBrowser, openPage, Server } from "./harness.mjs";
import { beat, seed } from "./seed.mjs";

const BEAT_MS = 15_000;

export function fixture(...args) {
  const f = {
    server: null,
    browser: null,
    ids: null,
    /** Do something with a page of its own; what the page complains about fails the test. */
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
    // A slow run takes longer than a lease. A server that a test has stopped hears nothing.
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
