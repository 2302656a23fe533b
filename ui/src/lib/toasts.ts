// Short messages at the edge of the page. The store is outside React, so that any code can show one.
export interface Toast {
  id: number;
  kind: "good" | "bad";
  text: string;
}

const SHOWN_MS = 5_000;
const KEPT = 5;

let toasts: readonly Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(list: readonly Toast[]): void {
  toasts = list;
  listeners.forEach((listener) => listener());
}

function show(kind: Toast["kind"], text: string): void {
  const id = next++;
  set([...toasts, { id, kind, text }].slice(-KEPT));
  setTimeout(() => dismissToast(id), SHOWN_MS);
}

export function dismissToast(id: number): void {
  set(toasts.filter((t) => t.id !== id));
}

export const toast = {
  good: (text: string) => show("good", text),
  bad: (text: string) => show("bad", text),
};

export const toastStore = {
  get: () => toasts,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
