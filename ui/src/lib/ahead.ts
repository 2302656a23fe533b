// What a page reads is asked for as soon as it is clear that the page comes: when the mouse goes down on what leads there,
// or at the click. Otherwise the request would wait until the page is drawn, and be sent by what was drawn.
//
// An element leads to the address of its link, or to its data-to. Nothing here is needed for a page to work: one that is
// missing from the list asks for its data by itself, later.
import type { QueryClient } from "@tanstack/react-query";
import { matchPath, resolvePath } from "react-router-dom";

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
import { DEAD, filtersFromUrl, NO_FILTERS, PAGE_ROWS, SCHEDULED, toRequest, type Filters } from "./filters";
import { rangeFromUrl } from "./range";

/** The part of an address that is ours, as the router has it: the first page is at "/ui" and at "/ui/". */
const pathOf = (address: { pathname: string }): string | null => {
  const found = /^\/ui(\/.*)?$/.exec(address.pathname);
  return found === null ? null : (found[1] ?? "/");
};

type Pages = ReturnType<typeof readSearchPages>;
type Reads = (query: URLSearchParams, name: string) => (Read | Pages)[];

const jobs = (query: URLSearchParams, own: Partial<Filters> = {}): Pages =>
  readSearchPages(toRequest(filtersFromUrl(query, { ...NO_FILTERS, ...own }), PAGE_ROWS));
function span(query: URLSearchParams, usual?: string): { from: string; to: string } {
  const { from, to } = rangeFromUrl(query, usual);
  return { from, to };
}

/** The pages, and what each reads first. */
export const PAGES: Record<string, Reads> = {
  "/": (query) => [readHistory(span(query)), READ.queues],
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
  "/cluster": (query) => [READ.cluster, readNodeHistory(span(query))],
  "/approval-policies": () => [READ.policies],
  "/webhooks": () => [READ.webhooks],
};

/** Ask for what the page at an address reads, unless it is here or on its way. */
export function readAhead(client: QueryClient, to: string): void {
  const { pathname, search } = resolvePath(to, pathOf(window.location) ?? "/");
  for (const [path, reads] of Object.entries(PAGES)) {
    const found = matchPath(path, pathname);
    if (found !== null) {
      for (const read of reads(new URLSearchParams(search), found.params.name ?? "")) {
        const asked: Promise<unknown> = "initialPageParam" in read ? client.infiniteQuery(read) : client.query(read);
        asked.catch(() => undefined); // the page asks again, and shows why not
      }
    }
  }
}

/** Where a press on an element leads; null where it does something else. */
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
    // A finger that goes down may be about to scroll.
    const scrolls = event.type === "pointerdown" && (event as PointerEvent).pointerType !== "mouse";
    const elsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey;
    const to = scrolls || elsewhere ? null : leadsTo(event.target);
    if (to !== null) {
      readAhead(client, to);
    }
  };
  // Before anything else that listens.
  document.addEventListener("pointerdown", onPress, { capture: true });
  document.addEventListener("click", onPress, { capture: true });
  return () => {
    document.removeEventListener("pointerdown", onPress, { capture: true });
    document.removeEventListener("click", onPress, { capture: true });
  };
}
