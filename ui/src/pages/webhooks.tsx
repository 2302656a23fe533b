import { useState } from "react";

import { useDeleteWebhook, useSaveWebhook } from "../api/actions";
import { useWebhooks } from "../api/queries";
import { EVENT_TYPES, type Webhook } from "../api/types";
import { FormDialog } from "../components/dialog";
import { Managed } from "../components/managed";
import { Ago, Badge, Check, EnabledBadge, Field } from "../components/parts";
import type { Column } from "../components/table";
import { plural } from "../lib/format";

/** The server's maximum. It refuses larger numbers, but silently replaces 0 with its default. */
const ATTEMPTS_MAX = 25;

/** Return the number of attempts, or null if it is not valid. */
function attemptsOf(text: string): number | null {
  const n = /^\d+$/.test(text.trim()) ? Number(text) : 0;
  return n >= 1 && n <= ATTEMPTS_MAX ? n : null;
}

export function WebhookDialog({ hook, onClose }: { hook: Webhook | null; onClose: () => void }) {
  const [url, setUrl] = useState(hook?.url ?? "");
  const [events, setEvents] = useState<ReadonlySet<string>>(new Set(hook?.events.filter((e) => e !== "*") ?? []));
  const [secret, setSecret] = useState(hook?.secret ?? "");
  const [limit, setLimit] = useState(String(hook?.retry_limit ?? 3));
  const [enabled, setEnabled] = useState(hook?.enabled ?? true);
  const save = useSaveWebhook();
  const good = /^https?:\/\/\S+$/.test(url.trim());
  const attempts = attemptsOf(limit);
  const toggle = (type: string) => {
    const next = new Set(events);
    if (!next.delete(type)) {
      next.add(type);
    }
    setEvents(next);
  };
  const send = () =>
    attempts !== null &&
    save.mutate(
      {
        ...(hook === null ? {} : { id: hook.id }),
        url: url.trim(),
        events: events.size === 0 ? ["*"] : [...events],
        ...(secret === "" ? {} : { secret }),
        enabled,
        retry_limit: attempts,
      },
      { onSuccess: onClose },
    );
  return (
    <FormDialog
      title={hook === null ? "Create Webhook" : "Edit Webhook"}
      submit="Save"
      ready={good && attempts !== null}
      busy={save.isPending}
      onSubmit={send}
      onClose={onClose}
    >
      <Field label="URL *" error={url === "" || good ? save.error?.message : "The URL must start with http:// or https://"}>
        {(id) => <input id={id} placeholder="https://example.com/hook" value={url} onChange={(e) => setUrl(e.target.value)} />}
      </Field>
      <div className="field">
        <span className="label">Events (select none for all)</span>
        <div className="chips" role="group" aria-label="Events">
          {EVENT_TYPES.map((type) => (
            <button key={type} type="button" className="chip" aria-pressed={events.has(type)} onClick={() => toggle(type)}>
              {type}
            </button>
          ))}
        </div>
      </div>
      <div className="form-grid">
        <Field label="Secret">
          {(id) => (
            <input
              id={id}
              type="password"
              autoComplete="off"
              value={secret}
              onChange={(e) => setSecret(e.target.value)}
              onFocus={(e) => e.target.select()}
            />
          )}
        </Field>
        <Field label="Attempts" error={attempts === null ? `Enter a whole number from 1 to ${ATTEMPTS_MAX}.` : null}>
          {(id) => <input id={id} type="number" min={1} max={ATTEMPTS_MAX} value={limit} onChange={(e) => setLimit(e.target.value)} />}
        </Field>
      </div>
      <Check label="Enabled" value={enabled} onChange={setEnabled} />
    </FormDialog>
  );
}

function Delivery({ hook }: { hook: Webhook }) {
  if (hook.last_delivery_at === undefined) {
    return <>-</>;
  }
  const good = hook.last_error === undefined;
  return (
    <span title={hook.last_error}>
      <Badge tone={good ? "green" : "red"}>{hook.last_status_code === 0 ? "failed" : hook.last_status_code}</Badge> <Ago at={hook.last_delivery_at} />
    </span>
  );
}

const COLUMNS: Column<Webhook>[] = [
  {
    id: "url",
    header: "URL",
    className: "wide",
    cell: (h) => (
      <span className="mono" title={h.url}>
        {h.url}
      </span>
    ),
  },
  {
    id: "events",
    header: "Events",
    cell: (h) => (h.events.includes("*") ? "all" : <span title={h.events.join(", ")}>{plural(h.events.length, "type")}</span>),
  },
  { id: "enabled", header: "Status", cell: (h) => <EnabledBadge enabled={h.enabled} /> },
  { id: "delivery", header: "Last delivery", cell: (h) => <Delivery hook={h} /> },
  { id: "limit", header: "Attempts", className: "num", cell: (h) => h.retry_limit },
];

export default function Webhooks() {
  return (
    <Managed
      many="Webhooks"
      one="Webhook"
      items={useWebhooks()}
      columns={COLUMNS}
      nameOf={(hook) => hook.url}
      change="Edit"
      dialog={(hook, onClose) => <WebhookDialog hook={hook} onClose={onClose} />}
      remove={useDeleteWebhook()}
      needs={{ create: "POST /webhooks", change: "POST /webhooks", remove: "DELETE /webhooks/{queue}" }}
      removal={(hook) => `Events are no longer sent to ${hook.url}.`}
    />
  );
}
