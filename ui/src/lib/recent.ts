// The queues, jobs and workers that were opened most recently in this browser, by namespace.
import { chosenNamespace } from "../api/key";
import { storage } from "./storage";

export interface RecentPlace {
  kind: string;
  name: string;
  to: string;
}

const KEPT = 6;
const KINDS: Record<string, string> = { queues: "Recent queue", jobs: "Recent job", workers: "Recent worker" };

const nameOfStore = (): string => `corvo_recent ${chosenNamespace()}`;

/** Return the queue, job or worker that a path of the interface shows. Null for other pages. */
export function placeOf(path: string): RecentPlace | null {
  const [, kind, name] = /^\/(queues|jobs|workers)\/([^/]+)$/.exec(path) ?? [];
  if (kind === undefined || name === undefined) {
    return null;
  }
  try {
    return { kind: KINDS[kind] ?? kind, name: decodeURIComponent(name), to: path };
  } catch {
    return null;
  }
}

function storedPaths(): string[] {
  try {
    const list: unknown = JSON.parse(storage().getItem(nameOfStore()) ?? "[]");
    return Array.isArray(list) ? list.filter((path) => typeof path === "string").slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

/** Newest first. */
export const recentPlaces = (): RecentPlace[] => storedPaths().flatMap((path) => placeOf(path) ?? []);

export function remember(path: string): void {
  if (placeOf(path) !== null) {
    const paths = [path, ...storedPaths().filter((other) => other !== path)].slice(0, KEPT);
    try {
      storage().setItem(nameOfStore(), JSON.stringify(paths));
    } catch {
      // The storage is full. The list is only a convenience.
    }
  }
}
