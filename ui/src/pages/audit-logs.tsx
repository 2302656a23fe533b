import { useState } from "react";

import { useAudit } from "../api/queries";
import type { AuditEntry } from "../api/types";
import { Ago, Badge, Button, Card, Field, PageHead } from "../components/parts";
import { Table, type Column } from "../components/table";
import { commentOf } from "../lib/audit";
import { useSettled, useTitle } from "../lib/hooks";

const PAGE = 50;
const TYPING_MS = 250;

const toneOf = (status: number): string => (status < 400 ? "green" : status < 500 ? "amber" : "red");

const COLUMNS: Column<AuditEntry>[] = [
  { id: "time", header: "Time", cell: (e) => <Ago at={e.created_at} /> },
  { id: "principal", header: "Principal", className: "brief", cell: (e) => e.principal ?? "-" },
  { id: "role", header: "Role", className: "minor", cell: (e) => e.role ?? "-" },
  { id: "method", header: "Method", cell: (e) => e.method },
  {
    id: "path",
    header: "Path",
    className: "wide",
    cell: (e) => (
      <>
        <span className="mono" title={e.path}>
          {e.path}
        </span>
        {commentOf(e) !== null && <span className="muted break"> “{commentOf(e)}”</span>}
      </>
    ),
  },
  { id: "status", header: "Status", cell: (e) => <Badge tone={toneOf(e.status_code)}>{e.status_code}</Badge> },
  { id: "duration", header: "Duration", className: "num", cell: (e) => `${Number(e.metadata.duration_ms)} ms` },
];

export default function AuditLogs() {
  useTitle("Audit Logs");
  const [principal, setPrincipal] = useState("");
  const [method, setMethod] = useState("");
  const [page, setPage] = useState(0);
  const query: Record<string, string> = { limit: String(PAGE), offset: String(page * PAGE) };
  const wanted = useSettled(principal.trim(), TYPING_MS);
  if (wanted !== "") {
    query.principal = wanted;
  }
  if (method !== "") {
    query.method = method;
  }
  const audit = useAudit(query);
  const total = audit.data?.total;
  const pages = Math.max(1, Math.ceil((total ?? 0) / PAGE));
  return (
    <>
      <PageHead title="Audit Logs" />
      <div className="form-grid">
        <Field label="Principal">
          {(id) => (
            <input
              id={id}
              value={principal}
              onChange={(e) => {
                setPrincipal(e.target.value);
                setPage(0);
              }}
            />
          )}
        </Field>
        <Field label="Method">
          {(id) => (
            <select
              id={id}
              value={method}
              onChange={(e) => {
                setMethod(e.target.value);
                setPage(0);
              }}
            >
              <option value="">All</option>
              {["POST", "PUT", "DELETE", "GET"].map((word) => (
                <option key={word}>{word}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Card title={total === undefined ? "Entries" : `Entries (${total.toLocaleString()})`}>
        <Table
          label="Audit Logs"
          rows={audit.data?.audit_logs}
          columns={COLUMNS}
          rowKey={(e) => String(e.id)}
          empty="No audit log entries found"
          error={audit.error}
        />
        {total !== undefined && (
          <div className="card-body card-row">
            <Button compact disabled={page === 0} onClick={() => setPage(page - 1)}>
              Previous
            </Button>
            <span className="muted small">
              Page {page + 1} of {pages}
            </span>
            <Button compact disabled={page + 1 >= pages} onClick={() => setPage(page + 1)}>
              Next
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}
