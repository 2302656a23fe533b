// What an operator should look at, the most serious kinds first.
import type { ReactNode } from "react";
import { Link } from "react-router-dom";

import type { ClusterNode, Queue } from "../api/types";
import { problemOf } from "../lib/cluster";
import { jobCount, latency, plural } from "../lib/format";
import { useNow } from "../lib/hooks";
import { Card } from "./parts";
import { queuePath, STUCK_MS, waitingMs } from "./queue-table";

/** Rows of a kind. More are counted in a row of their own, so that no kind hides another. */
const ROWS_MAX = 4;

interface KindProps {
  /** The queues concerned, the worst first. */
  queues: readonly Queue[];
  text: (queue: Queue) => ReactNode;
  /** Describes the queues without a row, such as "more queues have dead jobs". */
  rest: (queues: readonly Queue[]) => string;
  to: string;
}

function Kind({ queues, text, rest, to }: KindProps) {
  const shown = queues.length > ROWS_MAX ? ROWS_MAX - 1 : ROWS_MAX;
  const more = queues.slice(shown);
  return (
    <>
      {queues.slice(0, shown).map((queue) => (
        <li key={queue.name} className="break">
          <Link className="in-text" to={queuePath(queue.name)}>
            {queue.name}
          </Link>{" "}
          {text(queue)}
        </li>
      ))}
      {more.length > 0 && (
        <li>
          <Link className="in-text" to={to}>
            {rest(more)}
          </Link>
        </li>
      )}
    </>
  );
}

const deadOf = (queue: Queue): ReactNode => (
  <>
    has{" "}
    <Link className="in-text" to={`/dead-letter?${new URLSearchParams({ queue: queue.name })}`}>
      {plural(queue.dead, "dead job")}
    </Link>
  </>
);

const deadRest = (queues: readonly Queue[]): string =>
  `${queues.length.toLocaleString()} more queues have ${plural(queues.reduce((total, { dead }) => total + dead, 0), "dead job")}`;

/** Problems that need attention. That there is no leader is shown on every page. */
export function Attention({ queues, nodes }: { queues: readonly Queue[]; nodes: readonly ClusterNode[] }) {
  const now = useNow(10_000);
  const wait = (queue: Queue): number => waitingMs(queue, now) ?? 0;
  const byWait = (list: readonly Queue[]) => [...list].sort((a, b) => wait(b) - wait(a));
  const problems = nodes.flatMap((node) => ({ id: node.id ?? "node", text: problemOf(node) })).filter(({ text }) => text !== undefined);
  const dead = queues.filter((queue) => queue.dead > 0).sort((a, b) => b.dead - a.dead);
  const stuck = byWait(queues.filter((queue) => !queue.paused && wait(queue) > STUCK_MS));
  const paused = byWait(queues.filter((queue) => queue.paused && queue.pending > 0));
  const held = queues.reduce((total, queue) => total + queue.held, 0);
  if (problems.length + dead.length + stuck.length + paused.length + held === 0) {
    return null;
  }
  return (
    <Card title="Needs attention" aside={<Link to="/errors">All errors</Link>}>
      <ul className="card-body stack-tight">
        {problems.map(({ id, text }) => (
          <li key={id} className="break">
            Node{" "}
            <Link className="in-text" to="/cluster">
              {id}
            </Link>{" "}
            {text}
          </li>
        ))}
        <Kind queues={dead} text={deadOf} rest={deadRest} to="/dead-letter" />
        <Kind
          queues={stuck}
          text={(queue) => `has a job that has been waiting for ${latency(wait(queue))}`}
          rest={(list) => `${list.length.toLocaleString()} more queues have jobs that have been waiting for more than ${latency(STUCK_MS)}`}
          to="/queues"
        />
        <Kind
          queues={paused}
          text={(queue) => `is paused with ${jobCount(queue.pending)} pending`}
          rest={(list) => `${list.length.toLocaleString()} more queues are paused with pending jobs`}
          to="/queues"
        />
        {held > 0 && (
          <li>
            <Link className="in-text" to="/held">
              {held === 1 ? "1 held job" : `${held.toLocaleString()} held jobs`}
            </Link>{" "}
            {held === 1 ? "waits" : "wait"} for approval
          </li>
        )}
      </ul>
    </Card>
  );
}
