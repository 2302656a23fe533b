// How this browser is known to the server: a session, in a cookie that the page cannot read. An
// earlier version of the page kept the key itself, in local storage and in a cookie; one that is
// found there is used until it is refused, or exchanged for a session.
import { storage } from "../lib/storage";

const NAME = "corvo_api_key";
const NAMESPACE = "corvo_namespace";
const YEAR_S = 365 * 24 * 3600;

function setCookie(name: string, value: string, maxAge: number): void {
  document.cookie = `${name}=${encodeURIComponent(value)}; path=/; SameSite=Strict; max-age=${maxAge}`;
}

export const storedKey = (): string | null => storage().getItem(NAME);

/** A header has bytes, and a browser takes one character for each: UTF-8, as the cookie's is. */
export const keyHeader = (key: string): Record<string, string> => ({
  "X-API-Key": String.fromCharCode(...new TextEncoder().encode(key)),
});

export function storeKey(key: string): void {
  storage().setItem(NAME, key);
  setCookie(NAME, key, YEAR_S);
}

/** A stream that carries a kept key. Cookies belong to all ports of a host, and are cleared by
 * themselves: the one of this server may have got lost. */
export function openStream(url: string): EventSource {
  const key = storedKey();
  if (key !== null) {
    setCookie(NAME, key, YEAR_S);
  }
  return new EventSource(url);
}

export function clearKey(): void {
  storage().removeItem(NAME);
  setCookie(NAME, "", 0);
}

/** Exchange a key or the password for a session. The page forgets it at once. */
export async function beginSession(credential: string): Promise<Response> {
  const response = await fetch("/api/v1/auth/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ credential }),
    cache: "no-store",
  });
  if (response.ok) {
    clearKey();
  }
  return response;
}

/** The namespace that this browser looks at; a cookie, because event streams have no headers. */
export function chosenNamespace(): string {
  const found = document.cookie.split("; ").find((pair) => pair.startsWith(`${NAMESPACE}=`));
  return found === undefined ? "default" : decodeURIComponent(found.slice(NAMESPACE.length + 1));
}

export function chooseNamespace(name: string): void {
  setCookie(NAMESPACE, name === "default" ? "" : name, name === "default" ? 0 : YEAR_S);
}
