// Chains, dependencies and children as graphs with links. The states shown are current.
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router-dom";

import { jobQuery, KEY, useSearch } from "../../api/queries";
import { chainOf, type Job, type JobSummary } from "../../api/types";
import { jobPath } from "../../components/job-table";
import { Card, StateBadge } from "../../components/parts";
import { isObject } from "../../lib/exact-json";
import { plural } from "../../lib/format";
import { layout, type Edge, type GraphNode } from "../../lib/graph";

const WIDTH = 178;
const HEIGHT = 74;
const GAP = { x: 48, y: 14 };
/** Show the end of an id, because ids created at the same time begin alike. */
const ID_END = 10;
/** Maximum number of jobs shown that the job waits for, directly or indirectly, and of jobs that wait for it. The others are
 *  only counted. */
const SHOWN_MAX = 40;

interface Picture {
  nodes: GraphNode[];
  edges: Edge[];
}

const stepName = (step: number): string => (step === -1 ? "On exit" : step === -2 ? "On failure" : `Step ${step + 1}`);

const queueOf = (value: unknown): string =>
  isObject(value) && typeof value.queue === "string" ? value.queue : "";

/** Return the existing steps, the future steps and the handlers of a chain. */
function chainPicture(job: Job, found: readonly JobSummary[]): Picture {
  const made = new Map<number, GraphNode>();
  for (const j of [...found, job]) {
    const step = j.chain_step ?? 0;
    made.set(step, { id: j.id, queue: j.queue, state: j.state, label: stepName(step) });
  }
  const { steps } = chainOf(job);
  const config = isObject(job.chain_config) ? job.chain_config : {};
  const last = Math.max(steps.length - 1, ...made.keys());
  const at = (step: number, queue: string): GraphNode =>
    made.get(step) ?? { id: `step ${step}`, queue, label: stepName(step) };
  const line = Array.from({ length: last + 1 }, (_, i) => at(i, queueOf(steps[i])));
  const handlers = [
    ...(made.has(-2) || isObject(config.on_failure) ? [at(-2, queueOf(config.on_failure))] : []),
    ...(made.has(-1) || isObject(config.on_exit) ? [at(-1, queueOf(config.on_exit))] : []),
  ];
  const end = line.at(-1);
  return {
    nodes: [...line, ...handlers],
    edges: [
      ...line.slice(1).map((node, i) => ({ from: line[i]?.id ?? "", to: node.id })),
      ...handlers.map((node) => ({ from: end?.id ?? "", to: node.id })),
    ],
  };
}

/** Return the jobs that the job waits for, directly or indirectly, and the jobs that wait for it. */
function useDependencies(job: Job): Picture & { more: number } {
  const client = useQueryClient();
  const known = client
    .getQueriesData<Job>({ queryKey: [KEY.job] })
    .map(([, data]) => data)
    .filter((data): data is Job => isObject(data) && typeof (data as { id?: unknown }).id === "string");
  const byId = new Map(known.map((j) => [j.id, j]));
  byId.set(job.id, job);
  const wanted = new Set<string>();
  const visit = (id: string) => {
    for (const before of chainOf(byId.get(id) ?? ({} as Job)).depends_on) {
      if (!wanted.has(before)) {
        wanted.add(before);
        visit(before);
      }
    }
  };
  visit(job.id);
  const upstream = [...wanted].slice(0, SHOWN_MAX);
  const read = useQueries({ queries: upstream.map(jobQuery) });
  const found = useSearch({ depends_on: job.id, sort: "created_at", order: "asc", limit: SHOWN_MAX });
  // Until the response arrives, the data is still that of the previous job.
  const data = found.isPlaceholderData ? undefined : found.data;
  const after = (data?.jobs ?? []).filter(({ id }) => id !== job.id && !wanted.has(id));
  const jobs = [...read.map((query) => query.data).filter((data) => data !== undefined), job];
  const unread = upstream.filter((_, i) => read[i]?.data === undefined);
  const nodes: GraphNode[] = [
    ...unread.map((id) => ({ id, queue: "" })),
    ...[...jobs, ...after].map(({ id, queue, state }) => ({ id, queue, state })),
  ];
  const edges = [
    ...jobs.flatMap((j) => chainOf(j).depends_on.map((from) => ({ from, to: j.id }))),
    ...after.map(({ id }) => ({ from: job.id, to: id })),
  ];
  return { nodes, edges, more: wanted.size - upstream.length + Math.max(0, (data?.total ?? 0) - after.length) };
}

function Node({ node, self }: { node: GraphNode; self: boolean }) {
  const inner = (
    <>
      <span className="small muted">{node.label ?? `…${node.id.slice(-ID_END)}`}</span>
      <span className="clip" title={node.queue}>
        {node.queue === "" ? "…" : node.queue}
      </span>
      {node.state === undefined ? <span className="small muted">not started</span> : <StateBadge state={node.state} />}
    </>
  );
  if (node.state === undefined || self) {
    return (
      <div className={`graph-node ${self ? "self" : "ghost"}`} {...(self ? { "aria-current": "true" as const } : {})}>
        {inner}
      </div>
    );
  }
  return (
    <Link className="graph-node" to={jobPath(node.id)} title={node.id}>
      {inner}
    </Link>
  );
}

function Drawing({ picture, self, label }: { picture: Picture; self: string; label: string }) {
  const spots = layout(picture.nodes, picture.edges);
  const x = (column: number) => column * (WIDTH + GAP.x);
  const y = (row: number) => row * (HEIGHT + GAP.y);
  const width = x(Math.max(...spots.map((s) => s.column))) + WIDTH;
  const height = y(Math.max(...spots.map((s) => s.row))) + HEIGHT;
  const at = new Map(spots.map((s) => [s.node.id, s]));
  return (
    <div className="graph" role="group" aria-label={label} tabIndex={0}>
      <div style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          {picture.edges.map(({ from, to }) => {
            const a = at.get(from);
            const b = at.get(to);
            if (a === undefined || b === undefined) {
              return null;
            }
            const [x1, y1] = [x(a.column) + WIDTH, y(a.row) + HEIGHT / 2];
            const [x2, y2] = [x(b.column), y(b.row) + HEIGHT / 2];
            const bend = GAP.x / 2;
            return <path key={`${from} ${to}`} d={`M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`} />;
          })}
        </svg>
        {spots.map(({ node, column, row }) => (
          <div key={node.id} className="graph-spot" style={{ left: x(column), top: y(row), width: WIDTH, height: HEIGHT }}>
            <Node node={node} self={node.id === self} />
          </div>
        ))}
      </div>
    </div>
  );
}

export function Chain({ job, chainId }: { job: Job; chainId: string }) {
  const found = useSearch({ chain_id: chainId, limit: 200 });
  const picture = chainPicture(job, found.data?.jobs ?? []);
  return (
    <Card title="Chain">
      <div className="card-body stack">
        {picture.nodes.length > 1 ? (
          <Drawing picture={picture} self={job.id} label="Chain" />
        ) : (
          found.data !== undefined && <p className="muted">No linked chain jobs found.</p>
        )}
      </div>
    </Card>
  );
}

export function Dependencies({ job }: { job: Job }) {
  const { more, ...picture } = useDependencies(job);
  if (picture.nodes.length < 2) {
    return null;
  }
  return (
    <Card title="Dependencies" aside={<span className="muted small">A job starts when all jobs to its left are completed.</span>}>
      <div className="card-body stack">
        <Drawing picture={picture} self={job.id} label="Dependencies" />
        {more > 0 && <p className="muted">{plural(more, "more job")} not shown</p>}
      </div>
    </Card>
  );
}

/** Jobs that were created from this one: replays, and jobs that its worker enqueued with this job's id. */
export function Children({ job }: { job: Job }) {
  const found = useSearch({ parent_id: job.id, limit: 50 });
  const children = (found.data?.jobs ?? []).filter((j) => j.chain_id === undefined || j.chain_id !== job.chain_id);
  if (children.length === 0) {
    return null;
  }
  const nodes: GraphNode[] = [job, ...children].map(({ id, queue, state }) => ({ id, queue, state }));
  const picture = { nodes, edges: children.map(({ id }) => ({ from: job.id, to: id })) };
  return (
    <Card title={`Child jobs (${found.data?.total ?? children.length})`}>
      <div className="card-body">
        <Drawing picture={picture} self={job.id} label="Child jobs" />
      </div>
    </Card>
  );
}
