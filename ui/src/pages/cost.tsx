import { useState, type ReactNode } from "react";
import { Link } from "react-router-dom";

import { useBudgets, useCompletedJobs, useSpend, useUsage } from "../api/queries";
import type { UsageSummary, UsageTotals } from "../api/types";
import { Chart } from "../components/chart";
import { Card, Field, Notice, PageHead, Pending, Stat, unknown } from "../components/parts";
import { queuePath } from "../components/queue-table";
import { Table, type Column } from "../components/table";
import { count, moment, money, percent, plural } from "../lib/format";
import { useSettled, useTitle } from "../lib/hooks";
import { BudgetsCard, Today } from "./cost-parts/budgets";

/** The periods, each with the steps of its chart. */
const PERIODS = [
  { value: "24h", label: "24 hours", stepHours: 2, steps: 12 },
  { value: "7d", label: "7 days", stepHours: 24, steps: 7 },
  { value: "30d", label: "30 days", stepHours: 48, steps: 15 },
] as const;

type Period = (typeof PERIODS)[number];

type Group = UsageTotals & { key: string };

function hitRate(totals: UsageTotals): string {
  const all = totals.cache_read_tokens + totals.cache_creation_tokens;
  return all === 0 ? "-" : `${percent(totals.cache_read_tokens, all)}%`;
}

/** The daily budget of all queues, if one is set. */
function BudgetCard() {
  const budgets = useBudgets();
  const budget = budgets.data?.find((b) => b.scope === "global");
  return (
    <div className="card stat stack-tight">
      <div className="muted small">Daily budget</div>
      {budgets.data === undefined ? (
        <p className="muted">{unknown(budgets)}</p>
      ) : budget?.daily_usd === undefined ? (
        <p className="muted">No daily budget is set for all queues.</p>
      ) : (
        <Today budget={budget} limit={budget.daily_usd} />
      )}
    </div>
  );
}

function SpendChart({ period, to }: { period: Period; to: string }) {
  const spend = useSpend(period.stepHours, period.steps);
  if (!spend.ready) {
    return null;
  }
  const times = spend.total.map((_, i) => {
    const end = Date.parse(to) - (period.steps - 1 - i) * period.stepHours * 3_600_000;
    return period.stepHours < 24 ? moment(end).slice(11, 16) : moment(end).slice(5, 10);
  });
  // If a day costs only a few cents, show fractions of a cent. If it costs thousands, the axis has no space for cents.
  const high = Math.max(...spend.total);
  const format = (usd: number) => (high >= 1_000 ? `$${count(Math.round(usd))}` : money(usd, high < 0.1 ? 4 : 2));
  const step = period.stepHours < 24 ? `${period.stepHours} hours` : period.stepHours === 24 ? "day" : "2 days";
  return (
    <Chart
      stacked
      label={`Spend per ${step}`}
      times={times}
      format={format}
      series={[{ name: `Spend per ${step}`, colour: "var(--chart-enqueued)", values: spend.total }]}
    />
  );
}

function Spend({ usage, period }: { usage: UsageSummary; period: Period }) {
  if (usage.totals.count === 0) {
    return <Notice>No cost data available</Notice>;
  }
  return (
    <div className="stack">
      <SpendChart key={period.value} period={period} to={usage.to} />
      <p className="muted">
        {money(usage.totals.cost_usd)} in {plural(usage.totals.count, "usage report")} from {moment(usage.from).slice(0, 16)} to{" "}
        {moment(usage.to).slice(0, 16)}: {count(usage.totals.input_tokens)} input tokens, {count(usage.totals.output_tokens)} output
        tokens.
      </p>
    </div>
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

/** jobs: the completed jobs. Usage reports cannot be counted instead, because a job may report usage several times. */
interface QueueGroup extends Group {
  jobs: number | undefined;
}

const eachOf = ({ cost_usd, jobs = 0 }: QueueGroup): number | undefined => (jobs === 0 ? undefined : cost_usd / jobs);

const QUEUE: Column<QueueGroup> = {
  id: "key",
  header: "Queue",
  className: "wide",
  sort: (g) => g.key,
  cell: (g) =>
    g.key === "" ? (
      <span className="muted">unknown</span>
    ) : (
      <Link to={queuePath(g.key)} title={g.key}>
        {g.key}
      </Link>
    ),
};

const BY_QUEUE: Column<QueueGroup>[] = [
  QUEUE,
  COST,
  {
    id: "jobs",
    header: <span title="Jobs completed in this period">Jobs</span>,
    className: "num",
    sort: (g) => g.jobs ?? -1,
    cell: (g) => (g.jobs === undefined ? "-" : count(g.jobs)),
  },
  {
    id: "each",
    header: <span title="Cost divided by the jobs completed in this period">Cost per job</span>,
    className: "num",
    sort: (g) => eachOf(g) ?? -1,
    cell: (g) => {
      const each = eachOf(g);
      return each === undefined ? "-" : money(each);
    },
  },
];

const BY_MODEL: Column<Group>[] = [
  KEY("Model"),
  COST,
  number("input", "Input tokens", (g) => g.input_tokens, count),
  number("output", "Output tokens", (g) => g.output_tokens, count),
];

interface GroupCardProps {
  title: string;
  aside?: ReactNode;
  period: string;
  by: string;
  columns: Column<Group>[];
  empty: string;
}

function GroupCard({ title, aside, period, by, columns, empty }: GroupCardProps) {
  const usage = useUsage(period, by);
  return (
    <Card title={title} aside={aside}>
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

function QueueCard({ period }: { period: string }) {
  const usage = useUsage(period, "queue");
  const groups = usage.data === undefined ? undefined : (usage.data.groups ?? []);
  const jobs = useCompletedJobs((groups ?? []).map(({ key }) => key), period);
  return (
    <Card title="By queue">
      <Table
        label="By queue"
        rows={groups?.map((group): QueueGroup => ({ ...group, jobs: jobs.get(group.key) }))}
        columns={BY_QUEUE}
        rowKey={(g) => g.key}
        empty="No cost data by queue"
        error={usage.error}
      />
    </Card>
  );
}

const BY_TAG: Column<Group>[] = [KEY("Value"), COST, number("jobs", "Reports", (g) => g.count, count)];

/** The cost of each value of a tag. Tenants and customers are usually tags. */
function TagCard({ period }: { period: string }) {
  const [tag, setTag] = useState("tenant");
  const settled = useSettled(tag.trim(), 300);
  return (
    <GroupCard
      title="By tag"
      aside={
        <input className="tag-name" aria-label="Tag to group by" placeholder="tag" value={tag} onChange={(e) => setTag(e.target.value)} />
      }
      period={period}
      by={settled === "" ? "" : `tag:${settled}`}
      columns={BY_TAG}
      empty={`No cost data with the tag ${settled === "" ? "…" : settled}`}
    />
  );
}

export default function Cost() {
  useTitle("AI Cost Dashboard");
  const [period, setPeriod] = useState<Period>(PERIODS[1]);
  const usage = useUsage(period.value);
  const totals = usage.data?.totals;
  return (
    <>
      <PageHead title="AI Cost Dashboard">
        <Field label="Period">
          {(id) => (
            <select
              id={id}
              value={period.value}
              onChange={(e) => setPeriod(PERIODS.find((p) => p.value === e.target.value) ?? PERIODS[1])}
            >
              {PERIODS.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </PageHead>
      <div className="grid-3">
        <Stat label="Total Spend">{totals === undefined ? unknown(usage) : money(totals.cost_usd)}</Stat>
        <BudgetCard />
        <Stat label="Cache Hit Rate">{totals === undefined ? unknown(usage) : hitRate(totals)}</Stat>
      </div>
      <Card title="Spend over time">
        <div className="card-body">
          {usage.data === undefined ? <Pending error={usage.error} /> : <Spend usage={usage.data} period={period} />}
        </div>
      </Card>
      <BudgetsCard />
      <div className="grid-2">
        <QueueCard period={period.value} />
        <GroupCard title="By model" period={period.value} by="model" columns={BY_MODEL} empty="No cost data by model" />
        <TagCard period={period.value} />
      </div>
    </>
  );
}
