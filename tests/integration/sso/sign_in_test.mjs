// Sign-in to the web interface with the provider, in a browser and with single requests.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, it } from "node:test";

import { eventually, openBrowser, PATIENCE_MS, Server, visible } from "../ui/harness.mjs";
import { ask } from "./ask.mjs";
import { checkEvery, ROLES } from "./matrix.mjs";
import { AUDIENCE, Provider } from "./provider.mjs";

const CALLBACK = "/api/v1/auth/sso/callback";
const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
const cookieOf = (answer, name) =>
  (answer.headers["set-cookie"] ?? []).find((cookie) => cookie.startsWith(`${name}=`));

for (const clientSecret of [undefined, "the secret of a confidential client & more"]) {
  describe(`signing in by the provider ${clientSecret === undefined ? "without" : "with"} a client secret`, () => {
    let server;
    let provider;
    let browser;

    before(async () => {
      server = await Server.start("--admin-password=secret");
      provider = await Provider.start([server.url + CALLBACK], clientSecret);
      const saved = await server.post("/settings/sso", {
        provider: "oidc",
        oidc_issuer_url: provider.issuer,
        oidc_client_id: AUDIENCE,
        oidc_client_secret: clientSecret ?? "",
        group_role_mappings: { ops: "admin", visitors: "readonly" },
      });
      assert.deepEqual(saved, { status: "ok" });
      browser = await openBrowser();
    });
    after(async () => {
      await browser?.close();
      await provider?.close();
      await server?.close();
    });

    const signIn = async (name, path = "/ui/queues") => {
      const context = await browser.newContext({ baseURL: server.url });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(path);
      await page.getByRole("link", { name: "Sign in with SSO" }).click();
      await page.locator('input[name="login"]').fill(name);
      await page.locator('input[name="password"]').fill("anything");
      await page.locator('button[type="submit"]').click();
      await page.locator('button[type="submit"]').click(); // consent
      return { context, page };
    };

    it("begins a session, on the page that one came from", async () => {
      const { context, page } = await signIn("alice");
      await visible(page.getByRole("heading", { name: "Queues", exact: true }));
      assert.equal(new URL(page.url()).pathname, "/ui/queues");
      const cookies = await context.cookies(server.url);
      const session = cookies.find((cookie) => cookie.name === "corvo_session");
      assert.deepEqual([session.httpOnly, session.sameSite], [true, "Strict"]);
      assert.equal(cookies.find((cookie) => cookie.name === "corvo_sso"), undefined);
      await page.getByRole("link", { name: "API Keys" }).click();
      await visible(page.getByRole("heading", { name: "API Keys", exact: true }));

      const list = await server.get("/auth/sessions");
      const own = list.find((row) => row.principal === "alice@example.com");
      assert.deepEqual([own.role, own.namespace], ["admin", "default"]);
      await server.must("DELETE", `/auth/sessions/${own.id}`);
      await page.goto("/ui/queues");
      await visible(page.getByRole("link", { name: "Sign in with SSO" }));
      await context.close();
    });

    it("gives the rights of the person's groups", async () => {
      const { context, page } = await signIn("bob");
      await visible(page.getByRole("heading", { name: "Queues", exact: true }));
      const status = (path, method = "GET") =>
        page.evaluate(([p, m]) => fetch(p, { method: m }).then((r) => r.status), [path, method]);
      assert.equal(await status("/api/v1/queues"), 200);
      assert.equal(await status("/api/v1/queues/q/pause", "POST"), 403);
      const session = (await context.cookies(server.url)).find((cookie) => cookie.name === "corvo_session");
      const cookie = `corvo_session=${session.value}`;
      const ended = (path) => ask(`${server.url}${path}`, "GET", { Cookie: cookie });
      assert.equal((await ended("/api/v1/queues")).status, 200);
      await server.post("/settings/sso", { provider: "" }); // ends the sessions that the provider authenticated
      assert.equal((await ended("/api/v1/queues")).status, 401);
      await server.post("/settings/sso", {
        provider: "oidc", oidc_issuer_url: provider.issuer, oidc_client_id: AUDIENCE,
        oidc_client_secret: clientSecret ?? "", group_role_mappings: { ops: "admin" },
      });
      await context.close();
    });

    if (clientSecret === undefined) {
      for (const [letter, role] of Object.entries(ROLES)) {
        it(`gives the role ${role} what it may do, on every route`, async () => {
          const { context, page } = await signIn(`role-${role}`, "/ui/jobs");
          await page.waitForURL(`${server.url}/ui/jobs`);
          const session = (await context.cookies(server.url)).find((cookie) => cookie.name === "corvo_session");
          await checkEvery(server.url, letter, {
            Cookie: `corvo_session=${session.value}`, "Sec-Fetch-Site": "same-origin",
          });
          await context.close();
        });
      }
    }

    it("is written down, without what the provider gave", async () => {
      const entry = await eventually(
        "the entry of the audit log",
        async () => (await server.get("/audit-logs?path_prefix=/api/v1/auth/sso")).audit_logs.at(-1),
      );
      assert.deepEqual([entry.principal, entry.role, entry.path], ["alice@example.com", "admin", CALLBACK]);
      assert.ok(!JSON.stringify(entry).includes("code="));
    });

    it("never shows the client's secret", async () => {
      const settings = await server.get("/settings/sso");
      assert.equal(settings.oidc_client_secret_set, clientSecret !== undefined);
      assert.ok(!JSON.stringify(settings).includes(clientSecret ?? "oidc_client_secret\""));
      // A secret that is left out stays unchanged.
      const { oidc_client_secret_set: _, updated_at: __, ...same } = settings;
      await server.post("/settings/sso", same);
      assert.equal((await server.get("/settings/sso")).oidc_client_secret_set, clientSecret !== undefined);
    });

    it("sends the browser to the provider with PKCE, state and nonce", async () => {
      const answer = await ask(`${server.url}/api/v1/auth/sso/login?return_to=/ui/jobs`);
      assert.equal(answer.status, 302);
      const to = new URL(answer.headers.location);
      assert.equal(to.origin, provider.issuer);
      const query = Object.fromEntries(to.searchParams);
      assert.equal(query.response_type, "code");
      assert.equal(query.code_challenge_method, "S256");
      assert.equal(query.redirect_uri, server.url + CALLBACK);
      for (const name of ["state", "nonce", "code_challenge"]) {
        assert.match(query[name], /^[\w-]{43}$/);
      }
      const cookie = cookieOf(answer, "corvo_sso");
      assert.match(cookie, /HttpOnly/);
      assert.match(cookie, /SameSite=Lax/);
      assert.match(cookie, /Path=\/api\/v1\/auth\/sso;/);
      assert.ok(!answer.headers.location.includes(cookie.split(".")[2])); // the verifier
      const tls = await ask(`${server.url}/api/v1/auth/sso/login`, "GET", { "X-Forwarded-Proto": "https" });
      assert.match(cookieOf(tls, "corvo_sso"), /; Secure/);
      assert.match(decodeURIComponent(tls.headers.location), /redirect_uri=https:/);
    });

    it("sends nobody to other places", async () => {
      for (const place of ["https://evil.example/", "//evil.example", "/\\evil.example", "/ui/../..//evil.example",
        "javascript:alert(1)", "/ui//evil.example", "/ui/%0d%0aX: y", "/uix", "/api/v1/queues"]) {
        const answer = await ask(`${server.url}/api/v1/auth/sso/login?return_to=${encodeURIComponent(place)}`);
        const returnTo = cookieOf(answer, "corvo_sso").split(";")[0].split(".")[4];
        const told = Buffer.from(returnTo, "base64url").toString();
        assert.ok(told === "/ui/" || told === "/ui/%0d%0aX:%20y", `${place}: ${told}`);
      }
    });

    it("refuses a callback that it did not send anybody to", async () => {
      const begun = await ask(`${server.url}/api/v1/auth/sso/login`);
      const state = new URL(begun.headers.location).searchParams.get("state");
      const cookie = cookieOf(begun, "corvo_sso").split(";")[0];
      const [own, nonce, verifier, url] = cookie.slice("corvo_sso=".length).split(".");
      const evil = Buffer.from("https://evil.example/").toString("base64url");
      const rows = [
        ["no cookie", `code=x&state=${state}`, "", "expired"],
        ["no state", "code=x", cookie, "expired"],
        ["another state", `code=x&state=${"A".repeat(43)}`, cookie, "expired"],
        ["an empty cookie", "code=x&state=", "corvo_sso=....", "expired"],
        ["elsewhere in the cookie", `code=x&state=${state}`,
          `corvo_sso=${own}.${nonce}.${verifier}.${url}.${evil}`, "expired"],
        ["the provider refuses", `error=access_denied&state=${state}`, cookie, "refused"],
        ["a code that is none", `code=nonsense&state=${state}`, cookie, "refused"],
      ];
      for (const [what, query, shown, word] of rows) {
        const answer = await ask(`${server.url}${CALLBACK}?${query}`, "GET", shown === "" ? {} : { Cookie: shown });
        assert.equal(answer.status, 302, what);
        assert.equal(answer.headers.location, `/ui/?sso=${word}`, what);
        assert.equal(cookieOf(answer, "corvo_session"), undefined, what);
      }
    });

    it("says on the page what went wrong", async () => {
      const context = await browser.newContext({ baseURL: server.url });
      const page = await context.newPage();
      await page.goto("/ui/?sso=expired");
      await visible(page.getByText("The sign-in took too long"));
      await eventually("the address without the word", async () => !page.url().includes("sso="));
      await context.close();
    });
  });
}

describe("signing in at a node that does not lead", () => {
  it("begins a session that every node knows", async () => {
    const secret = "--cluster-secret=correct horse battery staple";
    const leader = await Server.start("--node-id=n1", `--raft-bind=127.0.0.1:${await freePort()}`, secret, "--admin-password=secret");
    const peer = await freePort();
    const follower = await Server.start("--node-id=n2", `--raft-bind=127.0.0.1:${peer}`, secret,
      `--join=127.0.0.1:${leader.port}`, "--admin-password=secret");
    const provider = await Provider.start([follower.url + CALLBACK]);
    const browser = await openBrowser();
    try {
      await follower.post("/settings/sso", {
        provider: "oidc", oidc_issuer_url: provider.issuer, oidc_client_id: AUDIENCE,
        group_role_mappings: { ops: "admin" },
      });
      const page = await browser.newPage();
      await page.goto(`${follower.url}/ui/queues`);
      await page.getByRole("link", { name: "Sign in with SSO" }).click();
      await page.locator('input[name="login"]').fill("alice");
      await page.locator('input[name="password"]').fill("anything");
      await page.locator('button[type="submit"]').click();
      await page.locator('button[type="submit"]').click();
      await visible(page.getByRole("heading", { name: "Queues", exact: true }));
      const session = (await page.context().cookies(follower.url)).find((cookie) => cookie.name === "corvo_session");
      for (const node of [leader, follower]) {
        const answer = await ask(`${node.url}/api/v1/queues`, "GET", { Cookie: `corvo_session=${session.value}` });
        assert.equal(answer.status, 200);
      }
    } finally {
      await browser.close();
      await provider.close();
      await follower.close();
      await leader.close();
    }
  });
});
