// JSON whose numbers keep their digits. A payload may contain integers beyond 2^53. The server keeps
// them exact, and so must all code that shows or copies them.

interface WithRaw {
  rawJSON?: (text: string) => unknown;
}

const raw = (JSON as WithRaw).rawJSON;

/** A number as it was written. A class, so that code that compares documents does not take it for a plain object. */
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

/** Like JSON.parse, except that numbers that a double would change are printed as they were written. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, keepDigits);
}

/** True for a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The members of a response that contain user data. Numbers in other members become doubles, for calculations. */
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

/** Parse a response of the server. User data keeps its digits; everything else is parsed as by JSON.parse. */
export const parseAnswer = (text: string): unknown => countable(parseExact(text));
