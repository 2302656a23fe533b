// The next 24 hours: the runs of each schedule as marks on a time line, and the first runs as a list.
import { Link } from "react-router-dom";

import { useUpcoming } from "../../api/queries";
import type { UpcomingRuns } from "../../api/types";
import { Card, Pending } from "../../components/parts";
import { queuePath } from "../../components/queue-table";
import { Table, type Column } from "../../components/table";
import { countdown, fullTime, localZone, moment, plural } from "../../lib/format";
import { useNow } from "../../lib/hooks";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const TICK_HOURS = 6;
const LISTED = 15;
/** Listed runs per schedule, so that a frequent schedule does not hide the others. */
const LISTED_EACH = 4;

interface Run {
  at: string;
  schedule: UpcomingRuns;
}

/** Return the hours to write below the time lines, in local time. */
function ticks(now: number): number[] {
  const first = new Date(now);
  first.setHours(first.getHours() + 1, 0, 0, 0);
  return Array.from({ length: 24 }, (_, i) => first.getTime() + i * HOUR_MS).filter(
    (at) => new Date(at).getHours() % TICK_HOURS === 0,
  );
}

const part = (at: number, now: number): string => `${Math.min(100, Math.max(0, ((at - now) / DAY_MS) * 100)).toFixed(2)}%`;

function Line({ schedule, now }: { schedule: UpcomingRuns; now: number }) {
  const text = schedule.more ? `more than ${plural(schedule.runs.length, "run")}` : plural(schedule.runs.length, "run");
  return (
    <li>
      <span className="clip" title={`${schedule.name}: ${schedule.cron} ${schedule.timezone}`}>
        {schedule.name}
      </span>
      <span className="track" role="img" aria-label={`${schedule.name}: ${text} in the next 24 hours`}>
        {schedule.runs.map((at) => (
          <span key={at} className="mark" style={{ left: part(Date.parse(at), now) }} title={fullTime(at)} />
        ))}
        {schedule.more && <span className="mark-more" style={{ left: part(Date.parse(schedule.runs.at(-1) ?? ""), now) }} />}
      </span>
      <span className="muted small">{text}</span>
    </li>
  );
}

function InTime({ at }: { at: string }) {
  return <>{countdown(at, useNow(1_000))}</>;
}

const COLUMNS: Column<Run>[] = [
  { id: "at", header: "Time", cell: ({ at }) => <time dateTime={at} title={fullTime(at)}>{moment(at).slice(5, 16)}</time> },
  { id: "in", header: "Runs in", cell: ({ at }) => <InTime at={at} /> },
  { id: "name", header: "Schedule", className: "name", cell: ({ schedule }) => <span title={schedule.name}>{schedule.name}</span> },
  {
    id: "queue",
    header: "Queue",
    className: "wide",
    cell: ({ schedule }) => (
      <Link to={queuePath(schedule.queue)} title={schedule.queue}>
        {schedule.queue}
      </Link>
    ),
  },
];

export function Upcoming() {
  const upcoming = useUpcoming();
  const now = useNow(60_000);
  const lines = upcoming.data?.filter((schedule) => schedule.runs.length > 0);
  const runs = (lines ?? [])
    .flatMap((schedule) => schedule.runs.slice(0, LISTED_EACH).map((at): Run => ({ at, schedule })))
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .slice(0, LISTED);
  return (
    <Card title="Next 24 hours" aside={<span className="muted small">times in {localZone()}</span>}>
      {lines === undefined ? (
        <div className="card-body">
          <Pending error={upcoming.error} />
        </div>
      ) : lines.length === 0 ? (
        <p className="card-body muted">No schedule runs in the next 24 hours.</p>
      ) : (
        <>
          <ul className="card-body day">
            {lines.map((schedule) => (
              <Line key={schedule.id} schedule={schedule} now={now} />
            ))}
            <li aria-hidden="true">
              <span />
              <span className="hours">
                {ticks(now).map((at) => (
                  <span key={at} className={at - now > 0.95 * DAY_MS ? "last" : ""} style={{ left: part(at, now) }}>
                    {moment(at).slice(11, 16)}
                  </span>
                ))}
              </span>
              <span />
            </li>
          </ul>
          <Table label="Upcoming runs" rows={runs} columns={COLUMNS} rowKey={(run) => `${run.at} ${run.schedule.id}`} empty="" />
        </>
      )}
    </Card>
  );
}
