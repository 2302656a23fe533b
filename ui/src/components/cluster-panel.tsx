import type { ClusterGroup, ClusterNode } from "../api/types";
import { Badge, Notice } from "./parts";
import { Table, type Column } from "./table";

/** Good if the server reports that it is healthy, or if it is a leader or follower (ui.md 3). */
export function healthOf(status: ClusterGroup | undefined): { text: string; good: boolean } {
  const state = status?.state?.toLowerCase();
  const good = status?.status === "healthy" || state === "leader" || state === "follower";
  return { text: status?.status ?? (good ? "healthy" : (status?.state ?? "unknown")), good };
}

const COLUMNS: Column<ClusterNode>[] = [
  {
    id: "node",
    header: "Node",
    cell: (n) => (
      <>
        <span className="mono">{n.id ?? "-"}</span> {n.self === true && <span className="muted">(this node)</span>}
      </>
    ),
  },
  { id: "role", header: "Role", cell: (n) => (n.role ?? (n.voter === false ? "learner" : "voter")).toLowerCase() },
  {
    id: "status",
    header: "Status",
    cell: (n) => (n.status === undefined ? "-" : <Badge tone={n.status === "healthy" ? "green" : "red"}>{n.status}</Badge>),
  },
  { id: "address", header: "Address", cell: (n) => <span className="mono">{n.address ?? "-"}</span> },
];

const LAG: Column<ClusterNode> = {
  id: "lag",
  header: "Log",
  cell: (n) => (n.lag === undefined ? "-" : n.lag === 0 ? "current" : `${n.lag.toLocaleString()} ${n.lag === 1 ? "entry" : "entries"} behind`),
};

export function ClusterPanel({ group }: { group: ClusterGroup }) {
  const health = healthOf(group);
  const nodes = group.nodes ?? [];
  const columns = nodes.some((n) => n.lag !== undefined) ? [...COLUMNS, LAG] : COLUMNS;
  return (
    <>
      <div className="card-body card-row">
        <Badge tone={health.good ? "green" : "red"}>{health.text}</Badge>
        {group.mode !== undefined && <Badge plain>{group.mode}</Badge>}
        {group.state !== undefined && <Badge plain>{group.state.toLowerCase()}</Badge>}
        {group.term !== undefined && <span className="muted small">term {group.term.toLocaleString()}</span>}
        {group.applied_index !== undefined && (
          <span className="muted small">
            applied {group.applied_index.toLocaleString()} of {group.commit_index?.toLocaleString()}
          </span>
        )}
      </div>
      {nodes.length === 0 ? (
        <div className="card-body">
          <Notice>Single node mode</Notice>
        </div>
      ) : (
        <Table label="Nodes" rows={nodes} columns={columns} rowKey={(n) => n.id ?? "node"} empty="Single node mode" />
      )}
    </>
  );
}
