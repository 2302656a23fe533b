// When a day's limit is reached if spending goes on as it did in the last hour. Days are those of UTC.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const dayStart = (now: number): number => Math.floor(now / DAY_MS) * DAY_MS;

/** Since midnight, as the server takes it: whole minutes, and at least one. */
export const todayPeriod = (now: number): string => `${Math.max(1, Math.floor((now - dayStart(now)) / 60_000))}m`;

/** What the rate is taken from: the last hour, or the day while it is shorter. */
export const ratePeriod = (now: number): string => `${Math.min(60, Math.max(1, Math.floor((now - dayStart(now)) / 60_000)))}m`;

export type Forecast =
  | { kind: "reached"; resetsAt: number }
  | { kind: "limit"; at: number }
  | { kind: "below"; total: number }
  | { kind: "idle" };

/** From what was spent today, what the last hour (or the shorter day) cost, and the limit. */
export function forecast(spent: number, recent: number, limit: number, now: number): Forecast {
  const end = dayStart(now) + DAY_MS;
  if (spent >= limit) {
    return { kind: "reached", resetsAt: end };
  }
  if (recent <= 0) {
    return { kind: "idle" };
  }
  const perMs = recent / Math.max(60_000, Math.min(HOUR_MS, now - dayStart(now)));
  const at = now + (limit - spent) / perMs;
  return at < end ? { kind: "limit", at } : { kind: "below", total: spent + perMs * (end - now) };
}
