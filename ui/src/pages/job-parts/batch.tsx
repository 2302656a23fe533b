// The batch of a job: its progress, each of its jobs as a square, and the job that is enqueued at its end.
import { Link } from "react-router-dom";

import { useBatch, useSearch } from "../../api/queries";
import type { Job } from "../../api/types";
import { jobPath } from "../../components/job-table";
import { Bar, Card } from "../../components/parts";
import { queuePath } from "../../components/queue-table";
import { jobCount, percent } from "../../lib/format";

const SQUARES = 200;

export function Batch({ job, id }: { job: Job; id: string }) {
  const batch = useBatch(id).data;
  const found = useSearch({ batch_id: id, limit: SQUARES, sort: "created_at", order: "asc" });
  const jobs = found.data?.jobs ?? [];
  const total = found.data?.total ?? 0;
  const done = batch === undefined ? 0 : batch.succeeded + batch.failed;
  return (
    <Card
      title="Batch"
      aside={
        <Link to={`/jobs?${new URLSearchParams({ batch_id: id })}`} className="small">
          Show all {jobCount(total)}
        </Link>
      }
    >
      <div className="card-body stack">
        {batch !== undefined && (
          <>
            <Bar value={percent(done, batch.total)} label="Finished jobs of the batch" tone={batch.failed > 0 ? "warn" : ""} />
            <p>
              {done} of {jobCount(batch.total)} finished: {batch.succeeded} succeeded, {batch.failed} failed, {batch.pending}{" "}
              to go{batch.sealed ? "" : ". The batch is still open: more jobs may be added"}.
            </p>
            {batch.callback_queue !== undefined && (
              <p className="muted">
                When all have finished, a job is enqueued to{" "}
                <Link className="in-text" to={queuePath(batch.callback_queue)}>
                  {batch.callback_queue}
                </Link>
                .
              </p>
            )}
          </>
        )}
        <ul className="squares" aria-label="Jobs of the batch">
          {jobs.map((j) => (
            <li key={j.id}>
              <Link
                to={jobPath(j.id)}
                className={`square badge ${j.state}`}
                title={`${j.id}: ${j.state}`}
                aria-label={`${j.id}, ${j.state}`}
                {...(j.id === job.id ? { "aria-current": "true" as const } : {})}
              />
            </li>
          ))}
        </ul>
        {total > jobs.length && jobs.length > 0 && <p className="muted small">Showing the first {jobs.length}.</p>}
      </div>
    </Card>
  );
}
