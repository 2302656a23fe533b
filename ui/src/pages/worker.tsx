import { useEffect, useMemo } from "react";
import { Link } from "react-router-dom";

import { useSearch, useWorkers } from "../api/queries";
import { EventLine } from "../components/event-line";
import { JobList } from "../components/job-list";
import { Ago, Badge, Card, Notice, PageHead, Pending, unknown } from "../components/parts";
import { queuePath } from "../components/queue-table";
import { WORKER_TONES, workerHealth, workerQueues } from "../components/worker-table";
import { useNameInAddress } from "../lib/address";
import { NO_FILTERS } from "../lib/filters";
import { jobCount, latency } from "../lib/format";
import { useNow, useTitle } from "../lib/hooks";
import { isObject } from "../lib/exact-json";
import { stream, useLiveEvents } from "../live/live";

const RECENT = 30;

/** The recent activity of a worker: the events of the jobs that it has started, newest first. */
function Activity({ id }: { id: string }) {
  const live = useLiveEvents();
  useEffect(() => stream.wantHistory(), []);
  const events = useMemo(() => {
    const runs = new Map<string, boolean>();
    return live
      .filter((event) => {
        const by = isObject(event.data) ? event.data.worker_id : undefined;
        if (event.job_id !== undefined && by !== undefined) {
          runs.set(event.job_id, by === id);
        }
        return event.job_id !== undefined && runs.get(event.job_id) === true;
      })
      .slice(-RECENT)
      .reverse();
  }, [live, id]);
  if (events.length === 0) {
    return null;
  }
  return (
    <Card title="Recent activity" aside={<span className="muted small">from the last 500 events</span>}>
      <ul className="tail short">
        {events.map((event) => (
          <EventLine key={event.seq} event={event} />
        ))}
      </ul>
    </Card>
  );
}

/** The page of a worker: where it runs, its active jobs, and its recent jobs. */
export default function WorkerDetail() {
  const id = useNameInAddress();
  useTitle(id);
  const now = useNow(10_000);
  const workers = useWorkers();
  const worker = workers.data?.find((w) => w.id === id);
  const running = useSearch(useMemo(() => ({ worker_id: id, state: ["active"], limit: 1 }), [id]));
  const defaults = useMemo(() => ({ ...NO_FILTERS, worker_id: id, sort: "started_at" }), [id]);
  const health = worker === undefined ? null : workerHealth(worker, now);
  return (
    <>
      <PageHead title={id} badges={health !== null && <Badge tone={WORKER_TONES[health]}>{health}</Badge>} />
      <Card title="Worker">
        <div className="card-body stack">
          {worker === undefined ? (
            workers.data === undefined ? (
              <Pending error={workers.error} />
            ) : (
              <Notice>No heartbeat from this worker in the last 24 hours</Notice>
            )
          ) : (
            <dl className="pairs">
              <dt>Host</dt>
              <dd>{worker.hostname ?? "-"}</dd>
              {worker.version !== undefined && (
                <>
                  <dt>Version</dt>
                  <dd>{worker.version}</dd>
                </>
              )}
              <dt>Last heartbeat</dt>
              <dd>
                <Ago at={worker.last_heartbeat} />
              </dd>
              <dt>Running since</dt>
              <dd>
                <Ago at={worker.started_at} /> ({latency(now - Date.parse(worker.started_at))})
              </dd>
              <dt>Active now</dt>
              <dd>{running.data === undefined ? unknown(running) : jobCount(running.data.total)}</dd>
              <dt>Queues</dt>
              <dd className="card-row">
                {workerQueues(worker).map((name) => (
                  <Link key={name} to={queuePath(name)} className="in-text">
                    {name}
                  </Link>
                ))}
              </dd>
            </dl>
          )}
        </div>
      </Card>
      <Activity id={id} />
      <JobList key={id} defaults={defaults} title="Jobs of this worker" fileName={`${id}-jobs`} showQueue />
    </>
  );
}
