import type { UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "react-router-dom";

import { useCluster, useQueues, useScope, useSearch, useWorkers } from "../api/queries";
import type { ClusterStatus, Queue, SearchRequest, Worker } from "../api/types";
import { Attention } from "../components/attention";
import { Chart, SPANS } from "../components/chart";
import { ClusterPanel } from "../components/cluster-panel";
import { EnqueueDialog } from "../components/enqueue-dialog";
import { History } from "../components/history";
import { jobPath } from "../components/job-table";
import { Ago, Button, Card, Later, Notice, PageHead, Pending, ShortId, Stat, StateBadge, unknown } from "../components/parts";
import { queuePath, QueueTable, waitingMs } from "../components/queue-table";
import { workerHealth, WorkerTable } from "../components/worker-table";
import { attempts, count, latency, span } from "../lib/format";
import { useNow, useTitle } from "../lib/hooks";
import { latencies } from "../lib/latency";

const sum = (queues: readonly Queue[], name: "pending" | "active" | "dead"): number =>
  queues.reduce((total, queue) => total + queue[name], 0);

function MaxLatency({ queues }: { queues: readonly Queue[] }) {
  const now = useNow(1_000);
  const waits = queues.map((queue) => waitingMs(queue, now)).filter((ms) => ms !== null);
  return <>{waits.length === 0 ? "-" : latency(Math.max(...waits))}</>;
}

function Cards({ read }: { read: UseQueryResult<Queue[]> }) {
  const queues = read.data;
  const nothing = unknown(read);
  const show = (value: (list: readonly Queue[]) => number) => (queues === undefined ? nothing : count(value(queues)));
  const dead = queues === undefined ? 0 : sum(queues, "dead");
  return (
    <div className="grid-5">
      <Stat label="Total Pending">{show((list) => sum(list, "pending"))}</Stat>
      <Stat label="Active">{show((list) => sum(list, "active"))}</Stat>
      <Stat label="Dead">
        <span className={dead > 0 ? "danger-text" : ""}>{show((list) => sum(list, "dead"))}</span>
      </Stat>
      <Stat label="Queues">{show((list) => list.length)}</Stat>
      <Stat label="Max Latency">{queues === undefined ? nothing : <MaxLatency queues={queues} />}</Stat>
    </div>
  );
}

const minuteOf = (at: string | number): string =>
  new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

function WriteLatency({ read: { data: status, dataUpdatedAt: at, error } }: { read: UseQueryResult<ClusterStatus> }) {
  const [samples, setSamples] = useState(latencies.samples);
  useEffect(() => {
    if (status !== undefined) {
      latencies.add(status, at);
      setSamples(latencies.samples);
    }
  }, [status, at]);
  if (status === undefined && error !== null) {
    return <Pending error={error} />;
  }
  if (samples.length < 2) {
    return <p className="muted">Collecting samples while this page is open…</p>;
  }
  const last = samples.at(-1);
  return (
    <Chart
      label={`Write latency in the last 10 minutes, current p99 ${span(last?.p99 ?? 0)}`}
      times={samples.map((s) => minuteOf(s.at))}
      {...SPANS}
      series={[
        { name: "p50", colour: "var(--chart-p50)", values: samples.map((s) => s.p50) },
        { name: "p90", colour: "var(--chart-p90)", values: samples.map((s) => s.p90) },
        { name: "p99", colour: "var(--chart-p99)", values: samples.map((s) => s.p99) },
      ]}
    />
  );
}

const NEWEST_DEAD: SearchRequest = { state: ["dead"], sort: "created_at", order: "desc", limit: 5 };

function RecentFailures() {
  const dead = useSearch(NEWEST_DEAD);
  if (dead.data === undefined) {
    return (
      <div className="card-body">
        <Pending error={dead.error} />
      </div>
    );
  }
  if (dead.data.jobs.length === 0) {
    return (
      <div className="card-body">
        <Notice>No recent failures</Notice>
      </div>
    );
  }
  return (
    <ul className="card-body stack">
      {dead.data.jobs.map((job) => (
        <li key={job.id} className="stack-tight">
          <div className="card-row">
            <StateBadge state={job.state} />
            <Link to={jobPath(job.id)}>
              <ShortId id={job.id} />
            </Link>
            <Link className="break" to={queuePath(job.queue)}>
              {job.queue}
            </Link>
            <span className="muted small">
              attempt {attempts(job)} · <Ago at={job.failed_at ?? job.created_at} />
            </span>
          </div>
          {job.last_error !== undefined && (
            <Link className="danger-text small clip" to={jobPath(job.id)} title={job.last_error}>
              {job.last_error}
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The history of all queues. The server refuses it to keys that are limited to some queues. */
function AllHistory() {
  const scope = useScope();
  return scope === "" ? (
    <History />
  ) : (
    <Notice>Your key is limited to these queues: {scope}. To see the history of a queue, open it.</Notice>
  );
}

/** Count the connected workers: the ones with a recent heartbeat. */
function connected(workers: readonly Worker[] | undefined): string {
  const healthy = workers?.filter((worker) => workerHealth(worker, Date.now()) === "Healthy");
  return healthy === undefined ? "" : ` (${healthy.length.toLocaleString()} connected)`;
}

/** The button and its dialog. A separate component, so that opening the dialog does not render the page again. */
function Enqueue() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" needs="POST /enqueue" onClick={() => setOpen(true)}>
        Enqueue Job
      </Button>
      {open && <EnqueueDialog onClose={() => setOpen(false)} />}
    </>
  );
}

export function Dashboard() {
  useTitle("");
  const queues = useQueues();
  const workers = useWorkers();
  const cluster = useCluster();
  return (
    <>
      <PageHead title="Dashboard">
        <Enqueue />
      </PageHead>
      <Cards read={queues} />
      <Attention queues={queues.data ?? []} nodes={cluster.data?.nodes ?? []} />
      <AllHistory />
      <Later first={null}>
        <div className="grid-2">
          <Card title="Write latency" aside={<span className="muted small">commit and apply, last 10 minutes</span>}>
            <div className="card-body">
              <WriteLatency read={cluster} />
            </div>
          </Card>
          <Card title="Recent failures" aside={<Link to="/errors">Group by error</Link>}>
            <RecentFailures />
          </Card>
        </div>
        <Card title="All queues">
          <QueueTable queues={queues.data} error={queues.error} />
        </Card>
        <div className="stack">
          <Card title="Cluster">
            {cluster.data === undefined ? (
              <div className="card-body">
                <Pending error={cluster.error} />
              </div>
            ) : (
              <ClusterPanel group={cluster.data} />
            )}
          </Card>
        </div>
        <Card title={`Workers${connected(workers.data)}`}>
          <WorkerTable workers={workers.data} error={workers.error} />
        </Card>
      </Later>
    </>
  );
}
