import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { get } from "../../api/client";
import { KEY } from "../../api/queries";
import type { Job, LiveEvent } from "../../api/types";
import { Card } from "../../components/parts";
import { useLiveEvents } from "../../live/live";
import { clock, fullTime, moment } from "../../lib/format";
import { timelineOf, timelineOfEvents, type Moment } from "../../lib/timeline";

/** Return the job's events from the event log, in order. Null if the log no longer contains the first one. */
export function useJobEvents(job: Job): LiveEvent[] | null {
  const live = useLiveEvents();
  const history = useQuery({
    queryKey: [KEY.job, job.id, "events"],
    queryFn: async () => (await get("/cluster/events", { query: { job_ids: job.id, limit: "1000" } })).events,
    refetchOnWindowFocus: false,
  });
  return useMemo(() => {
    const mine = [...(history.data ?? []), ...live.filter((event) => event.job_id === job.id)];
    const events = [...new Map(mine.map((event) => [event.seq, event])).values()];
    const begins = events.some((event) => event.type.endsWith("enqueued"));
    return begins ? events.sort((a, b) => a.seq - b.seq) : null;
  }, [history.data, live, job.id]);
}

/** Return the timeline from the job's events if they are complete, otherwise from the job's document. */
function momentsOf(job: Job, events: readonly LiveEvent[] | null): Moment[] {
  const known = timelineOf(job);
  return events === null ? known : [...timelineOfEvents(events), ...known.filter((m) => m.kind === "scheduled")];
}

export function Timeline({ job, events }: { job: Job; events: readonly LiveEvent[] | null }) {
  const moments = momentsOf(job, events);
  const days = moments.map((m) => moment(m.at).slice(0, 10));
  return (
    <Card title="Timeline">
      <ol className="card-body timeline">
        {moments.map((m, i) => (
          <li key={`${m.at} ${m.kind} ${i}`}>
            <time dateTime={m.at} title={fullTime(m.at)}>
              {days[i] !== days[i - 1] && (
                <>
                  {days[i]}
                  <br />
                </>
              )}
              {clock(m.at)}
            </time>
            <span className={`dot ${m.kind}`} />
            <span className="break clamp" title={m.text}>
              {m.text}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
