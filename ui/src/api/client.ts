// The API client: JSON requests and responses, the key in a header, errors as ApiError. Paths,
// bodies and responses have the types of the server's OpenAPI description (openapi.ts).
import { parseAnswer } from "../lib/exact-json";
import { chosenNamespace, clearKey, keyHeader, namespaceHeader, storedKey } from "./key";
import type { paths } from "./openapi";

const BASE = "/api/v1" as const;

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }

  /** True if the server did not respond at all. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

type Listener = () => void;

/** Listeners for the whole app: called when a sign-in is needed, and with whether the server is reachable. */
export const gate = {
  signInNeeded: new Set<Listener>(),
  reachable: new Set<(yes: boolean) => void>(),
};

function tell(yes: boolean): void {
  gate.reachable.forEach((listener) => listener(yes));
}

/** The timeout of reads. After it the server counts as unreachable, even if the connection is still open. */
const READ_MAX_MS = 10_000;

async function send(method: string, path: string, body: unknown, key: string | null, namespace: string): Promise<Response> {
  const headers: Record<string, string> = {
    Accept: "application/json",
    ...namespaceHeader(namespace),
    ...(key === null ? {} : keyHeader(key)),
  };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
  }
  const init: RequestInit = { method, headers, cache: "no-store" };
  if (method === "GET") {
    init.signal = AbortSignal.timeout(READ_MAX_MS);
  }
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

/** Longer lists are cut off, because nobody reads that many rows. */
const PAGES_MAX = 10;

/** Send a request in one namespace. If a GET returns a list, returns the rows of all its pages, up to PAGES_MAX. */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  parse: Parse = JSON.parse,
  namespace = chosenNamespace(),
): Promise<T> {
  let response = await answer(method, path, body, namespace);
  const first = parse(await response.text());
  if (method !== "GET" || !Array.isArray(first)) {
    return first as T;
  }
  const rows: unknown[] = first;
  for (let page = 1; page < PAGES_MAX; page++) {
    const cursor = response.headers.get("X-Corvo-Next-Cursor");
    if (cursor === null) {
      break;
    }
    response = await answer(method, `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ cursor })}`, undefined, namespace);
    rows.push(...(parse(await response.text()) as unknown[]));
  }
  return rows as T;
}

/** Return the response to a request. Throws an ApiError if the request fails. */
async function answer(method: string, path: string, body: unknown, namespace: string): Promise<Response> {
  const key = storedKey();
  let response = await send(method, path, body, key, namespace);
  if (response.status === 401 && key !== null) {
    // Drop the refused key. Without a key the request works if authentication has been turned off.
    // Another tab may have stored a newer key meanwhile.
    if (storedKey() === key) {
      clearKey();
    }
    response = await send(method, path, body, storedKey(), namespace);
  }
  if (response.status === 401) {
    gate.signInNeeded.forEach((listener) => listener());
  }
  if (!response.ok) {
    throw await failure(response);
  }
  return response;
}

type Method = "get" | "post" | "put" | "delete";
type Root = keyof paths;
type Below<P> = P extends `${typeof BASE}${infer Rest}` ? Rest : never;

/** The paths that have a method, without BASE. */
type Path<M extends Method> = Below<{ [P in Root]: paths[P][M] extends object ? P : never }[Root]>;
type OperationOf<M extends Method, P extends string> = `${typeof BASE}${P}` extends Root
  ? paths[`${typeof BASE}${P}`][M]
  : never;

/** A method and a path: "POST /queues/{name}/pause". */
export type Operation = { [M in Method]: `${Uppercase<M>} ${Path<M>}` }[Method];

/** The parameter names of a path: the names in braces. */
type Names<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type JsonIn<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Answer<O> = O extends { responses: infer All } ? JsonIn<All[keyof All]> : never;
type Body<O> = O extends { requestBody?: infer In } ? JsonIn<NonNullable<In>> : never;

interface Request<B> {
  query?: Record<string, string>;
  body?: B;
  /** Default: the namespace of the tab. */
  namespace?: string;
}
/** The parameters of a path are required. */
type Rest<P extends string, B> = [Names<P>] extends [never]
  ? [request?: Request<B>]
  : [request: Request<B> & { params: Record<Names<P>, string> }];

function addressOf(path: string, params: Record<string, string>, query: Record<string, string> | undefined): string {
  const whole = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return query === undefined ? whole : `${whole}?${new URLSearchParams(query)}`;
}

/** Return a function that sends requests with one method. Path, body and response have the types of openapi.ts. */
const caller =
  <M extends Method>(method: M, parse?: Parse) =>
  <P extends Path<M>>(
    path: P,
    ...[request]: Rest<P, Body<OperationOf<M, P>>>
  ): Promise<Answer<OperationOf<M, P>>> => {
    const { query, body, namespace, params = {} } = (request ?? {}) as Request<unknown> & { params?: Record<string, string> };
    return call(method.toUpperCase(), addressOf(path, params, query), body, parse, namespace);
  };

export const get = caller("get");
/** For documents that contain user data: its numbers keep their digits. */
export const getExact = caller("get", parseAnswer);
export const post = caller("post");
export const postExact = caller("post", parseAnswer);
export const put = caller("put");
export const del = caller("delete");

export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

/** The server's message for every call that a role does not allow. messageOf replaces it with what the user can do. */
const NO_PERMISSION = "insufficient role permissions";

export function messageOf(error: unknown): string {
  if (isForbidden(error) && error instanceof Error && error.message === NO_PERMISSION) {
    return "Your role does not allow this. Ask an administrator for access.";
  }
  return error instanceof Error ? error.message : String(error);
}
