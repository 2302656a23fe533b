// Pages in separate files, which are loaded when the browser is idle or when the page is opened.
//
// React.lazy is not used, because React keeps a fallback visible for at least 300 ms. A page that is loaded within 20 ms
// would send its first request after 300 ms.
import { useEffect, useState, type ComponentType } from "react";

import { gate, messageOf } from "../api/client";

type Load = () => Promise<{ default: ComponentType }>;

const all: (() => Promise<void>)[] = [];

/** Reload the page after a file could not be loaded: it probably belongs to an older version of the interface. If the
 *  server is unreachable, wait for it first, because a reload would show nothing at all. */
function startAnew(): void {
  const reload = () => window.location.reload();
  fetch("/ui/", { method: "HEAD", cache: "no-store" }).then(reload, () => {
    gate.reachable.add((yes) => {
      if (yes) {
        reload();
      }
    });
  });
}

export function page(load: Load): ComponentType {
  let Loaded: ComponentType | null = null;
  const fill = async () => {
    Loaded ??= (await load()).default;
  };
  all.push(fill);
  return function Page() {
    const [state, setState] = useState<{ error: Error | null }>({ error: null });
    useEffect(() => {
      if (Loaded === null) {
        fill().then(
          () => setState({ error: null }),
          (error: unknown) => {
            setState({ error: error instanceof Error ? error : new Error(messageOf(error)) });
            startAnew();
          },
        );
      }
    }, []);
    if (state.error !== null) {
      throw state.error; // Crash shows it
    }
    return Loaded === null ? <p className="muted">Loading...</p> : <Loaded />;
  };
}

const whenIdle = (run: () => void) =>
  // Safari does not report when it is idle.
  "requestIdleCallback" in window ? window.requestIdleCallback(run) : setTimeout(run, 1_000);

/** Load all pages, one after the other. A page that fails to load is loaded again when it is opened. */
export function loadPages(): void {
  const next = all.shift();
  if (next !== undefined) {
    whenIdle(() => void next().catch(() => undefined).then(loadPages));
  }
}
