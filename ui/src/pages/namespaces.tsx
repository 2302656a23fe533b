import { useState } from "react";

import { useCreateNamespace, useDeleteNamespace, useSaveQuota } from "../api/actions";
import { useNamespaces, useQuota } from "../api/queries";
import type { Namespace, NamespaceQuota } from "../api/types";
import { Dialog, FormDialog } from "../components/dialog";
import { ConfirmDialog } from "../components/job-dialogs";
import { Ago, Button, Card, Field, FormError, PageHead, Pending } from "../components/parts";
import { Table, type Column } from "../components/table";
import { counted } from "../lib/format";
import { useTitle } from "../lib/hooks";

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

function CreateDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const create = useCreateNamespace();
  const good = NAME.test(name);
  return (
    <FormDialog
      title="Create Namespace"
      submit="Create"
      ready={good}
      busy={create.isPending}
      onSubmit={() => create.mutate(name, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label="Name *" error={name === "" || good ? null : "Use 1 to 63 lowercase letters, digits or hyphens. A hyphen cannot be first or last."}>
        {(id) => <input id={id} placeholder="e.g. acme" value={name} onChange={(e) => setName(e.target.value)} autoFocus />}
      </Field>
      <FormError error={create.error} />
    </FormDialog>
  );
}

const QUOTA_LINES = [
  { line: "jobs", label: "Jobs that have not ended" },
  { line: "payload_bytes", label: "Payload bytes of unfinished jobs" },
  { line: "queues", label: "Queues" },
] as const;

const isWhole = (text: string) => /^[0-9]{0,15}$/.test(text);

function QuotaForm({ name, quota, onClose }: { name: string; quota: NamespaceQuota; onClose: () => void }) {
  const [max, setMax] = useState({
    jobs: quota.jobs.max?.toString() ?? "",
    payload_bytes: quota.payload_bytes.max?.toString() ?? "",
    queues: quota.queues.max?.toString() ?? "",
  });
  const save = useSaveQuota();
  return (
    <FormDialog
      title={`Quota of ${name}`}
      submit="Save"
      needs="PUT /namespaces/{name}/quota"
      ready={Object.values(max).every(isWhole)}
      busy={save.isPending}
      onSubmit={() =>
        save.mutate(
          {
            name,
            max_jobs: Number(max.jobs),
            max_payload_bytes: Number(max.payload_bytes),
            max_queues: Number(max.queues),
          },
          { onSuccess: onClose },
        )
      }
      onClose={onClose}
    >
      {QUOTA_LINES.map(({ line, label }) => (
        <Field
          key={line}
          label={`${label} (${quota[line].used.toLocaleString()} in use)`}
          error={isWhole(max[line]) ? null : "Enter a whole number, or leave the field empty for no limit."}
        >
          {(id) => (
            <input
              id={id}
              inputMode="numeric"
              placeholder="No limit"
              value={max[line]}
              onChange={(e) => setMax({ ...max, [line]: e.target.value })}
            />
          )}
        </Field>
      ))}
      <FormError error={save.error} />
    </FormDialog>
  );
}

/** Shows the form once the quota is known, so that the form starts with the current limits. */
function QuotaDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const quota = useQuota(name);
  if (quota.data !== undefined) {
    return <QuotaForm name={name} quota={quota.data} onClose={onClose} />;
  }
  return (
    <Dialog title={`Quota of ${name}`} onClose={onClose}>
      <Pending error={quota.error} />
      <div className="dialog-foot">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

const limitsOf = ({ rate_limit: limits }: Namespace): string =>
  limits === undefined
    ? "default"
    : Object.entries(limits)
        .map(([name, value]) => `${name.replace("_", " ")} ${value}`)
        .join(", ");

const COLUMNS: Column<Namespace>[] = [
  { id: "name", header: "Name", className: "wide", sort: (n) => n.name, cell: (n) => n.name },
  { id: "limits", header: "Request Limits", className: "brief", cell: limitsOf },
  { id: "created", header: "Created", cell: (n) => (n.created_at === undefined ? "-" : <Ago at={n.created_at} />) },
];

export default function Namespaces() {
  useTitle("Namespaces");
  const namespaces = useNamespaces();
  const remove = useDeleteNamespace();
  const [creating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<string | null>(null);
  const [limiting, setLimiting] = useState<string | null>(null);
  const closeDeletion = () => {
    remove.reset();
    setDeleting(null);
  };
  const columns: Column<Namespace>[] = [
    ...COLUMNS,
    {
      id: "action",
      header: <span className="sr-only">Actions</span>,
      cell: ({ name }) => (
        <span className="card-row row-actions">
          <Button compact aria-label={`Quota of ${name}`} onClick={() => setLimiting(name)}>
            Quota
          </Button>
          <Button
            compact
            kind="danger"
            needs="DELETE /namespaces/{name}"
            aria-label={`Delete ${name}`}
            disabled={name === "default"}
            onClick={() => setDeleting(name)}
          >
            Delete
          </Button>
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead title="Namespaces">
        <Button kind="primary" needs="POST /namespaces" onClick={() => setCreating(true)}>
          Create Namespace
        </Button>
      </PageHead>
      <Card title={counted("All Namespaces", namespaces.data)}>
        <Table
          label="Namespaces"
          rows={namespaces.data}
          columns={columns}
          rowKey={(n) => n.name}
          empty="No namespaces found"
          error={namespaces.error}
        />
      </Card>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
      {limiting !== null && <QuotaDialog name={limiting} onClose={() => setLimiting(null)} />}
      {deleting !== null && (
        <ConfirmDialog
          title="Delete namespace"
          text={`Removes ${deleting} from the list. Its jobs and keys are kept.`}
          action="Delete namespace"
          run={remove}
          onConfirm={() => remove.mutate(deleting, { onSuccess: closeDeletion })}
          onClose={closeDeletion}
        />
      )}
    </>
  );
}
