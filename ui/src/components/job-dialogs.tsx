// Dialogs about one job or one queue.
import { useState, type InputHTMLAttributes } from "react";

import { useConcurrency, useMove, useThrottle } from "../api/actions";
import { useQueues } from "../api/queries";
import type { Job, Queue } from "../api/types";
import { FormDialog } from "./dialog";
import { Button, Check, Field, FormError } from "./parts";

interface QueueInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange"> {
  id: string;
  onChange: (name: string) => void;
}

/** An input for a queue name that suggests existing queues. */
export function QueueInput({ id, onChange, ...rest }: QueueInputProps) {
  const queues = useQueues();
  return (
    <>
      <input id={id} list={`${id}-known`} onChange={(e) => onChange(e.target.value)} {...rest} />
      <datalist id={`${id}-known`}>
        {(queues.data ?? []).slice(0, 200).map((queue) => (
          <option key={queue.name} value={queue.name} />
        ))}
      </datalist>
    </>
  );
}

export function MoveDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const [queue, setQueue] = useState("");
  const [reset, setReset] = useState(false);
  const move = useMove();
  return (
    <FormDialog
      title="Move Job"
      submit="Move"
      ready={queue.trim() !== ""}
      busy={move.isPending}
      onSubmit={() => move.mutate({ id: job.id, queue: queue.trim(), resetAttempts: reset }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        Current queue: <strong className="break">{job.queue}</strong>
      </p>
      <Field label="Destination queue" error={move.error?.message}>
        {(id) => (
          <QueueInput id={id} placeholder="Destination queue name..." value={queue} onChange={setQueue} autoFocus />
        )}
      </Field>
      <Check label="Reset attempt counter" value={reset} onChange={setReset} />
      <p className="muted small">The job keeps its state and its priority.</p>
    </FormDialog>
  );
}

const toNumber = (text: string): number | null => (/^\d+$/.test(text.trim()) ? Number(text) : null);

export function ConcurrencyDialog({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  const [text, setText] = useState(String(queue.max_concurrency ?? 0));
  const save = useConcurrency();
  const max = toNumber(text);
  return (
    <FormDialog
      title="Set Concurrency"
      submit="Save"
      ready={max !== null}
      busy={save.isPending}
      onSubmit={() => save.mutate({ name: queue.name, max: max ?? 0 }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label="Maximum active jobs (0 = unlimited)" error={save.error?.message}>
        {(id) => <input id={id} type="number" min={0} value={text} onChange={(e) => setText(e.target.value)} autoFocus />}
      </Field>
    </FormDialog>
  );
}

export function ThrottleDialog({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  const [rate, setRate] = useState(String(queue.rate_limit ?? ""));
  const [window, setWindow] = useState(String(queue.rate_window_ms ?? 1000));
  const save = useThrottle();
  const limit = { rate: toNumber(rate) ?? 0, window_ms: toNumber(window) ?? 0 };
  const send = (value: typeof limit | null) => save.mutate({ name: queue.name, limit: value }, { onSuccess: onClose });
  return (
    <FormDialog
      title="Set Rate Limit"
      submit="Save"
      ready={limit.rate > 0 && limit.window_ms > 0}
      busy={save.isPending}
      onSubmit={() => send(limit)}
      onClose={onClose}
      left={
        queue.rate_limit === undefined ? undefined : (
          <Button kind="danger" disabled={save.isPending} onClick={() => send(null)}>
            Remove
          </Button>
        )
      }
    >
      <Field label="Jobs" error={save.error?.message}>
        {(id) => <input id={id} type="number" min={1} value={rate} onChange={(e) => setRate(e.target.value)} autoFocus />}
      </Field>
      <Field label="Time window (milliseconds)">
        {(id) => <input id={id} type="number" min={1} value={window} onChange={(e) => setWindow(e.target.value)} />}
      </Field>
    </FormDialog>
  );
}

/** The label of the button that closes a dialog whose action is to cancel jobs. */
export const KEEP_JOBS = "Don't cancel";

interface ConfirmProps {
  title: string;
  text: string;
  action: string;
  /** A text that the user must type to enable the button, for actions that delete many jobs. */
  typed?: string;
  /** False while there is nothing to do. */
  ready?: boolean;
  /** False for actions that remove nothing. */
  danger?: boolean;
  leave?: string;
  /** The mutation that performs the action. */
  run: { isPending: boolean; error: Error | null };
  onConfirm: () => void;
  onClose: () => void;
}

export function ConfirmDialog(props: ConfirmProps) {
  const { title, text, action, typed, ready = true, danger = true, leave = "Cancel", run, onConfirm, onClose } = props;
  const [name, setName] = useState("");
  const confirmed = typed === undefined || name === typed;
  return (
    <FormDialog
      title={title}
      submit={action}
      ready={ready && confirmed}
      busy={run.isPending}
      onSubmit={onConfirm}
      onClose={onClose}
      danger={danger}
      leave={leave}
    >
      <p className="break">{text}</p>
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`}>
          {(id) => (
            <input id={id} value={name} onChange={(e) => setName(e.target.value)} autoComplete="off" spellCheck={false} autoFocus />
          )}
        </Field>
      )}
      {ready && <p className="muted">This cannot be undone.</p>}
      <FormError error={run.error} />
    </FormDialog>
  );
}
