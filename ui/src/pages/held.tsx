import { useNavigate } from "react-router-dom";

import { useApprove, useReject } from "../api/actions";
import { useSearch } from "../api/queries";
import type { JobSummary, SearchRequest } from "../api/types";
import { HoldReason } from "../components/hold-reason";
import { jobPath } from "../components/job-table";
import { Ago, Button, Notice, PageHead, Pending, ShortId, StateBadge } from "../components/parts";
import { preview } from "../lib/format";
import { useTitle } from "../lib/hooks";

const NEWEST_HELD: SearchRequest = { state: ["held"], sort: "created_at", order: "desc", limit: 50 };

function holdReason(job: JobSummary): string {
  const tag = job.tags?.hold_reason;
  return job.hold_reason ?? (typeof tag === "string" ? tag : "Waiting for approval");
}

function HeldCard({ job }: { job: JobSummary }) {
  const navigate = useNavigate();
  const approve = useApprove();
  const reject = useReject();
  const busy = approve.isPending || reject.isPending;
  return (
    <article className="card card-body stack" data-testid="held-card">
      <div className="card-row">
        <ShortId id={job.id} />
        <StateBadge state={job.state} />
        <span className="muted small">
          <Ago at={job.created_at} />
        </span>
      </div>
      <div className="break">{job.queue}</div>
      <p className="break">
        <HoldReason reason={holdReason(job)} />
      </p>
      <code className="muted break">{preview(job.payload)}</code>
      <div className="card-row">
        <Button kind="primary" disabled={busy} onClick={() => approve.mutate(job.id)}>
          Approve
        </Button>
        <Button kind="danger" disabled={busy} onClick={() => reject.mutate(job.id)}>
          Reject
        </Button>
        <Button kind="ghost" onClick={() => navigate(jobPath(job.id))}>
          View
        </Button>
      </div>
    </article>
  );
}

export default function Held() {
  useTitle("Held Jobs");
  const held = useSearch(NEWEST_HELD);
  const jobs = held.data?.jobs;
  return (
    <>
      <PageHead title="Held Jobs" />
      {jobs === undefined && <Pending error={held.error} />}
      {jobs?.length === 0 && <Notice>No held jobs. Jobs that wait for a decision appear here.</Notice>}
      <div className="held-grid">{jobs?.map((job) => <HeldCard key={job.id} job={job} />)}</div>
      {held.data !== undefined && held.data.total > held.data.jobs.length && (
        <p className="muted">
          The newest {held.data.jobs.length} of {held.data.total}.
        </p>
      )}
    </>
  );
}
