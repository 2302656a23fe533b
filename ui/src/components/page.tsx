// Pages in files of their own: loaded when the browser has nothing else to do, or when they are wanted.
//
// Not by React's lazy: React holds back what was behind a fallback until the fallback has been visible for 300 ms. A page
// that is loaded within 20 ms would send its first request after 300.
import { useEffect, useState, type ComponentType } from "react";

import { gate, messageOf } from "../api/client";

type Load = () => Promise<{ default: ComponentType }>;

const all: (() => Promise<void>)[] = [];

/** A file that is gone belongs to an older version of the interface. If it is the server that is gone, the page waits for
 *  it: a reload would leave nothing at all. */
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
  // Safari does not tell when it is idle.
  "requestIdleCallback" in window ? window.requestIdleCallback(run) : setTimeout(run, 1_000);

/** Load every page, one after the other. One that fails now is tried again when it is wanted. */
export function loadPages(): void {
  const next = all.shift();
  if (next !== undefined) {
    whenIdle(() => void next().catch(() => undefined).then(loadPages));
  }
}
