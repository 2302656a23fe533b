import { useState } from "react";

import { useBudgets, useUsage } from "../api/queries";
import type { UsageSummary, UsageTotals } from "../api/types";
import { Bar, Card, Field, Notice, PageHead, Pending, Stat } from "../components/parts";
import { Table, type Column } from "../components/table";
import { count, moment, money, percent } from "../lib/format";
import { useTitle } from "../lib/hooks";

const PERIODS = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
] as const;

type Group = UsageTotals & { key: string };

function hitRate(totals: UsageTotals): string {
  const all = totals.cache_read_tokens + totals.cache_creation_tokens;
  return all === 0 ? "-" : `${percent(totals.cache_read_tokens, all)}%`;
}

function BudgetCard() {
  const day = useUsage("24h");
  const budgets = useBudgets();
  const limit = budgets.data?.find((b) => b.scope === "global")?.daily_usd;
  const spent = day.data?.totals.cost_usd ?? 0;
  const part = limit === undefined ? 0 : (spent / limit) * 100;
  const tone = part > 95 ? "over" : part > 80 ? "warn" : "";
  return (
    <div className="card stat stack">
      <div className="muted small">Budget (last 24 hours)</div>
      {limit === undefined ? (
        <p className="muted">No global daily budget is set.</p>
      ) : (
        <>
          <Bar value={percent(spent, limit)} tone={tone} label="Spent of the daily budget" />
          <p>
            {money(spent, 2)} of {money(limit, 2)}
          </p>
        </>
      )}
    </div>
  );
}

/** The API has no spend by day; the total with its limits in time is what there is. */
function Spend({ usage }: { usage: UsageSummary }) {
  if (usage.totals.count === 0) {
    return <Notice>No cost data available</Notice>;
  }
  return (
    <p>
      {money(usage.totals.cost_usd)} in {count(usage.totals.count)} reports between {moment(usage.from)} and{" "}
      {moment(usage.to)}: {count(usage.totals.input_tokens)} input and {count(usage.totals.output_tokens)} output tokens.
    </p>
  );
}

const KEY = (header: string): Column<Group> => ({
  id: "key",
  header,
  className: "wide",
  sort: (g) => g.key,
  cell: (g) => (g.key === "" ? <span className="muted">unknown</span> : g.key),
});

const number = (id: string, header: string, value: (g: Group) => number, format: (n: number) => string): Column<Group> => ({
  id,
  header,
  className: "num",
  sort: value,
  cell: (g) => format(value(g)),
});

const COST = number("cost", "Cost", (g) => g.cost_usd, money);

const BY_QUEUE: Column<Group>[] = [
  KEY("Queue"),
  COST,
  number("jobs", "Jobs", (g) => g.count, count),
  number("each", "Cost per job", (g) => (g.count === 0 ? 0 : g.cost_usd / g.count), money),
];

const BY_MODEL: Column<Group>[] = [
  KEY("Model"),
  COST,
  number("input", "Input tokens", (g) => g.input_tokens, count),
  number("output", "Output tokens", (g) => g.output_tokens, count),
];

function GroupCard({ title, period, by, columns, empty }: { title: string; period: string; by: string; columns: Column<Group>[]; empty: string }) {
  const usage = useUsage(period, by);
  return (
    <Card title={title}>
      <Table
        label={title}
        rows={usage.data === undefined ? undefined : (usage.data.groups ?? [])}
        columns={columns}
        rowKey={(g) => g.key}
        empty={empty}
        error={usage.error}
      />
    </Card>
  );
}

export default function Cost() {
  useTitle("AI Cost Dashboard");
  const [period, setPeriod] = useState("7d");
  const usage = useUsage(period);
  const totals = usage.data?.totals;
  return (
    <>
      <PageHead title="AI Cost Dashboard">
        <Field label="Period">
          {(id) => (
            <select id={id} value={period} onChange={(e) => setPeriod(e.target.value)}>
              {PERIODS.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </PageHead>
      <div className="grid-3">
        <Stat label="Total Spend">{totals === undefined ? "…" : money(totals.cost_usd)}</Stat>
        <BudgetCard />
        <Stat label="Cache Hit Rate">{totals === undefined ? "…" : hitRate(totals)}</Stat>
      </div>
      <Card title="Spend over time">
        <div className="card-body">
          {usage.data === undefined ? <Pending error={usage.error} /> : <Spend usage={usage.data} />}
        </div>
      </Card>
      <div className="grid-2">
        <GroupCard title="By queue" period={period} by="queue" columns={BY_QUEUE} empty="No cost data by queue" />
        <GroupCard title="By model" period={period} by="model" columns={BY_MODEL} empty="No cost data by model" />
      </div>
    </>
  );
}
