import type { Job } from "../../api/types";
import { Ago, Badge, Card, CopyButton } from "../../components/parts";
import { useNow } from "../../lib/hooks";
import { latency, moment } from "../../lib/format";

function Running({ since }: { since: string }) {
  const now = useNow(1_000);
  return <span className="muted small">for {latency(now - Date.parse(since))}</span>;
}

export function Attempts({ job }: { job: Job }) {
  const errors = [...(job.errors ?? [])].reverse();
  const running = job.state === "active" && job.started_at !== undefined;
  if (errors.length === 0 && !running) {
    return null;
  }
  return (
    <Card title="Attempt history">
      <div className="card-body stack">
        {running && job.started_at !== undefined && (
          <div className="attempt card-row">
            <Badge tone="active">Attempt {job.attempt}</Badge>
            <span>running</span>
            <Running since={job.started_at} />
          </div>
        )}
        {errors.map((error, i) => (
          <details key={error.id} className="attempt" open={i === 0}>
            <summary>
              <Badge tone="failed">Attempt {error.attempt}</Badge>
              <span className="muted small">
                {moment(error.created_at)} · <Ago at={error.created_at} />
              </span>
            </summary>
            <div className="stack">
              <p className="danger-text error-text" tabIndex={0} role="group" aria-label={`Error of attempt ${error.attempt}`}>
                {error.error}
              </p>
              {error.backtrace !== undefined && (
                <pre className="json" tabIndex={0} aria-label={`Backtrace of attempt ${error.attempt}`}>
                  {error.backtrace}
                </pre>
              )}
              <div>
                <CopyButton
                  text={[error.error, error.backtrace].filter(Boolean).join("\n\n")}
                  label={`Copy error of attempt ${error.attempt}`}
                />
              </div>
            </div>
          </details>
        ))}
      </div>
    </Card>
  );
}
