// JSON whose numbers keep their digits. A payload may hold integers beyond 2^53; the server keeps
// them, and so must whoever shows or copies them.

interface WithRaw {
  rawJSON?: (text: string) => unknown;
}

const raw = (JSON as WithRaw).rawJSON;

/** A number as it was written. A class of its own: what compares documents must not take it for one. */
class Digits {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return raw?.(this.text);
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const keepDigits: Reviver = (_key, value, context) => {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || raw === undefined) {
    return value;
  }
  return String(value) === source ? value : new Digits(source);
};

/** As JSON.parse; numbers that a double would change print as they were written. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, keepDigits);
}

/** Whether a JSON value has members. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Members of an answer that hold what people put in; the others are there to be counted with. */
const PUT_IN = new Set(["payload", "result", "checkpoint", "tags"]);

function countable(value: unknown): unknown {
  if (value instanceof Digits) {
    return Number(value.text);
  }
  if (Array.isArray(value)) {
    return value.map(countable);
  }
  if (!isObject(value)) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, PUT_IN.has(k) ? v : countable(v)]));
}

/** An answer of the server: what people put in is exact, everything else is as JSON.parse has it. */
export const parseAnswer = (text: string): unknown => countable(parseExact(text));
