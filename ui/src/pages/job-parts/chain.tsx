import { Link } from "react-router-dom";

import { useSearch } from "../../api/queries";
import type { Job, JobSummary } from "../../api/types";
import { jobPath } from "../../components/job-table";
import { Card, Pending, ShortId, StateBadge } from "../../components/parts";

function stepName(job: JobSummary): string {
  const step = job.chain_step ?? 0;
  if (step === -1) {
    return "On exit";
  }
  return step === -2 ? "On failure" : `Step ${step + 1}`;
}

/** Handlers come after the steps. */
const orderOf = (job: JobSummary): number => {
  const step = job.chain_step ?? 0;
  return step < 0 ? 1_000_000 - step : step;
};

export function Chain({ job, chainId }: { job: Job; chainId: string }) {
  const found = useSearch({ chain_id: chainId, limit: 200 });
  const others = found.data?.jobs.filter((j) => j.id !== job.id).sort((a, b) => orderOf(a) - orderOf(b));
  return (
    <Card title="Chain">
      <div className="card-body stack">
        {others === undefined && <Pending error={found.error} />}
        {others?.length === 0 && <p className="muted">No linked chain jobs found.</p>}
        {others?.map((other) => (
          <div key={other.id} className="card-row">
            <span>{stepName(other)}</span>
            <Link to={jobPath(other.id)}>
              <ShortId id={other.id} />
            </Link>
            <span className="break">{other.queue}</span>
            <StateBadge state={other.state} />
          </div>
        ))}
      </div>
    </Card>
  );
}
