import { useState } from "react";
import { Link } from "react-router-dom";

import { useCreatePolicy, useDeletePolicy } from "../api/actions";
import { usePolicies } from "../api/queries";
import type { Policy } from "../api/types";
import { FormDialog } from "../components/dialog";
import { QueueInput } from "../components/job-dialogs";
import { Managed } from "../components/managed";
import { Ago, Check, EnabledBadge, Field, FormError } from "../components/parts";
import type { Column } from "../components/table";
import { checksOf, formOf, joiner, toInput, type PolicyForm } from "../lib/policy";

/** The server cannot change a policy. To change one, clone it and delete the original. */
function PolicyDialog({ from, onClose }: { from: Policy | null; onClose: () => void }) {
  const [form, setForm] = useState(() => formOf(from));
  const create = useCreatePolicy();
  const set = (change: Partial<PolicyForm>) => setForm({ ...form, ...change });
  const input = toInput(form);
  const checks = checksOf(input);
  return (
    <FormDialog
      title={from === null ? "Create Approval Policy" : "Clone Approval Policy"}
      submit="Create"
      ready={input.name !== "" && checks.length > 0}
      busy={create.isPending}
      onSubmit={() => create.mutate(input, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label="Name *">
        {(id) => (
          <input
            id={id}
            placeholder="e.g. large payments"
            value={form.name}
            onChange={(e) => set({ name: e.target.value })}
            autoFocus
          />
        )}
      </Field>
      <Field label="Queue">
        {(id) => <QueueInput id={id} placeholder="e.g. agents.research" value={form.queue} onChange={(queue) => set({ queue })} />}
      </Field>
      <div className="form-grid">
        <Field label="Tag">
          {(id) => (
            <input id={id} placeholder="e.g. risk" value={form.tagKey} onChange={(e) => set({ tagKey: e.target.value })} />
          )}
        </Field>
        <Field label="Tag value">
          {(id) => (
            <input
              id={id}
              placeholder="missing or empty"
              disabled={form.tagKey.trim() === ""}
              value={form.tagValue}
              onChange={(e) => set({ tagValue: e.target.value })}
            />
          )}
        </Field>
        <Field label="Mode">
          {(id) => (
            <select id={id} value={form.mode} onChange={(e) => set({ mode: e.target.value === "all" ? "all" : "any" })}>
              <option value="any">any check matches</option>
              <option value="all">all checks match</option>
            </select>
          )}
        </Field>
      </div>
      <p className="muted small break" role="status">
        {checks.length === 0
          ? "Enter a queue, a tag, or both. A policy without them holds no jobs."
          : `Holds an agent job before it continues if its ${checks.join(` ${joiner(form.mode)} its `)}.`}
      </p>
      <Check label="Enabled" value={form.enabled} onChange={(enabled) => set({ enabled })} />
      <Check label="Apply to all namespaces" value={form.allNamespaces} onChange={(allNamespaces) => set({ allNamespaces })} />
      <FormError error={create.error} />
    </FormDialog>
  );
}

function Matches({ policy }: { policy: Policy }) {
  const checks = checksOf(policy);
  return checks.length === 0 ? (
    <span className="muted">nothing</span>
  ) : (
    <div className="stack-tight lines">
      {checks.map((check, i) => (
        <span key={check}>
          {i > 0 && <span className="muted">{joiner(policy.mode)} </span>}
          {check}
        </span>
      ))}
    </div>
  );
}

const COLUMNS: Column<Policy>[] = [
  { id: "name", header: "Name", className: "brief", sort: (p) => p.name, cell: (p) => <span title={p.name}>{p.name}</span> },
  { id: "matches", header: "Matches", className: "wide wrap", cell: (p) => <Matches policy={p} /> },
  { id: "mode", header: "Mode", cell: (p) => p.mode },
  { id: "enabled", header: "Status", cell: (p) => <EnabledBadge enabled={p.enabled} /> },
  { id: "created", header: "Created", sort: (p) => p.created_at, cell: (p) => <Ago at={p.created_at} /> },
];

export default function Policies() {
  return (
    <Managed
      many="Approval Policies"
      one="Approval Policy"
      note={
        <>
          If an approval policy matches an agent job, the job is held instead of continuing. It waits in{" "}
          <Link className="in-text" to="/held">
            Held Jobs
          </Link>{" "}
          until someone approves or rejects it. If several policies match, the hold reason names the newest.
        </>
      }
      items={usePolicies()}
      columns={COLUMNS}
      nameOf={(policy) => policy.name}
      change="Clone"
      dialog={(from, onClose) => <PolicyDialog from={from} onClose={onClose} />}
      remove={useDeletePolicy()}
      needs={{ create: "POST /approval-policies", change: "POST /approval-policies", remove: "DELETE /approval-policies/{id}" }}
      removal={(policy) => `${policy.name} no longer holds jobs. Jobs that are already held stay held.`}
    />
  );
}
