// The API reference at /docs: its examples are requests that the server accepts, and the page is accessible.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fixture } from "./fixture.mjs";
import { accessibility, visible } from "./harness.mjs";

/** Requests that are not sent, because they change the server itself or need a credential. */
const LEFT_OUT = /\/(cluster|admin|settings|auth)\//;

describe("the API reference", () => {
  const f = fixture("--rate-limit-enabled=false");

  it("has examples that the server understands, and sample answers", () =>
    f.withPage(async (page) => {
      await page.goto("/docs");
      await visible(page.getByRole("article"));
      const found = await page.getByRole("article").evaluateAll((articles) =>
        articles.map((article) => [...article.querySelectorAll(".example code")].map((code) => code.textContent)));
      assert.ok(found.length > 100);
      let sent = 0;
      for (const [curl, answer] of found) {
        assert.doesNotMatch(curl + (answer ?? ""), /[:[]\s*"text"/, curl); // as a value, not as the name of a member
        const [, method = "GET", path] = curl.match(/^curl (?:-X (\w+) )?'https?:\/\/[^/]+([^']*)'/);
        const body = curl.match(/-d '(.*)'$/)?.[1];
        if (answer !== undefined) {
          JSON.parse(answer.slice(answer.indexOf("\n")));
        }
        if (body !== undefined && !LEFT_OUT.test(path)) {
          const { status, body: said } = await f.server.call(method, path, JSON.parse(body));
          assert.ok(status < 300 || [404, 409].includes(status) || !["PARSE_ERROR", "VALIDATION_ERROR"].includes(said.code),
            `${curl}: ${status} ${JSON.stringify(said)}`);
          sent += 1;
        }
      }
      assert.ok(sent > 20, `${sent} sent`);
      assert.deepEqual(await accessibility(page), []);
    }));
});
