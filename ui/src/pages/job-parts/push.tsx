// A job that the server delivers itself: its target and the outcome of each attempt.
import type { Job, PushAttempt } from "../../api/types";
import { Badge, Card } from "../../components/parts";
import { Table, type Column } from "../../components/table";
import { clock, fullTime, span } from "../../lib/format";

const TONES: Record<string, string> = { completed: "green", failed: "failed", timeout: "red", cancelled: "cancelled" };

function took({ started_at, ended_at }: PushAttempt): string {
  return started_at === undefined || ended_at === undefined ? "-" : span(Date.parse(ended_at) - Date.parse(started_at));
}

function lateness({ due_at, started_at, attempt }: PushAttempt): string {
  if (due_at === undefined || started_at === undefined || attempt > 1) {
    return "-";
  }
  return span(Math.max(0, Date.parse(started_at) - Date.parse(due_at)));
}

const COLUMNS: Column<PushAttempt>[] = [
  { id: "attempt", header: "#", className: "num", cell: (a) => a.attempt },
  {
    id: "outcome",
    header: "Outcome",
    cell: (a) => <Badge tone={TONES[a.outcome ?? ""] ?? ""}>{a.outcome ?? "unknown"}</Badge>,
  },
  { id: "status", header: "HTTP status", className: "num", cell: (a) => a.http_status ?? "-" },
  {
    id: "started",
    header: "Started",
    cell: (a) =>
      a.started_at === undefined ? "-" : <time title={fullTime(a.started_at)}>{clock(a.started_at)}</time>,
  },
  { id: "late", header: "Late by", className: "num minor", cell: lateness },
  { id: "answer", header: "First byte", className: "num minor", cell: (a) => (a.http_status === undefined ? "-" : span(a.answer_ms)) },
  { id: "took", header: "Duration", className: "num", cell: took },
  { id: "node", header: "Node", className: "minor", cell: (a) => a.node_id ?? "-" },
  {
    id: "error",
    header: "Error",
    className: "wide wrap",
    cell: (a) => <span className="danger-text">{a.error}</span>,
  },
];

/** The server's defaults. */
const SUCCESS_BELOW = 400;
const TIMEOUT_MS = 300_000;

export function PushCard({ job }: { job: Job }) {
  const { push, push_attempts: attempts = [] } = job;
  if (push === undefined) {
    return null;
  }
  const headers = Object.entries(push.headers ?? {});
  const rows: [string, string | undefined][] = [
    ["Target", `${push.method ?? "POST"} ${push.url}`],
    ["Success", `HTTP status below ${push.success_below ?? SUCCESS_BELOW}`],
    ["Timeout", span(push.timeout_ms ?? TIMEOUT_MS)],
    ["Authentication", push.auth === undefined ? undefined : typeof push.auth.type === "string" ? push.auth.type : "configured"],
    ["Headers", headers.length === 0 ? undefined : headers.map(([name]) => name).join(", ")],
    ["Body", push.body === undefined ? "the payload" : "a template"],
    ["Response", push.keep_answer === true ? "stored as the result" : undefined],
  ];
  return (
    <Card title="Delivery">
      <dl className="card-body pairs">
        {rows.map(([label, value]) =>
          value === undefined ? null : (
            <div key={label} style={{ display: "contents" }}>
              <dt>{label}</dt>
              <dd className="break">{value}</dd>
            </div>
          ),
        )}
      </dl>
      <Table
        label="Delivery attempts"
        rows={attempts}
        columns={COLUMNS}
        rowKey={(a) => `${a.due_at ?? ""} ${a.attempt} ${a.started_at ?? ""}`}
        empty="No delivery attempts yet"
      />
    </Card>
  );
}
