// The job's life as a chart: one bar for each wait and each run, on the same time scale.
import { useMemo } from "react";

import type { Job, LiveEvent } from "../../api/types";
import { Card } from "../../components/parts";
import { fullTime, plural, span as duration } from "../../lib/format";
import { useNow } from "../../lib/hooks";
import { placed, spansOfEvents, spansOfJob, type Span } from "../../lib/waterfall";

/** The maximum number of bars. Earlier spans are only counted. */
const SHOWN = 24;

const NAMES = {
  scheduled: "Scheduled",
  waiting: "Waiting",
  retrying: "Waiting to retry",
  held: "Held",
};

/** Return the label of a span. The runs of an agent are its iterations, so they are numbered regardless of attempts. */
function nameOf(span: Span, all: readonly Span[], job: Job): string {
  if (span.kind !== "running") {
    return NAMES[span.kind];
  }
  if (job.agent !== undefined) {
    return `Run ${all.filter((s) => s.kind === "running").indexOf(span) + 1}`;
  }
  return span.attempt === undefined ? "Running" : `Attempt ${span.attempt}`;
}

function how(span: Span): string {
  if (span.kind !== "running") {
    return span.to === null ? "so far" : "";
  }
  return span.to === null ? "so far" : (span.end ?? "");
}

export function Waterfall({ job, events }: { job: Job; events: readonly LiveEvent[] | null }) {
  const now = useNow(1_000);
  const all = useMemo(() => (events === null ? spansOfJob(job) : spansOfEvents(events, job)), [events, job]);
  const left = all.length - SHOWN;
  const bars = placed(all.slice(-SHOWN), now);
  const total = (kind: Span["kind"]): number =>
    all.filter((s) => s.kind === kind).reduce((sum, s) => sum + (s.to ?? now) - s.from, 0);
  const sums: [word: string, ms: number][] = [
    ["waited", total("waiting") + total("retrying")],
    ["ran", total("running")],
  ];
  if (all.length === 0) {
    return null;
  }
  return (
    <Card
      title="Waiting and running"
      aside={
        <span className="muted small">
          {sums
            .filter(([, ms]) => ms > 0)
            .map(([word, ms]) => `${word} ${duration(ms)}`)
            .join(", ")}
        </span>
      }
    >
      <ol className="card-body waterfall">
        {left > 0 && <li className="muted small">{plural(left, "earlier span")} not shown</li>}
        {bars.map(({ span, left: from, width, ms }, i) => (
          <li key={i} title={fullTime(new Date(span.from).toISOString())}>
            <span className="clip">{nameOf(span, all, job)}</span>
            <span className="track">
              <span
                className={`span ${span.kind} ${span.end ?? ""}`}
                style={{ left: `${Math.min(from, 99.5)}%`, width: `${width}%` }}
              />
            </span>
            <span className="num">{duration(ms)}</span>
            <span className={span.end === "failed" ? "danger-text" : "muted"}>{how(span)}</span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
