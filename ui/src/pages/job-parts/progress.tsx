// What the worker reported last.
import type { Job, Progress } from "../../api/types";
import { Bar } from "../../components/parts";
import { isObject } from "../../lib/exact-json";
import { percent, preview } from "../../lib/format";

/** Return the conventional members of a progress report. A worker may send any JSON. */
function progressOf(job: Job): Progress {
  const { current, total, message } = isObject(job.progress) ? job.progress : {};
  return {
    ...(typeof current === "number" ? { current } : {}),
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message } : {}),
  };
}

/** Characters of a report that is neither text nor of the conventional form. */
const REPORT_MAX = 300;

export function ProgressCard({ job }: { job: Job }) {
  const { current = 0, total = 0, message } = progressOf(job);
  if (job.progress === undefined || job.progress === null) {
    return null;
  }
  if (total <= 0) {
    return (
      <section className="card card-body" aria-label="Progress">
        <p className="break">
          <span className="muted">Progress:</span> {message ?? (typeof job.progress === "string" ? job.progress : preview(job.progress, REPORT_MAX))}
        </p>
      </section>
    );
  }
  return (
    <section className="card card-body stack" aria-label="Progress">
      <Bar value={percent(current, total)} label="Progress" />
      <p className="break">
        {current}/{total} ({percent(current, total)}%) <span className="muted">{message}</span>
      </p>
    </section>
  );
}
