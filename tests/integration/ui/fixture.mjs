// One server with data and one browser for the tests of a file.
import { after, before } from "node:test";

import { closePage, openBrowser, openPage, Server } from "./harness.mjs";
import { seed } from "./seed.mjs";

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
  before(async () => {
    f.server = await Server.start(...args);
    f.ids = await seed(f.server);
    f.browser = await openBrowser();
  });
  after(async () => {
    await f.browser?.close();
    await f.server?.close();
  });
  return f;
}
