// The time range of a page, in the address bar: "range=24h", or "from" and "to".
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";

export const PRESETS = [
  ["1h", "Last hour"],
  ["24h", "Last day"],
  ["7d", "Last week"],
  ["30d", "Last 30 days"],
] as const;

export interface Range {
  /** One of the presets, or null for a custom range. */
  preset: string | null;
  /** In the form of the API: a time, or a duration before now. An empty "to" means now. */
  from: string;
  to: string;
}

const isTime = (text: string | null): text is string => text !== null && !Number.isNaN(Date.parse(text));

export function rangeFromUrl(query: URLSearchParams, usual = "1h"): Range {
  const from = query.get("from");
  const to = query.get("to");
  if (isTime(from) && isTime(to) && Date.parse(from) < Date.parse(to)) {
    return { preset: null, from, to };
  }
  const wanted = query.get("range");
  const preset = PRESETS.find(([name]) => name === wanted)?.[0] ?? usual;
  return { preset, from: preset, to: "" };
}

export function rangeToUrl(range: NextRange, current: URLSearchParams, usual = "1h") {
  const query = new URLSearchParams(current);
  query.delete("from");
  query.delete("to");
  query.delete("range");
  if ("from" in range) {
    query.set("from", new Date(range.from).toISOString());
    query.set("to", new Date(range.to).toISOString());
  } else if (range.preset !== usual) {
    query.set("range", range.preset);
  }
  return query;
}

const UNIT_MS: Record<string, number> = { h: 3_600_000, d: 86_400_000 };

/** Return the start and the end of a range. */
export function boundsOf({ preset, from, to }: Range, now: number): { from: number; to: number } {
  if (preset === null) {
    return { from: Date.parse(from), to: Date.parse(to) };
  }
  return { from: now - Number.parseInt(preset, 10) * (UNIT_MS[preset.slice(-1)] ?? 0), to: now };
}

export type NextRange = { preset: string } | { from: number; to: number };

export function useRange(usual = "1h") {
  const [query, setQuery] = useSearchParams();
  const range = useMemo(() => rangeFromUrl(query, usual), [query, usual]);
  const set = useCallback((next: NextRange) => setQuery((current) => rangeToUrl(next, current, usual)), [setQuery, usual]);
  /** Return the address of the page with another range. */
  const to = useCallback((next: NextRange) => `?${rangeToUrl(next, query, usual)}`, [query, usual]);
  return { range, set, to };
}
