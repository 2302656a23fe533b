// The budgets, each with today's spending and a forecast of when its limit is reached.
import { useState } from "react";

import { useDeleteBudget, useSaveBudget } from "../../api/actions";
import { useBudgets, useScope, useUsage } from "../../api/queries";
import type { Budget, BudgetInput } from "../../api/types";
import { FormDialog } from "../../components/dialog";
import { ConfirmDialog } from "../../components/job-dialogs";
import { Bar, Button, Card, Field, FormError } from "../../components/parts";
import { Table, type Column } from "../../components/table";
import { forecast, ratePeriod, todayPeriod, type Forecast } from "../../lib/forecast";
import { moment, money, percent } from "../../lib/format";
import { useNow } from "../../lib/hooks";

const ON_EXCEED: Record<string, string> = { hold: "Hold the next job", reject: "Refuse fetches", alert_only: "Send an alert only" };

const nameOf = ({ scope, target }: Budget): string => (scope === "global" ? "All queues" : `${scope} ${target}`);

/** Return how usage must be grouped for a budget, and the key of its group. Both are empty for all queues. */
function groupOf({ scope, target }: Budget): { by: string; key: string } {
  if (scope === "queue") {
    return { by: "queue", key: target };
  }
  const [, tag = "", value = ""] = /^([^:=]+)[:=](.*)$/.exec(target) ?? [];
  return scope === "tag" ? { by: `tag:${tag}`, key: value } : { by: "", key: "" };
}

function useSpent(budget: Budget, period: string): number | undefined {
  const { by, key } = groupOf(budget);
  const usage = useUsage(period, by).data;
  if (usage === undefined || by === "") {
    return usage?.totals.cost_usd;
  }
  return usage.groups?.find((group) => group.key === key)?.cost_usd ?? 0;
}

const clockOf = (at: number): string => moment(at).slice(11, 16);

function sentence(next: Forecast): string {
  switch (next.kind) {
    case "reached":
      return `Daily limit reached. It resets at ${clockOf(next.resetsAt)} (00:00 UTC).`;
    case "limit":
      return `At this rate, the daily limit will be reached at ${clockOf(next.at)}.`;
    case "below":
      return `At this rate, spending will reach ${money(next.total, 2)} by 00:00 UTC.`;
    case "idle":
      return "Nothing was spent in the last hour.";
  }
}

/** Today's spending against the daily limit. Days are UTC days. */
export function Today({ budget, limit }: { budget: Budget; limit: number }) {
  // A key that is limited to queues sees only their spending, and this budget also counts that of others.
  const partial = useScope() !== "" && budget.scope !== "queue";
  return partial ? (
    <div className="stack-tight lines">
      <span>{money(limit, 2)} per day</span>
      <span className="small muted">Your key is limited to some queues and cannot see all spending.</span>
    </div>
  ) : (
    <Spent budget={budget} limit={limit} />
  );
}

function Spent({ budget, limit }: { budget: Budget; limit: number }) {
  const now = useNow(60_000);
  const spent = useSpent(budget, todayPeriod(now));
  const recent = useSpent(budget, ratePeriod(now));
  if (spent === undefined || recent === undefined) {
    return <span className="muted">…</span>;
  }
  const part = percent(spent, limit);
  const next = forecast(spent, recent, limit, now);
  return (
    <div className="stack-tight lines">
      <span>
        {money(spent, 2)} of {money(limit, 2)} today
      </span>
      <Bar value={part} tone={part > 95 ? "over" : part > 80 ? "warn" : ""} label={`Share of the daily budget spent: ${nameOf(budget)}`} />
      <span className={`small ${next.kind === "limit" || next.kind === "reached" ? "warn-text" : "muted"}`}>{sentence(next)}</span>
    </div>
  );
}

function BudgetDialog({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState({ scope: "global", target: "", daily: "", perJob: "", onExceed: "hold" });
  const save = useSaveBudget();
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change });
  const amount = (text: string): number | null => (/^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null);
  const [daily, perJob] = [amount(form.daily), amount(form.perJob)];
  const send = () => {
    const input: BudgetInput = {
      scope: form.scope as BudgetInput["scope"],
      target: form.scope === "global" ? "*" : form.target.trim(),
      on_exceed: form.onExceed as NonNullable<BudgetInput["on_exceed"]>,
      ...(daily === null ? {} : { daily_usd: daily }),
      ...(perJob === null ? {} : { per_job_usd: perJob }),
    };
    save.mutate(input, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Create Budget"
      submit="Save"
      ready={(form.scope === "global" || form.target.trim() !== "") && (daily !== null || perJob !== null)}
      busy={save.isPending}
      onSubmit={send}
      onClose={onClose}
    >
      <div className="form-grid">
        <Field label="Applies to">
          {(id) => (
            <select id={id} value={form.scope} onChange={(e) => set({ scope: e.target.value })}>
              <option value="global">All queues</option>
              <option value="queue">One queue</option>
              <option value="tag">One tag</option>
            </select>
          )}
        </Field>
        {form.scope !== "global" && (
          <Field label={form.scope === "queue" ? "Queue name *" : "Tag (key=value) *"}>
            {(id) => <input id={id} value={form.target} onChange={(e) => set({ target: e.target.value })} />}
          </Field>
        )}
        <Field label="Daily limit (USD)">
          {(id) => <input id={id} inputMode="decimal" value={form.daily} onChange={(e) => set({ daily: e.target.value })} />}
        </Field>
        <Field label="Limit per job (USD)">
          {(id) => <input id={id} inputMode="decimal" value={form.perJob} onChange={(e) => set({ perJob: e.target.value })} />}
        </Field>
        <Field label="When exceeded">
          {(id) => (
            <select id={id} value={form.onExceed} onChange={(e) => set({ onExceed: e.target.value })}>
              {Object.entries(ON_EXCEED).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <p className="muted small">Days start at 00:00 UTC. A new budget replaces an existing one for the same queue or tag.</p>
      <FormError error={save.error} />
    </FormDialog>
  );
}

export function BudgetsCard() {
  const budgets = useBudgets();
  const remove = useDeleteBudget();
  const [creating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<Budget | null>(null);
  const columns: Column<Budget>[] = [
    { id: "target", header: "Applies to", className: "name", cell: (b) => <span title={b.target}>{nameOf(b)}</span> },
    {
      id: "today",
      header: "Today",
      className: "wide wrap",
      cell: (b) => (b.daily_usd === undefined ? <span className="muted">no daily limit</span> : <Today budget={b} limit={b.daily_usd} />),
    },
    { id: "job", header: "Per job", className: "num", cell: (b) => (b.per_job_usd === undefined ? "-" : money(b.per_job_usd, 2)) },
    {
      id: "exceed",
      header: "When exceeded",
      className: "minor",
      cell: (b) => ON_EXCEED[b.on_exceed] ?? b.on_exceed,
    },
    {
      id: "action",
      header: <span className="sr-only">Actions</span>,
      cell: (b) => (
        <Button compact kind="danger" needs="DELETE /budgets/{scope}/{target}" aria-label={`Delete budget: ${nameOf(b)}`} onClick={() => setDeleting(b)}>
          Delete
        </Button>
      ),
    },
  ];
  const close = () => {
    remove.reset();
    setDeleting(null);
  };
  return (
    <Card
      title="Budgets"
      aside={
        <Button compact needs="POST /budgets" onClick={() => setCreating(true)}>
          Create Budget
        </Button>
      }
    >
      <Table label="Budgets" rows={budgets.data} columns={columns} rowKey={(b) => b.id} empty="No budgets set" error={budgets.error} />
      {creating && <BudgetDialog onClose={() => setCreating(false)} />}
      {deleting !== null && (
        <ConfirmDialog
          title="Delete budget"
          text={`Removes the limits of ${deleting.scope === "global" ? "all queues" : nameOf(deleting)}. Held jobs stay held.`}
          action="Delete budget"
          run={remove}
          onConfirm={() => remove.mutate(deleting, { onSuccess: close })}
          onClose={close}
        />
      )}
    </Card>
  );
}
