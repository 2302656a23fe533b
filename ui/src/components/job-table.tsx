import { useEffect, useMemo, useState } from "react";
import { Link } from "react-router-dom";

import type { JobSummary } from "../api/types";
import { attempts, countdown, fullTime, preview } from "../lib/format";
import { useGoTo, useHotkeys, useNow, useNarrow } from "../lib/hooks";
import { Ago, PriorityBadge, ShortId, StateBadge } from "./parts";
import { queuePath } from "./queue-table";
import { Table, type Column } from "./table";

export const jobPath = (id: string): string => `/jobs/${encodeURIComponent(id)}`;

interface JobTableProps {
  jobs: readonly JobSummary[] | undefined;
  error: unknown;
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  /** Also show when each job is due. */
  runsIn?: boolean;
  /** Also show the queue, on pages with several queues. */
  showQueue?: boolean;
  /** Show the error and when the job failed, on a page of failures. */
  showError?: boolean;
}

function RunsIn({ job }: { job: JobSummary }) {
  const now = useNow(1_000);
  return (
    <span title={job.scheduled_at === undefined ? "" : fullTime(job.scheduled_at)}>
      {countdown(job.scheduled_at, now)}
    </span>
  );
}

const QUEUE: Column<JobSummary> = {
  id: "queue",
  header: "Queue",
  className: "name",
  cell: (j) => (
    <Link to={queuePath(j.queue)} title={j.queue}>
      {j.queue}
    </Link>
  ),
};

/** On a page of failures the error matters most, so it gets enough space to be read. */
const ERROR: Column<JobSummary> = {
  id: "error",
  header: "Error and payload",
  className: "wide",
  cell: (j) => (
    <div className="failure">
      <span className="danger-text" title={j.last_error}>
        {j.last_error ?? "No error message"}
      </span>
      <span className="mono muted">{preview(j.payload, 240)}</span>
    </div>
  ),
};

/** The job id and the queue in one column, where there is no space for two. */
const PLACE: Column<JobSummary> = {
  id: "id",
  header: "Job ID, queue",
  className: "name place",
  cell: (j) => (
    <div className="stack-tight">
      <Link to={jobPath(j.id)}>
        <ShortId id={j.id} />
      </Link>
      <Link className="clip small" to={queuePath(j.queue)} title={j.queue}>
        {j.queue}
      </Link>
    </div>
  ),
};

const ID: Column<JobSummary> = {
  id: "id",
  header: "Job ID",
  cell: (j) => (
    <Link to={jobPath(j.id)}>
      <ShortId id={j.id} />
    </Link>
  ),
};

const PAYLOAD: Column<JobSummary> = {
  id: "payload",
  header: "Payload",
  className: "wide",
  cell: (j) => (
    <span className="mono muted" title={j.last_error}>
      {preview(j.payload)}
    </span>
  ),
};

const opens = (job: JobSummary): string => jobPath(job.id);

export function JobTable(props: JobTableProps) {
  const { jobs, error, selected, onSelect, runsIn = false, showQueue = false, showError = false } = props;
  const goTo = useGoTo();
  const narrow = useNarrow();
  const [focused, setFocused] = useState<number | null>(null);
  const list = useMemo(() => jobs ?? [], [jobs]);
  // A new list resets the focus. A refresh that returns the same jobs does not.
  const identity = list.map((j) => j.id).join();
  useEffect(() => setFocused(null), [identity]);
  const step = (by: number) => {
    if (list.length > 0) {
      setFocused((now) => Math.min(list.length - 1, Math.max(0, now === null ? 0 : now + by)));
    }
  };
  useHotkeys({
    j: () => step(1),
    k: () => step(-1),
    Enter: (event) => {
      const job = focused === null ? undefined : list[focused];
      // If a link or button has the browser's focus, Enter activates that.
      if (job !== undefined && !(event.target instanceof Element && event.target.closest("a, button") !== null)) {
        goTo(opens(job));
      }
    },
  });
  const all = list.length > 0 && list.every((j) => selected.has(j.id));
  const heads = {
    check: (
      <input
        type="checkbox"
        aria-label="Select all jobs shown"
        checked={all}
        onChange={() => onSelect(all ? new Set() : new Set(list.map((j) => j.id)))}
      />
    ),
  };
  const columns = useMemo((): Column<JobSummary>[] => {
    const toggle = (id: string) => {
      const next = new Set(selected);
      if (!next.delete(id)) {
        next.add(id);
      }
      onSelect(next);
    };
    return [
      {
        id: "check",
        className: "check",
        header: null,
        cell: (j) => (
          <input
            type="checkbox"
            aria-label={`Select job ${j.id}`}
            checked={selected.has(j.id)}
            onChange={() => toggle(j.id)}
          />
        ),
      },
      ...(showError ? [PLACE, ERROR] : showQueue ? (narrow ? [PLACE] : [ID, QUEUE]) : [ID]),
      { id: "state", header: "State", className: runsIn ? "minor spare" : showError ? "minor" : "", cell: (j) => <StateBadge state={j.state} /> },
      { id: "priority", header: "Priority", className: "minor", cell: (j) => <PriorityBadge priority={j.priority} /> },
      { id: "attempt", header: "Attempt", className: runsIn ? "num minor spare" : "num minor", cell: attempts },
      ...(runsIn ? [{ id: "due", header: "Runs In", cell: (j: JobSummary) => <RunsIn job={j} /> }] : []),
      ...(showError
        ? [{ id: "failed", header: "Failed", className: "minor", cell: (j: JobSummary) => <Ago at={j.failed_at ?? j.created_at} /> }]
        : [PAYLOAD, { id: "created", header: "Created", cell: (j: JobSummary) => <Ago at={j.created_at} /> }]),
    ];
  }, [selected, onSelect, runsIn, showQueue, showError, narrow]);
  return (
    <Table
      label="Jobs"
      rows={jobs}
      columns={columns}
      heads={heads}
      rowKey={(j) => j.id}
      empty="No jobs found"
      error={error}
      opens={opens}
      focused={focused}
      rowClass={(job, i) => `${i === focused ? "focused" : ""} ${selected.has(job.id) ? "selected" : ""}`}
    />
  );
}
