import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "react-router-dom";

import { EVENT_TYPES, type LiveEvent } from "../api/types";
import { EventLine } from "../components/event-line";
import { QueueInput } from "../components/job-dialogs";
import { Badge, Button, Card, Field, PageHead } from "../components/parts";
import { stream, useLiveEvents, useStreamState } from "../live/live";
import { plural } from "../lib/format";
import { useTitle } from "../lib/hooks";
import { bareType } from "../lib/timeline";

/** The events of the stream, without the cleared ones. Frozen while paused or while the pointer is over the list. */
function useTail() {
  const live = useLiveEvents();
  const [frozen, setFrozen] = useState<readonly LiveEvent[] | null>(null);
  const [paused, setPaused] = useState(false);
  const [hovered, setHovered] = useState(false);
  const [clearedTo, setClearedTo] = useState(0);
  const newest = live.at(-1)?.seq ?? 0;
  // If the server's log has started again, its numbers are smaller than those of the cleared events.
  const cleared = clearedTo > newest ? 0 : clearedTo;
  const events = useMemo(() => (frozen ?? live).filter((e) => e.seq > cleared), [frozen, live, cleared]);
  const hold = (still: boolean) => setFrozen((old) => (still ? (old ?? live) : null));
  const shown = frozen?.at(-1)?.seq ?? 0;
  return {
    events,
    paused,
    still: frozen !== null,
    /** The number of events since the list was frozen. */
    waiting: frozen === null ? 0 : live.filter((e) => e.seq > Math.max(shown, cleared)).length,
    pause: () => {
      setPaused(true);
      hold(true);
    },
    resume: () => {
      setPaused(false);
      hold(hovered);
    },
    hover: (over: boolean) => {
      setHovered(over);
      hold(over || paused);
    },
    clear: () => {
      setClearedTo(newest);
      setFrozen((old) => (old === null ? null : []));
    },
  };
}

/** The filter of the events, in the address bar: "type=failed,dead&queue=emails". */
function useEventFilter() {
  const [query, setQuery] = useSearchParams();
  const types = (query.get("type") ?? "").split(",").filter((type) => (EVENT_TYPES as readonly string[]).includes(type));
  const queue = query.get("queue") ?? "";
  const set = (name: string, value: string) =>
    setQuery(
      (current) => {
        const next = new URLSearchParams(current);
        if (value === "") {
          next.delete(name);
        } else {
          next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  return {
    types,
    queue,
    setQueue: (name: string) => set("queue", name),
    toggle: (type: string) =>
      set("type", (types.includes(type) ? types.filter((t) => t !== type) : [...types, type]).join(",")),
  };
}

const note = (tail: ReturnType<typeof useTail>): string => {
  if (!tail.still) {
    return "Hover over the list to pause it.";
  }
  const why = tail.paused ? "Paused" : "Paused while the pointer is over the list";
  return tail.waiting === 0 ? `${why}.` : `${why}: ${plural(tail.waiting, "new event")}.`;
};

export default function Events() {
  useTitle("Live Events Tail");
  const tail = useTail();
  const state = useStreamState();
  const { types, queue, setQueue, toggle } = useEventFilter();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => stream.wantHistory(), []);
  const wanted = queue.trim().toLowerCase();
  const kinds = types.join();
  const shown = useMemo(
    () =>
      tail.events.filter(
        (e) =>
          (kinds === "" || kinds.split(",").includes(bareType(e.type))) &&
          (wanted === "" || (e.queue?.toLowerCase().includes(wanted) ?? false)),
      ),
    [tail.events, kinds, wanted],
  );
  useLayoutEffect(() => {
    if (!tail.still && list.current !== null) {
      list.current.scrollTop = list.current.scrollHeight;
    }
  }, [shown, tail.still]);
  return (
    <>
      <PageHead
        title="Live Events Tail"
        badges={
          <Badge tone={state === "open" ? "green" : "amber"}>{state === "open" ? "connected" : "connecting"}</Badge>
        }
      >
        {tail.paused ? <Button onClick={tail.resume}>Resume</Button> : <Button onClick={tail.pause}>Pause</Button>}
        <Button onClick={tail.clear}>Clear</Button>
      </PageHead>
      <p className="page-note">Shows the last 500 events. Reloading resets the list; the filters stay in the address.</p>
      <div className="tail-filters">
        <Field label="Queue contains">{(id) => <QueueInput id={id} value={queue} onChange={setQueue} placeholder="all queues" />}</Field>
        <div className="chips" role="group" aria-label="Event types">
          {EVENT_TYPES.map((type) => (
            // A checkbox, so that "queue.paused" and "queue.cleared" are not taken for the buttons above.
            <button
              key={type}
              type="button"
              role="checkbox"
              className="chip"
              aria-checked={types.includes(type)}
              aria-label={`Show ${type}`}
              onClick={() => toggle(type)}
            >
              {type}
            </button>
          ))}
        </div>
      </div>
      <Card title={`Events (${shown.length} shown)`} aside={<span className={`muted small${tail.still ? "" : " for-pointers"}`}>{note(tail)}</span>}>
        <div onMouseEnter={() => tail.hover(true)} onMouseLeave={() => tail.hover(false)}>
          {shown.length === 0 ? (
            <p className="card-body muted">
              {tail.paused ? "Paused. New events appear when you resume." : "Waiting for events..."}
            </p>
          ) : (
            <ul className="tail" ref={list} tabIndex={0} aria-label="Events">
              {shown.map((event) => (
                <EventLine key={event.seq} event={event} />
              ))}
            </ul>
          )}
        </div>
      </Card>
    </>
  );
}
