import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { chooseNamespace } from "../api/key";
import { toastStore } from "../lib/toasts";
import { bulkStore, dismissBulk, followBulk, putBulkAway } from "./bulk";

class FakeSource {
  static last: FakeSource;
  onerror: (() => void) | null = null;
  closed = false;
  private readonly listeners = new Map<string, (event: { data: string }) => void>();
  constructor(readonly url: string) {
    FakeSource.last = this;
  }
  addEventListener(type: string, listener: (event: { data: string }) => void) {
    this.listeners.set(type, listener);
  }
  close() {
    this.closed = true;
  }
  send(type: string, data: object) {
    this.listeners.get(`bulk.async.${type}`)?.({ data: JSON.stringify(data) });
  }
}

const answers: (Response | Error)[] = [];
const asked: { url: string; namespace: string | undefined }[] = [];
const texts = () => toastStore.get().map(({ kind, text }) => `${kind} ${text}`);
const state = (more: object) =>
  Response.json({ id: "bulk_1", status: "running", processed: 0, total: 20_000, affected: 0, errors: 0, ...more });
const run = () => bulkStore.get()[0];
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  answers.length = asked.length = 0;
  vi.stubGlobal("EventSource", FakeSource);
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    asked.push({ url, namespace: (init.headers as Record<string, string>)["X-Corvo-Namespace"] });
    const next = answers.shift() ?? new Error("no answer was prepared");
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  });
  followBulk({ bulk_operation_id: "bulk_1", status: "queued", estimated_total: 20_000 } as never, "Delete");
});
afterEach(async () => {
  dismissBulk("bulk_1");
  await pass(60_000);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a bulk operation in the background", () => {
  it("is followed by its stream, and its numbers at the end are asked for", async () => {
    FakeSource.last.send("progress", { processed: 5_000, total: 20_000, affected: 4_999, errors: 1 });
    expect(run()).toMatchObject({ processed: 5_000, affected: 4_999, errors: 1, endedAt: null });
    answers.push(state({ status: "completed", processed: 20_000, affected: 20_000 }));
    FakeSource.last.send("completed", {});
    await pass(0);
    expect(FakeSource.last.closed).toBe(true);
    expect(run()).toMatchObject({ status: "completed", affected: 20_000 });
    expect(texts()).toEqual(["good Bulk action: 20000 affected, 0 errors (0ms)"]);
    await pass(10_000);
    expect(asked).toHaveLength(1);
  });

  it("reports its end out of sight, and is gone then", async () => {
    putBulkAway("bulk_1");
    answers.push(state({ status: "failed", error: "disk full" }));
    FakeSource.last.send("failed", {});
    await pass(0);
    expect(texts()).toEqual(["bad Bulk action: 0 affected, 0 errors (0ms)"]);
    expect(bulkStore.get()).toEqual([]);
  });

  it("shows a problem only as long as there is one", async () => {
    answers.push(new TypeError("Failed to fetch"), state({ processed: 1_000 }), state({ status: "cancelled" }));
    FakeSource.last.onerror?.();
    await pass(0);
    expect(run()?.error).toBe("the server cannot be reached");
    await pass(1_000);
    expect(run()).toMatchObject({ error: null, processed: 1_000, endedAt: null });
    await pass(1_000);
    expect(run()?.status).toBe("cancelled");
  });

  it("ends when the server does not know it any more", async () => {
    answers.push(Response.json({ error: "no such operation", code: "NOT_FOUND" }, { status: 404 }));
    FakeSource.last.onerror?.();
    await pass(10_000);
    expect(asked).toHaveLength(1);
    expect(run()).toMatchObject({ status: "failed", error: "no such operation" });
  });

  it("is asked for in its own namespace", async () => {
    chooseNamespace("acme");
    answers.push(state({ status: "completed" }));
    FakeSource.last.send("completed", {});
    await pass(0);
    expect(asked).toEqual([{ url: "/api/v1/bulk/bulk_1", namespace: "default" }]);
    chooseNamespace("default");
  });
});
