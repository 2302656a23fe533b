// The one event stream of this tab. It reconnects for itself, keeps the last events for the live
// tail, and hands what came over in batches: ten thousand events a second are four calls a second.
import type { LiveEvent } from "../api/types";

export const KEPT_EVENTS = 500;

const FLUSH_MS = 250;
const RETRY_FIRST_MS = 3_000;
const RETRY_MAX_MS = 30_000;
/** More than this between two flushes is not looked at one by one. */
const BATCH_MAX = 2_000;

export interface Batch {
  events: readonly LiveEvent[];
  /** There were more than those: anything may have changed. */
  overflow: boolean;
}

export type StreamState = "connecting" | "open" | "closed";

/** What of an EventSource is used; tests have one of their own. */
export interface Source {
  onopen: (() => void) | null;
  onmessage: ((message: { data: string }) => void) | null;
  onerror: (() => void) | null;
  close(): void;
}

export class LiveStream {
  private source: Source | null = null;
  private raw: string[] = [];
  private overflow = false;
  private flushTimer: ReturnType<typeof setTimeout> | undefined;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private retryMs = RETRY_FIRST_MS;
  private lastSeq = 0;
  private lastAt = 0;
  private kept: readonly LiveEvent[] = [];
  private hasHistory = false;
  private running = false;
  /** After a break, as against a start: go on where it was. */
  private resuming = false;
  private state_: StreamState = "closed";
  private readonly batchListeners = new Set<(batch: Batch) => void>();
  private readonly changeListeners = new Set<() => void>();

  constructor(private readonly open: (url: string) => Source) {}

  /** From now on; what happened since a stop is not made up for, except in the live tail. */
  start(): void {
    this.running = true;
    this.resuming = false;
    this.connect();
  }

  stop(): void {
    this.running = false;
    this.disconnect();
    this.setState("closed");
  }

  /** For the live tail: also what happened before the page was opened. The stream begins again, once. */
  wantHistory(): void {
    if (!this.hasHistory) {
      this.hasHistory = true;
      this.forget();
    }
  }

  /** Begin again without what came so far: it was for another namespace, or another caller. */
  forget(): void {
    clearTimeout(this.flushTimer);
    this.flushTimer = undefined;
    this.lastSeq = 0;
    this.lastAt = 0;
    this.kept = [];
    this.raw = [];
    this.overflow = false;
    this.changed();
    this.startAnew();
  }

  /** The server's log may be another one: behind the last event that was seen there may be none. */
  startAnew(): void {
    this.resuming = false;
    if (this.running) {
      this.connect();
    }
  }

  onBatch(listener: (batch: Batch) => void): () => void {
    this.batchListeners.add(listener);
    return () => this.batchListeners.delete(listener);
  }

  /** For useSyncExternalStore. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  };
  readonly events = (): readonly LiveEvent[] => this.kept;
  readonly state = (): StreamState => this.state_;

  private url(): string {
    const from = this.resuming && this.lastSeq > 0 ? `last_event_id=${this.lastSeq}` : `tail=${this.hasHistory ? KEPT_EVENTS : 0}`;
    return `/api/v1/events?format=message&${from}`;
  }

  private connect(): void {
    this.disconnect();
    this.setState("connecting");
    const source = this.open(this.url());
    this.source = source;
    source.onopen = () => {
      this.setState("open");
    };
    source.onmessage = (message) => {
      this.retryMs = RETRY_FIRST_MS;
      this.take(message.data);
    };
    source.onerror = () => {
      this.disconnect();
      this.setState("closed");
      this.resuming = true;
      this.retryTimer = setTimeout(() => this.connect(), this.retryMs);
      this.retryMs = Math.min(this.retryMs * 2, RETRY_MAX_MS);
    };
  }

  private disconnect(): void {
    this.source?.close();
    this.source = null;
    clearTimeout(this.retryTimer);
  }

  private take(data: string): void {
    this.raw.push(data);
    if (this.raw.length > BATCH_MAX) {
      this.raw = this.raw.slice(-KEPT_EVENTS);
      this.overflow = true;
    }
    this.flushTimer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  private flush(): void {
    this.flushTimer = undefined;
    const events: LiveEvent[] = [];
    for (const event of this.raw.map(parseEvent)) {
      if (event === null) {
        continue;
      }
      // Later, yet with a smaller number: the log of a server whose data was wiped.
      if (event.seq <= this.lastSeq && event.at_ns > this.lastAt) {
        this.kept = [];
        this.lastSeq = 0;
      }
      if (event.seq > this.lastSeq) {
        this.lastSeq = event.seq;
        this.lastAt = event.at_ns;
        events.push(event);
      }
    }
    const batch = { events, overflow: this.overflow };
    this.raw = [];
    this.overflow = false;
    if (events.length === 0) {
      return;
    }
    this.kept = [...this.kept, ...events].slice(-KEPT_EVENTS);
    this.batchListeners.forEach((listener) => listener(batch));
    this.changed();
  }

  private setState(state: StreamState): void {
    if (this.state_ !== state) {
      this.state_ = state;
      this.changed();
    }
  }

  private changed(): void {
    this.changeListeners.forEach((listener) => listener());
  }
}

export function parseEvent(data: string): LiveEvent | null {
  try {
    const event = JSON.parse(data) as Partial<LiveEvent> | null;
    return typeof event?.seq === "number" && typeof event.type === "string" ? (event as LiveEvent) : null;
  } catch {
    return null;
  }
}
