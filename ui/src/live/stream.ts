// The only event stream of this tab. It reconnects by itself, keeps the last events for the live
// tail, and passes events on in batches: ten thousand events a second become four calls a second.
import type { LiveEvent } from "../api/types";

export const KEPT_EVENTS = 500;

const FLUSH_MS = 250;
const RETRY_FIRST_MS = 3_000;
const RETRY_MAX_MS = 30_000;
/** If more events than this arrive between two flushes, only the last KEPT_EVENTS of them are kept (overflow). */
const BATCH_MAX = 2_000;

export interface Batch {
  events: readonly LiveEvent[];
  /** There were more events than these: anything may have changed. */
  overflow: boolean;
}

export type StreamState = "connecting" | "open" | "closed";

/** The part of EventSource that is used here. Tests replace it. */
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
  /** The connection was lost: the next one continues after the last event. False after a start. */
  private resuming = false;
  private state_: StreamState = "closed";
  private readonly batchListeners = new Set<(batch: Batch) => void>();
  private readonly changeListeners = new Set<() => void>();

  constructor(private readonly open: (url: string) => Source) {}

  /** Receive events from now on. Events since the last stop are not read, except for the live tail. */
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

  /** For the live tail: also read events from before the page was opened. Restarts the stream, the first time only. */
  wantHistory(): void {
    if (!this.hasHistory) {
      this.hasHistory = true;
      this.forget();
    }
  }

  /** Drop all events so far and start again. They were for another namespace or another caller. */
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

  /** Start again without resuming. The server's log may be a new one that has no events after the last event seen. */
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
      // A later event with a smaller number: the log of a server whose data was wiped.
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
