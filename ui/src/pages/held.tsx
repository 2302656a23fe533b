import { useState } from "react";
import { Link, useNavigate } from "react-router-dom";

import { useApprove, useReject } from "../api/actions";
import { NEWEST_HELD, useSearch } from "../api/queries";
import type { JobSummary } from "../api/types";
import { HoldReason } from "../components/hold-reason";
import { jobPath } from "../components/job-table";
import { Ago, Button, Notice, PageHead, Pending, ShortId, StateBadge } from "../components/parts";
import { queuePath } from "../components/queue-table";
import { preview } from "../lib/format";
import { useTitle } from "../lib/hooks";

function holdReason(job: JobSummary): string {
  const tag = job.tags?.hold_reason;
  return job.hold_reason ?? (typeof tag === "string" ? tag : "Waiting for approval");
}

function HeldCard({ job }: { job: JobSummary }) {
  const navigate = useNavigate();
  const approve = useApprove();
  const reject = useReject();
  const [comment, setComment] = useState("");
  const decision = { id: job.id, comment: comment.trim() };
  const busy = approve.isPending || reject.isPending;
  return (
    <article className="card card-body stack held" data-testid="held-card">
      <div className="card-row">
        <Link to={jobPath(job.id)}>
          <ShortId id={job.id} />
        </Link>
        <StateBadge state={job.state} />
        <span className="muted small">
          <Ago at={job.created_at} />
        </span>
      </div>
      <Link className="break" to={queuePath(job.queue)}>
        {job.queue}
      </Link>
      <p className="break">
        <HoldReason reason={holdReason(job)} />
      </p>
      <code className="muted break">{preview(job.payload)}</code>
      <input
        aria-label={`Comment on ${job.id}`}
        placeholder="Comment (optional)"
        maxLength={100}
        value={comment}
        onChange={(e) => setComment(e.target.value)}
      />
      <div className="card-row">
        <Button kind="primary" needs="POST /jobs/{id}/approve" disabled={busy} onClick={() => approve.mutate(decision)}>
          Approve
        </Button>
        <Button kind="danger" needs="POST /jobs/{id}/reject" disabled={busy} onClick={() => reject.mutate(decision)}>
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
      {jobs?.length === 0 && <Notice>No held jobs. Jobs that need a decision appear here.</Notice>}
      <div className="held-grid">{jobs?.map((job) => <HeldCard key={job.id} job={job} />)}</div>
      {held.data !== undefined && held.data.total > held.data.jobs.length && (
        <p className="muted">
          Showing the newest {held.data.jobs.length} of {held.data.total.toLocaleString()} held jobs.
        </p>
      )}
    </>
  );
}
