import { useState } from "react";
import { Link } from "react-router-dom";

import { useDeleteSchedule, useEnableSchedule, useRunSchedule, useSaveSchedule } from "../api/actions";
import { useSchedules } from "../api/queries";
import type { Schedule } from "../api/types";
import { FormDialog } from "../components/dialog";
import { parsePayload } from "../components/enqueue-dialog";
import { Managed } from "../components/managed";
import { Ago, Button, Check, EnabledBadge, Field, FormError } from "../components/parts";
import { queuePath } from "../components/queue-table";
import type { Column } from "../components/table";
import { countdown, fullTime, moment } from "../lib/format";
import { useNow } from "../lib/hooks";
import { Hosts } from "./schedule-parts/hosts";
import { Upcoming } from "./schedule-parts/upcoming";

/** The time in the schedule's time zone, with the local time and UTC on hover. */
function InZone({ at, zone }: { at: string; zone: string }) {
  return (
    <time className="muted small" dateTime={at} title={fullTime(at)}>
      {safeMoment(at, zone)}
    </time>
  );
}

/** Format a time in a time zone, or in UTC if this browser does not know the zone. */
function safeMoment(at: string, zone: string): string {
  try {
    return moment(at, zone);
  } catch {
    return `${moment(at, "UTC")} UTC`;
  }
}

interface Form {
  name: string;
  queue: string;
  cron: string;
  timezone: string;
  payload: string;
  maxRetries: string;
  uniqueKey: string;
  enabled: boolean;
}

const formOf = (schedule: Schedule | null): Form => ({
  name: schedule?.name ?? "",
  queue: schedule?.queue ?? "",
  cron: schedule?.cron ?? "",
  timezone: schedule?.timezone ?? "UTC",
  payload: JSON.stringify(schedule?.payload ?? {}, null, 2),
  maxRetries: String(schedule?.max_retries ?? 3),
  uniqueKey: schedule?.unique_key ?? "",
  enabled: schedule?.enabled ?? true,
});

const zoneNames = (): string[] => ["UTC", ...Intl.supportedValuesOf("timeZone")];

function ScheduleDialog({ schedule, onClose }: { schedule: Schedule | null; onClose: () => void }) {
  const [form, setForm] = useState(() => formOf(schedule));
  const save = useSaveSchedule();
  const payload = parsePayload(form.payload);
  const set = (name: keyof Form) => (event: { target: { value: string } }) =>
    setForm({ ...form, [name]: event.target.value });
  const filled = [form.name, form.queue, form.cron, form.timezone].every((text) => text.trim() !== "");
  const retries = Number.parseInt(form.maxRetries, 10);
  const send = () => {
    if (payload !== null) {
      save.mutate(
        {
          id: schedule?.id ?? null,
          name: form.name.trim(),
          queue: form.queue.trim(),
          cron: form.cron.trim(),
          timezone: form.timezone.trim(),
          payload: payload.value,
          max_retries: retries,
          unique_key: form.uniqueKey.trim(),
          enabled: form.enabled,
        },
        { onSuccess: onClose },
      );
    }
  };
  return (
    <FormDialog
      title={schedule === null ? "Create Schedule" : "Edit Schedule"}
      submit="Save"
      ready={filled && payload !== null && retries >= 0}
      busy={save.isPending}
      onSubmit={send}
      onClose={onClose}
    >
      <Field label="Name *">{(id) => <input id={id} placeholder="e.g. daily-report" value={form.name} onChange={set("name")} />}</Field>
      <Field label="Queue name *">{(id) => <input id={id} placeholder="e.g. reports" value={form.queue} onChange={set("queue")} />}</Field>
      <div className="form-grid">
        <Field label="Cron *">
          {(id) => <input id={id} className="mono" placeholder="0 9 * * *" value={form.cron} onChange={set("cron")} />}
        </Field>
        <Field label="Time zone *">
          {(id) => (
            <>
              <input id={id} list={`${id}-zones`} value={form.timezone} onChange={set("timezone")} />
              <datalist id={`${id}-zones`}>
                {zoneNames().map((name) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <Field label="Max retries">
          {(id) => <input id={id} type="number" min={0} value={form.maxRetries} onChange={set("maxRetries")} />}
        </Field>
      </div>
      <p className="muted small">
        Five fields: minute, hour, day of month, month, day of week. Also <code>@hourly</code>, <code>@daily</code> and{" "}
        <code>@every 5m</code>.
      </p>
      <Field label="Payload JSON" error={payload === null ? "Invalid JSON" : null}>
        {(id) => <textarea id={id} rows={4} value={form.payload} onChange={set("payload")} spellCheck={false} />}
      </Field>
      <Field label="Unique key">{(id) => <input id={id} value={form.uniqueKey} onChange={set("uniqueKey")} />}</Field>
      <Check label="Enabled" value={form.enabled} onChange={(enabled) => setForm({ ...form, enabled })} />
      <FormError error={save.error} />
    </FormDialog>
  );
}

function RowActions({ schedule }: { schedule: Schedule }) {
  const run = useRunSchedule();
  const enable = useEnableSchedule();
  const enabled = schedule.enabled;
  return (
    <>
      <Button compact needs="POST /schedules/{id}/run" disabled={run.isPending} aria-label={`Run Now ${schedule.name}`} onClick={() => run.mutate(schedule.id)}>
        Run Now
      </Button>
      <Button
        compact
        needs="PUT /schedules/{id}"
        disabled={enable.isPending}
        aria-label={`${enabled ? "Disable" : "Enable"} ${schedule.name}`}
        onClick={() => enable.mutate({ id: schedule.id, enabled: !enabled })}
      >
        {enabled ? "Disable" : "Enable"}
      </Button>
    </>
  );
}

function NextRun({ schedule }: { schedule: Schedule }) {
  const now = useNow(1_000);
  const at = schedule.next_run;
  return at === undefined ? (
    <>-</>
  ) : (
    <div className="stack-tight lines">
      {countdown(at, now)}
      <InZone at={at} zone={schedule.timezone} />
    </div>
  );
}

const COLUMNS: Column<Schedule>[] = [
  {
    id: "name",
    header: "Name",
    className: "name half",
    sort: (s) => s.name,
    cell: (s) => (
      <>
        {!s.enabled && <EnabledBadge enabled={false} />} <span title={s.name}>{s.name}</span>
      </>
    ),
  },
  {
    id: "queue",
    header: "Queue",
    className: "name half",
    sort: (s) => s.queue,
    cell: (s) => (
      <Link to={queuePath(s.queue)} title={s.queue}>
        {s.queue}
      </Link>
    ),
  },
  {
    id: "cron",
    header: "Cron, time zone",
    cell: (s) => (
      <div className="stack-tight">
        <code>{s.cron}</code>
        <span className="muted small">{s.timezone}</span>
      </div>
    ),
  },
  {
    id: "next",
    header: "Next run",
    sort: (s) => s.next_run ?? "",
    cell: (s) => <NextRun schedule={s} />,
  },
  { id: "last", header: "Last run", cell: (s) => (s.last_run === undefined ? "-" : <Ago at={s.last_run} />) },
];

export default function Schedules() {
  return (
    <Managed
      many="Schedules"
      one="Schedule"
      items={useSchedules()}
      columns={COLUMNS}
      nameOf={(schedule) => schedule.name}
      actions={(schedule) => <RowActions schedule={schedule} />}
      change="Edit"
      dialog={(schedule, onClose) => <ScheduleDialog schedule={schedule} onClose={onClose} />}
      remove={useDeleteSchedule()}
      needs={{ create: "POST /schedules", change: "PUT /schedules/{id}", remove: "DELETE /schedules/{id}" }}
      removal={(schedule) => `${schedule.name} will no longer run. Jobs it has created are kept.`}
      below={
        <>
          <Upcoming />
          <Hosts />
        </>
      }
    />
  );
}
