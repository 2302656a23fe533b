import { useState } from "react";

import { useSaveSso } from "../api/actions";
import { useRoles, useSso } from "../api/queries";
import type { SsoSettings } from "../api/types";
import { Ago, Button, Card, Check, Field, FormError, Notice, PageHead, Pending } from "../components/parts";
import { useTitle } from "../lib/hooks";

const BUILT_IN = ["admin", "operator", "worker", "readonly"];

interface Mapping {
  group: string;
  role: string;
}

function MappingRow({
  row,
  roles,
  onChange,
  onRemove,
}: {
  row: Mapping;
  roles: readonly string[];
  onChange: (row: Mapping) => void;
  onRemove: () => void;
}) {
  return (
    <div className="card-row">
      <input aria-label="Group" placeholder="Group" value={row.group} onChange={(e) => onChange({ ...row, group: e.target.value })} />
      <select aria-label="Role" value={row.role} onChange={(e) => onChange({ ...row, role: e.target.value })}>
        {[...new Set([row.role, ...roles])].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <Button compact aria-label={`Remove ${row.group || "mapping"}`} onClick={onRemove}>
        Remove
      </Button>
    </div>
  );
}

type Save = ReturnType<typeof useSaveSso>;

function SsoForm({ settings, save }: { settings: SsoSettings; save: Save }) {
  const custom = useRoles();
  const [form, setForm] = useState(settings);
  const [secret, setSecret] = useState("");
  const [rows, setRows] = useState<readonly Mapping[]>(
    Object.entries(settings.group_role_mappings).map(([group, role]) => ({ group, role })),
  );
  const roles = [...BUILT_IN, ...(custom.data ?? []).map((role) => role.name)];
  const set = (change: Partial<SsoSettings>) => setForm({ ...form, ...change });
  const send = () =>
    save.mutate({
      provider: form.provider,
      oidc_issuer_url: form.oidc_issuer_url,
      oidc_client_id: form.oidc_client_id,
      oidc_group_claim: form.oidc_group_claim,
      saml_enabled: form.saml_enabled,
      group_role_mappings: Object.fromEntries(rows.map(({ group, role }) => [group.trim(), role])),
      ...(secret === "" ? {} : { oidc_client_secret: secret }),
    });
  return (
    <form
      className="stack form-narrow"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Field label="Provider">
        {(id) => (
          <select id={id} value={form.provider} onChange={(e) => set({ provider: e.target.value })}>
            <option value="">None</option>
            <option value="oidc">OpenID Connect</option>
            <option value="saml">SAML headers from a proxy</option>
          </select>
        )}
      </Field>
      {form.provider === "oidc" && (
        <>
          <Field label="Issuer URL *">
            {(id) => (
              <input
                id={id}
                placeholder="https://id.example.com"
                value={form.oidc_issuer_url}
                onChange={(e) => set({ oidc_issuer_url: e.target.value })}
              />
            )}
          </Field>
          <Field label="Client ID *">
            {(id) => <input id={id} value={form.oidc_client_id} onChange={(e) => set({ oidc_client_id: e.target.value })} />}
          </Field>
          <Field label="Client Secret">
            {(id) => (
              <input
                id={id}
                type="password"
                autoComplete="off"
                placeholder={settings.oidc_client_secret_set ? "Stored. Leave empty to keep it." : "Only if the provider requires one."}
                value={secret}
                onChange={(e) => setSecret(e.target.value)}
              />
            )}
          </Field>
          <Field label="Group Claim">
            {(id) => <input id={id} value={form.oidc_group_claim} onChange={(e) => set({ oidc_group_claim: e.target.value })} />}
          </Field>
          <fieldset className="stack-tight">
            <legend>Roles by group</legend>
            {rows.map((row, at) => (
              <MappingRow
                key={at}
                row={row}
                roles={roles}
                onChange={(changed) => setRows(rows.map((r, i) => (i === at ? changed : r)))}
                onRemove={() => setRows(rows.filter((_, i) => i !== at))}
              />
            ))}
            <div>
              <Button compact onClick={() => setRows([...rows, { group: "", role: "readonly" }])}>
                Add mapping
              </Button>
            </div>
          </fieldset>
        </>
      )}
      {form.provider === "saml" && (
        <Check label="Accept the headers of trusted proxies" value={form.saml_enabled} onChange={(on) => set({ saml_enabled: on })} />
      )}
      <FormError error={save.error} />
      {save.data?.warning !== undefined && <Notice>Saved, but users cannot sign in yet: {save.data.warning}</Notice>}
      {save.data?.note !== undefined && <Notice>{save.data.note}</Notice>}
      <div className="card-row">
        <Button type="submit" kind="primary" needs="POST /settings/sso" disabled={save.isPending}>
          Save
        </Button>
        {settings.updated_at !== undefined && (
          <span className="muted small">
            Last changed <Ago at={settings.updated_at} />
          </span>
        )}
      </div>
    </form>
  );
}

export default function Sso() {
  useTitle("SSO");
  const settings = useSso();
  const save = useSaveSso(); // here, so that its result outlives the form, which is recreated with the stored settings
  return (
    <>
      <PageHead title="SSO" />
      <Card title="Single Sign-On">
        <div className="card-body stack">
          <p className="muted break">
            Users sign in to this interface with an identity provider, and machines send its tokens as bearer tokens. Register
            this redirect URI with the provider: <code>{window.location.origin}/api/v1/auth/sso/callback</code>. With SAML
            headers, a proxy signs users in; start the server with <code>--trusted-proxies</code>.
          </p>
          {settings.data === undefined ? (
            <Pending error={settings.error} what="Single sign-on settings" />
          ) : (
            <SsoForm key={settings.data.updated_at} settings={settings.data} save={save} />
          )}
        </div>
      </Card>
    </>
  );
}
