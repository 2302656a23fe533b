import { useReplay } from "../../api/actions";
import { useIterations } from "../../api/queries";
import type { Iteration, Job } from "../../api/types";
import { Ago, Badge, Bar, Button, Card, Pending } from "../../components/parts";
import { Table, type Column } from "../../components/table";
import { count, inOrder, money, percent, span } from "../../lib/format";

function Detail({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <h3>{label}</h3>
      <pre className="json" tabIndex={0} aria-label={label}>
        {typeof value === "string" ? value : inOrder(JSON.stringify(value, null, 2))}
      </pre>
    </div>
  );
}

/** Return the labels and values of the data that an iteration has stored. */
function detailsOf(i: Iteration): [string, unknown][] {
  const all: [string, unknown][] = [
    ["Hold reason", i.hold_reason],
    ["Checkpoint", i.checkpoint],
    ["Result", i.result],
  ];
  return all.filter(([, value]) => value !== undefined);
}

/** Return the duration of an iteration. It ends when it is recorded. It began when the previous one ended, or when the job
 *  was created. */
function tookMs(list: readonly Iteration[], index: number, job: Job): number {
  const before = list[index - 1]?.created_at ?? job.created_at;
  return Math.max(0, Date.parse(list[index]?.created_at ?? before) - Date.parse(before));
}

/** The amount used of a limit. */
function Used({ label, used, limit, text }: { label: string; used: number; limit: number | undefined; text: string }) {
  const part = limit === undefined ? null : percent(used, limit);
  return (
    <div className="stack-tight">
      <span className="small">
        <span className="muted">{label}</span> {text}
      </span>
      {part !== null && <Bar value={part} label={label} tone={part > 95 ? "over" : part > 80 ? "warn" : ""} />}
    </div>
  );
}

function Limits({ job, list }: { job: Job; list: readonly Iteration[] }) {
  const { agent } = job;
  const cost = agent?.total_cost_usd ?? 0;
  const most = agent?.max_cost_usd;
  const rounds = agent?.max_iterations;
  return (
    <div className="card-body grid-2">
      <Used
        label="Iterations"
        used={list.length}
        limit={rounds}
        text={`${list.length} finished${rounds === undefined ? "" : `, at most ${rounds}`}`}
      />
      <Used label="Cost" used={cost} limit={most} text={`${money(cost)}${most === undefined ? "" : `, at most ${money(most)}`}`} />
    </div>
  );
}

const modelOf = (i: Iteration): string => [i.model, i.provider].filter(Boolean).join(" / ");

const TONES: Record<string, string> = { done: "green", continue: "active", hold: "held" };

export function Iterations({ job }: { job: Job }) {
  const iterations = useIterations(job.id, true);
  const replay = useReplay();
  const list = iterations.data ?? [];
  const dearest = Math.max(...list.map((i) => i.cost_usd ?? 0));
  const columns: Column<Iteration>[] = [
    { id: "number", header: "#", className: "num", cell: (i) => i.iteration },
    { id: "model", header: "Model", className: "name", cell: (i) => <span title={modelOf(i)}>{modelOf(i) || "-"}</span> },
    { id: "status", header: "Status", cell: (i) => <Badge tone={TONES[i.status] ?? ""}>{i.status}</Badge> },
    {
      id: "cost",
      header: "Cost",
      className: "num",
      cell: (i) => (
        <div className="stack-tight lines">
          {money(i.cost_usd ?? 0)}
          <Bar value={percent(i.cost_usd ?? 0, dearest)} label={`Cost of iteration ${i.iteration}, compared with the most expensive`} />
        </div>
      ),
    },
    {
      id: "tokens",
      header: "Tokens in / out",
      className: "num",
      cell: (i) => `${count(i.input_tokens ?? 0)} / ${count(i.output_tokens ?? 0)}`,
    },
    { id: "ended", header: "Finished", className: "minor", cell: (i) => <Ago at={i.created_at} /> },
    { id: "took", header: "Duration", className: "num minor", cell: (i) => span(tookMs(list, list.indexOf(i), job)) },
    {
      id: "replay",
      header: <span className="sr-only">Action</span>,
      cell: (i) => (
        <Button
          compact
          needs="POST /jobs/{id}/replay"
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
      {iterations.data !== undefined && <Limits job={job} list={list} />}
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
