// Light or dark theme: the user's choice, or else the theme of the system, even when that changes.
import { useSyncExternalStore } from "react";

import { storage } from "./storage";

const NAME = "theme";
const system = () => window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export function isDark(): boolean {
  const choice = storage().getItem(NAME);
  return choice === null ? system().matches : choice === "dark";
}

function apply(): void {
  document.documentElement.classList.toggle("dark", isDark());
  listeners.forEach((listener) => listener());
}

export function toggleTheme(): void {
  storage().setItem(NAME, isDark() ? "light" : "dark");
  apply();
}

export function useDark(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    const media = system();
    media.addEventListener("change", apply);
    return () => {
      listeners.delete(listener);
      media.removeEventListener("change", apply);
    };
  }, isDark);
}
