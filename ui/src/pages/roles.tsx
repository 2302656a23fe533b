import { useState } from "react";

import { useDeleteRole, useSaveRole } from "../api/actions";
import { useRoles } from "../api/queries";
import type { Role } from "../api/types";
import { FormDialog } from "../components/dialog";
import { ConfirmDialog } from "../components/job-dialogs";
import { Ago, Button, Card, Check, Field, FormError, PageHead } from "../components/parts";
import { Table, type Column } from "../components/table";
import { counted } from "../lib/format";
import { useTitle } from "../lib/hooks";

const BUILT_IN = [
  { name: "admin", what: "Full access." },
  { name: "operator", what: "Full access, except changing keys, roles, namespaces, settings and the organization." },
  { name: "worker", what: "Enqueue, fetch, acknowledge and fail jobs, send heartbeats, read single jobs." },
  { name: "readonly", what: "Read and search." },
];
const RESOURCES = [
  "*",
  "jobs",
  "queues",
  "enqueue",
  "fetch",
  "ack",
  "fail",
  "heartbeat",
  "events",
  "schedules",
  "budgets",
  "approval-policies",
  "webhooks",
  "auth",
  "namespaces",
  "settings",
  "admin",
  "workers",
  "audit-logs",
  "org",
  "usage",
  "billing",
];
const ACTIONS = ["read", "write", "delete", "pause", "resume", "drain", "clear", "retry", "cancel", "approve", "reject", "hold"];

interface Row {
  resource: string;
  actions: readonly string[];
}

function PermissionRow({ row, onChange, onRemove }: { row: Row; onChange: (row: Row) => void; onRemove: () => void }) {
  const all = row.actions.includes("*");
  const toggle = (action: string, on: boolean) =>
    onChange({ ...row, actions: on ? [...row.actions, action] : row.actions.filter((a) => a !== action) });
  return (
    <fieldset>
      <div className="permission">
        <select aria-label="Resource" value={row.resource} onChange={(e) => onChange({ ...row, resource: e.target.value })}>
          {[...new Set([row.resource, ...RESOURCES])].map((name) => (
            <option key={name} value={name}>
              {name === "*" ? "all" : name}
            </option>
          ))}
        </select>
        <Button compact aria-label="Remove permission" onClick={onRemove}>
          Remove
        </Button>
      </div>
      <div className="permission-actions">
        <Check label="all" value={all} onChange={(on) => onChange({ ...row, actions: on ? ["*"] : [] })} />
        {!all &&
          ACTIONS.map((action) => (
            <Check key={action} label={action} value={row.actions.includes(action)} onChange={(on) => toggle(action, on)} />
          ))}
      </div>
    </fieldset>
  );
}

function RoleDialog({ role, onClose }: { role: Role | null; onClose: () => void }) {
  const [name, setName] = useState(role?.name ?? "");
  const [rows, setRows] = useState<readonly Row[]>(role?.permissions ?? [{ resource: "queues", actions: ["read"] }]);
  const save = useSaveRole();
  const complete = rows.filter((row) => row.actions.length > 0);
  const missing = name.trim() === "" ? "Enter a name." : complete.length === 0 ? "Choose at least one action." : "";
  const send = () =>
    save.mutate(
      { name: name.trim(), permissions: complete.map(({ resource, actions }) => ({ resource, actions: [...actions] })) },
      { onSuccess: onClose },
    );
  return (
    <FormDialog
      title={role === null ? "Create Role" : `Edit ${role.name}`}
      submit="Save"
      ready={missing === ""}
      busy={save.isPending}
      onSubmit={send}
      onClose={onClose}
      left={<Button onClick={() => setRows([...rows, { resource: "jobs", actions: [] }])}>Add permission</Button>}
    >
      <Field label="Name *">
        {(id) => <input id={id} value={name} disabled={role !== null} onChange={(e) => setName(e.target.value)} />}
      </Field>
      {rows.map((row, at) => (
        <PermissionRow
          key={at}
          row={row}
          onChange={(changed) => setRows(rows.map((r, i) => (i === at ? changed : r)))}
          onRemove={() => setRows(rows.filter((_, i) => i !== at))}
        />
      ))}
      {missing !== "" && <p className="muted small">{missing}</p>}
      <FormError error={save.error} />
    </FormDialog>
  );
}

const COLUMNS: Column<Role>[] = [
  { id: "name", header: "Name", sort: (r) => r.name, cell: (r) => r.name },
  {
    id: "permissions",
    header: "Grants",
    className: "wide wrap",
    cell: (r) => r.permissions.map(({ resource, actions }) => `${resource}: ${actions.join(", ")}`).join("; "),
  },
  { id: "created", header: "Created", cell: (r) => <Ago at={r.created_at} /> },
];

export default function Roles() {
  useTitle("Roles");
  const roles = useRoles();
  const remove = useDeleteRole();
  const [editing, setEditing] = useState<{ role: Role | null } | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const closeDeletion = () => {
    remove.reset();
    setDeleting(null);
  };
  const columns: Column<Role>[] = [
    ...COLUMNS,
    {
      id: "action",
      header: <span className="sr-only">Actions</span>,
      cell: (role) => (
        <span className="card-row nowrap">
          <Button compact needs="POST /auth/roles" aria-label={`Edit ${role.name}`} onClick={() => setEditing({ role })}>
            Edit
          </Button>
          <Button compact kind="danger" needs="DELETE /auth/roles/{name}" aria-label={`Delete ${role.name}`} onClick={() => setDeleting(role.name)}>
            Delete
          </Button>
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead title="Roles">
        <Button kind="primary" needs="POST /auth/roles" onClick={() => setEditing({ role: null })}>
          Create Role
        </Button>
      </PageHead>
      <Card title="Built-in Roles">
        <dl className="card-body facts">
          {BUILT_IN.map(({ name, what }) => (
            <div key={name}>
              <dt className="mono">{name}</dt>
              <dd className="muted">{what}</dd>
            </div>
          ))}
        </dl>
      </Card>
      <Card title={counted("Custom Roles", roles.data)}>
        <Table
          label="Custom Roles"
          rows={roles.data}
          columns={columns}
          rowKey={(r) => r.name}
          empty="No custom roles found"
          error={roles.error}
        />
      </Card>
      {editing !== null && <RoleDialog role={editing.role} onClose={() => setEditing(null)} />}
      {deleting !== null && (
        <ConfirmDialog
          title="Delete role"
          text={`Removes ${deleting} from every key that has it.`}
          action="Delete role"
          run={remove}
          onConfirm={() => remove.mutate(deleting, { onSuccess: closeDeletion })}
          onClose={closeDeletion}
        />
      )}
    </>
  );
}
