import { Fragment, useMemo, useState } from "react";
import { useNavigate } from "react-router-dom";

import { useClear, useDeleteQueue, useDrain, usePause, useResume } from "../api/actions";
import { useOneQueue, useQueueExplanation } from "../api/queries";
import type { Queue } from "../api/types";
import { EnqueueDialog } from "../components/enqueue-dialog";
import { History, useRate } from "../components/history";
import { ConcurrencyDialog, ConfirmDialog, ThrottleDialog } from "../components/job-dialogs";
import { JobList } from "../components/job-list";
import { Button, Later, PageHead, Stat } from "../components/parts";
import { StatusBadge, waitingMs } from "../components/queue-table";
import { useNameInAddress } from "../lib/address";
import { NO_FILTERS } from "../lib/filters";
import { capitalise, count, jobCount, latency, span } from "../lib/format";
import { useNow, useTitle } from "../lib/hooks";

type Asked = "concurrency" | "throttle" | "clear" | "delete" | "enqueue" | null;

function Actions({ queue, onAsk }: { queue: Queue; onAsk: (what: Asked) => void }) {
  const pause = usePause();
  const resume = useResume();
  const drain = useDrain();
  const busy = pause.isPending || resume.isPending || drain.isPending;
  return (
    <>
      {queue.paused ? (
        <Button needs="POST /queues/{name}/resume" disabled={busy} onClick={() => resume.mutate(queue.name)}>
          Resume
        </Button>
      ) : (
        <Button needs="POST /queues/{name}/pause" disabled={busy} onClick={() => pause.mutate(queue.name)}>
          Pause
        </Button>
      )}
      <Button
        needs="POST /queues/{name}/drain"
        disabled={busy}
        onClick={() => drain.mutate(queue.name)}
        title="Pause the queue and let active jobs finish"
      >
        Drain
      </Button>
      <Button needs="POST /queues/{name}/concurrency" onClick={() => onAsk("concurrency")}>
        Concurrency
      </Button>
      <Button needs="POST /queues/{name}/throttle" onClick={() => onAsk("throttle")}>
        Throttle
      </Button>
      <Button
        kind="danger"
        needs="POST /queues/{name}/clear"
        onClick={() => onAsk("clear")}
        title="Delete all pending and scheduled jobs"
      >
        Clear
      </Button>
      <Button kind="danger" needs="DELETE /queues/{name}" onClick={() => onAsk("delete")}>
        Delete queue
      </Button>
      <Button kind="primary" needs="POST /enqueue" onClick={() => onAsk("enqueue")}>
        Enqueue Job
      </Button>
    </>
  );
}

function Numbers({ queue }: { queue: Queue }) {
  const now = useNow(1_000);
  const rate = useRate(queue.name);
  const waits = waitingMs(queue, now);
  const limits = [
    `Throughput ${rate === null ? "-" : `${count(rate)}/min`}`,
    `oldest pending ${waits === null ? "-" : latency(waits)}`,
    `concurrency ${queue.max_concurrency === undefined ? "unlimited" : `${queue.active} of ${queue.max_concurrency}`}`,
    `rate limit ${
      queue.rate_limit === undefined ? "none" : `${queue.rate_limit} per ${span(queue.rate_window_ms ?? 1000)}`
    }`,
    `${count(queue.scheduled)} scheduled`,
    `${count(queue.retrying)} retrying`,
    `${count(queue.held)} held`,
  ];
  return (
    <>
      <div className="grid-4">
        <Stat label="Pending">{count(queue.pending)}</Stat>
        <Stat label="Active">{count(queue.active)}</Stat>
        <Stat label="Completed">{count(queue.completed)}</Stat>
        <Stat label="Dead">
          <span className={queue.dead > 0 ? "danger-text" : ""}>{count(queue.dead)}</span>
        </Stat>
      </div>
      <p className="muted">
        {limits.map((text, i) => (
          <Fragment key={i}>
            {i > 0 && " · "}
            <span className="nowrap">{text}</span>
          </Fragment>
        ))}
      </p>
    </>
  );
}

/** Return the reasons why pending jobs do not start. */
function useReasons(name: string, queue: Queue | undefined): string[] {
  const explanation = useQueueExplanation(name).data;
  return queue === undefined || queue.pending === 0 ? [] : (explanation?.reasons ?? []).map((r) => capitalise(r.message));
}

const jobsIn = (q: Queue): number =>
  q.pending + q.active + q.scheduled + q.retrying + q.held + q.completed + q.dead + q.cancelled;

export default function QueueDetail() {
  const name = useNameInAddress();
  useTitle(name);
  const navigate = useNavigate();
  const remove = useDeleteQueue();
  const clear = useClear();
  const [asked, setAsked] = useState<Asked>(null);
  const queue = useOneQueue(name);
  const reasons = useReasons(name, queue);
  const defaults = useMemo(() => ({ ...NO_FILTERS, queue: name }), [name]);
  const close = () => {
    remove.reset();
    clear.reset();
    setAsked(null);
  };
  return (
    <>
      <PageHead title={name} badges={queue && <StatusBadge paused={queue.paused} stuck={reasons.length > 0} />}>
        {queue && <Actions queue={queue} onAsk={setAsked} />}
      </PageHead>
      {queue && reasons.length > 0 && (
        <div className="notice warn" role="status">
          <strong>
            {jobCount(queue.pending)} {queue.pending === 1 ? "is" : "are"} waiting.
          </strong> {reasons.join(". ")}.
        </div>
      )}
      {queue && <Numbers queue={queue} />}
      <History queue={name} />
      <Later first={null}>
        <JobList key={name} defaults={defaults} title="Jobs" fileName={`${name}-jobs`} />
      </Later>
      {queue && asked === "concurrency" && <ConcurrencyDialog queue={queue} onClose={close} />}
      {queue && asked === "throttle" && <ThrottleDialog queue={queue} onClose={close} />}
      {asked === "enqueue" && <EnqueueDialog queue={name} onClose={close} />}
      {queue && asked === "clear" && (
        <ConfirmDialog
          title="Clear queue"
          text={`Deletes the ${jobCount(queue.pending)} pending and the ${jobCount(queue.scheduled)} scheduled in ${name}. Active, held, retrying and finished jobs stay.`}
          action={`Delete ${jobCount(queue.pending + queue.scheduled)}`}
          typed={name}
          run={clear}
          onConfirm={() => clear.mutate(name, { onSuccess: close })}
          onClose={close}
        />
      )}
      {queue && asked === "delete" && (
        <ConfirmDialog
          title="Delete queue"
          text={`Deletes the queue ${name}, its settings and every job in it, in any state: ${jobCount(jobsIn(queue))}.`}
          action="Delete queue"
          typed={name}
          run={remove}
          onConfirm={() => remove.mutate(name, { onSuccess: () => navigate("/queues") })}
          onClose={close}
        />
      )}
    </>
  );
}
