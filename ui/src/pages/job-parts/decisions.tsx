// Who approved, cancelled, retried or moved the job, with their comments.
import { useJobAudit } from "../../api/queries";
import type { Job } from "../../api/types";
import { Ago, Card } from "../../components/parts";
import { actionOf, commentOf } from "../../lib/audit";
import { capitalise } from "../../lib/format";

export function Decisions({ job }: { job: Job }) {
  const audit = useJobAudit(job.id);
  const entries = audit.data?.audit_logs.filter(({ status_code }) => status_code < 400) ?? [];
  if (entries.length === 0) {
    return null;
  }
  return (
    <Card title="User actions">
      <ul className="card-body stack" aria-label="User actions">
        {entries.map((entry) => (
          <li key={entry.id} className="break">
            {capitalise(actionOf(entry))} by {entry.principal ?? "an unknown caller"}, <Ago at={entry.created_at} />
            {commentOf(entry) !== null && <>: “{commentOf(entry)}”</>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
