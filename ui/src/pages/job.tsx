import { useState } from "react";
import { useNavigate } from "react-router-dom";

import { useApprove, useCancel, useDeleteJob, useHold, useReject, useRetry } from "../api/actions";
import { ApiError } from "../api/client";
import { useExplanation, useJob } from "../api/queries";
import type { Job, JobState, Position } from "../api/types";
import { EnqueueDialog } from "../components/enqueue-dialog";
import { ConfirmDialog, MoveDialog } from "../components/job-dialogs";
import { JsonBlock } from "../components/json-block";
import { Button, Card, PageHead, Pending, PriorityBadge, StateBadge } from "../components/parts";
import { queuePath } from "../components/queue-table";
import { useNameInAddress } from "../lib/address";
import { capitalise, jobCount, localTimes } from "../lib/format";
import { useTitle } from "../lib/hooks";
import { Attempts } from "./job-parts/attempts";
import { Batch } from "./job-parts/batch";
import { Decisions } from "./job-parts/decisions";
import { Facts } from "./job-parts/facts";
import { Chain, Children, Dependencies } from "./job-parts/graph";
import { Iterations } from "./job-parts/iterations";
import { ProgressCard } from "./job-parts/progress";
import { PushCard } from "./job-parts/push";
import { Timeline, useJobEvents } from "./job-parts/timeline";
import { Waterfall } from "./job-parts/waterfall";

const RETRIES: JobState[] = ["dead", "cancelled"];
const CANCELS: JobState[] = ["pending", "active", "retrying", "scheduled"];

type Asked = "clone" | "move" | "delete" | "again";

function Actions({ job, onAsk }: { job: Job; onAsk: (what: Asked) => void }) {
  const retry = useRetry();
  const cancel = useCancel();
  const hold = useHold();
  const approve = useApprove();
  const reject = useReject();
  const busy = [retry, cancel, hold, approve, reject].some((action) => action.isPending);
  return (
    <>
      {RETRIES.includes(job.state) && (
        <Button kind="primary" needs="POST /jobs/{id}/retry" disabled={busy} onClick={() => retry.mutate(job.id)}>
          Retry
        </Button>
      )}
      {job.state === "completed" && (
        <Button needs="POST /jobs/{id}/retry" disabled={busy} onClick={() => onAsk("again")}>
          Retry
        </Button>
      )}
      {job.state === "scheduled" && (
        <Button kind="primary" needs="POST /jobs/{id}/retry" disabled={busy} onClick={() => retry.mutate(job.id)}>
          Run Now
        </Button>
      )}
      {job.state === "held" && (
        <>
          <Button kind="primary" needs="POST /jobs/{id}/approve" disabled={busy} onClick={() => approve.mutate({ id: job.id })}>
            Approve
          </Button>
          <Button kind="danger" needs="POST /jobs/{id}/reject" disabled={busy} onClick={() => reject.mutate({ id: job.id })}>
            Reject
          </Button>
        </>
      )}
      {CANCELS.includes(job.state) && (
        <>
          <Button needs="POST /jobs/{id}/cancel" disabled={busy} onClick={() => cancel.mutate(job.id)}>
            Cancel
          </Button>
          <Button needs="POST /jobs/{id}/hold" disabled={busy} onClick={() => hold.mutate(job.id)}>
            Hold
          </Button>
        </>
      )}
      <Button needs="POST /enqueue" onClick={() => onAsk("clone")}>
        Clone
      </Button>
      <Button needs="POST /jobs/{id}/move" onClick={() => onAsk("move")}>
        Move
      </Button>
      <Button kind="danger" needs="DELETE /jobs/{id}" disabled={busy} onClick={() => onAsk("delete")}>
        Delete
      </Button>
    </>
  );
}

/** Confirms the retry of a completed job, which may repeat its effects: a payment, an email. */
function AgainDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const retry = useRetry();
  return (
    <ConfirmDialog
      title="Retry completed job"
      text={`Job ${job.id} has completed. Retrying it runs its work in ${job.queue} a second time.`}
      action="Run again"
      danger={false}
      run={retry}
      onConfirm={() => retry.mutate(job.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

/** Confirms the deletion of a job, because it cannot be undone. */
function DeleteDialog({ job, remove, onClose }: { job: Job; remove: ReturnType<typeof useDeleteJob>; onClose: () => void }) {
  const navigate = useNavigate();
  const leave = () => {
    const state = window.history.state as { idx?: number } | null;
    if ((state?.idx ?? 0) > 0) {
      navigate(-1);
    } else {
      navigate(queuePath(job.queue), { replace: true });
    }
  };
  return (
    <ConfirmDialog
      title="Delete job"
      text={`Deletes job ${job.id} (${job.state}, in ${job.queue}) with its payload, result and error history.`}
      action="Delete job"
      run={remove}
      onConfirm={() => remove.mutate(job.id, { onSuccess: leave })}
      onClose={onClose}
    />
  );
}

const EXPLAINED: JobState[] = ["pending", "scheduled", "retrying", "held"];

function place({ ahead, at_least }: Position): string {
  if (ahead === 0 && !at_least) {
    return "Next in line: the queue hands this job to the next free worker";
  }
  return `${at_least ? "At least " : ""}${jobCount(ahead)} ahead in the queue`;
}

function titleOf({ runnable, reasons }: { runnable: boolean; reasons: readonly { code: string }[] }): string {
  if (!runnable) {
    return "Why it is not running";
  }
  return reasons.some(({ code }) => code === "no_worker") ? "Waiting for a worker" : "Ready to run";
}

/** Why the job is not running, if the server can explain it. */
function Explain({ job }: { job: Job }) {
  const explanation = useExplanation(job.id, EXPLAINED.includes(job.state));
  const data = explanation.data;
  if (data === undefined || !EXPLAINED.includes(job.state)) {
    return null;
  }
  return (
    <Card title={titleOf(data)}>
      <ul className="card-body stack">
        {data.reasons.map((reason) => (
          <li key={reason.code} className="break">
            <span className="clamp" title={reason.message}>
              {capitalise(localTimes(reason.message))}
            </span>{" "}
            <code className="muted">{reason.code}</code>
          </li>
        ))}
        {data.position !== undefined && (
          <li className="muted">
            {place(data.position)}
          </li>
        )}
        {data.reasons.length === 0 && data.runnable && <li>The next worker that fetches from this queue gets the job.</li>}
      </ul>
    </Card>
  );
}

/** The events of the job, as a chart and as a list. */
function Life({ job }: { job: Job }) {
  const events = useJobEvents(job);
  return (
    <>
      <Waterfall job={job} events={events} />
      <Timeline job={job} events={events} />
    </>
  );
}

export default function JobDetail() {
  const id = useNameInAddress();
  useTitle(id);
  const job = useJob(id);
  // Belongs to the page, not to the dialog: an event may report that the job is gone before the response to the deletion
  // arrives, and the response to an action is dropped if its component is unmounted.
  const remove = useDeleteJob();
  const [asked, setAsked] = useState<Asked | null>(null);
  const missing = job.error instanceof ApiError && job.error.status === 404;
  if (job.data === undefined || (missing && !remove.isPending)) {
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
  const closeDelete = () => {
    remove.reset();
    setAsked(null);
  };
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
      {data.push !== undefined && <PushCard job={data} />}
      {data.chain_id !== undefined && <Chain job={data} chainId={data.chain_id} />}
      <Dependencies job={data} />
      <Children job={data} />
      {data.batch_id !== undefined && <Batch job={data} id={data.batch_id} />}
      <div className="grid-2">
        <div className="stack">
          <JsonBlock title="Payload" value={data.payload} open />
          {data.result !== undefined && <JsonBlock title="Result" value={data.result} />}
          {data.checkpoint !== undefined && <JsonBlock title="Checkpoint" value={data.checkpoint} />}
          <Attempts job={data} />
        </div>
        <div className="stack">
          <Life job={data} />
          <Decisions job={data} />
        </div>
      </div>
      {asked === "clone" && <EnqueueDialog clone={data} onClose={() => setAsked(null)} />}
      {asked === "move" && <MoveDialog job={data} onClose={() => setAsked(null)} />}
      {asked === "again" && <AgainDialog job={data} onClose={() => setAsked(null)} />}
      {asked === "delete" && <DeleteDialog job={data} remove={remove} onClose={closeDelete} />}
    </>
  );
}
