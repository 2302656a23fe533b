import { useCluster, useScope } from "../api/queries";
import type { ClusterGroup, Histogram } from "../api/types";
import { ClusterPanel } from "../components/cluster-panel";
import { NodeHistory } from "../components/node-history";
import { Card, Notice, PageHead, Pending } from "../components/parts";
import { Table, type Column } from "../components/table";
import { capitalise, parseDuration, span } from "../lib/format";
import { useTitle } from "../lib/hooks";

/** Labels for names that are unclear to users. Other names are shown as they are. */
const LABELS: Record<string, string> = {
  pending: "Writes waiting",
  max_pending: "Maximum waiting writes",
  applied_total: "Writes applied",
  entries_total: "Log entries written",
  log_flushes_total: "Log flushes",
  log_bytes: "Log size",
  live_jobs: "Jobs in memory",
  index_bytes: "Memory for jobs",
  fetches_waiting: "Workers waiting for a job",
  overload_total: "Requests refused (overload)",
  fetch_overload_total: "Fetches refused (overload)",
  request_memory_limit_bytes: "Request memory limit",
  request_memory_bytes: "Request memory in use",
  request_memory_refused_total: "Requests refused (memory)",
  count: "Snapshots taken",
  async: "Updated asynchronously",
  queued: "Events received",
  applied: "Events applied",
  dropped: "Events dropped",
  lag: "Events behind",
  queue_depth: "Events waiting",
  queue_capacity: "Maximum waiting events",
  low_space: "Low on disk space",
};

const label = (name: string): string => LABELS[name] ?? capitalise(name.replaceAll("_", " "));

function show(name: string, value: unknown): string {
  if (typeof value === "number") {
    return name.endsWith("bytes") ? bytes(value) : value.toLocaleString();
  }
  if (typeof value === "boolean") {
    return value ? "yes" : "no";
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(n: number): string {
  const power = n < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(n) / 10));
  const value = n / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power] ?? "B"}`;
}

function StatsCard({ title, stats }: { title: string; stats: object | undefined }) {
  if (stats === undefined || Object.keys(stats).length === 0) {
    return null;
  }
  return (
    <Card title={title}>
      <dl className="card-body facts">
        {Object.entries(stats).map(([name, value]: [string, unknown]) => (
          <div key={name}>
            <dt>{label(name)}</dt>
            <dd>{show(name, value)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

interface Times extends Histogram {
  name: string;
}

/** Format a duration of the server, such as "50µs". */
const time = (text: string | undefined): string => {
  const ms = text === undefined ? null : parseDuration(text);
  return ms === null ? (text ?? "-") : span(ms);
};

const TIMES: Column<Times>[] = [
  { id: "name", header: "Step", className: "wrap", cell: (t) => t.name },
  { id: "count", header: "Count", className: "num", cell: (t) => t.count.toLocaleString() },
  { id: "p50", header: "p50", className: "num", cell: (t) => time(t.p50) },
  { id: "p90", header: "p90", className: "num", cell: (t) => time(t.p90) },
  { id: "p99", header: "p99", className: "num", cell: (t) => time(t.p99) },
];

function Group({ group }: { group: ClusterGroup }) {
  const title = group.shard === undefined ? "Nodes" : `Shard ${group.shard}`;
  const times: Times[] = [];
  if (group.queue_time_hist !== undefined) {
    times.push({ name: "Waiting to be written to the Raft log", ...group.queue_time_hist });
  }
  if (group.apply_time_hist !== undefined) {
    times.push({ name: "Committing and applying a log entry", ...group.apply_time_hist });
  }
  return (
    <>
      <Card title={title}>
        <ClusterPanel group={group} />
      </Card>
      {times.length > 0 && (
        <Card title="Write latency since the server started">
          <Table label="Latency" rows={times} columns={TIMES} rowKey={(t) => t.name} empty="" />
        </Card>
      )}
      <div className="grid-2">
        <StatsCard title="Write pipeline" stats={group.pipeline_stats} />
        <StatsCard title="Requests" stats={group.admission_stats} />
        <StatsCard title="Snapshots" stats={group.snapshot} />
        <StatsCard title="Search index" stats={group.sqlite_mirror} />
      </div>
    </>
  );
}

export default function Cluster() {
  useTitle("Cluster Status");
  const cluster = useCluster();
  const scope = useScope();
  const status = cluster.data;
  const groups = status?.groups ?? (status === undefined ? [] : [status]);
  return (
    <>
      <PageHead title="Cluster Status" />
      {status === undefined && <Pending error={cluster.error} />}
      {groups.map((group) => (
        <Group key={group.shard ?? "only"} group={group} />
      ))}
      {scope === "" ? (
        <NodeHistory />
      ) : (
        <Notice>Your key is limited to these queues: {scope}. The history of the node requires a key without this limit.</Notice>
      )}
    </>
  );
}
