import type { ReactNode } from "react";
import { Link } from "react-router-dom";

import { useSearch } from "../../api/queries";
import { chainOf, type Job } from "../../api/types";
import { HoldReason } from "../../components/hold-reason";
import { jobPath } from "../../components/job-table";
import { Ago, Badge, Card } from "../../components/parts";
import { queuePath } from "../../components/queue-table";
import { attempts, countdown, fullTime, moment, money, span } from "../../lib/format";
import { useNow } from "../../lib/hooks";

function At({ at, note }: { at: string; note?: string | undefined }) {
  return (
    <span title={fullTime(at)}>
      {moment(at)} <span className="muted small">{note ?? <Ago at={at} />}</span>
    </span>
  );
}

const JobLink = ({ id }: { id: string }) => (
  <Link className="mono break" to={jobPath(id)}>
    {id}
  </Link>
);

/** The number of completed jobs of the batch. Only two counts are read. */
function Batch({ id }: { id: string }) {
  const all = useSearch({ batch_id: id, limit: 1 });
  const done = useSearch({ batch_id: id, state: ["completed"], limit: 1 });
  return (
    <>
      <span className="mono break">{id}</span>
      {all.data !== undefined && done.data !== undefined && (
        <div className="muted small">
          {done.data.total} of {all.data.total} complete
        </div>
      )}
    </>
  );
}

function retryPolicy(job: Job): string {
  const base = span(job.retry_base_delay_ms);
  if (job.retry_backoff === "none") {
    return "no delay";
  }
  if (job.retry_backoff === "fixed") {
    return `${base} after each failure`;
  }
  const cap = job.retry_max_delay_ms > 0 ? `, up to ${span(job.retry_max_delay_ms)}` : "";
  return `${job.retry_backoff} from ${base}${cap}`;
}

function agentCost({ agent }: Job): string {
  const limit = agent?.max_cost_usd === undefined ? "" : ` of ${money(agent.max_cost_usd)}`;
  return `${money(agent?.total_cost_usd ?? 0)}${limit}`;
}

function agentIteration({ agent }: Job): string {
  return `${agent?.iteration ?? 1}${agent?.max_iterations === undefined ? "" : ` of ${agent.max_iterations}`}`;
}

function Tags({ tags }: { tags: NonNullable<Job["tags"]> }) {
  return (
    <span className="card-row">
      {Object.entries(tags).map(([key, value]) => (
        <Badge key={key} plain>
          {key}={typeof value === "string" ? value : JSON.stringify(value)}
        </Badge>
      ))}
    </span>
  );
}

/** Return the labels and values. Missing values are left out. */
function rowsOf(job: Job, now: number): [string, ReactNode][] {
  const waited =
    job.started_at !== undefined && job.attempt <= 1 && job.agent === undefined
      ? `${span(Date.parse(job.started_at) - Date.parse(job.created_at))} after creation`
      : undefined;
  const step = job.chain_step ?? 0;
  const { steps, depends_on } = chainOf(job);
  const worker = job.worker_id === undefined ? null : job.worker_id + (job.hostname ? ` on ${job.hostname}` : "");
  const rows: [string, ReactNode][] = [
    ["Queue", <Link key="queue" to={queuePath(job.queue)}>{job.queue}</Link>],
    ["Attempt", attempts(job)],
    ["Worker", worker && <Link to={`/workers/${encodeURIComponent(job.worker_id ?? "")}`}>{worker}</Link>],
    ["Unique key", job.unique_key],
    ["Batch", job.batch_id && <Batch id={job.batch_id} />],
    ["Parent", job.parent_id && <JobLink id={job.parent_id} />],
    ["Chain", job.chain_id && <span className="mono small break">{job.chain_id}</span>],
    ["Chain step", job.chain_id && (step < 0 ? (step === -1 ? "exit handler" : "failure handler") : `${step + 1}${steps.length > 0 ? ` of ${steps.length}` : ""}`)],
    ["Waits for", depends_on.length > 0 && depends_on.map((id) => <div key={id}><JobLink id={id} /></div>)],
    ["Created", <At key="created" at={job.created_at} />],
    ["Started", job.started_at && <At at={job.started_at} note={waited} />],
    ["Completed", job.completed_at && <At at={job.completed_at} />],
    ["Failed", job.failed_at && <At at={job.failed_at} />],
    ["Cancelled", job.cancelled_at && <At at={job.cancelled_at} />],
    ["Scheduled", job.scheduled_at && <At at={job.scheduled_at} note={countdown(job.scheduled_at, now)} />],
    ["Expires", job.expire_at && <At at={job.expire_at} note={countdown(job.expire_at, now)} />],
    ["Lease ends", job.lease_expires_at && <At at={job.lease_expires_at} note={countdown(job.lease_expires_at, now)} />],
    ["Retry policy", retryPolicy(job)],
    ["Agent iteration", job.agent && agentIteration(job)],
    ["Agent cost", job.agent && agentCost(job)],
    ["Hold reason", job.hold_reason && <HoldReason reason={job.hold_reason} />],
    ["Tags", job.tags && <Tags tags={job.tags} />],
  ];
  return rows.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
}

export function Facts({ job }: { job: Job }) {
  const now = useNow(1_000);
  return (
    <Card>
      <dl className="card-body facts">
        {rowsOf(job, now).map(([label, value]) => (
          <div key={label} className={label === "Tags" ? "whole" : undefined}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
