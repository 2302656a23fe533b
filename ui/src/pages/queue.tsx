import { useEffect, useMemo, useState } from "react";
import { useNavigate, useParams } from "react-router-dom";

import { useClear, useDeleteQueue, useDrain, usePause, useResume } from "../api/actions";
import { useQueues } from "../api/queries";
import type { Queue } from "../api/types";
import { EnqueueDialog } from "../components/enqueue-dialog";
import { ConcurrencyDialog, ConfirmDialog, ThrottleDialog } from "../components/job-dialogs";
import { JobList } from "../components/job-list";
import { Button, PageHead, Stat } from "../components/parts";
import { StatusBadge, waitingMs } from "../components/queue-table";
import { NO_FILTERS } from "../lib/filters";
import { count, jobCount, latency, span } from "../lib/format";
import { useNow, useTitle } from "../lib/hooks";
import { rates } from "../lib/rates";

type Asked = "concurrency" | "throttle" | "delete" | "enqueue" | null;

function Actions({ queue, onAsk }: { queue: Queue; onAsk: (what: Asked) => void }) {
  const pause = usePause();
  const resume = useResume();
  const drain = useDrain();
  const clear = useClear();
  const busy = pause.isPending || resume.isPending || drain.isPending || clear.isPending;
  return (
    <>
      {queue.paused ? (
        <Button disabled={busy} onClick={() => resume.mutate(queue.name)}>
          Resume
        </Button>
      ) : (
        <Button disabled={busy} onClick={() => pause.mutate(queue.name)}>
          Pause
        </Button>
      )}
      <Button disabled={busy} onClick={() => drain.mutate(queue.name)} title="Pause, and let active jobs finish">
        Drain
      </Button>
      <Button onClick={() => onAsk("concurrency")}>Concurrency</Button>
      <Button onClick={() => onAsk("throttle")}>Throttle</Button>
      <Button
        kind="danger"
        disabled={busy}
        onClick={() => clear.mutate(queue.name)}
        title="Delete all pending and scheduled jobs"
      >
        Clear
      </Button>
      <Button kind="danger" onClick={() => onAsk("delete")}>
        Delete queue
      </Button>
      <Button kind="primary" onClick={() => onAsk("enqueue")}>
        Enqueue Job
      </Button>
    </>
  );
}

function Numbers({ queue }: { queue: Queue }) {
  const now = useNow(1_000);
  const rate = rates.perMinute(queue.name);
  const waits = waitingMs(queue, now);
  const limits = [
    `throughput ${rate === null ? "-" : `${count(rate)}/min`}`,
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
      <p className="muted">{limits.join(" · ")}</p>
    </>
  );
}

export default function QueueDetail() {
  const { name = "" } = useParams();
  useTitle(name);
  const navigate = useNavigate();
  const queues = useQueues();
  const remove = useDeleteQueue();
  const [asked, setAsked] = useState<Asked>(null);
  const queue = queues.data?.find((q) => q.name === name);
  const defaults = useMemo(() => ({ ...NO_FILTERS, queue: name }), [name]);
  useEffect(() => {
    if (queues.data !== undefined) {
      rates.add(queues.data, queues.dataUpdatedAt);
    }
  }, [queues.data, queues.dataUpdatedAt]);
  const close = () => {
    remove.reset();
    setAsked(null);
  };
  return (
    <>
      <PageHead title={name} badges={queue && <StatusBadge paused={queue.paused} />}>
        {queue && <Actions queue={queue} onAsk={setAsked} />}
      </PageHead>
      {queue && <Numbers queue={queue} />}
      <JobList key={name} defaults={defaults} title="Jobs" fileName={`${name}-jobs`} />
      {queue && asked === "concurrency" && <ConcurrencyDialog queue={queue} onClose={close} />}
      {queue && asked === "throttle" && <ThrottleDialog queue={queue} onClose={close} />}
      {asked === "enqueue" && <EnqueueDialog queue={name} onClose={close} />}
      {queue && asked === "delete" && (
        <ConfirmDialog
          title="Delete queue"
          text={`The queue ${name}, its settings and all that is in it, whatever its state, are deleted: ${jobCount(queue.enqueued)}.`}
          action="Delete queue"
          run={remove}
          onConfirm={() => remove.mutate(name, { onSuccess: () => navigate("/queues") })}
          onClose={close}
        />
      )}
    </>
  );
}
