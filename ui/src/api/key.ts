// The API key of this browser: in local storage, and in a cookie because an event stream cannot
// send headers.
import { storage } from "../lib/storage";

const NAME = "corvo_api_key";

function setCookie(value: string, maxAge: number): void {
  document.cookie = `${NAME}=${encodeURIComponent(value)}; path=/; SameSite=Strict; max-age=${maxAge}`;
}

export const storedKey = (): string | null => storage().getItem(NAME);

/** A header has bytes, and a browser takes one character for each: UTF-8, as the cookie's is. */
export const keyHeader = (key: string): Record<string, string> => ({
  "X-API-Key": String.fromCharCode(...new TextEncoder().encode(key)),
});

const YEAR_S = 365 * 24 * 3600;

export function storeKey(key: string): void {
  storage().setItem(NAME, key);
  setCookie(key, YEAR_S);
}

/** A stream that carries the key. Cookies belong to all ports of a host, and are cleared by
 * themselves: the one of this server may have got lost. */
export function openStream(url: string): EventSource {
  const key = storedKey();
  if (key !== null) {
    setCookie(key, YEAR_S);
  }
  return new EventSource(url);
}

export function clearKey(): void {
  storage().removeItem(NAME);
  setCookie("", 0);
}
