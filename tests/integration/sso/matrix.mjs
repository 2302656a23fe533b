// The permissions of each role, read from the table in test_auth_matrix.py, which follows the contract.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { ask } from "./ask.mjs";

const API = fileURLToPath(new URL("../api", import.meta.url));
const PRINT = "import json, test_auth_matrix as m; print(json.dumps([m.ROUTES, m.RPC, m.ROLES]))";

const [routes, methods, roles] = JSON.parse(
  execFileSync("/usr/bin/python3", ["-B", "-c", PRINT], { cwd: API, env: { ...process.env, PYTHONPATH: API } }),
);

export const ROLES = roles;

/** Call an RPC method. Returns the code of the refusal, or "allowed". */
async function verdict(url, method, headers) {
  const stream = method === "Subscribe"; // ends after its timeout
  const { body } = await ask(
    `${url}/corvo.v1.WorkerService/${method}`,
    "POST",
    { "Content-Type": stream ? "application/connect+json" : "application/json", "Connect-Timeout-Ms": "100", ...headers },
    stream ? "\0\0\0\0\x02{}" : "{}",
  );
  return /"code":"(unauthenticated|permission_denied)"/.exec(JSON.stringify(body).replaceAll("\\", ""))?.[1] ?? "allowed";
}

/** Check every route and RPC method with these headers against the permissions of a role. Streams do not end, so only the
 *  status of a response is read. */
export async function checkEvery(url, letter, headers) {
  for (const [method, pattern, allowed] of routes) {
    if (pattern === "/api/v1/auth/session") {
      continue; // would begin or end a session
    }
    const path = pattern.replace("{queue}", "q").replace("{path}", "x").replace(/\{\w+\}/g, "none");
    const { status } = await ask(url + path, method, headers, method === "GET" ? undefined : "{", { head: true });
    const may = allowed === "open" || allowed.includes(letter);
    assert.equal(status !== 403 && status !== 401, may, `${roles[letter]}: ${method} ${pattern}: ${status}`);
  }  for (const [method, allowed] of methods) {
    const may = allowed === "open" || allowed.includes(letter);
    assert.equal(await verdict(url, method, headers), may ? "allowed" : "permission_denied", `${roles[letter]}: ${method}`);
  }
}
