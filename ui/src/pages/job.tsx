import { useState } from "react";
import { useNavigate, useParams } from "react-router-dom";

import { useApprove, useCancel, useDeleteJob, useHold, useReject, useRetry } from "../api/actions";
import { ApiError } from "../api/client";
import { useExplanation, useJob } from "../api/queries";
import type { Job, JobState, Position, Progress } from "../api/types";
import { EnqueueDialog } from "../components/enqueue-dialog";
import { MoveDialog } from "../components/job-dialogs";
import { JsonBlock } from "../components/json-block";
import { Bar, Button, Card, PageHead, Pending, PriorityBadge, StateBadge } from "../components/parts";
import { queuePath } from "../components/queue-table";
import { isObject } from "../lib/exact-json";
import { capitalise, jobCount, percent } from "../lib/format";
import { useTitle } from "../lib/hooks";
import { Attempts } from "./job-parts/attempts";
import { Chain } from "./job-parts/chain";
import { Facts } from "./job-parts/facts";
import { Iterations } from "./job-parts/iterations";
import { Timeline } from "./job-parts/timeline";

const RETRIES: JobState[] = ["dead", "cancelled", "completed"];
const CANCELS: JobState[] = ["pending", "active", "retrying", "scheduled"];

function Actions({ job, onAsk }: { job: Job; onAsk: (what: "clone" | "move") => void }) {
  const navigate = useNavigate();
  const retry = useRetry();
  const cancel = useCancel();
  const hold = useHold();
  const approve = useApprove();
  const reject = useReject();
  const remove = useDeleteJob();
  const busy = [retry, cancel, hold, approve, reject, remove].some((action) => action.isPending);
  const leave = () => {
    const state = window.history.state as { idx?: number } | null;
    if ((state?.idx ?? 0) > 0) {
      navigate(-1);
    } else {
      navigate(queuePath(job.queue), { replace: true });
    }
  };
  return (
    <>
      {RETRIES.includes(job.state) && (
        <Button kind="primary" disabled={busy} onClick={() => retry.mutate(job.id)}>
          Retry
        </Button>
      )}
      {job.state === "scheduled" && (
        <Button kind="primary" disabled={busy} onClick={() => retry.mutate(job.id)}>
          Run Now
        </Button>
      )}
      {job.state === "held" && (
        <>
          <Button kind="primary" disabled={busy} onClick={() => approve.mutate(job.id)}>
            Approve
          </Button>
          <Button kind="danger" disabled={busy} onClick={() => reject.mutate(job.id)}>
            Reject
          </Button>
        </>
      )}
      {CANCELS.includes(job.state) && (
        <>
          <Button disabled={busy} onClick={() => cancel.mutate(job.id)}>
            Cancel
          </Button>
          <Button disabled={busy} onClick={() => hold.mutate(job.id)}>
            Hold
          </Button>
        </>
      )}
      <Button onClick={() => onAsk("clone")}>Clone</Button>
      <Button onClick={() => onAsk("move")}>Move</Button>
      <Button kind="danger" disabled={busy} onClick={() => remove.mutate(job.id, { onSuccess: leave })}>
        Delete
      </Button>
    </>
  );
}

/** What of a report of progress keeps to the custom: a worker may send any JSON. */
function progressOf(job: Job): Progress {
  const { current, total, message } = isObject(job.progress) ? job.progress : {};
  return {
    ...(typeof current === "number" ? { current } : {}),
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}

function ProgressCard({ job }: { job: Job }) {
  const { current = 0, total = 0, message } = progressOf(job);
  if (total <= 0) {
    return null;
  }
  return (
    <section className="card card-body stack" aria-label="Progress">
      <Bar value={percent(current, total)} label="Progress" />
      <p className="break">
        {current}/{total} ({percent(current, total)}%) <span className="muted">{message}</span>
      </p>
    </section>
  );
}

const EXPLAINED: JobState[] = ["pending", "scheduled", "retrying", "held"];

/** Where a reason speaks of the job it leaves the job out: "is held until…". */
const sentence = (message: string): string =>
  /^(is|waits) /.test(message) ? `It ${message}` : capitalise(message);

function place({ ahead, at_least }: Position): string {
  if (ahead === 0 && !at_least) {
    return "It is the next of its queue";
  }
  return `${at_least ? "At least " : ""}${jobCount(ahead)} before it in its queue`;
}

/** Why it does not run, where the server can say so. */
function Explain({ job }: { job: Job }) {
  const explanation = useExplanation(job.id, EXPLAINED.includes(job.state));
  const data = explanation.data;
  if (data === undefined || !EXPLAINED.includes(job.state)) {
    return null;
  }
  return (
    <Card title={data.runnable ? "Ready to run" : "Why it is not running"}>
      <ul className="card-body stack">
        {data.reasons.map((reason) => (
          <li key={reason.code} className="break">
            {sentence(reason.message)} <code className="muted">{reason.code}</code>
          </li>
        ))}
        {data.position !== undefined && (
          <li className="muted">
            {place(data.position)}
          </li>
        )}
        {data.reasons.length === 0 && data.runnable && <li>A worker that asks its queue gets it.</li>}
      </ul>
    </Card>
  );
}

export default function JobDetail() {
  const { id = "" } = useParams();
  useTitle(id);
  const job = useJob(id);
  const [asked, setAsked] = useState<"clone" | "move" | null>(null);
  if (job.data === undefined || (job.error instanceof ApiError && job.error.status === 404)) {
    const missing = job.error instanceof ApiError && job.error.status === 404;
    return (
      <>
        <PageHead title={<span className="job-id">{id}</span>} />
        {job.error === null ? (
          <p className="muted">Loading job...</p>
        ) : (
          <Pending error={missing ? "Job not found" : job.error} />
        )}
      </>
    );
  }
  const data = job.data;
  return (
    <>
      <PageHead
        title={<span className="job-id">{data.id}</span>}
        badges={
          <>
            <StateBadge state={data.state} />
            <PriorityBadge priority={data.priority} />
          </>
        }
      >
        <Actions job={data} onAsk={setAsked} />
      </PageHead>
      <ProgressCard job={data} />
      <Explain job={data} />
      <Facts job={data} />
      {data.agent !== undefined && <Iterations job={data} />}
      {data.chain_id !== undefined && <Chain job={data} chainId={data.chain_id} />}
      <div className="grid-2">
        <div className="stack">
          <JsonBlock title="Payload" value={data.payload} open />
          {data.result !== undefined && <JsonBlock title="Result" value={data.result} />}
          {data.checkpoint !== undefined && <JsonBlock title="Checkpoint" value={data.checkpoint} />}
          <Attempts job={data} />
        </div>
        <Timeline job={data} />
      </div>
      {asked === "clone" && <EnqueueDialog clone={data} onClose={() => setAsked(null)} />}
      {asked === "move" && <MoveDialog job={data} onClose={() => setAsked(null)} />}
    </>
  );
}
