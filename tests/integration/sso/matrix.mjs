// The table of who may do what, as test_auth_matrix.py has it from the contract.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { ask } from "./ask.mjs";

const API = fileURLToPath(new URL("../api", import.meta.url));
const PRINT = "import json, test_auth_matrix as m; print(json.dumps([m.ROUTES, m.ROLES]))";

const [routes, roles] = JSON.parse(
  execFileSync("/usr/bin/python3", ["-B", "-c", PRINT], { cwd: API, env: { ...process.env, PYTHONPATH: API } }),
);

export const ROLES = roles;

/** Every route with these headers, as somebody in this role. Streams have no end: their head is enough. */
export async function checkEvery(url, letter, headers) {
  for (const [method, pattern, allowed] of routes) {
    if (pattern === "/api/v1/auth/session") {
      continue; // which begins or ends one
    }
    const path = pattern.replace("{queue}", "q").replace("{path}", "x").replace(/\{\w+\}/g, "none");
    const { status } = await ask(url + path, method, headers, method === "GET" ? undefined : "{", { head: true });
    const may = allowed === "open" || allowed.includes(letter);
    assert.equal(status !== 403 && status !== 401, may, `${roles[letter]}: ${method} ${pattern}: ${status}`);
  }
}
