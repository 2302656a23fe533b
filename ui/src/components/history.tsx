// The history of one queue or of all queues in a time range: counts, percentiles and queue depth.
import { memo, useDeferredValue, useMemo } from "react";
import { useNavigate } from "react-router-dom";

import { useCompleted, useHistory, useMarkers, useQueueAudit } from "../api/queries";
import type { HistoryAnswer, HistoryPoint } from "../api/types";
import { count, moment, span } from "../lib/format";
import { useLast } from "../lib/hooks";
import { marksOf, type Mark } from "../lib/marks";
import { useRange, type NextRange } from "../lib/range";
import { Chart, COUNTS, SPANS, type Series } from "./chart";
import { Card, Pending } from "./parts";
import { RangePicker } from "./range";

const QUANTILES = [
  ["p50", "p50_ms"],
  ["p90", "p90_ms"],
  ["p99", "p99_ms"],
] as const;

const COUNTED = [
  ["Enqueued", "enqueued", "var(--chart-enqueued)"],
  ["Completed", "completed", "var(--chart-completed)"],
  ["Failed", "failed", "var(--chart-p90)"],
  ["Dead", "dead", "var(--chart-failed)"],
] as const;

function times(points: readonly HistoryPoint[], of: "wait" | "run"): Series[] {
  return QUANTILES.map(([name, member]) => ({
    name,
    colour: `var(--chart-${name})`,
    // A minute in which no job started has no wait time, which is not the same as a wait time of 0.
    values: points.map((p) => (p[of]?.count ?? 0) === 0 ? null : (p[of]?.[member] ?? null)),
  }));
}

/** "p99 4 s" or "no jobs". */
const p99 = (times: HistoryPoint["wait"]): string => ((times?.count ?? 0) === 0 ? "no jobs" : `p99 ${span(times?.p99_ms ?? 0)}`);

/** "minute", "5 minutes", "hour". */
function stepText(seconds: number): string {
  const unit = seconds < 3600 ? "minute" : seconds < 86_400 ? "hour" : "day";
  const n = seconds / { minute: 60, hour: 3600, day: 86_400 }[unit];
  return n === 1 ? unit : `${n} ${unit}s`;
}

const NO_MARKS: readonly Mark[] = [];

/** The charts, with a picker for their time range. The range is in the address, and only this component depends on it. The
 * charts are rendered again only when their data changes: first the ones at the top, then the rest. */
export function History({ queue }: { queue?: string }) {
  const picked = useRange();
  const { range, set } = picked;
  const one = queue === undefined ? {} : { queue };
  const history = useHistory({ from: range.from, to: range.to, ...one });
  const navigate = useNavigate();
  const data = history.data;
  const audit = useQueueAudit({ since: data?.from ?? "", until: data?.to ?? "", ...one }).data;
  const markers = useMarkers({ from: data?.from ?? "", to: data?.to ?? "", ...one }).data;
  const marks = useMemo(() => {
    const starts = data?.points.map((p) => Date.parse(p.at)) ?? [];
    const found = marksOf(audit?.audit_logs ?? [], markers ?? [], starts, (data?.step_seconds ?? 0) * 1000, queue);
    return found.length === 0 ? NO_MARKS : found;
  }, [data, audit, markers, queue]);
  const shown = useMemo(() => ({ data, marks }), [data, marks]);
  const later = useDeferredValue(shown);
  const zoom = useLast(set);
  const pick = useLast((from: number, to: number) => {
    const instant = (at: number) => new Date(at).toISOString();
    navigate(`/jobs?${new URLSearchParams({ created_after: instant(from), created_before: instant(to), ...one })}`);
  });
  const common = { onZoom: zoom, onPick: pick };
  return (
    <>
      <RangePicker {...picked} />
      {data === undefined ? (
        <Card title="Throughput">
          <div className="card-body">
            <Pending error={history.error} />
          </div>
        </Card>
      ) : (
        <div className="grid-2">
          <FirstCharts {...common} data={data} marks={marks} />
          {later.data !== undefined && (
            <OtherCharts {...common} data={later.data} marks={later.marks} ofQueue={queue !== undefined} />
          )}
        </div>
      )}
      {data !== undefined && (
        <p className="muted small">Drag across a chart to zoom in. Click a point to list the jobs created then. Dashed lines mark deployments, new versions and queue changes.</p>
      )}
    </>
  );
}

interface ChartsProps {
  data: HistoryAnswer;
  marks: readonly Mark[];
  onZoom: (range: NextRange) => void;
  /** Called with the start and the end of a step that was clicked. */
  onPick: (from: number, to: number) => void;
}

/** Return the props that all charts share: times, marks and pointer actions. */
function sharedBy({ data, marks, onZoom, onPick }: ChartsProps) {
  const { points, step_seconds: step } = data;
  const day = step * points.length > 86_400;
  const startOf = (i: number) => Date.parse(points[i]?.at ?? "");
  const endOf = (i: number) => startOf(i) + step * 1000;
  return {
    times: points.map((p) => (day ? moment(p.at).slice(5, 16) : moment(p.at).slice(11, 16))),
    marks,
    onZoom: (first: number, last: number) => onZoom({ from: startOf(first), to: endOf(last) }),
    onPick: (i: number) => onPick(startOf(i), endOf(i)),
  };
}

const FirstCharts = memo(function FirstCharts(props: ChartsProps) {
  const { points, totals, step_seconds: step } = props.data;
  const shared = sharedBy(props);
  const per = `per ${stepText(step)}`;
  return (
    <>
      <Card
        title="Throughput"
        aside={
          <span className="muted small">
            {count(totals.completed ?? 0)} completed, {count(totals.failed ?? 0)} failed · {per}
          </span>
        }
      >
        <div className="card-body">
          <Chart
            {...shared}
            label={`Jobs ${per}; ${totals.completed ?? 0} completed`}
            {...COUNTS}
            series={COUNTED.map(([name, member, colour]) => ({
              name,
              colour,
              values: points.map((p) => p[member] ?? 0),
            }))}
          />
        </div>
      </Card>
      <Card title="Pending jobs" aside={<span className="muted small">maximum {per}</span>}>
        <div className="card-body">
          <Chart
            {...shared}
            label={`Pending jobs; at most ${totals.depth_max ?? 0}`}
            {...COUNTS}
            series={[
              { name: "Pending", colour: "var(--chart-enqueued)", values: points.map((p) => p.depth_max ?? 0) },
            ]}
          />
        </div>
      </Card>
    </>
  );
});

const OtherCharts = memo(function OtherCharts({ ofQueue, ...props }: ChartsProps & { ofQueue: boolean }) {
  const { points, totals, step_seconds: step } = props.data;
  const shared = sharedBy(props);
  const per = `per ${stepText(step)}`;
  return (
    <>
      <Card title="Oldest pending job" aside={<span className="muted small">maximum age {per}</span>}>
        <div className="card-body">
          <Chart
            {...shared}
            label={`Age of the oldest pending job; at most ${span(totals.oldest_ms ?? 0)}`}
            {...SPANS}
            series={[
              { name: "Oldest", colour: "var(--chart-p90)", values: points.map((p) => p.oldest_ms ?? 0) },
            ]}
          />
        </div>
      </Card>
      {!ofQueue && (
        <Card title="Known workers" aside={<span className="muted small">at the end of each {stepText(step)}</span>}>
          <div className="card-body">
            <Chart
              {...shared}
              label={`Known workers; ${totals.workers ?? 0} now`}
              {...COUNTS}
              series={[
                { name: "Workers", colour: "var(--chart-completed)", values: points.map((p) => p.workers ?? 0) },
              ]}
            />
          </div>
        </Card>
      )}
      <Card title="Wait time" aside={<span className="muted small">{p99(totals.wait)}</span>}>
        <div className="card-body">
          <Chart
            {...shared}
            label={`Wait time of jobs, p99 ${span(totals.wait?.p99_ms ?? 0)}`}
            {...SPANS}
            series={times(points, "wait")}
          />
        </div>
      </Card>
      <Card title="Run time" aside={<span className="muted small">{p99(totals.run)}</span>}>
        <div className="card-body">
          <Chart
            {...shared}
            label={`Run time of jobs, p99 ${span(totals.run?.p99_ms ?? 0)}`}
            {...SPANS}
            series={times(points, "run")}
          />
        </div>
      </Card>
    </>
  );
});

/** The completed jobs of the last hour, as a small chart for a table cell. */
export function Sparkline({ queue }: { queue: string }) {
  // Only whole minutes and whole steps: an unfinished step would look like a drop.
  const whole = (useCompleted(queue).data ?? []).slice(0, -1);
  const values = whole.slice(whole.length % 5).reduce<number[]>((sums, completed, i) => {
    sums[Math.floor(i / 5)] = (sums[Math.floor(i / 5)] ?? 0) + completed;
    return sums;
  }, []);
  return <Spark values={values} label={`${values.reduce((a, b) => a + b, 0)} completed in the last hour`} />;
}

/** Jobs completed in the last whole minute, as counted by the server. Null until it is known. The
 * current minute is incomplete, so it gives no rate. */
export function useRate(queue: string): number | null {
  const minutes = useCompleted(queue).data;
  return minutes === undefined ? null : (minutes.at(-2) ?? 0);
}

export function Spark({ values, label, failures = false }: { values: readonly number[]; label: string; failures?: boolean }) {
  const colour = failures ? "var(--chart-failed)" : "var(--chart-completed)";
  const high = Math.max(1, ...values);
  const points = values.map((v, i) => `${((i / Math.max(1, values.length - 1)) * 80).toFixed(1)},${(19 - (v / high) * 18).toFixed(1)}`);
  return (
    <svg className="spark" width="80" height="20" viewBox="0 0 80 20" role="img" aria-label={label}>
      <title>{label}</title>
      <polyline points={points.join(" ")} fill="none" stroke={colour} strokeWidth={1.4} />
    </svg>
  );
}
