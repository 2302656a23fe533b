// JSON whose numbers keep their digits. A payload may hold integers beyond 2^53; the server keeps
// them, and so must whoever shows or copies them.

interface WithRaw {
  rawJSON?: (text: string) => unknown;
}

const raw = (JSON as WithRaw).rawJSON;

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const keepDigits: Reviver = (_key, value, context) => {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || raw === undefined) {
    return value;
  }
  return String(value) === source ? value : raw(source);
};

/** As JSON.parse; numbers that a double would change print as they were written. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, keepDigits);
}

/** Whether a JSON value has members. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
