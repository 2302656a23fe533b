// The harness of the browser tests: a server, its API, and a browser.
//
// The server is the real binary with a temporary folder and a port that the system chooses. The
// browser is Debian's headless Chromium, driven by playwright-core from the packages of the interface's
// build (CORVO_UI_MODULES). Tests wait for events, never for a fixed time.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const PATIENCE_MS = 30_000;

const need = (name) => {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
};

const require = createRequire(join(need("CORVO_UI_MODULES"), "package.json"));
const { chromium } = require("playwright-core");
export const AXE_PATH = require.resolve("axe-core/axe.min.js");

/** The complete environment of a child process: the same on every machine, regardless of this process's environment. */
export function environment() {
  const kept = Object.entries(process.env).filter(([name]) => ["PATH", "HOME", "TMPDIR"].includes(name));
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    LANG: "C.UTF-8",
    TZ: "UTC",
    ...Object.fromEntries(kept),
  };
}

export class Server {
  static start = (...args) => Server.startWith({}, ...args);

  /** The same with additional environment variables. */
  static startWith = (env, ...args) => Server.startIn(undefined, env, ...args);

  /** The same with a data folder that is not removed. Without one, a temporary folder. */
  static async startIn(folder, env, ...args) {
    const server = new Server();
    server.args = args;
    server.env = env;
    server.kept = folder !== undefined;
    server.folder = folder ?? (await mkdtemp(join(tmpdir(), "corvo-ui-")));
    await server.run("127.0.0.1:0");
    return server;
  }

  async run(bind) {
    const command = ["server", "--bind", bind, "--data-dir", this.folder, "--free-space-min", "0",
      "--view-wait", "30s", "--segment-bytes", String(4 << 20), ...this.args];
    this.process = spawn(need("CORVO_BINARY"), command, {
      env: { ...environment(), ...this.env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.exited = new Promise((done) => this.process.once("exit", done));
    this.port = await new Promise((done, failed) => {
      createInterface(this.process.stderr).on("line", (line) => {
        if (line.includes('"msg":"corvo server ready"')) {
          done(JSON.parse(line).port);
        }
      });
      this.process.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
    });
    this.url = `http://127.0.0.1:${this.port}`;
  }

  /** Stop the server. restart starts it again on the same port with the same data. */
  async stop() {
    this.process.kill("SIGTERM");
    assert.equal(await this.exited, 0, "the exit code of the server");
  }

  /** End the server as kill -9 does. */
  async kill() {
    this.process.kill("SIGKILL");
    await this.exited;
  }

  async restart() {
    await this.run(`127.0.0.1:${this.port}`);
  }

  async close() {
    await this.stop();
    if (!this.kept) {
      await rm(this.folder, { recursive: true, force: true });
    }
  }

  /** The admin password that the server was started with, used by call. A browser has to sign in. */
  get password() {
    return this.args.find((arg) => arg.startsWith("--admin-password="))?.split("=")[1];
  }

  async call(method, path, body) {
    const bytes = this.password === undefined ? "" : Buffer.from(this.password).toString("latin1");
    const key = bytes === "" ? {} : { "X-API-Key": bytes };
    const response = await fetch(this.url + path, {
      method,
      headers: { "Content-Type": "application/json", ...key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
  }

  /** Return the body of the response. Fails the test if the request does not succeed. */
  async must(method, path, body) {
    const answer = await this.call(method, "/api/v1" + path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  get = (path) => this.must("GET", path);
  post = (path, body) => this.must("POST", path, body ?? {});
  job = (id) => this.get(`/jobs/${id}`);
  queue = async (name) => (await this.get("/queues")).find((q) => q.name === name);

  async enqueue(queue, more = {}) {
    return (await this.post("/enqueue", { queue, ...more })).job_id;
  }

  /** Claim the next job of a queue. */
  fetch = (queue, more = {}) =>
    this.post("/fetch", { queues: [queue], worker_id: "worker-a1", hostname: "pod-1", timeout: 1, ...more });

  /** Create a dead job. */
  async dead(queue, more = {}, error = "SMTP connection timeout") {
    const id = await this.enqueue(queue, { max_retries: 1, priority: "critical", ...more });
    const claimed = await this.fetch(queue);
    assert.equal(claimed.job_id, id);
    await this.post(`/fail/${id}`, { error, backtrace: "at send (mail.js:42)\nat run (worker.js:18)" });
    return id;
  }
}

export async function eventually(what, condition, patienceMs = PATIENCE_MS) {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const value = await condition();
    if (value) {
      return value;
    }
    assert.ok(Date.now() < deadline, `${what} did not come`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export const openBrowser = (options = {}) =>
  chromium.launch({
    executablePath: process.env.CORVO_CHROMIUM ?? "/usr/bin/chromium-headless-shell",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
    env: environment(),
    ...options,
  });

/** Open a page that collects problems: logged errors, violations of its policy, requests to other hosts. closePage fails
 *  the test if there are any. */
export async function openPage(browser, server, options = {}) {
  const context = await browser.newContext({
    baseURL: server.url,
    viewport: { width: 1280, height: 800 },
    timezoneId: "Europe/Berlin",
    locale: "en-GB",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => {
    // The browser itself logs failed requests. Pages show them, and tests check for that.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      page.problems.push(message.text());
    }
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith("blob:")) {
      page.problems.push(`asked ${request.url()}`);
    }
  });
  return page;
}

export async function closePage(page) {
  const { problems } = page;
  await page.context().close();
  assert.deepEqual(problems, []);
}

/** Open a page and wait until it has loaded and shows no "Loading..." any more. */
export async function visit(page, path) {
  await page.goto(path);
  await settled(page);
}

export async function settled(page) {
  await page.locator("h1").first().waitFor();
  await page.getByText("Loading...").first().waitFor({ state: "detached" });
}

export async function visible(locator) {
  await locator.first().waitFor({ state: "visible" });
}

export const toast = (page, text) => visible(page.locator(".toast").filter({ hasText: text }));

/** Return the serious and critical findings of axe. */
export async function accessibility(page) {
  const { readFile } = await import("node:fs/promises");
  await page.evaluate(await readFile(AXE_PATH, "utf8"));
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).slice(0, 4).join("; ")}`);
}
