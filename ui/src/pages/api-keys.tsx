import { useState } from "react";

import { useAssignRole, useCreateKey, useDeleteKey, useRevokeSession, useRotateKey, useUnassignRole } from "../api/actions";
import { useAuthStatus, useKeyRoles, useKeys, useNamespaces, useRoles, useSessions } from "../api/queries";
import type { ApiKey, BrowserSession, KeyInput } from "../api/types";
import { Dialog, FormDialog } from "../components/dialog";
import { ConfirmDialog } from "../components/job-dialogs";
import { Ago, Button, Card, CopyButton, EnabledBadge, Field, FormError, PageHead } from "../components/parts";
import { Table, type Column } from "../components/table";
import { countdown, counted, fullTime, relativeTime } from "../lib/format";
import { useNow, useTitle } from "../lib/hooks";

const BUILT_IN = ["admin", "operator", "worker", "readonly"];

export function KeyDialog({ onMade, onClose }: { onMade: (secret: string, note: string | undefined) => void; onClose: () => void }) {
  const [form, setForm] = useState({ name: "", namespace: "default", role: "", scope: "", expires: "" });
  const create = useCreateKey();
  // A first key of another role could not create the keys that follow.
  const first = useAuthStatus().data?.open === true;
  const role = form.role || (first ? "admin" : "readonly");
  const namespaces = useNamespaces().data ?? [{ name: "default" }];
  const custom = (useRoles().data ?? []).map(({ name }) => name);
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change });
  const send = () => {
    const input: KeyInput = { name: form.name.trim(), namespace: form.namespace, role };
    if (form.scope.trim() !== "") {
      input.queue_scope = form.scope.trim();
    }
    if (form.expires !== "") {
      input.expires_at = new Date(form.expires).toISOString();
    }
    create.mutate(input, { onSuccess: (made) => onMade(made.api_key, made.note) });
  };
  return (
    <FormDialog
      title="Create API Key"
      submit="Create Key"
      ready={form.name.trim() !== ""}
      busy={create.isPending}
      onSubmit={send}
      onClose={onClose}
    >
      {first && (
        <div className="notice warn">
          This is the first key. Creating it closes the server to callers without a key. To be able to create more keys, keep the
          role admin.
        </div>
      )}
      <Field label="Name *">
        {(id) => (
          <input
            id={id}
            placeholder="e.g. production-worker"
            value={form.name}
            onChange={(e) => set({ name: e.target.value })}
            autoFocus
          />
        )}
      </Field>
      <div className="form-grid">
        <Field label="Namespace">
          {(id) => (
            <select id={id} value={form.namespace} onChange={(e) => set({ namespace: e.target.value })}>
              {namespaces.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Role">
          {(id) => (
            <select id={id} value={role} onChange={(e) => set({ role: e.target.value })}>
              {[...BUILT_IN, ...custom].map((role) => (
                <option key={role}>{role}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Queue Scope">
          {(id) => (
            <input id={id} placeholder="all queues" value={form.scope} onChange={(e) => set({ scope: e.target.value })} />
          )}
        </Field>
        <Field label="Expires At">
          {(id) => (
            <input id={id} type="datetime-local" value={form.expires} onChange={(e) => set({ expires: e.target.value })} />
          )}
        </Field>
      </div>
      <FormError error={create.error} />
    </FormDialog>
  );
}

interface Made {
  secret: string;
  note: string | undefined;
}

function Secret({ made, onDismiss }: { made: Made; onDismiss: () => void }) {
  return (
    <div className="notice stack-tight" role="status">
      <span>Copy this key now. It is not shown again.</span>
      <code className="break">{made.secret}</code>
      {made.note !== undefined && <span>{made.note}</span>}
      <span className="card-row">
        <CopyButton text={made.secret} label="Copy key" />
        <Button compact onClick={onDismiss}>
          Dismiss
        </Button>
      </span>
    </div>
  );
}

function RolesDialog({ item, onClose }: { item: ApiKey; onClose: () => void }) {
  const [role, setRole] = useState("");
  const roles = useKeyRoles(item.key_hash);
  const assign = useAssignRole();
  const remove = useUnassignRole();
  const keyHash = item.key_hash;
  return (
    <Dialog title={`Custom roles of ${item.name}`} onClose={onClose}>
      <div className="stack">
        {roles.error !== null && <FormError error={roles.error} />}
        {roles.data?.roles.length === 0 && <p className="muted">This key has no custom roles.</p>}
        {roles.data?.roles.map((name) => (
          <span key={name} className="card-row">
            <span className="mono">{name}</span>
            <Button
              compact
              needs="DELETE /auth/keys/{key_hash}/roles/{role}"
              disabled={remove.isPending}
              aria-label={`Remove ${name}`}
              onClick={() => remove.mutate({ keyHash, role: name })}
            >
              Remove
            </Button>
          </span>
        ))}
        <Field label="Role">{(id) => <input id={id} value={role} onChange={(e) => setRole(e.target.value)} />}</Field>
        <div className="dialog-foot">
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="primary"
            needs="POST /auth/keys/{key_hash}/roles"
            disabled={role.trim() === "" || assign.isPending}
            onClick={() => assign.mutate({ keyHash, role: role.trim() }, { onSuccess: () => setRole("") })}
          >
            Assign
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Expiry({ at }: { at: string }) {
  const now = useNow(10_000);
  return (
    <time dateTime={at} title={fullTime(at)}>
      {Date.parse(at) > now ? countdown(at, now) : relativeTime(at, now)}
    </time>
  );
}

const COLUMNS: Column<ApiKey>[] = [
  { id: "name", header: "Name", className: "wide", sort: (k) => k.name, cell: (k) => <span title={`${k.name}\n${k.key_hash}`}>{k.name}</span> },
  { id: "namespace", header: "Namespace", className: "brief spare", sort: (k) => k.namespace, cell: (k) => k.namespace },
  { id: "role", header: "Role", sort: (k) => k.role, cell: (k) => k.role },
  { id: "enabled", header: "Status", cell: (k) => <EnabledBadge enabled={k.enabled} /> },
  { id: "scope", header: "Queue Scope", className: "brief", cell: (k) => k.queue_scope ?? "all" },
  { id: "used", header: "Last Used", cell: (k) => (k.last_used_at === undefined ? "never" : <Ago at={k.last_used_at} />) },
  { id: "expires", header: "Expires", cell: (k) => (k.expires_at === undefined ? "never" : <Expiry at={k.expires_at} />) },
];

function SessionsCard() {
  const sessions = useSessions();
  const revoke = useRevokeSession();
  if (sessions.data === undefined || sessions.data.length === 0) {
    return null;
  }
  const columns: Column<BrowserSession>[] = [
    { id: "principal", header: "Signed in as", className: "wide", cell: (s) => (s.current ? "This browser" : s.principal) },
    { id: "role", header: "Role", cell: (s) => s.role ?? "" },
    { id: "address", header: "Address", cell: (s) => <span title={s.user_agent}>{s.address ?? ""}</span> },
    { id: "created", header: "Signed in", cell: (s) => <Ago at={s.created_at} /> },
    {
      id: "action",
      header: <span className="sr-only">Actions</span>,
      cell: (s) => (
        <Button
          compact
          kind="danger"
          needs="DELETE /auth/sessions/{id}"
          disabled={revoke.isPending}
          aria-label={s.current ? "End this session" : `End session of ${s.principal}`}
          onClick={() => revoke.mutate(s.id)}
        >
          End
        </Button>
      ),
    },
  ];
  return (
    <Card title={`Sessions (${sessions.data.length})`}>
      <Table label="Sessions" rows={sessions.data} columns={columns} rowKey={(s) => s.id} empty="Nobody is signed in" />
    </Card>
  );
}

type Asked = { what: "create" } | { what: "delete" | "roles"; item: ApiKey };

export default function ApiKeys() {
  useTitle("API Keys");
  const keys = useKeys();
  const status = useAuthStatus();
  const remove = useDeleteKey();
  const rotate = useRotateKey();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const close = () => {
    remove.reset();
    setAsked(null);
  };
  const columns: Column<ApiKey>[] = [
    ...COLUMNS,
    {
      id: "action",
      header: <span className="sr-only">Actions</span>,
      cell: (item) => (
        <span className="card-row row-actions">
          <Button compact aria-label={`Roles of ${item.name}`} onClick={() => setAsked({ what: "roles", item })}>
            Roles
          </Button>
          <Button
            compact
            needs="POST /auth/keys/{key_hash}/rotate"
            disabled={rotate.isPending}
            aria-label={`Rotate ${item.name}`}
            onClick={() =>
              rotate.mutate(item.key_hash, { onSuccess: (m) => setMade({ secret: m.api_key, note: "The old key keeps working for 24 hours." }) })
            }
          >
            Rotate
          </Button>
          <Button compact kind="danger" needs="DELETE /auth/keys" aria-label={`Delete ${item.name}`} onClick={() => setAsked({ what: "delete", item })}>
            Delete
          </Button>
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead title="API Keys">
        <Button kind="primary" needs="POST /auth/keys" onClick={() => setAsked({ what: "create" })}>
          Create API Key
        </Button>
      </PageHead>
      {status.data?.admin_password_set === false && (
        <div className="notice warn">
          No admin password is set. {status.data.open && "Creating the first key turns on authentication. Every client then requires a key. "}
          To avoid locking yourself out, keep one admin key or start the server with <code>--admin-password</code>.
        </div>
      )}
      {made !== null && <Secret made={made} onDismiss={() => setMade(null)} />}
      <Card title={counted("All API Keys", keys.data)}>
        <Table
          label="API Keys"
          rows={keys.data}
          columns={columns}
          rowKey={(k) => k.key_hash}
          empty="No API keys found"
          error={keys.error}
        />
      </Card>
      <SessionsCard />
      {asked?.what === "create" && (
        <KeyDialog
          onClose={close}
          onMade={(secret, note) => {
            setMade({ secret, note });
            close();
          }}
        />
      )}
      {asked?.what === "roles" && <RolesDialog item={asked.item} onClose={close} />}
      {asked?.what === "delete" && (
        <ConfirmDialog
          title="Delete API key"
          text={`Clients that use ${asked.item.name} lose access immediately.`}
          action="Delete API key"
          run={remove}
          onConfirm={() => remove.mutate(asked.item.key_hash, { onSuccess: close })}
          onClose={close}
        />
      )}
    </>
  );
}
