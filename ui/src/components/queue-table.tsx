import { Link } from "react-router-dom";

import { usePause, useResume } from "../api/actions";
import type { Queue } from "../api/types";
import { count, latency } from "../lib/format";
import { useNow } from "../lib/hooks";
import { Sparkline, useRate } from "./history";
import { Badge, IconButton, Later } from "./parts";
import { Table, type Column } from "./table";

export const queuePath = (name: string): string => `/queues/${encodeURIComponent(name)}`;

export const waitingMs = (queue: Queue, now: number): number | null =>
  queue.oldest_pending_at === undefined ? null : Math.max(0, now - Date.parse(queue.oldest_pending_at));

/** A queue that is not paused is active, but green only if it is not stuck. */
export const StatusBadge = ({ paused, stuck = false }: { paused: boolean; stuck?: boolean }) => (
  <Badge tone={paused || stuck ? "amber" : "green"}>{paused ? "Paused" : "Active"}</Badge>
);

/** A queue whose oldest pending job has waited longer than this is stuck. */
export const STUCK_MS = 300_000;

function Status({ queue }: { queue: Queue }) {
  const waits = waitingMs(queue, useNow(10_000)) ?? 0;
  return <StatusBadge paused={queue.paused} stuck={waits > STUCK_MS} />;
}

function latencyClass(ms: number): string {
  if (ms > 300_000) {
    return "danger-text";
  }
  return ms > 60_000 ? "warn-text" : "";
}

function Latency({ queue }: { queue: Queue }) {
  const ms = waitingMs(queue, useNow(1_000));
  return ms === null ? <>-</> : <span className={latencyClass(ms)}>{latency(ms)}</span>;
}

function Rate({ name }: { name: string }) {
  const rate = useRate(name);
  return <span className={rate === 0 ? "muted" : ""} title="Completed in the last full minute">{rate === null ? "-" : `${count(rate)}/min`}</span>;
}

function PauseButton({ queue }: { queue: Queue }) {
  const pause = usePause();
  const resume = useResume();
  const action = queue.paused ? resume : pause;
  return (
    <IconButton
      icon={queue.paused ? "play" : "pause"}
      needs={queue.paused ? "POST /queues/{name}/resume" : "POST /queues/{name}/pause"}
      label={`${queue.paused ? "Resume" : "Pause"} ${queue.name}`}
      disabled={action.isPending}
      onClick={() => action.mutate(queue.name)}
    />
  );
}

type Counter = "pending" | "active" | "held" | "completed" | "dead" | "scheduled" | "retrying";

const number = (id: Counter, header: string, more = ""): Column<Queue> => ({
  id,
  header,
  className: `num ${more}`,
  sort: (q) => q[id],
  // Zeros are muted.
  cell: (q) => <span className={q[id] === 0 ? "muted" : ""}>{count(q[id])}</span>,
});

/** The sort key of the wait time: an earlier start means a longer wait. */
const waitOrder = (queue: Queue): number =>
  queue.oldest_pending_at === undefined ? -Infinity : -Date.parse(queue.oldest_pending_at);

const COLUMNS: Column<Queue>[] = [
  {
    id: "name",
    header: "Name",
    className: "name numbers",
    sort: (q) => q.name,
    cell: (q) => (
      <Link to={queuePath(q.name)} title={q.name}>
        {q.name}
      </Link>
    ),
  },
  number("pending", "Pending"),
  number("active", "Active", "minor"),
  number("held", "Held", "minor"),
  number("completed", "Completed", "minor spare"),
  {
    ...number("dead", "Dead"),
    cell: (q) => <span className={q.dead > 0 ? "danger-text" : "muted"}>{count(q.dead)}</span>,
  },
  number("scheduled", "Scheduled", "minor"),
  number("retrying", "Retrying", "minor"),
  {
    id: "rate",
    header: "Rate",
    className: "num rate minor spare",
    cell: (q) => (
      <Later first="-">
        <Rate name={q.name} />
      </Later>
    ),
  },
  {
    id: "hour",
    header: "Last hour",
    className: "minor spare",
    cell: (q) => (
      <Later first={<div className="spark" />}>
        <Sparkline queue={q.name} />
      </Later>
    ),
  },
  {
    id: "latency",
    header: "Latency",
    className: "num",
    sort: waitOrder,
    cell: (q) => <Latency queue={q} />,
  },
  { id: "status", header: "Status", cell: (q) => <Status queue={q} /> },
  {
    id: "action",
    header: <span className="sr-only">Action</span>,
    cell: (q) => <PauseButton queue={q} />,
  },
];

const opens = (queue: Queue): string => queuePath(queue.name);

export function QueueTable({ queues, error }: { queues: readonly Queue[] | undefined; error: unknown }) {
  return (
    <Table
      label="Queues"
      rows={queues}
      columns={COLUMNS}
      rowKey={(q) => q.name}
      empty="No queues found"
      error={error}
      opens={opens}
    />
  );
}
