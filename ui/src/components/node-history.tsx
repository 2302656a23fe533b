// The history of the node that serves this page: write latency, log flush times, lag behind the leader.
import { useMarkers, useNodeHistory } from "../api/queries";
import { moment, span } from "../lib/format";
import { marksOf } from "../lib/marks";
import { useRange } from "../lib/range";
import { Chart, SPANS } from "./chart";
import { Card, Pending } from "./parts";
import { RangePicker } from "./range";

const ms = (us: number): number => us / 1000;

export function NodeHistory() {
  const picked = useRange("1h");
  const { range, set } = picked;
  const history = useNodeHistory({ from: range.from, to: range.to });
  const data = history.data;
  const markers = useMarkers({ from: data?.from ?? "", to: data?.to ?? "" });
  if (data === undefined) {
    return (
      <Card title="This node">
        <div className="card-body">
          <Pending error={history.error} />
        </div>
      </Card>
    );
  }
  const { points, step_seconds: step } = data;
  const day = step * points.length > 86_400;
  const starts = points.map((p) => Date.parse(p.at));
  const shared = {
    times: points.map((p) => (day ? moment(p.at).slice(5, 16) : moment(p.at).slice(11, 16))),
    marks: marksOf([], markers.data ?? [], starts, step * 1000),
    onZoom: (first: number, last: number) => set({ from: starts[first] ?? 0, to: (starts[last] ?? 0) + step * 1000 }),
    ...SPANS,
  };
  const most = (values: readonly number[]): string => span(Math.max(0, ...values));
  const p99 = points.map((p) => ms(p.write_p99_us));
  const longest = points.map((p) => ms(p.flush_max_us));
  const lag = points.map((p) => p.lag_ms);
  return (
    <>
      <h2>History of {data.node_id}</h2>
      <RangePicker {...picked} />
      <div className="grid-2">
        <Card title="Write latency" aside={<span className="muted small">p99 at most {most(p99)}</span>}>
          <div className="card-body">
            <Chart
              {...shared}
              label={`Commit and apply time, highest p99 ${most(p99)}`}
              series={[
                { name: "p50", colour: "var(--chart-p50)", values: points.map((p) => ms(p.write_p50_us)) },
                { name: "p99", colour: "var(--chart-p99)", values: p99 },
              ]}
            />
          </div>
        </Card>
        <Card title="Log flush time" aside={<span className="muted small">longest {most(longest)}</span>}>
          <div className="card-body">
            <Chart
              {...shared}
              label={`Log flush time, longest ${most(longest)}`}
              series={[
                { name: "Mean", colour: "var(--chart-p50)", values: points.map((p) => ms(p.flush_mean_us)) },
                { name: "Longest", colour: "var(--chart-p99)", values: longest },
              ]}
            />
          </div>
        </Card>
        <Card title="Lag behind the leader" aside={<span className="muted small">at most {most(lag)}</span>}>
          <div className="card-body">
            <Chart
              {...shared}
              label={`Lag behind the leader; at most ${most(lag)}`}
              series={[{ name: "Lag", colour: "var(--chart-p90)", values: lag }]}
            />
          </div>
        </Card>
      </div>
      <p className="muted small">Each node keeps its own history. To see another node, open its web interface.</p>
    </>
  );
}
