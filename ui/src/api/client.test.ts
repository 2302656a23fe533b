import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError, call, gate, get, post } from "./client";
import { storedKey, storeKey } from "./key";

const answers: (Response | Error)[] = [];
const asked: { url: string; init: RequestInit }[] = [];

const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

beforeEach(() => {
  answers.length = asked.length = 0;
  localStorage.clear();
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    asked.push({ url, init });
    const next = answers.shift() ?? new Error("no answer was prepared");
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  });
});
afterEach(() => vi.unstubAllGlobals());

const keyOf = (i: number) => (asked[i]?.init.headers as Record<string, string>)["X-API-Key"];

describe("a call", () => {
  it("sends JSON and the key, and gives the answer", async () => {
    storeKey("sk_1");
    answers.push(answer(200, { ok: true }));
    expect(await call("POST", "/x", { a: 1 })).toEqual({ ok: true });
    expect(asked[0]).toMatchObject({ url: "/api/v1/x", init: { method: "POST", body: '{"a":1}' } });
    expect(keyOf(0)).toBe("sk_1");
    expect(document.cookie).toContain("corvo_api_key=sk_1");
  });

  it("fails with the server's code and words", async () => {
    answers.push(answer(400, { error: "bad queue", code: "VALIDATION_ERROR" }));
    await expect(get("/queues")).rejects.toMatchObject({ status: 400, code: "VALIDATION_ERROR", message: "bad queue" });
  });

  it("fails readably when the answer is no JSON", async () => {
    answers.push(new Response("<html>", { status: 502, statusText: "Bad Gateway" }));
    await expect(get("/queues")).rejects.toMatchObject({ status: 502, message: "Bad Gateway" });
  });

  it("says when the server is gone and when it is back", async () => {
    const said: boolean[] = [];
    const listener = (yes: boolean) => said.push(yes);
    gate.reachable.add(listener);
    answers.push(new TypeError("Failed to fetch"), answer(200, {}));
    await expect(get("/queues")).rejects.toSatisfy((e) => e instanceof ApiError && e.unreachable);
    await get("/queues");
    expect(said).toEqual([false, true]);
    gate.reachable.delete(listener);
  });
});

describe("a list in pages", () => {
  const page = (rows: unknown, next?: string) =>
    new Response(JSON.stringify(rows), { status: 200, headers: next === undefined ? {} : { "X-Corvo-Next-Cursor": next } });

  it("is followed to its end", async () => {
    answers.push(page([1, 2], "ab"), page([3], "cd"), page([]));
    expect(await get("/queues")).toEqual([1, 2, 3]);
    expect(asked.map(({ url }) => url)).toEqual(["/api/v1/queues", "/api/v1/queues?cursor=ab", "/api/v1/queues?cursor=cd"]);
  });

  it("is cut when it has no end", async () => {
    answers.push(...Array.from({ length: 50 }, () => page([0], "ff")));
    expect(await get("/queues")).toHaveLength(10);
  });
});

describe("a refused key", () => {
  it("is dropped, and the call made once more without it", async () => {
    storeKey("sk_old");
    answers.push(answer(401, { error: "invalid API key" }), answer(200, [1]));
    expect(await get("/queues")).toEqual([1]);
    expect(keyOf(1)).toBeUndefined();
    expect(storedKey()).toBeNull();
    expect(document.cookie).not.toContain("sk_old");
  });

  it("does not take a better one with it that was stored meanwhile", async () => {
    storeKey("sk_old");
    answers.push(answer(401, { error: "invalid API key" }), answer(200, [1]));
    const call = get("/queues");
    storeKey("sk_new");
    expect(await call).toEqual([1]);
    expect(keyOf(1)).toBe("sk_new");
    expect(storedKey()).toBe("sk_new");
  });

  it("brings the sign-in screen when it does not work without one either", async () => {
    const needed = vi.fn();
    gate.signInNeeded.add(needed);
    answers.push(answer(401, { error: "missing API key" }));
    await expect(get("/queues")).rejects.toMatchObject({ status: 401 });
    expect(needed).toHaveBeenCalledTimes(1);
    expect(asked).toHaveLength(1);
    gate.signInNeeded.delete(needed);
  });
});

it("encodes what it puts into an address", async () => {
  answers.push(answer(200, {}), answer(200, {}));
  await post("/queues/{name}/pause", { params: { name: "a/b c" } });
  await get("/usage/summary", { query: { period: "24h", group_by: "tag:a&b" } });
  expect(asked.map(({ url }) => url)).toEqual([
    "/api/v1/queues/a%2Fb%20c/pause",
    "/api/v1/usage/summary?period=24h&group_by=tag%3Aa%26b",
  ]);
});
