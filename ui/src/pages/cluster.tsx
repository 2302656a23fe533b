import { useCluster } from "../api/queries";
import type { ClusterGroup, Histogram } from "../api/types";
import { ClusterPanel } from "../components/cluster-panel";
import { Card, PageHead, Pending } from "../components/parts";
import { Table, type Column } from "../components/table";
import { useTitle } from "../lib/hooks";

const label = (name: string): string => {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

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

const TIMES: Column<Times>[] = [
  { id: "name", header: "What", cell: (t) => t.name },
  { id: "count", header: "Count", className: "num", cell: (t) => t.count.toLocaleString() },
  { id: "p50", header: "p50", className: "num", cell: (t) => t.p50 ?? "-" },
  { id: "p90", header: "p90", className: "num", cell: (t) => t.p90 ?? "-" },
  { id: "p99", header: "p99", className: "num", cell: (t) => t.p99 ?? "-" },
];

function Group({ group }: { group: ClusterGroup }) {
  const title = group.shard === undefined ? "Nodes" : `Shard ${group.shard}`;
  const times: Times[] = [];
  if (group.queue_time_hist !== undefined) {
    times.push({ name: "Waiting for a place in an entry", ...group.queue_time_hist });
  }
  if (group.apply_time_hist !== undefined) {
    times.push({ name: "Committing and applying an entry", ...group.apply_time_hist });
  }
  return (
    <>
      <Card title={title}>
        <ClusterPanel group={group} />
      </Card>
      {times.length > 0 && (
        <Card title="Latency since the start">
          <Table label="Latency" rows={times} columns={TIMES} rowKey={(t) => t.name} empty="" />
        </Card>
      )}
      <div className="grid-2">
        <StatsCard title="Write pipeline" stats={group.pipeline_stats} />
        <StatsCard title="Admission" stats={group.admission_stats} />
        <StatsCard title="Snapshot" stats={group.snapshot} />
        <StatsCard title="Query view" stats={group.sqlite_mirror} />
      </div>
    </>
  );
}

export default function Cluster() {
  useTitle("Cluster Status");
  const cluster = useCluster();
  const status = cluster.data;
  const groups = status?.groups ?? (status === undefined ? [] : [status]);
  return (
    <>
      <PageHead title="Cluster Status" />
      {status === undefined && <Pending error={cluster.error} />}
      {groups.map((group) => (
        <Group key={group.shard ?? "only"} group={group} />
      ))}
    </>
  );
}
