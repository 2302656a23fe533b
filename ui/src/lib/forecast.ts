// When a daily limit will be reached if spending continues as in the last hour. Days are UTC days.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const dayStart = (now: number): number => Math.floor(now / DAY_MS) * DAY_MS;

/** The time since midnight, as a period of the API: whole minutes, at least one. */
export const todayPeriod = (now: number): string => `${Math.max(1, Math.floor((now - dayStart(now)) / 60_000))}m`;

/** The period from which the rate is calculated: the last hour, or the day so far if it is shorter. */
export const ratePeriod = (now: number): string => `${Math.min(60, Math.max(1, Math.floor((now - dayStart(now)) / 60_000)))}m`;

export type Forecast =
  | { kind: "reached"; resetsAt: number }
  | { kind: "limit"; at: number }
  | { kind: "below"; total: number }
  | { kind: "idle" };

/** Forecast from today's spending, the spending of the last hour (or the shorter day) and the limit. */
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
