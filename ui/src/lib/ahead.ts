// Read the data of a page as soon as the user is about to open it: when the mouse button goes down on an element that
// leads there, or at the click. Otherwise the requests would be sent only after the page has been rendered.
//
// An element leads to the address of its link, or to its data-to. Pages also work without this: a page that is missing
// from the list reads its data itself, later.
import type { QueryClient } from "@tanstack/react-query";
import { matchPath, resolvePath } from "react-router-dom";

import { isForbidden } from "../api/client";
import {
  jobQuery,
  NEWEST_HELD,
  READ,
  readErrors,
  readHistory,
  readNodeHistory,
  readQueue,
  readQueueExplanation,
  readSearch,
  readSearchPages,
  type Read,
} from "../api/queries";
import type { AuthStatus } from "../api/types";
import { nameIn } from "./address";
import { DEAD, filtersFromUrl, NO_FILTERS, PAGE_ROWS, SCHEDULED, toRequest, type Filters } from "./filters";
import { rangeFromUrl } from "./range";

/** Return the path below /ui, as the router has it. The first page is at "/ui" and at "/ui/". Null outside the interface. */
const pathOf = (address: { pathname: string }): string | null => {
  const found = /^\/ui(\/.*)?$/.exec(address.pathname);
  return found === null ? null : (found[1] ?? "/");
};

type Pages = ReturnType<typeof readSearchPages>;
/** limited: the caller's key is limited to some queues. */
type Reads = (query: URLSearchParams, name: string, limited: boolean) => (Read | Pages)[];

const jobs = (query: URLSearchParams, own: Partial<Filters> = {}): Pages =>
  readSearchPages(toRequest(filtersFromUrl(query, { ...NO_FILTERS, ...own }), PAGE_ROWS));
function span(query: URLSearchParams, usual?: string): { from: string; to: string } {
  const { from, to } = rangeFromUrl(query, usual);
  return { from, to };
}

/** The pages, and the first reads of each. */
export const PAGES: Record<string, Reads> = {
  "/": (query, _, limited) => [...(limited ? [] : [readHistory(span(query))]), READ.queues],
  "/queues": () => [READ.queues],
  "/queues/:name": (query, queue) => [
    readHistory({ ...span(query), queue }),
    jobs(query, { queue }),
    readQueue(queue),
    readQueueExplanation(queue),
  ],
  "/jobs": (query) => [jobs(query)],
  "/jobs/:name": (_, id) => [jobQuery(id)],
  "/errors": (query) => {
    const queue = query.get("queue") ?? "";
    return [readErrors({ ...span(query, "24h"), ...(queue === "" ? {} : { queue }) })];
  },
  "/dead-letter": (query) =>
    query.get("group") === "error" ? [readErrors({ from: "30d", to: "" })] : [jobs(query, DEAD)],
  "/scheduled": (query) => [jobs(query, SCHEDULED)],
  "/schedules": () => [READ.schedules, READ.upcoming],
  "/held": () => [readSearch(NEWEST_HELD)],
  "/workers": () => [READ.workers],
  "/workers/:name": (query, id) => [READ.workers, jobs(query, { worker_id: id, sort: "started_at" })],
  "/cluster": (query, _, limited) => [READ.cluster, ...(limited ? [] : [readNodeHistory(span(query))])],
  "/approval-policies": () => [READ.policies],
  "/webhooks": () => [READ.webhooks],
};

/** Read the data of the page at an address, unless it is in the cache, or has been requested or refused. */
export function readAhead(client: QueryClient, to: string): void {
  const { pathname, search } = resolvePath(to, pathOf(window.location) ?? "/");
  const limited = (client.getQueryData<AuthStatus>(READ.authStatus.queryKey)?.queue_scope ?? "") !== "";
  for (const [path, reads] of Object.entries(PAGES)) {
    if (matchPath(path, pathname) !== null) {
      for (const read of reads(new URLSearchParams(search), nameIn(pathname), limited)) {
        if (isForbidden(client.getQueryState(read.queryKey)?.error)) {
          continue;
        }
        const asked: Promise<unknown> = "initialPageParam" in read ? client.infiniteQuery(read) : client.query(read);
        asked.catch(() => undefined); // the page repeats the request and shows the error
      }
    }
  }
}

/** Return the address to which a press on an element leads. Null if the press does something else. */
function leadsTo(target: EventTarget | null): string | null {
  const found = target instanceof Element ? target.closest<HTMLElement>("a, [data-to], button, input, label") : null;
  if (found instanceof HTMLAnchorElement) {
    const path = found.origin === window.location.origin ? pathOf(found) : null;
    return path === null ? null : path + found.search;
  }
  return found?.dataset.to ?? null;
}

/** Watch for presses until the returned function is called. */
export function watchPresses(client: QueryClient): () => void {
  const onPress = (event: MouseEvent) => {
    // A touch may be the start of scrolling.
    const scrolls = event.type === "pointerdown" && (event as PointerEvent).pointerType !== "mouse";
    const elsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey;
    const to = scrolls || elsewhere ? null : leadsTo(event.target);
    if (to !== null) {
      readAhead(client, to);
    }
  };
  // Capture events before all other listeners.
  document.addEventListener("pointerdown", onPress, { capture: true });
  document.addEventListener("click", onPress, { capture: true });
  return () => {
    document.removeEventListener("pointerdown", onPress, { capture: true });
    document.removeEventListener("click", onPress, { capture: true });
  };
}
