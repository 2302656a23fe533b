// The organization: its name, its members and its keys (http-api.md 19).
import { useState } from "react";

import { useAddMember, useCreateOrgKey, useDeleteOrgKey, useRemoveMember, useRenameOrg } from "../api/actions";
import { useOrg, useOrgKeys, useOrgMembers } from "../api/queries";
import type { Member, OrgKey } from "../api/types";
import { FormDialog } from "../components/dialog";
import { ConfirmDialog } from "../components/job-dialogs";
import { Ago, Badge, Button, Card, CopyButton, Field, FormError, PageHead, Pending } from "../components/parts";
import { Table, type Column } from "../components/table";
import { counted } from "../lib/format";
import { useTitle } from "../lib/hooks";

const ROLES = ["member", "admin", "owner"];

function NameDialog({ title, submit, name: first, save, onClose }: {
  title: string;
  submit: string;
  name: string;
  save: { mutate: (name: string) => void; isPending: boolean; error: Error | null };
  onClose: () => void;
}) {
  const [name, setName] = useState(first);
  return (
    <FormDialog
      title={title}
      submit={submit}
      ready={name.trim() !== "" && name.trim() !== first}
      busy={save.isPending}
      onSubmit={() => save.mutate(name.trim())}
      onClose={onClose}
    >
      <Field label="Name *">{(id) => <input id={id} value={name} onChange={(e) => setName(e.target.value)} autoFocus />}</Field>
      <FormError error={save.error} />
    </FormDialog>
  );
}

function RenameDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const rename = useRenameOrg();
  const save = { ...rename, mutate: (text: string) => rename.mutate(text, { onSuccess: onClose }) };
  return <NameDialog title="Rename Organization" submit="Save" name={name} save={save} onClose={onClose} />;
}

function KeyDialog({ onMade, onClose }: { onMade: (secret: string) => void; onClose: () => void }) {
  const create = useCreateOrgKey();
  const save = { ...create, mutate: (text: string) => create.mutate(text, { onSuccess: (made) => onMade(made.key) }) };
  return <NameDialog title="Create Organization Key" submit="Create Key" name="" save={save} onClose={onClose} />;
}

function MemberDialog({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState({ name: "", email: "", role: "member" });
  const add = useAddMember();
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change });
  const email = form.email.trim();
  return (
    <FormDialog
      title="Add Member"
      submit="Add"
      ready={form.name.trim() !== ""}
      busy={add.isPending}
      onSubmit={() =>
        add.mutate({ name: form.name.trim(), role: form.role, ...(email === "" ? {} : { email }) }, { onSuccess: onClose })
      }
      onClose={onClose}
    >
      <Field label="Name *">
        {(id) => <input id={id} value={form.name} onChange={(e) => set({ name: e.target.value })} autoFocus />}
      </Field>
      <div className="form-grid">
        <Field label="Email">
          {(id) => <input id={id} type="email" value={form.email} onChange={(e) => set({ email: e.target.value })} />}
        </Field>
        <Field label="Role">
          {(id) => (
            <select id={id} value={form.role} onChange={(e) => set({ role: e.target.value })}>
              {ROLES.map((role) => (
                <option key={role}>{role}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <FormError error={add.error} />
    </FormDialog>
  );
}

type Asked =
  | { what: "rename" | "member" | "key" }
  | { what: "remove"; member: Member }
  | { what: "delete"; key: OrgKey };

function MembersCard({ onAsk }: { onAsk: (asked: Asked) => void }) {
  const members = useOrgMembers();
  const columns: Column<Member>[] = [
    { id: "name", header: "Name", className: "name", sort: (m) => m.name, cell: (m) => <span title={m.name}>{m.name}</span> },
    { id: "email", header: "Email", className: "wide", sort: (m) => m.email ?? "", cell: (m) => m.email ?? "-" },
    { id: "role", header: "Role", sort: (m) => m.role, cell: (m) => <Badge plain>{m.role}</Badge> },
    { id: "created", header: "Added", cell: (m) => <Ago at={m.created_at} /> },
    {
      id: "action",
      header: <span className="sr-only">Actions</span>,
      cell: (member) => (
        <Button
          compact
          kind="danger"
          needs="DELETE /org/members/{id}"
          aria-label={`Remove ${member.name}`}
          disabled={member.role.toLowerCase() === "owner"}
          title={member.role.toLowerCase() === "owner" ? "The owner cannot be removed" : ""}
          onClick={() => onAsk({ what: "remove", member })}
        >
          Remove
        </Button>
      ),
    },
  ];
  return (
    <Card
      title={counted("Members", members.data)}
      aside={
        <Button compact needs="POST /org/members" onClick={() => onAsk({ what: "member" })}>
          Add Member
        </Button>
      }
    >
      <Table label="Members" rows={members.data} columns={columns} rowKey={(m) => m.id} empty="No members yet" error={members.error} />
    </Card>
  );
}

function KeysCard({ onAsk }: { onAsk: (asked: Asked) => void }) {
  const keys = useOrgKeys();
  const columns: Column<OrgKey>[] = [
    { id: "name", header: "Name", className: "wide", sort: (k) => k.name, cell: (k) => k.name },
    { id: "prefix", header: "Starts with", cell: (k) => <code>{k.prefix}…</code> },
    { id: "created", header: "Created", cell: (k) => <Ago at={k.created_at} /> },
    {
      id: "action",
      header: <span className="sr-only">Actions</span>,
      cell: (key) => (
        <Button compact kind="danger" needs="DELETE /org/api-keys/{id}" aria-label={`Delete ${key.name}`} onClick={() => onAsk({ what: "delete", key })}>
          Delete
        </Button>
      ),
    },
  ];
  return (
    <Card
      title={counted("Organization keys", keys.data)}
      aside={
        <Button compact needs="POST /org/api-keys" onClick={() => onAsk({ what: "key" })}>
          Create Key
        </Button>
      }
    >
      <p className="card-body muted">
        An organization key has the admin role in the default namespace. Creating the first key of a server turns on
        authentication. Every client then requires a key.
      </p>
      <Table label="Organization keys" rows={keys.data} columns={columns} rowKey={(k) => k.id} empty="No organization keys" error={keys.error} />
    </Card>
  );
}

export default function Organization() {
  useTitle("Organization");
  const org = useOrg();
  const removeMember = useRemoveMember();
  const deleteKey = useDeleteOrgKey();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => {
    removeMember.reset();
    deleteKey.reset();
    setAsked(null);
  };
  return (
    <>
      <PageHead title="Organization" />
      <Card
        title="Name"
        aside={
          org.data && (
            <Button compact needs="PUT /org" onClick={() => setAsked({ what: "rename" })}>
              Rename
            </Button>
          )
        }
      >
        <div className="card-body">
          {org.data === undefined ? (
            <Pending error={org.error} />
          ) : (
            <p>
              <strong className="break">{org.data.name}</strong>{" "}
              <span className="muted small">
                <code>{org.data.id}</code>, created <Ago at={org.data.created_at} />
              </span>
            </p>
          )}
        </div>
      </Card>
      {secret !== null && (
        <div className="notice stack-tight" role="status">
          <span>Copy this key now. It is not shown again.</span>
          <code className="break">{secret}</code>
          <span className="card-row">
            <CopyButton text={secret} label="Copy key" />
            <Button compact onClick={() => setSecret(null)}>
              Dismiss
            </Button>
          </span>
        </div>
      )}
      <MembersCard onAsk={setAsked} />
      <KeysCard onAsk={setAsked} />
      {asked?.what === "rename" && org.data && <RenameDialog name={org.data.name} onClose={close} />}
      {asked?.what === "member" && <MemberDialog onClose={close} />}
      {asked?.what === "key" && (
        <KeyDialog
          onClose={close}
          onMade={(made) => {
            setSecret(made);
            close();
          }}
        />
      )}
      {asked?.what === "remove" && (
        <ConfirmDialog
          title="Remove member"
          text={`Removes ${asked.member.name} from the organization.`}
          action="Remove member"
          run={removeMember}
          onConfirm={() => removeMember.mutate(asked.member.id, { onSuccess: close })}
          onClose={close}
        />
      )}
      {asked?.what === "delete" && (
        <ConfirmDialog
          title="Delete organization key"
          text={`Clients that use ${asked.key.name} lose access immediately.`}
          action="Delete key"
          run={deleteKey}
          onConfirm={() => deleteKey.mutate(asked.key.id, { onSuccess: close })}
          onClose={close}
        />
      )}
    </>
  );
}
