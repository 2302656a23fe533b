import { useReplay } from "../../api/actions";
import { useIterations } from "../../api/queries";
import type { Iteration, Job } from "../../api/types";
import { Badge, Button, Card, Pending } from "../../components/parts";
import { Table, type Column } from "../../components/table";
import { count, money } from "../../lib/format";

function Detail({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <h3>{label}</h3>
      <pre className="json" tabIndex={0} aria-label={label}>
        {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
      </pre>
    </div>
  );
}

/** Label and value of what an iteration left behind. */
function detailsOf(i: Iteration): [string, unknown][] {
  const all: [string, unknown][] = [
    ["Hold reason", i.hold_reason],
    ["Checkpoint", i.checkpoint],
    ["Result", i.result],
  ];
  return all.filter(([, value]) => value !== undefined);
}

const modelOf = (i: Iteration): string => [i.model, i.provider].filter(Boolean).join(" / ");

const TONES: Record<string, string> = { done: "green", continue: "active", hold: "held" };

export function Iterations({ job }: { job: Job }) {
  const iterations = useIterations(job.id, true);
  const replay = useReplay();
  const columns: Column<Iteration>[] = [
    { id: "number", header: "#", className: "num", cell: (i) => i.iteration },
    { id: "model", header: "Model", className: "name", cell: (i) => <span title={modelOf(i)}>{modelOf(i) || "-"}</span> },
    { id: "status", header: "Status", cell: (i) => <Badge tone={TONES[i.status] ?? ""}>{i.status}</Badge> },
    { id: "cost", header: "Cost", className: "num", cell: (i) => money(i.cost_usd ?? 0) },
    {
      id: "tokens",
      header: "Tokens in / out",
      className: "num",
      cell: (i) => `${count(i.input_tokens ?? 0)} / ${count(i.output_tokens ?? 0)}`,
    },
    {
      id: "replay",
      header: <span className="sr-only">Action</span>,
      cell: (i) => (
        <Button
          compact
          disabled={replay.isPending}
          aria-label={`Replay from iteration ${i.iteration}`}
          onClick={() => replay.mutate({ id: job.id, from: i.iteration })}
        >
          Replay
        </Button>
      ),
    },
  ];
  const detailed = (iterations.data ?? []).map((i) => ({ ...i, details: detailsOf(i) })).filter((i) => i.details.length > 0);
  return (
    <Card title="Agent iterations">
      {iterations.data === undefined ? (
        <div className="card-body">
          <Pending error={iterations.error} />
        </div>
      ) : (
        <Table
          label="Agent iterations"
          rows={iterations.data}
          columns={columns}
          rowKey={(i) => String(i.id)}
          empty="No iterations recorded"
        />
      )}
      {detailed.length > 0 && (
        <div className="card-body stack">
          {detailed.map((i) => (
            <details key={i.id}>
              <summary>
                Iteration {i.iteration}: {i.details.map(([label]) => label.toLowerCase()).join(", ")}
              </summary>
              <div className="stack">
                {i.details.map(([label, value]) => (
                  <Detail key={label} label={label} value={value} />
                ))}
              </div>
            </details>
          ))}
        </div>
      )}
    </Card>
  );
}
