import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useNavigate } from "react-router-dom";

import { readAhead } from "./ahead";

type OnTick = (now: number) => void;

/** Timers by interval. Components with the same interval share one, so that a page full of times is rendered once. */
const beats = new Map<number, { listeners: Set<OnTick>; timer: ReturnType<typeof setInterval> }>();

function onBeat(everyMs: number, listener: OnTick): () => void {
  let beat = beats.get(everyMs);
  if (beat === undefined) {
    const listeners = new Set<OnTick>();
    const timer = setInterval(() => {
      const now = Date.now();
      listeners.forEach((tell) => tell(now));
    }, everyMs);
    beat = { listeners, timer };
    beats.set(everyMs, beat);
  }
  const { listeners, timer } = beat;
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      beats.delete(everyMs);
    }
  };
}

/** Return the current time and update it at an interval, so that relative times stay current. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => onBeat(everyMs, setNow), [everyMs]);
  return now;
}

/** Return the value once it has not changed for ms milliseconds, or at once if ms is 0. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return ms === 0 ? value : settled;
}

/** Return a function that never changes and calls the function of the last render. */
export function useLast<A extends unknown[]>(run: ((...args: A) => void) | undefined): (...args: A) => void {
  const last = useRef(run);
  useEffect(() => {
    last.current = run;
  });
  return useCallback((...args: A) => last.current?.(...args), []);
}

/** True if the user is typing or in a dialog, where hotkeys must not intercept keys. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select, [role=dialog]") !== null)
  );
}

export type Hotkeys = Record<string, (event: KeyboardEvent) => void>;

/** Bind single keys. They are ignored while typing, in a dialog, or with Ctrl, Meta or Alt. */
export function useHotkeys(keys: Hotkeys): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const run = current.current[event.key];
      const busy = event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented;
      if (run === undefined || busy || isTyping(event.target) || document.querySelector("dialog[open]") !== null) {
        return;
      }
      run(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Return a function that opens a page by keyboard and reads its data ahead. For the pointer, watchPresses does this. */
export function useGoTo(): (to: string) => void {
  const client = useQueryClient();
  const navigate = useNavigate();
  return (to) => {
    readAhead(client, to);
    navigate(to);
  };
}

const narrow = () => window.matchMedia("(max-width: 1100px)");

/** True on phones, and on laptops beside the sidebar, where tables have fewer columns. */
export const useNarrow = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = narrow();
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => narrow().matches,
  );

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Corvo" : `${title} · Corvo`;
  }, [title]);
}
