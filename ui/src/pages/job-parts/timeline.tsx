import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { KEY } from "../../api/queries";
import type { Job } from "../../api/types";
import { Card } from "../../components/parts";
import { historyOf } from "../../live/history";
import { useLiveEvents } from "../../live/live";
import { clock, fullTime, moment } from "../../lib/format";
import { timelineOf, timelineOfEvents, type Moment } from "../../lib/timeline";

/** From the event log where it has the job from its beginning; else from the job itself. */
function useTimeline(job: Job): Moment[] {
  const live = useLiveEvents();
  const history = useQuery({
    queryKey: [KEY.job, job.id, "events"],
    queryFn: () => historyOf(job.id),
    refetchOnWindowFocus: false,
  });
  return useMemo(() => {
    const mine = [...(history.data ?? []), ...live.filter((event) => event.job_id === job.id)];
    const events = [...new Map(mine.map((event) => [event.seq, event])).values()];
    const begins = events.some((event) => event.type.endsWith("enqueued"));
    if (!begins) {
      return timelineOf(job);
    }
    const due = timelineOf(job).filter((moment) => moment.kind === "scheduled");
    return [...timelineOfEvents(events), ...due];
  }, [history.data, live, job]);
}

export function Timeline({ job }: { job: Job }) {
  const moments = useTimeline(job);
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
            <span className="break">{m.text}</span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
