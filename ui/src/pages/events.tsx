import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Link } from "react-router-dom";

import { EVENT_TYPES, type LiveEvent } from "../api/types";
import { jobPath } from "../components/job-table";
import { Badge, Button, Card, PageHead, ShortId } from "../components/parts";
import { stream, useLiveEvents, useStreamState } from "../live/live";
import { clock, fullTime } from "../lib/format";
import { useTitle } from "../lib/hooks";
import { bareType } from "../lib/timeline";

function Line({ event }: { event: LiveEvent }) {
  const at = new Date(event.at_ns / 1e6);
  const type = bareType(event.type);
  return (
    <li>
      <time dateTime={at.toISOString()} title={fullTime(at.toISOString())}>
        {clock(at.getTime())}
      </time>
      <span>
        <Badge tone={type.startsWith("queue.") ? "" : type}>{type}</Badge>
      </span>
      {event.job_id === undefined ? (
        <span className="muted">-</span>
      ) : (
        <Link to={jobPath(event.job_id)}>
          <ShortId id={event.job_id} />
        </Link>
      )}
      <span className="clip">{event.queue}</span>
    </li>
  );
}

/** What the stream holds, held still while paused, and without what was cleared away. */
function useTail() {
  const live = useLiveEvents();
  const [frozen, setFrozen] = useState<readonly LiveEvent[] | null>(null);
  const [clearedTo, setClearedTo] = useState(0);
  const events = useMemo(() => (frozen ?? live).filter((e) => e.seq > clearedTo), [frozen, live, clearedTo]);
  return {
    events,
    paused: frozen !== null,
    pause: () => setFrozen(live),
    resume: () => setFrozen(null),
    clear: () => {
      setClearedTo(live.at(-1)?.seq ?? 0);
      setFrozen((old) => (old === null ? null : []));
    },
  };
}

export default function Events() {
  useTitle("Live Events Tail");
  const tail = useTail();
  const state = useStreamState();
  const [types, setTypes] = useState<ReadonlySet<string>>(new Set());
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => stream.wantHistory(), []);
  const shown = useMemo(
    () => (types.size === 0 ? tail.events : tail.events.filter((e) => types.has(bareType(e.type)))),
    [tail.events, types],
  );
  useLayoutEffect(() => {
    if (!tail.paused && list.current !== null) {
      list.current.scrollTop = list.current.scrollHeight;
    }
  }, [shown, tail.paused]);
  const toggle = (type: string) => {
    const next = new Set(types);
    if (!next.delete(type)) {
      next.add(type);
    }
    setTypes(next);
  };
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
      <p className="page-note">The last 500 events. This view is not kept across reloads.</p>
      <div className="chips" role="group" aria-label="Event types">
        {EVENT_TYPES.map((type) => (
          <button key={type} type="button" className="chip" aria-pressed={types.has(type)} onClick={() => toggle(type)}>
            {type}
          </button>
        ))}
      </div>
      <Card title={`Events (${shown.length} shown)`}>
        {shown.length === 0 ? (
          <p className="card-body muted">
            {tail.paused ? "Paused. Events that come now are shown after Resume." : "Waiting for events..."}
          </p>
        ) : (
          <ul className="tail" ref={list} tabIndex={0} aria-label="Events">
            {shown.map((event) => (
              <Line key={event.seq} event={event} />
            ))}
          </ul>
        )}
      </Card>
    </>
  );
}
