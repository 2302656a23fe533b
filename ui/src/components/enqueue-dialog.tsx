import { useState } from "react";

import { useEnqueue } from "../api/actions";
import { PRIORITIES, type Backoff, type EnqueueRequest, type Job, type PriorityName } from "../api/types";
import { parseExact } from "../lib/exact-json";
import { capitalise } from "../lib/format";
import { FormDialog } from "./dialog";
import { Field, FormError } from "./parts";

interface Form {
  queue: string;
  payload: string;
  priority: PriorityName;
  maxRetries: string;
  scheduledAt: string;
  uniqueKey: string;
  tags: string;
  expireAfter: string;
  backoff: Backoff;
}

const EMPTY: Form = {
  queue: "",
  payload: "{}",
  priority: "normal",
  maxRetries: "3",
  scheduledAt: "",
  uniqueKey: "",
  tags: "",
  expireAfter: "",
  backoff: "exponential",
};

const fromJob = (job: Job): Form => ({
  ...EMPTY,
  queue: job.queue,
  payload: JSON.stringify(job.payload, null, 2),
  priority: PRIORITIES[job.priority] ?? "normal",
  maxRetries: String(job.max_retries),
  uniqueKey: job.unique_key ?? "",
  backoff: job.retry_backoff,
});

export function parsePayload(text: string): { value: unknown } | null {
  try {
    return { value: parseExact(text) };
  } catch {
    return null;
  }
}

/** Parse "a=b, c=d". Null if a part has no key or no '='. */
export function parseTags(text: string): Record<string, string> | null {
  const pairs = text.split(/[,\n]/).map((part) => part.trim());
  const named = pairs.filter((pair) => pair !== "").map((pair) => [pair, pair.indexOf("=")] as const);
  if (named.some(([, at]) => at < 1)) {
    return null;
  }
  return Object.fromEntries(named.map(([pair, at]) => [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]));
}

function toRequest(form: Form, payload: unknown, tags: Record<string, string>): EnqueueRequest {
  const retries = Number.parseInt(form.maxRetries, 10);
  return {
    queue: form.queue.trim(),
    payload,
    priority: form.priority,
    ...(Number.isNaN(retries) ? {} : { max_retries: retries }),
    ...(form.scheduledAt === "" ? {} : { scheduled_at: new Date(form.scheduledAt).toISOString() }),
    ...(form.uniqueKey.trim() === "" ? {} : { unique_key: form.uniqueKey.trim() }),
    ...(form.expireAfter.trim() === "" ? {} : { expire_after: form.expireAfter.trim() }),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(form.backoff === EMPTY.backoff ? {} : { retry_backoff: form.backoff }),
  };
}

export function EnqueueDialog({ clone, queue, onClose }: { clone?: Job; queue?: string; onClose: () => void }) {
  const [form, setForm] = useState<Form>(() => (clone === undefined ? { ...EMPTY, queue: queue ?? "" } : fromJob(clone)));
  const enqueue = useEnqueue();
  const set = (name: keyof Form) => (event: { target: { value: string } }) =>
    setForm({ ...form, [name]: event.target.value });
  const payload = parsePayload(form.payload);
  const tags = parseTags(form.tags);
  const word = clone === undefined ? "Enqueue" : "Clone";
  const send = () => {
    if (payload !== null && tags !== null) {
      enqueue.mutate(toRequest(form, payload.value, tags), { onSuccess: onClose });
    }
  };
  return (
    <FormDialog
      title={`${word} Job`}
      submit={word}
      ready={form.queue.trim() !== "" && payload !== null && tags !== null}
      busy={enqueue.isPending}
      onSubmit={send}
      onClose={onClose}
    >
      <Field label="Queue name *">
        {(id) => <input id={id} placeholder="e.g. emails" value={form.queue} onChange={set("queue")} autoFocus />}
      </Field>
      <Field label="Payload JSON" error={payload === null ? "Invalid JSON" : null}>
        {(id) => <textarea id={id} rows={5} value={form.payload} onChange={set("payload")} spellCheck={false} />}
      </Field>
      <div className="form-grid">
        <Field label="Priority">
          {(id) => (
            <select id={id} value={form.priority} onChange={set("priority")}>
              {PRIORITIES.map((name) => (
                <option key={name} value={name}>
                  {capitalise(name)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Max retries">
          {(id) => <input id={id} type="number" min={0} value={form.maxRetries} onChange={set("maxRetries")} />}
        </Field>
        <Field label="Backoff">
          {(id) => (
            <select id={id} value={form.backoff} onChange={set("backoff")}>
              {["exponential", "linear", "fixed", "none"].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Expires after">
          {(id) => <input id={id} placeholder="e.g. 1h30m" value={form.expireAfter} onChange={set("expireAfter")} />}
        </Field>
        <Field label="Scheduled at">
          {(id) => <input id={id} type="datetime-local" value={form.scheduledAt} onChange={set("scheduledAt")} />}
        </Field>
      </div>
      <Field label="Unique key">{(id) => <input id={id} value={form.uniqueKey} onChange={set("uniqueKey")} />}</Field>
      <Field label="Tags" error={tags === null ? "Enter tags as key=value, separated by commas" : null}>
        {(id) => <input id={id} placeholder="tenant=acme, region=eu" value={form.tags} onChange={set("tags")} />}
      </Field>
      <FormError error={enqueue.error} />
    </FormDialog>
  );
}
