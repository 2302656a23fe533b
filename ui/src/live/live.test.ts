import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Coalescer, touched } from "./refresh";
import { KEPT_EVENTS, LiveStream, parseEvent, type Batch, type Source } from "./stream";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

class FakeSource implements Source {
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;
  constructor(readonly url: string) {}
  close() {
    this.closed = true;
  }
  send(seq: number, more: object = {}) {
    this.onmessage?.({ data: JSON.stringify({ seq, type: "job.started", at_ns: 1, job_id: `job_${seq}`, ...more }) });
  }
}

function openStream() {
  const sources: FakeSource[] = [];
  const batches: Batch[] = [];
  const stream = new LiveStream((url) => {
    const source = new FakeSource(url);
    sources.push(source);
    return source;
  });
  stream.onBatch((batch) => batches.push(batch));
  stream.start();
  const last = (): FakeSource => {
    const source = sources.at(-1);
    if (source === undefined) {
      throw new Error("no source was opened");
    }
    return source;
  };
  return { stream, sources, batches, last };
}

describe("the stream", () => {
  it("begins with what is new and hands events over in batches", () => {
    const { stream, batches, last } = openStream();
    expect(last().url).toContain("tail=0");
    last().onopen?.();
    expect(stream.state()).toBe("open");
    last().send(1);
    last().send(2);
    expect(batches).toHaveLength(0);
    vi.advanceTimersByTime(250);
    expect(batches.map((b) => b.events.map((e) => e.seq))).toEqual([[1, 2]]);
  });

  it("takes ten thousand events a second in a few steps and keeps the last", () => {
    const { stream, batches, last } = openStream();
    for (let i = 1; i <= 10_000; i++) {
      last().send(i);
      if (i % 2_500 === 0) {
        vi.advanceTimersByTime(250);
      }
    }
    vi.advanceTimersByTime(250);
    expect(batches.length).toBeLessThanOrEqual(5);
    expect(batches.some((b) => b.overflow)).toBe(true);
    expect(stream.events()).toHaveLength(KEPT_EVENTS);
    expect(stream.events().at(-1)?.seq).toBe(10_000);
  });

  it("comes back where it was, waiting twice as long each time", () => {
    const { sources, last } = openStream();
    last().send(41);
    vi.advanceTimersByTime(250);
    for (const wait of [3_000, 6_000, 12_000, 24_000, 30_000, 30_000]) {
      const before = sources.length;
      last().onerror?.();
      expect(last().closed).toBe(true);
      vi.advanceTimersByTime(wait - 1);
      expect(sources).toHaveLength(before);
      vi.advanceTimersByTime(1);
      expect(sources).toHaveLength(before + 1);
      expect(last().url).toContain("last_event_id=41");
    }
    last().send(42);
    last().onerror?.();
    vi.advanceTimersByTime(3_000);
    expect(last().url).toContain("last_event_id=42");
  });

  it("fetches what was before, once", () => {
    const { stream, sources, last } = openStream();
    stream.wantHistory();
    stream.wantHistory();
    expect(sources).toHaveLength(2);
    expect(sources[0]?.closed).toBe(true);
    expect(last().url).toContain("tail=500");
  });

  it("shows no event twice and passes over what is none", () => {
    const { stream, last } = openStream();
    last().send(1);
    last().send(1);
    last().onmessage?.({ data: "nonsense" });
    vi.advanceTimersByTime(250);
    last().send(1);
    vi.advanceTimersByTime(250);
    expect(stream.events().map((e) => e.seq)).toEqual([1]);
    expect(parseEvent('{"type":"x"}')).toBeNull();
    expect(parseEvent("null")).toBeNull();
  });

  it("begins with what is new after a pause, and shows nothing twice", () => {
    const { stream, last } = openStream();
    last().send(41);
    vi.advanceTimersByTime(250);
    stream.stop();
    stream.start();
    expect(last().url).toContain("tail=0");
    stream.wantHistory();
    last().send(41);
    last().send(42);
    vi.advanceTimersByTime(250);
    stream.stop();
    stream.start();
    expect(last().url).toContain("tail=500");
    last().send(42);
    last().send(43);
    vi.advanceTimersByTime(250);
    expect(stream.events().map((e) => e.seq)).toEqual([41, 42, 43]);
  });

  it("follows a server whose log began again", () => {
    const { stream, last } = openStream();
    last().send(41, { at_ns: 1_000 });
    last().send(42, { at_ns: 1_000 });
    vi.advanceTimersByTime(250);
    last().onerror?.();
    vi.advanceTimersByTime(3_000);
    expect(last().url).toContain("last_event_id=42");
    stream.startAnew();
    expect(last().url).toContain("tail=0");
    last().send(1, { at_ns: 2_000 });
    last().send(2, { at_ns: 2_000 });
    vi.advanceTimersByTime(250);
    expect(stream.events().map((e) => e.seq)).toEqual([1, 2]);
  });

  it("forgets what came before, and begins again", () => {
    const { stream, batches, last } = openStream();
    last().send(41);
    vi.advanceTimersByTime(250);
    last().send(42);
    let changes = 0;
    stream.subscribe(() => changes++);
    const before = last();
    stream.forget();
    expect(before.closed).toBe(true);
    expect(last().url).toContain("tail=0");
    expect(stream.events()).toEqual([]);
    expect(changes).toBeGreaterThan(0);
    last().send(7);
    vi.advanceTimersByTime(250);
    expect(batches.map((b) => b.events.map((e) => e.seq))).toEqual([[41], [7]]);
    expect(stream.events().map((e) => e.seq)).toEqual([7]);
  });

  it("forgets without connecting when it is stopped", () => {
    const { stream, sources, last } = openStream();
    last().send(41);
    vi.advanceTimersByTime(250);
    stream.stop();
    stream.forget();
    expect(sources).toHaveLength(1);
    expect(stream.events()).toEqual([]);
  });

  it("stays closed when it is stopped", () => {
    const { stream, sources, last } = openStream();
    last().onerror?.();
    stream.stop();
    vi.advanceTimersByTime(60_000);
    expect(sources).toHaveLength(1);
    expect(stream.state()).toBe("closed");
  });
});

describe("what events make stale", () => {
  const event = (type: string, job_id?: string) => ({ seq: 1, type, at_ns: 1, ...(job_id ? { job_id } : {}) });

  it("is the job, the searches and the queues, or only the queues", () => {
    const job = touched({ events: [event("job.started", "job_1")], overflow: false });
    expect([...job].sort()).toEqual(["job:job_1", "queues", "search"]);
    expect([...touched({ events: [event("started", "j")], overflow: false })]).toContain("job:j");
    expect([...touched({ events: [event("queue.paused")], overflow: false })]).toEqual(["queues"]);
    expect([...touched({ events: [], overflow: true })].sort()).toEqual(["job", "queues", "search"]);
  });

  it("is read again at once, then at most once a second, and never forgotten", () => {
    const ran: string[] = [];
    const coalescer = new Coalescer((key) => ran.push(key));
    coalescer.mark(["queues"]);
    expect(ran).toEqual(["queues"]);
    for (let i = 0; i < 100; i++) {
      coalescer.mark(["queues", "search"]);
      vi.advanceTimersByTime(5);
    }
    expect(ran).toEqual(["queues", "search"]);
    vi.advanceTimersByTime(1_000);
    expect(ran.filter((key) => key === "queues")).toHaveLength(2);
    expect(ran.filter((key) => key === "search")).toHaveLength(2);
    vi.advanceTimersByTime(10_000);
    expect(ran).toHaveLength(4);
  });

  it("is dropped when the page goes", () => {
    const ran: string[] = [];
    const coalescer = new Coalescer((key) => ran.push(key));
    coalescer.mark(["a"]);
    coalescer.mark(["a"]);
    coalescer.stop();
    vi.advanceTimersByTime(5_000);
    expect(ran).toEqual(["a"]);
  });
});
