// One way to the server: JSON in, JSON out, the key in a header, errors as ApiError.
import { parseExact } from "../lib/exact-json";
import { clearKey, storedKey } from "./key";

const BASE = "/api/v1";

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }

  /** The server did not answer at all. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

type Listener = () => void;

/** What the whole app wants to know about answers: whether the server is there, and lets us in. */
export const gate = {
  signInNeeded: new Set<Listener>(),
  reachable: new Set<(yes: boolean) => void>(),
};

function tell(yes: boolean): void {
  gate.reachable.forEach((listener) => listener(yes));
}

async function send(method: string, path: string, body: unknown, key: string | null): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
  }
  if (key !== null) {
    headers["X-API-Key"] = key;
  }
  const init: RequestInit = { method, headers, cache: "no-store" };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
  }
  try {
    const response = await fetch(BASE + path, init);
    tell(true);
    return response;
  } catch {
    tell(false);
    throw new ApiError(0, "UNREACHABLE", "the server cannot be reached");
  }
}

async function failure(response: Response): Promise<ApiError> {
  try {
    const body = (await response.json()) as { error?: string; code?: string };
    return new ApiError(response.status, body.code ?? "", body.error ?? response.statusText);
  } catch {
    return new ApiError(response.status, "", response.statusText || `HTTP ${response.status}`);
  }
}

type Parse = (text: string) => unknown;

export async function call<T>(method: string, path: string, body?: unknown, parse: Parse = JSON.parse): Promise<T> {
  const key = storedKey();
  let response = await send(method, path, body, key);
  if (response.status === 401 && key !== null) {
    // A key that is refused is of no use; without one it works where keys were switched off.
    clearKey();
    response = await send(method, path, body, null);
  }
  if (response.status === 401) {
    gate.signInNeeded.forEach((listener) => listener());
  }
  if (!response.ok) {
    throw await failure(response);
  }
  return parse(await response.text()) as T;
}

export const get = <T>(path: string): Promise<T> => call<T>("GET", path);
/** For documents with what people put in: their numbers keep their digits. */
export const getExact = <T>(path: string): Promise<T> => call<T>("GET", path, undefined, parseExact);
export const post = <T>(path: string, body?: unknown): Promise<T> => call<T>("POST", path, body);
export const put = <T>(path: string, body?: unknown): Promise<T> => call<T>("PUT", path, body);
export const del = <T>(path: string, body?: unknown): Promise<T> => call<T>("DELETE", path, body);

/** A path from parts that may hold anything; every ${part} is encoded. */
export function path(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((whole, part, i) => whole + encodeURIComponent(values[i - 1] ?? "") + part);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
