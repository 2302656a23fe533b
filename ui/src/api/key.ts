// How this browser is known to the server: a session, in a cookie that the page cannot read. An
// earlier version of the page kept the key itself, in local storage and in a cookie; one that is
// found there is used until it is refused, or exchanged for a session.
import { storage, tabStorage } from "../lib/storage";

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

/** A stream that carries a kept key and the namespace of this tab. Cookies belong to all ports of a host and to all
 * tabs, and are cleared by themselves: those that this one needs are set each time. */
export function openStream(url: string): EventSource {
  const key = storedKey();
  if (key !== null) {
    setCookie(NAME, key, YEAR_S);
  }
  keepNamespace();
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

/** A tab that is loaded again stays in its namespace; a new one begins with the last that was chosen in any. */
function firstNamespace(): string {
  const cookie = document.cookie.split("; ").find((pair) => pair.startsWith(`${NAMESPACE}=`));
  const name = tabStorage().getItem(NAMESPACE) ?? cookie?.slice(NAMESPACE.length + 1) ?? "";
  return /^[a-z0-9-]+$/.test(name) ? name : "default";
}

let namespace = firstNamespace();
const listeners = new Set<() => void>();

/** For event streams, which have no headers, and for tabs to come. */
function keepNamespace(): void {
  setCookie(NAMESPACE, namespace === "default" ? "" : namespace, namespace === "default" ? 0 : YEAR_S);
}

/** The namespace that this tab looks at. */
export const chosenNamespace = (): string => namespace;

export function chooseNamespace(name: string): void {
  namespace = name;
  tabStorage().setItem(NAMESPACE, name);
  keepNamespace();
  listeners.forEach((listener) => listener());
}

/** For useSyncExternalStore. */
export function onNamespace(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Also for the default namespace: without the header the cookie counts, and that may be of another tab. */
export const namespaceHeader = (name: string): Record<string, string> => ({ "X-Corvo-Namespace": name });
