// Bearer tokens of a provider at the API: which are accepted, with which identity, and which are refused.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";

import { eventually, Server } from "../ui/harness.mjs";
import { ask } from "./ask.mjs";
import { checkEvery, ROLES } from "./matrix.mjs";
import { AUDIENCE, encode, now, Provider } from "./provider.mjs";

const MAPPINGS = { ops: "operator", visitors: "readonly" };

describe("a token of the provider", () => {
  let server;
  let provider;
  const configure = (more = {}) =>
    server.post("/settings/sso", {
      provider: "oidc",
      oidc_issuer_url: provider.issuer,
      oidc_client_id: AUDIENCE,
      group_role_mappings: MAPPINGS,
      ...more,
    });
  const call = (token, method = "GET", path = "/queues", body = undefined) =>
    ask(`${server.url}/api/v1${path}`, method, { Authorization: `Bearer ${token}` }, body);

  before(async () => {
    server = await Server.start("--admin-password=secret", "--rate-limit-enabled=false");
    provider = await Provider.start([`${server.url}/api/v1/auth/sso/callback`]);
    assert.deepEqual(await configure(), { status: "ok" });
  });
  after(async () => {
    await provider?.close();
    await server?.close();
  });

  for (const alg of ["RS256", "ES256", "EdDSA"]) {
    it(`lets in with ${alg}, in the role of its group`, async () => {
      const token = await provider.token("operate", alg);
      assert.equal((await call(token, "POST", "/enqueue", { queue: "q" })).status, 201);
      assert.equal((await call(token, "POST", "/auth/keys", { name: "x" })).status, 403);
      const who = await call(token, "GET", "/auth/status");
      assert.deepEqual([who.body.principal, who.body.role, who.body.namespace], ["machine", "operator", "default"]);
    });
  }

  it("without a group that has a role only reads", async () => {
    const token = await provider.token("guest");
    assert.equal((await call(token)).status, 200);
    assert.equal((await call(token, "POST", "/enqueue", { queue: "q" })).status, 403);
  });

  it("may name its role, more roles and its namespace", async () => {
    const named = provider.sign(
      provider.claims({ corvo_role: "worker", corvo_namespace: "acme", email: "a@example.com" }),
    );
    const who = await call(provider.sign(provider.claims({ role: "admin", namespace: "acme" })), "GET", "/auth/status");
    assert.deepEqual([who.body.role, who.body.namespace], ["admin", "acme"]);
    assert.equal((await call(named, "POST", "/enqueue", { queue: "tenants" })).status, 201);
    assert.equal((await call(named)).status, 403); // a worker may not list queues
    const more = provider.sign(provider.claims({ corvo_role: "worker", corvo_roles: '["readonly"]' }));
    assert.equal((await call(more)).status, 200);
    const bad = await call(provider.sign(provider.claims({ namespace: "No Name" })));
    assert.equal(bad.status, 401);
  });

  it("is written down with its true name", async () => {
    const token = provider.sign(provider.claims({ email: "carol@example.com" }));
    assert.equal((await call(token, "POST", "/queues/q/pause", {})).status, 200);
    const entry = await eventually(
      "the entry of the audit log",
      async () => (await server.get("/audit-logs?principal=carol@example.com")).audit_logs[0],
    );
    assert.deepEqual([entry.path, entry.role], ["/api/v1/queues/q/pause", "operator"]);
  });

  it("goes on being right after the keys of the provider changed, and not with the old ones", async () => {
    const old = await provider.token();
    assert.equal((await call(old)).status, 200);
    provider.rotate();
    const asked = provider.requests.length;
    const answered = await call(await provider.token());
    assert.equal(answered.status, 200, answered.body.error);
    assert.ok(provider.requests.slice(asked).includes("/jwks"));
    const answer = await call(old);
    assert.equal(answer.status, 401);
    assert.match(answer.body.error, /the token's key is not one of the provider's keys/);
  });

  it("is remembered: the next request with it asks nobody", async () => {
    const token = await provider.token();
    await call(token);
    const asked = provider.requests.length;
    for (let i = 0; i < 20; i += 1) {
      assert.equal((await call(token)).status, 200);
    }
    assert.equal(provider.requests.length, asked);
  });

  it("that is forged lets nobody in", async () => {
    const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const theirs = { ...stranger.privateKey.export({ format: "jwk" }), kid: provider.key("RS256").kid };
    const theirPublic = stranger.publicKey.export({ format: "jwk" });
    const claims = provider.claims();
    const unsigned = `${encode({ alg: "none" })}.${encode(claims)}.`;
    const right = provider.sign(claims);
    const [head, body, signature] = right.split(".");
    const rows = {
      "alg none": [unsigned, /algorithm/],
      "alg None": [`${encode({ alg: "None" })}.${encode(claims)}.`, /algorithm/],
      "alg none with a signature": [`${encode({ alg: "none" })}.${body}.${signature}`, /algorithm/],
      "no algorithm": [`${encode({ typ: "JWT" })}.${body}.${signature}`, /algorithm/],
      "HS256 with the public key": [provider.hmac(claims, provider.publicPem()), /algorithm/],
      "HS256 that says RS256": [provider.hmac(claims, provider.publicPem(), { alg: "RS256" }), /signature/],
      "another key with the provider's id": [provider.sign(claims, { key: theirs }), /signature/],
      "a key of its own in the header": [
        provider.sign(claims, { key: theirs, header: { jwk: theirPublic } }), /signature/],
      "a place for keys in the header": [
        provider.sign(claims, { key: theirs, header: { jku: "http://127.0.0.1:1/" } }), /signature/],
      "a path for a key id": [provider.sign(claims, { header: { kid: "../../../../dev/null" } }), /key/],
      "a query for a key id": [provider.sign(claims, { header: { kid: "x' UNION SELECT 'k" } }), /key/],
      "a number for a key id": [provider.sign(claims, { header: { kid: 1 } }), /key/],
      "the key of another algorithm": [
        provider.sign(claims, { header: { kid: provider.key("ES256").kid } }), /key/],
      "an extension": [provider.sign(claims, { header: { crit: ["b64"], b64: false } }), /extensions/],
      "another audience": [provider.sign(provider.claims({ aud: "others" })), /audience/],
      "other audiences": [provider.sign(provider.claims({ aud: ["others", "more"] })), /audience/],
      "no audience": [provider.sign(provider.claims({ aud: undefined })), /audience/],
      "another issuer": [provider.sign(provider.claims({ iss: "https://evil.example" })), /issuer/],
      "nearly the issuer": [provider.sign(provider.claims({ iss: `${provider.issuer}/` })), /issuer/],
      "expired": [provider.sign(provider.claims({ exp: now() - 120 })), /expired/],
      "never expires": [provider.sign(provider.claims({ exp: undefined })), /expiry/],
      "expires some day": [provider.sign(provider.claims({ exp: "tomorrow" })), /expiry/],
      "not yet valid": [provider.sign(provider.claims({ nbf: now() + 120 })), /not valid yet/],
      "made in the future": [provider.sign(provider.claims({ iat: now() + 120 })), /not valid yet/],
      "claims exchanged": [`${head}.${encode(provider.claims({ role: "admin" }))}.${signature}`, /signature/],
      "signature cut": [right.slice(0, -8), /signature|base64url/],
      "no signature": [`${head}.${body}.`, /signature/],
      "bad base64": [`${head}.${body}.${signature.slice(0, -1)}=`, /base64url/],
      "bad claims": [`${head}.${encode("[]")}.${signature}`, /JSON/],
      "DER signature": [provider.sign(claims, { alg: "ES256", form: "der" }), /signature/],
      "ES256 of zeros": [
        `${encode({ alg: "ES256", kid: provider.key("ES256").kid })}.${body}.${encode("\0".repeat(64))}`, /signature/],
    };
    for (const [what, [token, why]] of Object.entries(rows)) {
      const answer = await call(token);
      assert.equal(answer.status, 401, what);
      assert.match(answer.body.error, why, what);
    }
    assert.equal((await call(right)).status, 200);
    assert.equal((await call(provider.sign(provider.claims({ aud: ["others", AUDIENCE] })))).status, 200);
    assert.equal((await call(provider.sign(provider.claims({ exp: now() - 30 })))).status, 200); // clocks differ
  });

  it("that is huge is refused", async () => {
    const huge = provider.sign(provider.claims({ padding: "x".repeat(15_000) }));
    const answer = await call(huge);
    assert.equal(answer.status, 401);
    assert.match(answer.body.error, /too large/);
    const larger = await call(provider.sign(provider.claims({ padding: "x".repeat(200_000) }))).catch(() => ({ status: 431 }));
    assert.ok([400, 431].includes(larger.status), String(larger.status));
  });

  it("with ever new key ids does not make the server ask the provider every time", async () => {
    const asked = provider.requests.length;
    for (let i = 0; i < 50; i += 1) {
      const answer = await call(provider.sign(provider.claims(), { header: { kid: `new-${i}` } }));
      assert.equal(answer.status, 401);
    }
    assert.ok(provider.requests.length - asked <= 12, `${provider.requests.length - asked} requests`);
  });

  it("counts no more when the settings name another client", async () => {
    const token = provider.sign(provider.claims());
    assert.equal((await call(token)).status, 200);
    await configure({ oidc_client_id: "another" });
    assert.match((await call(token)).body.error, /audience/);
    await configure();
    assert.equal((await call(token)).status, 200);
    await server.post("/settings/sso", { provider: "" });
    assert.equal((await call(token)).body.error, "invalid API key");
    await configure();
  });

  for (const [letter, role] of Object.entries(ROLES)) {
    it(`may do what the role ${role} may, on every route`, () =>
      checkEvery(server.url, letter, { Authorization: `Bearer ${provider.sign(provider.claims({ role }))}` }));
  }

  it("works for RPC clients too", async () => {
    const rpc = (token) =>
      ask(`${server.url}/corvo.v1.WorkerService/Enqueue`, "POST",
        { Authorization: `Bearer ${token}`, "Connect-Protocol-Version": "1" }, { queue: "rpc" });
    assert.equal((await rpc(await provider.token("operate"))).status, 200);
    assert.equal((await rpc(await provider.token("guest"))).status, 403);
    assert.equal((await rpc(provider.sign(provider.claims({ aud: "others" })))).status, 401);
  });

  it("that waits for a provider that does not answer holds nobody up, not even the end", async () => {
    const asked = [];
    const silent = createServer((request) => asked.push(request)); // never responds
    await new Promise((done) => silent.listen(0, "127.0.0.1", done));
    const issuer = `http://127.0.0.1:${silent.address().port}`;
    const other = await Server.start("--admin-password=secret", `--oidc-issuer-url=${issuer}`, "--oidc-client-id=c");
    const gone = new AbortController();
    const token = provider.sign(provider.claims({ iss: issuer, aud: "c" }));
    const left = fetch(`${other.url}/api/v1/queues`, { headers: { Authorization: `Bearer ${token}` }, signal: gone.signal });
    const stays = fetch(`${other.url}/api/v1/queues`, { headers: { Authorization: `Bearer ${token}` } });
    await eventually("the question", () => asked.length > 0);
    assert.ok(Array.isArray(await other.get("/queues")));
    gone.abort();
    await assert.rejects(left);
    const stopped = other.close();
    assert.equal((await stays).status, 503);
    await stopped;
    silent.closeAllConnections();
    await new Promise((done) => silent.close(done));
  });

  it("cannot be checked while the provider is away; keys still work", async () => {
    const other = await Provider.start([]);
    const issuer = other.issuer;
    await other.close();
    const answer = await configure({ oidc_issuer_url: issuer });
    assert.equal(answer.status, "ok");
    assert.match(answer.warning, /the provider's configuration/);
    const refused = await call(provider.sign(provider.claims({ iss: issuer })));
    assert.equal(refused.status, 503);
    assert.match(refused.body.error, /cannot be checked/);
    assert.ok(Array.isArray(await server.get("/queues")));
    await configure();
    assert.equal((await call(await provider.token())).status, 200);
  });
});
