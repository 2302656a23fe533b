// The hosts that jobs are delivered to, and their state. Shows nothing if there are none.
import { usePushHosts } from "../../api/queries";
import type { PushHost } from "../../api/types";
import { Ago, Badge, Card } from "../../components/parts";
import { Table, type Column } from "../../components/table";
import { count, countdown, fullTime, span } from "../../lib/format";
import { useNow } from "../../lib/hooks";

const BREAKER: Record<string, { text: string; tone: "green" | "red" | "amber" }> = {
  closed: { text: "closed", tone: "green" },
  open: { text: "open", tone: "red" },
  half_open: { text: "half-open", tone: "amber" },
};

function Breaker({ host }: { host: PushHost }) {
  const now = useNow(1_000);
  const { text, tone } = BREAKER[host.breaker] ?? { text: host.breaker, tone: "amber" };
  return (
    <>
      <Badge tone={tone}>{text}</Badge>{" "}
      {host.next_probe_at !== undefined && Date.parse(host.next_probe_at) > now && (
        <span className="muted small" title={fullTime(host.next_probe_at)}>
          next call {countdown(host.next_probe_at, now)}
        </span>
      )}
    </>
  );
}

const COLUMNS: Column<PushHost>[] = [
  { id: "host", header: "Host", className: "name", sort: (h) => h.host, cell: (h) => <span title={h.host}>{h.host}</span> },
  { id: "breaker", header: "Circuit breaker", sort: (h) => h.breaker, cell: (h) => <Breaker host={h} /> },
  { id: "in-flight", header: "In flight", className: "num", sort: (h) => h.in_flight, cell: (h) => count(h.in_flight) },
  { id: "waiting", header: "Waiting", className: "num", sort: (h) => h.waiting, cell: (h) => count(h.waiting) },
  { id: "succeeded", header: "Succeeded", className: "num", sort: (h) => h.succeeded, cell: (h) => count(h.succeeded) },
  { id: "failed", header: "Failed", className: "num", sort: (h) => h.failed, cell: (h) => count(h.failed) },
  {
    id: "latency",
    header: "Latency",
    className: "num",
    sort: (h) => h.latency_ms ?? -1,
    cell: (h) => (h.latency_ms === undefined ? "-" : span(h.latency_ms)),
  },
  {
    id: "error",
    header: "Last error",
    className: "wide",
    cell: (h) =>
      h.last_error_at === undefined ? (
        "-"
      ) : (
        <span title={h.last_error}>
          <Ago at={h.last_error_at} /> {h.last_error}
        </span>
      ),
  },
];

export function Hosts() {
  const hosts = usePushHosts().data ?? [];
  return hosts.length === 0 ? null : (
    <Card title="Push targets" aside={<span className="muted small">since the leader started</span>}>
      <Table label="Push targets" rows={hosts} columns={COLUMNS} rowKey={(h) => h.host} empty="" />
    </Card>
  );
}
