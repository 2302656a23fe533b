// A real identity provider: oidc-provider from npm, with its own sign-in pages.
//
// Its keys are created here, so that a test can also sign tokens that the provider would never sign.
// To rotate the keys, another instance with the same issuer is put behind the same listener. To
// clients, this looks like a normal key rotation.
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.CORVO_SSO_MODULES, "package.json"));
const { default: OidcProvider } = await import(pathToFileURL(require.resolve("oidc-provider")).href);

export const AUDIENCE = "corvo";
const RESOURCE = "urn:corvo:";
const KINDS = {
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: () => generateKeyPairSync("ed25519"),
};

const encode = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const now = () => Math.floor(Date.now() / 1000);

function makeKeys(generation) {
  return Object.entries(KINDS).map(([alg, make]) => ({
    ...make().privateKey.export({ format: "jwk" }),
    kid: `${alg}-${generation}`,
    alg,
    use: "sig",
  }));
}

export class Provider {
  static async start(redirectUris, clientSecret) {
    const provider = new Provider();
    provider.redirectUris = redirectUris;
    provider.clientSecret = clientSecret;
    provider.generation = 0;
    provider.requests = [];
    provider.server = createServer((request, response) => {
      provider.requests.push(request.url);
      provider.handler(request, response);
    });
    await new Promise((done) => provider.server.listen(0, "127.0.0.1", done));
    provider.issuer = `http://127.0.0.1:${provider.server.address().port}`;
    provider.rotate();
    return provider;
  }

  /** Replace the keys. The old keys are no longer published. */
  rotate() {
    this.generation += 1;
    this.keys = makeKeys(this.generation);
    const secret = this.clientSecret;
    const instance = new OidcProvider(this.issuer, {
      jwks: { keys: this.keys },
      cookies: { keys: ["a key of the tests"] },
      clients: [
        {
          client_id: AUDIENCE,
          redirect_uris: this.redirectUris,
          grant_types: ["authorization_code"],
          response_types: ["code"],
          ...(secret === undefined
            ? { token_endpoint_auth_method: "none" }
            : { token_endpoint_auth_method: "client_secret_basic", client_secret: secret }),
        },
        {
          client_id: "machine",
          client_secret: "the machine's secret",
          redirect_uris: [],
          response_types: [],
          grant_types: ["client_credentials"],
        },
      ],
      pkce: { required: () => true, methods: ["S256"] },
      claims: { openid: ["sub", "email", "groups", "corvo_role"] },
      conformIdTokenClaims: false,
      findAccount: (ctx, id) => ({
        accountId: id,
        claims: () => ({
          sub: id,
          email: `${id}@example.com`,
          groups: id === "alice" ? ["ops"] : ["visitors"],
          ...(id.startsWith("role-") ? { corvo_role: id.slice("role-".length) } : {}),
        }),
      }),
      extraTokenClaims: (ctx, token) =>
        token.scope === "operate" ? { groups: ["unknown", "ops"] } : token.scope === "guest" ? { groups: [] } : {},
      features: {
        devInteractions: { enabled: true },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (ctx, resource) => ({
            scope: "operate guest",
            audience: AUDIENCE,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: resource.slice(RESOURCE.length) } },
          }),
        },
      },
    });
    this.handler = instance.callback();
  }

  /** Return an access token for the credentials of a machine. */
  async token(scope = "operate", alg = "RS256") {
    const response = await fetch(`${this.issuer}/token`, {
      method: "POST",
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        Authorization: `Basic ${Buffer.from("machine:the%20machine's%20secret").toString("base64")}`,
      },
      body: new URLSearchParams({ grant_type: "client_credentials", scope, resource: RESOURCE + alg }),
    });
    const body = await response.json();
    if (!response.ok) {
      throw new Error(`no token: ${response.status} ${JSON.stringify(body)}`);
    }
    return body.access_token;
  }

  key(alg) {
    return this.keys.find((key) => key.alg === alg);
  }

  claims(more = {}) {
    return { iss: this.issuer, aud: AUDIENCE, sub: "forger", exp: now() + 300, iat: now(), groups: ["ops"], ...more };
  }

  /** Sign claims with a key of the provider, or with another key. */
  sign(claims, { alg = "RS256", header = {}, key = this.key(alg), form = "ieee-p1363" } = {}) {
    const text = `${encode({ alg, kid: key.kid, ...header })}.${encode(claims)}`;
    const privateKey = createPrivateKey({ key, format: "jwk" });
    const digest = alg === "EdDSA" ? null : "sha256";
    return `${text}.${sign(digest, Buffer.from(text), { key: privateKey, dsaEncoding: form }).toString("base64url")}`;
  }

  /** Sign claims with HS256 and a secret that is publicly known. */
  hmac(claims, secret, header = {}) {
    const text = `${encode({ alg: "HS256", kid: this.key("RS256").kid, ...header })}.${encode(claims)}`;
    return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
  }

  publicPem(alg = "RS256") {
    return createPublicKey({ key: this.key(alg), format: "jwk" }).export({ type: "spki", format: "pem" });
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

export { encode, now };
