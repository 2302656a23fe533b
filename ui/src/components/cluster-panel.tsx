import type { ClusterGroup, ClusterNode } from "../api/types";
import { healthOf, isSilent, lastContact } from "../lib/cluster";
import { Badge, Notice } from "./parts";
import { Table, type Column } from "./table";

const TONES: Readonly<Record<string, string>> = { healthy: "green", "catching up": "amber", leaving: "amber", unknown: "" };

/** The role of a node that was not heard from is not known. */
const roleOf = (n: ClusterNode): string =>
  n.voter === true && (n.status === "unknown" || isSilent(n)) ? "voter" : (n.role ?? (n.voter === false ? "learner" : "voter")).toLowerCase();

function Status({ node }: { node: ClusterNode }) {
  if (isSilent(node)) {
    return (
      <>
        <Badge tone="red">unreachable</Badge> <span className="muted small">{lastContact(node)}</span>
        {node.error !== undefined && <div className="muted small">{node.error}</div>}
      </>
    );
  }
  return node.status === undefined ? <>-</> : <Badge tone={TONES[node.status] ?? "red"}>{node.status}</Badge>;
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
  { id: "role", header: "Role", cell: roleOf },
  { id: "status", header: "Status", className: "wrap", cell: (n) => <Status node={n} /> },
  { id: "address", header: "Address", cell: (n) => <span className="mono">{n.address ?? "-"}</span> },
];

const LAG: Column<ClusterNode> = {
  id: "lag",
  header: "Log",
  // A new leader does not know what a silent node has.
  cell: (n) => (n.lag === undefined || isSilent(n) ? "-" : n.lag === 0 ? "current" : `${n.lag.toLocaleString()} ${n.lag === 1 ? "entry" : "entries"} behind`),
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
