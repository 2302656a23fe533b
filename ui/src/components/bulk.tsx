// What can be done to many jobs at once: the bar, the confirmation, the progress of a long one.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";

import { bulkText, cancelBulk, isStarted, useBulk } from "../api/actions";
import { get, messageOf } from "../api/client";
import { openStream } from "../api/key";
import { PRIORITIES, type BulkAction, type BulkStarted, type JobSummary, type PriorityName, type SearchFilter } from "../api/types";
import { describeFilter } from "../lib/filters";
import { capitalise, jobCount, latency, percent, preview } from "../lib/format";
import { useNow } from "../lib/hooks";
import { toast } from "../lib/toasts";
import { Dialog, FormDialog } from "./dialog";
import { QueueInput } from "./job-dialogs";
import { Bar, Button, Field, FormError, ShortId } from "./parts";

/** Which jobs: those ticked, or everything that the page's filter finds. */
export type Scope = { kind: "ids"; ids: readonly string[] } | { kind: "filter"; filter: SearchFilter; total: number };

const sizeOf = (scope: Scope): number => (scope.kind === "ids" ? scope.ids.length : scope.total);

export interface BulkButton {
  action: BulkAction;
  label: string;
}

const BUTTONS: BulkButton[] = [
  { action: "retry", label: "Retry" },
  { action: "cancel", label: "Cancel" },
  { action: "move", label: "Move" },
  { action: "delete", label: "Delete" },
  { action: "change_priority", label: "Change priority…" },
  { action: "requeue", label: "Requeue" },
];

/** What happens to so many jobs. */
const MEANING: Record<BulkAction, (jobs: string) => string> = {
  retry: (jobs) => `Puts ${jobs} back into their queue, with the attempt counter at zero.`,
  cancel: (jobs) => `Cancels ${jobs}. Workers stop active ones at their next heartbeat.`,
  move: (jobs) => `Moves ${jobs} to another queue. They keep their state.`,
  delete: (jobs) => `Deletes ${jobs} permanently.`,
  change_priority: (jobs) => `Changes the priority of ${jobs}.`,
  requeue: (jobs) => `Puts ${jobs} back into their queue. The attempt counter stays.`,
};

interface BulkBarProps {
  scope: Scope;
  /** Those of the scope that are on the page, for the preview. */
  shown: readonly JobSummary[];
  /** How many the filter finds, when there are more than those ticked. */
  matching: number | null;
  onAllMatching: () => void;
  onClear: () => void;
  runNow: boolean;
}

export function BulkBar({ scope, shown, matching, onAllMatching, onClear, runNow }: BulkBarProps) {
  const [asked, setAsked] = useState<BulkButton | null>(null);
  const [running, setRunning] = useState<readonly { task: BulkStarted; label: string }[]>([]);
  const size = sizeOf(scope);
  const done = useCallback(() => {
    setAsked(null);
    onClear();
  }, [onClear]);
  return (
    <>
      {size > 0 && (
        <div className="bulk-bar sticky bottom-0" role="region" aria-label="Bulk actions">
          <strong>{size} selected</strong>
          {matching !== null && (
            <Button compact kind="ghost" onClick={onAllMatching}>
              Select all {matching} matching
            </Button>
          )}
          {BUTTONS.map((button) => {
            const label = runNow && button.action === "retry" ? "Run Now" : button.label;
            return (
              <Button
                key={button.action}
                compact
                kind={button.action === "delete" ? "danger" : "plain"}
                onClick={() => setAsked({ ...button, label })}
              >
                {label}
              </Button>
            );
          })}
          <Button compact kind="ghost" onClick={onClear}>
            Clear selection
          </Button>
        </div>
      )}
      {asked !== null && (
        <ConfirmBulk
          button={asked}
          scope={scope}
          shown={shown}
          onClose={() => setAsked(null)}
          onDone={done}
          onStarted={(task) => {
            setRunning([...running, { task, label: asked.label }]);
            done();
          }}
        />
      )}
      {running.map(({ task, label }) => (
        <BulkProgress
          key={task.bulk_operation_id}
          task={task}
          label={label}
          onClose={() => setRunning((list) => list.filter((other) => other.task !== task))}
        />
      ))}
    </>
  );
}

interface ConfirmProps {
  button: BulkButton;
  scope: Scope;
  shown: readonly JobSummary[];
  onClose: () => void;
  onDone: () => void;
  onStarted: (task: BulkStarted) => void;
}

const PREVIEWED = 5;

function ConfirmBulk({ button, scope, shown, onClose, onDone, onStarted }: ConfirmProps) {
  const [queue, setQueue] = useState("");
  const [priority, setPriority] = useState<PriorityName | "">("");
  const bulk = useBulk();
  const size = sizeOf(scope);
  const { action } = button;
  const label = button.label.replace("…", "");
  const matching = scope.kind === "filter" ? ` (${describeFilter(scope.filter) || "every job"})` : "";
  const ready = action === "move" ? queue.trim() !== "" : action !== "change_priority" || priority !== "";
  const send = () =>
    bulk.mutate(
      {
        action,
        ...(scope.kind === "ids" ? { job_ids: [...scope.ids] } : { filter: scope.filter }),
        ...(action === "move" ? { move_to_queue: queue.trim() } : {}),
        ...(action === "change_priority" && priority !== "" ? { priority } : {}),
      },
      { onSuccess: (answer) => (isStarted(answer) ? onStarted(answer) : onDone()) },
    );
  return (
    <FormDialog
      title={`Bulk ${label}`}
      submit={`${label} ${size} jobs`}
      ready={ready}
      busy={bulk.isPending}
      onSubmit={send}
      onClose={onClose}
      danger={action === "delete"}
    >
      <p>
        {MEANING[action](`${jobCount(size)}${matching}`)} Jobs in a state that does not
        allow this are skipped. This cannot be undone.
      </p>
      {action === "move" && (
        <Field label="Destination queue">
          {(id) => <QueueInput id={id} placeholder="Queue name..." value={queue} onChange={setQueue} />}
        </Field>
      )}
      {action === "change_priority" && (
        <Field label="Priority">
          {(id) => (
            <select
              id={id}
              value={priority}
              onChange={(e) => setPriority(PRIORITIES.find((name) => name === e.target.value) ?? "")}
            >
              <option value="">Choose…</option>
              {PRIORITIES.map((name) => (
                <option key={name} value={name}>
                  {capitalise(name)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <div>
        <ul className="preview" aria-label="Preview">
          {shown.slice(0, PREVIEWED).map((job) => (
            <li key={job.id}>
              <ShortId id={job.id} />
              <span className="mono muted clip">{preview(job.payload)}</span>
            </li>
          ))}
        </ul>
        {size > PREVIEWED && <p className="muted small">and {size - Math.min(PREVIEWED, shown.length)} more</p>}
      </div>
      {bulk.isPending && (
        <div className="stack" role="status">
          <Bar value={null} label="Progress" />
          <span>Processing {size} jobs...</span>
        </div>
      )}
      <FormError error={bulk.error} />
    </FormDialog>
  );
}

interface Progress {
  status: string;
  processed: number;
  total: number;
  affected: number;
  errors: number;
  error?: string;
}

const ENDED = new Set(["completed", "failed", "cancelled"]);
const POLL_MS = 1_000;

/** From the stream of the operation; asked for where there is no stream. */
function useBulkProgress(task: BulkStarted): Progress {
  const id = task.bulk_operation_id;
  const [progress, setProgress] = useState<Progress>({
    status: task.status,
    processed: 0,
    total: task.estimated_total,
    affected: 0,
    errors: 0,
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const merge = (next: Partial<Progress>) => setProgress((old) => ({ ...old, ...next }));
    const poll = async () => {
      try {
        const state = await get("/bulk/{id}", { params: { id } });
        merge(state);
        if (ENDED.has(state.status)) {
          return;
        }
      } catch (error) {
        merge({ error: messageOf(error) });
      }
      timer = setTimeout(() => void poll(), POLL_MS);
    };
    const source = openStream(`/api/v1/bulk/${encodeURIComponent(id)}/progress`);
    const onEvent = (event: MessageEvent<string>) => {
      merge(JSON.parse(event.data) as Partial<Progress>);
      if (event.type === "bulk.async.completed" || event.type === "bulk.async.failed") {
        source.close();
        // The stream leaves out what is zero; the task itself has every number.
        void poll();
      }
    };
    for (const type of ["started", "progress", "completed", "failed"]) {
      source.addEventListener(`bulk.async.${type}`, onEvent);
    }
    source.onerror = () => {
      source.close();
      void poll();
    };
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, [id]);
  return progress;
}

/** Put into the background it is out of sight, and still says how it ended. */
function BulkProgress({ task, label, onClose }: { task: BulkStarted; label: string; onClose: () => void }) {
  const client = useQueryClient();
  const progress = useBulkProgress(task);
  const now = useNow(500);
  const started = useRef(Date.now());
  const [tookMs, setTookMs] = useState<number | null>(null);
  const ended = ENDED.has(progress.status);
  const [away, setAway] = useState(false);
  const [stopping, setStopping] = useState(false);
  useEffect(() => {
    if (ended) {
      if (away) {
        onClose();
      }
      const took = Date.now() - started.current;
      setTookMs(took);
      toast[progress.status === "failed" ? "bad" : "good"](bulkText(progress.affected, progress.errors, took));
      void client.invalidateQueries();
    }
    // The numbers are those at the end.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [ended]);
  const elapsed = Math.max(1, (tookMs ?? now - started.current));
  const rate = (progress.processed / elapsed) * 1000;
  const left = rate > 0 ? ((progress.total - progress.processed) / rate) * 1000 : null;
  const stop = () => {
    setStopping(true);
    cancelBulk(task.bulk_operation_id)
      .catch((error: unknown) => toast.bad(`Cancel failed: ${messageOf(error)}`))
      .finally(() => setStopping(false));
  };
  const close = () => (ended ? onClose() : setAway(true));
  if (away) {
    return null;
  }
  return (
    <Dialog title={`Bulk ${label.replace("…", "")}`} onClose={close}>
      <Bar value={ended ? 100 : percent(progress.processed, progress.total)} label="Progress" />
      <p>
        {progress.processed.toLocaleString()} / {progress.total.toLocaleString()} processed
      </p>
      <p className="muted">
        Elapsed: {latency(elapsed)}
        {!ended && left !== null && <> · Remaining: ~{latency(left)}</>} · Rate: {Math.round(rate).toLocaleString()}/s ·
        Errors: {progress.errors}
      </p>
      {ended && (
        <p role="status">
          {capitalise(progress.status)}: {jobCount(progress.affected)} changed.
        </p>
      )}
      {progress.error !== undefined && <p className="form-error">{progress.error}</p>}
      <div className="dialog-foot">
        {!ended && (
          <Button kind="danger" disabled={stopping} onClick={stop}>
            Cancel operation
          </Button>
        )}
        <Button onClick={close}>{ended ? "Close" : "Continue in background"}</Button>
      </div>
    </Dialog>
  );
}
