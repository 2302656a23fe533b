import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";

import { gate, get } from "../api/client";
import { useNow } from "../lib/hooks";
import { Button } from "./parts";

let reachable = true;
const listeners = new Set<() => void>();

gate.reachable.add((yes) => {
  if (yes !== reachable) {
    reachable = yes;
    listeners.forEach((listener) => listener());
  }
});

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export const useReachable = (): boolean => useSyncExternalStore(subscribe, () => reachable);

const RETRY_S = 5;

/** Shows that the server is unreachable, and retries until it responds. */
export function Reconnect() {
  const here = useReachable();
  return here ? null : <Lost />;
}

function Lost() {
  const client = useQueryClient();
  const now = useNow(1_000);
  const [next, setNext] = useState(() => Date.now() + RETRY_S * 1000);
  const [asking, setAsking] = useState(false);
  const ask = async () => {
    setAsking(true);
    try {
      await get("/info");
      await client.invalidateQueries();
    } catch {
      setNext(Date.now() + RETRY_S * 1000);
    }
    setAsking(false);
  };
  const due = now >= next && !asking;
  useEffect(() => {
    if (due) {
      void ask();
    }
    // Run when a retry is due, not whenever the function is created again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [due]);
  const left = Math.max(0, Math.ceil((next - now) / 1000));
  return (
    <div className="banner" role="alert">
      <span>Connection lost. The data shown may be out of date. {asking ? "Reconnecting…" : `Retrying in ${left} s.`}</span>
      <Button compact disabled={asking} onClick={() => void ask()}>
        Reconnect
      </Button>
    </div>
  );
}
