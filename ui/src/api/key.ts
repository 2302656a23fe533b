// The API key of this browser: in local storage, and in a cookie because an event stream cannot
// send headers.
const NAME = "corvo_api_key";

function setCookie(value: string, maxAge: number): void {
  document.cookie = `${NAME}=${encodeURIComponent(value)}; path=/; SameSite=Strict; max-age=${maxAge}`;
}

export function storedKey(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}

const YEAR_S = 365 * 24 * 3600;

export function storeKey(key: string): void {
  localStorage.setItem(NAME, key);
  setCookie(key, YEAR_S);
}

export function clearKey(): void {
  localStorage.removeItem(NAME);
  setCookie("", 0);
}
