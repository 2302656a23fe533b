// The search filter of a page, and its conversion to and from the query in the address bar (ui.md 5.4).
import { JOB_STATES, PRIORITIES, type JobState, type SearchFilter, type SearchRequest } from "../api/types";
import { toInstant } from "./format";

/** The filters of a page, as the fields of its form. Empty means not set. */
export interface Filters {
  state: JobState[];
  queue: string;
  priority: string;
  payload_contains: string;
  payload_jq: string;
  error_contains: string;
  error_fingerprint: string;
  /** Each is "key=value". */
  tag: string[];
  job_id_prefix: string;
  batch_id: string;
  worker_id: string;
  unique_key: string;
  /** An instant in UTC, so that a shared address means the same in every time zone. */
  created_after: string;
  created_before: string;
  sort: string;
  order: string;
}

export const NO_FILTERS: Filters = {
  state: [],
  queue: "",
  priority: "",
  payload_contains: "",
  payload_jq: "",
  error_contains: "",
  error_fingerprint: "",
  tag: [],
  job_id_prefix: "",
  batch_id: "",
  worker_id: "",
  unique_key: "",
  created_after: "",
  created_before: "",
  sort: "created_at",
  order: "desc",
};

/** Dead jobs, most recent failure first; and scheduled jobs, next due first. */
export const DEAD: Filters = { ...NO_FILTERS, state: ["dead"], sort: "failed_at" };
export const SCHEDULED: Filters = { ...NO_FILTERS, state: ["scheduled"], sort: "scheduled_at", order: "asc" };

const TEXTS = [
  "queue",
  "priority",
  "payload_contains",
  "payload_jq",
  "error_contains",
  "error_fingerprint",
  "job_id_prefix",
  "batch_id",
  "worker_id",
  "unique_key",
  "created_after",
  "created_before",
  "sort",
  "order",
] as const satisfies readonly (keyof Filters)[];

const isState = (word: string): word is JobState => (JOB_STATES as readonly string[]).includes(word);

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((word) => b.includes(word));

/** The members by which jobs can be sorted, each with its label. */
export const SORTS = [
  ["created_at", "Created"],
  ["priority", "Priority"],
  ["started_at", "Started"],
  ["completed_at", "Completed"],
  ["failed_at", "Failed"],
  ["scheduled_at", "Due"],
  ["attempt", "Attempt"],
] as const;

const TIMES = ["created_after", "created_before"] as const;

/** Checks for fields that do not accept every text. An invalid text is ignored, because the form could not show it. */
const MAKES_SENSE: Partial<Record<(typeof TEXTS)[number], (text: string) => boolean>> = {
  priority: (text) => (PRIORITIES as readonly string[]).includes(text),
  sort: (text) => SORTS.some(([name]) => name === text),
  order: (text) => text === "asc" || text === "desc",
};

/** Read the filters from the address. The address cannot change the queue or the states that the page itself sets. */
export function filtersFromUrl(query: URLSearchParams, defaults: Filters): Filters {
  const filters: Filters = { ...defaults };
  for (const name of TEXTS) {
    const text = query.get(name);
    filters[name] = text !== null && (MAKES_SENSE[name]?.(text) ?? true) ? text : defaults[name];
  }
  for (const name of TIMES) {
    // Addresses of earlier versions have local times.
    filters[name] = toInstant(filters[name]);
  }
  if (defaults.queue !== "") {
    filters.queue = defaults.queue;
  }
  const states = query.get("state");
  if (states !== null && defaults.state.length === 0) {
    filters.state = states.split(",").filter(isState);
  }
  const tags = query.getAll("tag").filter((pair) => pair.includes("="));
  if (tags.length > 0) {
    filters.tag = tags;
  }
  return filters;
}

/** Write the filters that differ from the page's defaults into the query. Keys that are not filters stay. */
export function filtersToUrl(filters: Filters, defaults: Filters, current: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(current);
  for (const name of TEXTS) {
    if (filters[name] === defaults[name]) {
      query.delete(name);
    } else {
      query.set(name, filters[name]);
    }
  }
  query.delete("state");
  if (!same(filters.state, defaults.state)) {
    query.set("state", filters.state.join(","));
  }
  query.delete("tag");
  if (!same(filters.tag, defaults.tag)) {
    filters.tag.forEach((pair) => query.append("tag", pair));
  }
  return query;
}

const PLAIN = [
  "queue",
  "payload_contains",
  "payload_jq",
  "error_contains",
  "error_fingerprint",
  "job_id_prefix",
  "batch_id",
  "worker_id",
  "unique_key",
] as const;

/** Convert to the filter of the API, without fields that are not set. */
export function toFilter(filters: Filters): SearchFilter {
  const out: SearchFilter = {};
  for (const name of PLAIN) {
    const text = filters[name].trim();
    if (text !== "") {
      out[name] = text;
    }
  }
  const priority = PRIORITIES.find((name) => name === filters.priority);
  if (priority !== undefined) {
    out.priority = priority;
  }
  if (filters.state.length > 0) {
    out.state = filters.state;
  }
  if (filters.tag.length > 0) {
    out.tags = Object.fromEntries(
      filters.tag.map((pair) => {
        const at = pair.indexOf("=");
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    );
  }
  for (const name of TIMES) {
    if (filters[name] !== "") {
      out[name] = filters[name];
    }
  }
  return out;
}

/** Jobs per page of a list. */
export const PAGE_ROWS = 50;

export const toRequest = (filters: Filters, limit: number): SearchRequest => ({
  ...toFilter(filters),
  sort: filters.sort,
  order: filters.order,
  limit,
});

/** How many filters behind the "Advanced filters" toggle are in use. */
export function advancedCount(filters: Filters, defaults: Filters): number {
  const hidden = TEXTS.filter((name) => name !== "sort" && name !== "order");
  return (
    hidden.filter((name) => filters[name] !== defaults[name]).length +
    (same(filters.tag, defaults.tag) ? 0 : 1)
  );
}

/** Describe a filter in words, for a confirmation. */
export function describeFilter(filter: SearchFilter): string {
  const words: string[] = [];
  if (filter.state !== undefined) {
    words.push(`state ${filter.state.join(" or ")}`);
  }
  if (filter.queue !== undefined) {
    words.push(`queue ${filter.queue}`);
  }
  for (const name of PLAIN) {
    const value = filter[name];
    if (value !== undefined && name !== "queue") {
      words.push(`${name.replaceAll("_", " ")} "${value}"`);
    }
  }
  for (const [key, value] of Object.entries(filter.tags ?? {})) {
    words.push(`tag ${key}=${value}`);
  }
  if (filter.created_after !== undefined) {
    words.push(`created after ${filter.created_after}`);
  }
  if (filter.created_before !== undefined) {
    words.push(`created before ${filter.created_before}`);
  }
  return words.join(", ");
}
