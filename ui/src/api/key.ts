// How this browser authenticates: with a session, in a cookie that the page cannot read. An earlier
// version of the page stored the key itself, in local storage and in a cookie. A key found there is
// used until it is refused or exchanged for a session.
import { storage, tabStorage } from "../lib/storage";

const NAME = "corvo_api_key";
const NAMESPACE = "corvo_namespace";
const YEAR_S = 365 * 24 * 3600;

function setCookie(name: string, value: string, maxAge: number): void {
  document.cookie = `${name}=${encodeURIComponent(value)}; path=/; SameSite=Strict; max-age=${maxAge}`;
}

export const storedKey = (): string | null => storage().getItem(NAME);

/** A header consists of bytes, and fetch expects one character per byte. The key is sent as UTF-8, as in the cookie. */
export const keyHeader = (key: string): Record<string, string> => ({
  "X-API-Key": String.fromCharCode(...new TextEncoder().encode(key)),
});

export function storeKey(key: string): void {
  storage().setItem(NAME, key);
  setCookie(NAME, key, YEAR_S);
}

/** Open an event stream with the stored key, if any, and the namespace of this tab. Cookies are shared by all ports of a
 * host and by all tabs, and they expire, so the cookies that this stream needs are set each time. */
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

/** Exchange a key or the password for a session. The page does not store it, and removes a key that it had stored. */
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

/** A reloaded tab stays in its namespace. A new tab starts in the namespace that was last chosen in any tab. */
function firstNamespace(): string {
  const cookie = document.cookie.split("; ").find((pair) => pair.startsWith(`${NAMESPACE}=`));
  const name = tabStorage().getItem(NAMESPACE) ?? cookie?.slice(NAMESPACE.length + 1) ?? "";
  return /^[a-z0-9-]+$/.test(name) ? name : "default";
}

let namespace = firstNamespace();
const listeners = new Set<() => void>();

/** Store the namespace in the cookie: for event streams, which have no headers, and for new tabs. */
function keepNamespace(): void {
  setCookie(NAMESPACE, namespace === "default" ? "" : namespace, namespace === "default" ? 0 : YEAR_S);
}

/** The namespace of this tab. */
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

/** Also sent for the default namespace: without the header the server uses the cookie, which another tab may have set. */
export const namespaceHeader = (name: string): Record<string, string> => ({ "X-Corvo-Namespace": name });
