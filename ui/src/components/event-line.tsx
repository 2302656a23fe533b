import { Link } from "react-router-dom";

import type { LiveEvent } from "../api/types";
import { clock, fullTime } from "../lib/format";
import { bareType, eventDetail } from "../lib/timeline";
import { jobPath } from "./job-table";
import { Badge, ShortId } from "./parts";
import { queuePath } from "./queue-table";

const FAILURES = ["failed", "dead", "rejected", "expired", "budget.exceeded"];

/** An event as a row of a list of class "tail": time, type, job, queue and details. */
export function EventLine({ event }: { event: LiveEvent }) {
  const at = new Date(event.at_ns / 1e6);
  const type = bareType(event.type);
  const detail = eventDetail(event);
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
      <span className="clip">
        {event.queue !== undefined && (
          <Link to={queuePath(event.queue)} title={event.queue}>
            {event.queue}
          </Link>
        )}
      </span>
      <span className={`clip detail ${FAILURES.includes(type) ? "danger-text" : "muted"}`} title={detail}>
        {detail}
      </span>
    </li>
  );
}
