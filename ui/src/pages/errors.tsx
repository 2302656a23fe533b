// Failures grouped by error: the page to open after an incident.
import { useState } from "react";
import { Link, useSearchParams } from "react-router-dom";

import { useBulk } from "../api/actions";
import { useErrors, useJob, useSearch } from "../api/queries";
import type { BulkAction, ErrorGroup, SearchRequest } from "../api/types";
import { Spark } from "../components/history";
import { ConfirmDialog, KEEP_JOBS } from "../components/job-dialogs";
import { jobPath } from "../components/job-table";
import { Ago, Button, Card, Notice, PageHead, Pending } from "../components/parts";
import { queuePath } from "../components/queue-table";
import { RangePicker } from "../components/range";
import { jobCount, plural } from "../lib/format";
import { useTitle } from "../lib/hooks";
import { useRange } from "../lib/range";

export interface Asked {
  group: ErrorGroup;
  action: Extract<BulkAction, "retry" | "cancel" | "delete">;
}

/** Retry and delete apply to the dead jobs, cancel to the jobs that wait for another attempt. */
const STATES: Record<Asked["action"], NonNullable<SearchRequest["state"]>> = {
  retry: ["dead"],
  delete: ["dead"],
  cancel: ["pending", "retrying"],
};
const WORDS: Record<Asked["action"], [button: string, text: string, none: string]> = {
  retry: ["Retry", "Returns every dead job with this error to its queue", "No dead job has this error any more."],
  cancel: [
    "Cancel",
    "Cancels every job with this error that is waiting for its next attempt",
    "No job with this error is waiting for another attempt.",
  ],
  delete: ["Delete", "Deletes every dead job with this error", "No dead job has this error any more."],
};

const jobsPath = (group: ErrorGroup, queue: string): string =>
  `/jobs?${new URLSearchParams({ error_fingerprint: group.fingerprint, ...(queue === "" ? {} : { queue }) })}`;

/** The backtrace of the example job's newest error with the example's text. Read when the user opens it. */
function Backtrace({ group }: { group: ErrorGroup }) {
  const job = useJob(group.example.job_id);
  if (job.data === undefined) {
    return <Pending error={job.error} />;
  }
  const error = [...(job.data.errors ?? [])].reverse().find((e) => e.error === group.example.error);
  return error?.backtrace === undefined ? (
    <p className="muted small">The worker reported no backtrace.</p>
  ) : (
    <pre className="json" tabIndex={0} aria-label="Backtrace">
      {error.backtrace}
    </pre>
  );
}

function Example({ group }: { group: ErrorGroup }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Backtrace</summary>
      {open && <Backtrace group={group} />}
    </details>
  );
}

export function Group({ group, queue, onAsk }: { group: ErrorGroup; queue: string; onAsk: (asked: Asked) => void }) {
  return (
    <section className="card card-body stack" aria-label={group.message} data-testid="error-group">
      <div className="error-head">
        <div className="break danger-text strong clamp">{group.message === "" ? "(no message)" : group.message}</div>
        <Spark values={group.chart} label={`${plural(group.count, "failure")} in this range`} failures />
      </div>
      <div className="card-row small">
        <strong>{plural(group.count, "failure")}</strong>
        <span>
          {jobCount(group.jobs)}, {group.dead.toLocaleString()} dead
        </span>
        <span className="muted">
          first <Ago at={group.first_seen} />, last <Ago at={group.last_seen} />
        </span>
        {group.queues.map(({ queue: name, count }) => (
          <Link key={name} to={queuePath(name)} className="in-text">
            {name} ({count.toLocaleString()})
          </Link>
        ))}
        {group.versions !== undefined && (
          <span className="muted">
            {group.versions.length === 1 ? "version" : "versions"} {group.versions.map(({ version, count }) => `${version} (${count.toLocaleString()})`).join(", ")}
          </span>
        )}
      </div>
      <p className="small break clamp" title={group.example.error}>
        <span className="muted">Most recent:</span> <span className="mono">{group.example.error}</span>
      </p>
      <Example group={group} />
      <div className="card-row">
        <Link className="button compact" to={jobsPath(group, queue)}>
          Show jobs
        </Link>
        <Link className="button compact" to={jobPath(group.example.job_id)}>
          Open job
        </Link>
        {group.jobs > group.dead && (
          <Button compact needs="POST /jobs/bulk" onClick={() => onAsk({ group, action: "cancel" })}>
            Cancel these
          </Button>
        )}
        {group.dead > 0 && (
          <>
            <Button compact needs="POST /jobs/bulk" onClick={() => onAsk({ group, action: "retry" })}>
              Retry these
            </Button>
            <Button compact kind="danger" needs="POST /jobs/bulk" onClick={() => onAsk({ group, action: "delete" })}>
              Delete these
            </Button>
          </>
        )}
      </div>
    </section>
  );
}

export function Confirm({ asked, queue, onClose }: { asked: Asked; queue: string; onClose: () => void }) {
  const { group, action } = asked;
  const [word, text, none] = WORDS[action];
  const bulk = useBulk(word);
  const filter = { error_fingerprint: group.fingerprint, state: STATES[action], ...(queue === "" ? {} : { queue }) };
  const found = useSearch({ ...filter, limit: 1 });
  const count = found.data?.total ?? (action === "cancel" ? 0 : group.dead);
  const send = () => bulk.mutate({ action, filter }, { onSuccess: onClose });
  return (
    <ConfirmDialog
      title={`${word} jobs`}
      text={found.data?.total === 0 ? none : `${text}: ${jobCount(count)} with "${group.message}".`}
      action={`${word} ${jobCount(count)}`}
      ready={count > 0}
      danger={action !== "retry"}
      leave={action === "cancel" ? KEEP_JOBS : "Cancel"}
      run={bulk}
      onConfirm={send}
      onClose={onClose}
    />
  );
}

export default function Errors() {
  useTitle("Errors");
  const picked = useRange("24h");
  const { range } = picked;
  const [query] = useSearchParams();
  const queue = query.get("queue") ?? "";
  const errors = useErrors({ from: range.from, to: range.to, ...(queue === "" ? {} : { queue }) });
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <>
      <PageHead title="Errors" />
      <RangePicker {...picked} />
      {errors.data === undefined ? (
        <Pending error={errors.error} />
      ) : (
        <>
          <p className="muted">
            {plural(errors.data.total, "failure")} in {plural(errors.data.groups.length, "group")}
            {queue === "" ? "" : ` of ${queue}`}. Messages that differ only in numbers, IDs, addresses or paths are grouped together.
          </p>
          {errors.data.groups.length === 0 && (
            <Card>
              <div className="card-body">
                <Notice>No failures in this range</Notice>
              </div>
            </Card>
          )}
          {errors.data.groups.map((group) => (
            <Group key={group.fingerprint} group={group} queue={queue} onAsk={setAsked} />
          ))}
        </>
      )}
      {asked !== null && <Confirm asked={asked} queue={queue} onClose={() => setAsked(null)} />}
    </>
  );
}
