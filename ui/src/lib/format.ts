// Format values for display (ui.md 5.1).
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function relativeTime(at: string | number, now: number): string {
  const then = typeof at === "number" ? at : Date.parse(at);
  const age = now - then;
  if (Number.isNaN(age)) {
    return "-";
  }
  if (age < 5 * SECOND) {
    return "just now";
  }
  if (age < MINUTE) {
    return `${Math.floor(age / SECOND)}s ago`;
  }
  if (age < HOUR) {
    return `${Math.floor(age / MINUTE)}m ago`;
  }
  if (age < DAY) {
    return `${Math.floor(age / HOUR)}h ago`;
  }
  if (age <= 30 * DAY) {
    return `${Math.floor(age / DAY)}d ago`;
  }
  return new Date(then).toLocaleDateString();
}

export function count(n: number): string {
  if (n >= 1_000_000) {
    return `${(n / 1_000_000).toFixed(1)}M`;
  }
  // These numbers would round to 1000.0K.
  if (n >= 999_950) {
    return "1.0M";
  }
  return n >= 1_000 ? `${(n / 1_000).toFixed(1)}K` : String(n);
}

/** "1 group", "2,000 groups". */
export const plural = (n: number, one: string): string => `${n.toLocaleString()} ${one}${n === 1 ? "" : "s"}`;

export const jobCount = (n: number): string => plural(n, "job");

/** "All Queues (12)", without the number until it is known. */
export const counted = (title: string, list: readonly unknown[] | undefined): string =>
  list === undefined ? title : `${title} (${list.length.toLocaleString()})`;

export const shortId = (id: string): string => (id.length > 12 ? `${id.slice(0, 12)}…` : id);

const PREVIEW = 60;

/** Characters that change the direction of the text that follows. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/g;

/** Escape these characters in JSON, so that it is shown in the order in which it is written. */
export const inOrder = (json: string): string =>
  json.replace(TURNING, (char) => `\\u${char.charCodeAt(0).toString(16)}`);

export function preview(value: unknown, most = PREVIEW): string {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) {
    return "";
  }
  const text = inOrder(json);
  // Do not cut a surrogate pair in half.
  return text.length > most ? `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}…` : text;
}

/** A span in seconds and larger: "42s", "3m 5s", "76h 10m". */
export function latency(ms: number): string {
  const s = Math.max(0, Math.floor(ms / SECOND));
  if (s < 60) {
    return `${s}s`;
  }
  if (s < 3600) {
    return `${Math.floor(s / 60)}m ${s % 60}s`;
  }
  return `${Math.floor(s / 3600)}h ${Math.floor((s % 3600) / 60)}m`;
}

/** A span that may be short: "3 ms", "1.2 s". From a minute on, the format of latency. */
export function span(ms: number): string {
  if (ms <= 0) {
    return "0 ms";
  }
  if (ms < 1) {
    return `${Math.max(1, Math.round(ms * 1000))} µs`;
  }
  if (ms < SECOND) {
    return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
  }
  return ms < MINUTE ? `${Number((ms / SECOND).toFixed(1))} s` : latency(ms).replace(/ 0[smh]$/, "");
}

export function countdown(at: string | undefined, now: number): string {
  if (at === undefined) {
    return "-";
  }
  const left = Date.parse(at) - now;
  if (Number.isNaN(left)) {
    return "-";
  }
  if (left <= 0) {
    return "overdue";
  }
  if (left < MINUTE) {
    return `in ${Math.ceil(left / SECOND)}s`;
  }
  if (left < HOUR) {
    return `in ${Math.floor(left / MINUTE)}m`;
  }
  if (left < DAY) {
    return `in ${Math.floor(left / HOUR)}h ${Math.floor((left % HOUR) / MINUTE)}m`;
  }
  return `in ${Math.floor(left / DAY)}d`;
}

export const money = (usd: number, decimals = 4): string => `$${usd.toFixed(decimals)}`;

export const percent = (part: number, whole: number): number =>
  whole > 0 ? Math.min(100, Math.max(0, Math.round((part / whole) * 100))) : 0;

export const capitalise = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const PRIORITY_NAMES = ["Critical", "High", "Normal"];

export const priorityName = (priority: number): string => PRIORITY_NAMES[priority] ?? String(priority);

/** The server makes max_retries attempts in total, but at least one. */
export const attempts = (job: { attempt: number; max_retries: number }): string =>
  `${job.attempt} / ${Math.max(1, job.max_retries)}`;

const MOMENT: Intl.DateTimeFormatOptions = {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
};

const two = (n: number): string => String(n).padStart(2, "0");

/** By time zone. Cached, because creating a format takes 0.2 ms and a chart has a thousand times. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("en-CA", { ...MOMENT, timeZone });
  formats.set(timeZone, format);
  return format;
}

/** "2026-02-11 10:00:00" in a time zone, by default the browser's. */
export function moment(at: string | number, timeZone?: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) {
    return "-";
  }
  if (timeZone === undefined) {
    const day = `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  }
  const part = Object.fromEntries(formatOf(timeZone).formatToParts(date).map((p) => [p.type, p.value]));
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second}`;
}

/** Convert a time to local "2026-02-11T10:00", the format of the browser's field. Empty if it is not a time. */
export function toField(at: string | number): string {
  const text = moment(at);
  return text === "-" ? "" : text.replace(" ", "T").slice(0, -":00".length);
}

/** Convert a time, without a zone a local one, to UTC. Empty if the text is not a time. */
export function toInstant(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

let zone = { name: "", offset: NaN };

/** The browser's time zone. Looked up again when its offset changes, because the computer may travel. */
export function localZone(): string {
  const offset = new Date().getTimezoneOffset();
  if (offset !== zone.offset) {
    zone = { name: Intl.DateTimeFormat().resolvedOptions().timeZone, offset };
  }
  return zone.name;
}

/** For a tooltip: local time with its zone, then UTC. */
export const fullTime = (at: string): string => `${moment(at)} (${localZone()})\n${moment(at, "UTC")} UTC`;

/** The local time of day: "10:00:04.301". */
export function clock(at: string | number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(
    date.getMilliseconds(),
  ).padStart(3, "0")}`;
}

const UNIT_MS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
  w: 7 * DAY,
};

/** Convert a duration ("1h30m", "500µs") to milliseconds. Null if the text is not a duration. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d|w))+$/.test(text)) {
    return text === "0" ? 0 : null;
  }
  let total = 0;
  for (const [, digits, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d|w)/g)) {
    total += Number(digits) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  return total;
}

/** Convert the UTC times in a text of the server to local time. */
export const localTimes = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) => moment(at).slice(0, 19));
