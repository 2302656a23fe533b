import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore, type ReactNode } from "react";

import { openStream } from "../api/key";
import { KEY, useCluster } from "../api/queries";
import { Coalescer, touched } from "./refresh";
import { LiveStream, type Source } from "./stream";

export const stream = new LiveStream((url) => openStream(url) as unknown as Source);

/** Keeps the stream open while the tab is visible, and refreshes the data that its events make stale. */
export function Live({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  useEffect(() => {
    const coalescer = new Coalescer((key) => {
      const at = key.indexOf(":");
      const keys = at < 0 ? [[key]] : [KEY.job, KEY.iterations, KEY.explain].map((k) => [k, key.slice(at + 1)]);
      for (const queryKey of keys) {
        void client.invalidateQueries({ queryKey }, { cancelRefetch: false });
      }
    });
    const off = stream.onBatch((batch) => {
      // Skip jobs that are not in the cache.
      const keys = [...touched(batch)].filter(
        (key) => !key.startsWith("job:") || client.getQueryData([KEY.job, key.slice(4)]) !== undefined,
      );
      coalescer.mark(keys);
    });
    // A browser allows few connections per server, so a hidden tab closes its stream.
    const onVisible = () => (document.visibilityState === "visible" ? stream.start() : stream.stop());
    onVisible();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      document.removeEventListener("visibilitychange", onVisible);
      off();
      coalescer.stop();
      stream.stop();
    };
  }, [client]);
  return children;
}

/** Restart the stream when the server's log has become shorter. It is then a new log: the data was wiped or restored. */
export function useNewLog(): void {
  const applied = useCluster().data?.applied_index;
  const before = useRef(applied);
  useEffect(() => {
    if (applied !== undefined && before.current !== undefined && applied < before.current) {
      stream.startAnew();
    }
    before.current = applied;
  }, [applied]);
}

export const useLiveEvents = () => useSyncExternalStore(stream.subscribe, stream.events);
export const useStreamState = () => useSyncExternalStore(stream.subscribe, stream.state);
