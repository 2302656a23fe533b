// Bulk actions on jobs: the bar and the confirmation.
import { useCallback, useState } from "react";

import { useBulk } from "../api/actions";
import { PRIORITIES, type BulkAction, type JobSummary, type PriorityName, type SearchFilter } from "../api/types";
import { describeFilter } from "../lib/filters";
import { capitalise, jobCount, preview } from "../lib/format";
import { FormDialog } from "./dialog";
import { KEEP_JOBS, QueueInput } from "./job-dialogs";
import { Bar, Button, Field, FormError, ShortId } from "./parts";

/** The jobs to act on: the selected ones, or all that match the page's filter. */
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

/** The effect of an action, for the confirmation. */
const MEANING: Record<BulkAction, (jobs: string) => string> = {
  retry: (jobs) => `Returns ${jobs} to the queue and resets the attempt counter.`,
  cancel: (jobs) => `Cancels ${jobs}. Workers stop active jobs at the next heartbeat.`,
  move: (jobs) => `Moves ${jobs} to another queue. The state does not change.`,
  delete: (jobs) => `Deletes ${jobs} permanently.`,
  change_priority: (jobs) => `Changes the priority of ${jobs}.`,
  requeue: (jobs) => `Returns ${jobs} to the queue. Keeps the attempt counter.`,
};

interface BulkBarProps {
  scope: Scope;
  /** The jobs of the scope that are on the page, for the preview. */
  shown: readonly JobSummary[];
  /** The number of jobs that match the filter, if all jobs shown are selected and more match. */
  matching: number | null;
  onAllMatching: () => void;
  onClear: () => void;
  runNow: boolean;
}

/** What the user is asked to confirm. A copy, because the list can change meanwhile. */
interface Asked {
  button: BulkButton;
  scope: Scope;
  shown: readonly JobSummary[];
}

export function BulkBar({ scope, shown, matching, onAllMatching, onClear, runNow }: BulkBarProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const size = sizeOf(scope);
  const done = useCallback(() => {
    setAsked(null);
    onClear();
  }, [onClear]);
  return (
    <>
      {size > 0 && (
        <div className="bulk-bar sticky bottom-0" role="region" aria-label="Bulk actions">
          <strong>{size.toLocaleString()} selected</strong>
          {matching !== null && (
            <Button compact kind="ghost link" onClick={onAllMatching}>
              Select all {matching.toLocaleString()} matching
            </Button>
          )}
          {BUTTONS.map((button) => {
            const label = runNow && button.action === "retry" ? "Run Now" : button.label;
            return (
              <Button
                key={button.action}
                compact
                needs="POST /jobs/bulk"
                kind={button.action === "delete" ? "danger" : "plain"}
                onClick={() => setAsked({ button: { ...button, label }, scope, shown })}
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
        <ConfirmBulk {...asked} onClose={() => setAsked(null)} onDone={done} />
      )}
    </>
  );
}

interface ConfirmProps extends Asked {
  onClose: () => void;
  onDone: () => void;
}

const PREVIEWED = 5;

function ConfirmBulk({ button, scope, shown, onClose, onDone }: ConfirmProps) {
  const [queue, setQueue] = useState("");
  const [priority, setPriority] = useState<PriorityName | "">("");
  const size = sizeOf(scope);
  const { action } = button;
  const label = button.label.replace("…", "");
  const bulk = useBulk(label);
  const matching = scope.kind === "filter" ? ` (${describeFilter(scope.filter) || "every job"})` : "";
  const complete = action === "move" ? queue.trim() !== "" : action !== "change_priority" || priority !== "";
  const send = () =>
    bulk.mutate(
      {
        action,
        ...(scope.kind === "ids" ? { job_ids: [...scope.ids] } : { filter: scope.filter }),
        ...(action === "move" ? { move_to_queue: queue.trim() } : {}),
        ...(action === "change_priority" && priority !== "" ? { priority } : {}),
      },
      { onSuccess: onDone },
    );
  return (
    <FormDialog
      title={`Bulk ${label}`}
      submit={`${label}${action === "change_priority" ? " of" : ""} ${size.toLocaleString()} jobs`}
      ready={complete && size > 0}
      busy={bulk.isPending}
      onSubmit={send}
      onClose={onClose}
      danger={action === "delete" || action === "cancel"}
      leave={action === "cancel" ? KEEP_JOBS : "Cancel"}
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
        {size > PREVIEWED && <p className="muted small">and {(size - Math.min(PREVIEWED, shown.length)).toLocaleString()} more</p>}
      </div>
      {bulk.isPending && (
        <div className="stack" role="status">
          <Bar value={null} label="Progress" />
          <span>Processing {size.toLocaleString()} jobs...</span>
        </div>
      )}
      <FormError error={bulk.error} />
    </FormDialog>
  );
}
