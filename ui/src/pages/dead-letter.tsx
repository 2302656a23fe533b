import { useState } from "react";
import { useSearchParams } from "react-router-dom";

import { useErrors } from "../api/queries";
import { JobList } from "../components/job-list";
import { Card, Notice, PageHead, Pending } from "../components/parts";
import { DEAD } from "../lib/filters";
import { useTitle } from "../lib/hooks";
import { Confirm, Group, type Asked } from "./errors";

/** The errors of the dead jobs, the most frequent first. */
function ByError() {
  const errors = useErrors({ from: "30d", to: "" });
  const [asked, setAsked] = useState<Asked | null>(null);
  const groups = errors.data?.groups.filter((group) => group.dead > 0).sort((a, b) => b.dead - a.dead);
  if (groups === undefined) {
    return <Pending error={errors.error} />;
  }
  return (
    <>
      <p className="muted">Dead jobs that failed in the last 30 days.</p>
      {groups.length === 0 && (
        <Card>
          <div className="card-body">
            <Notice>No dead jobs</Notice>
          </div>
        </Card>
      )}
      {groups.map((group) => (
        <Group key={group.fingerprint} group={group} queue="" onAsk={setAsked} />
      ))}
      {asked !== null && <Confirm asked={asked} queue="" onClose={() => setAsked(null)} />}
    </>
  );
}

export default function DeadLetter() {
  useTitle("Dead Letter Queue");
  const [query, setQuery] = useSearchParams();
  const grouped = query.get("group") === "error";
  const choose = (byError: boolean) => setQuery(byError ? { group: "error" } : {}, { replace: true });
  return (
    <>
      <PageHead title="Dead Letter Queue">
        <div className="chips" role="group" aria-label="View">
          <button type="button" className="chip" aria-pressed={!grouped} onClick={() => choose(false)}>
            All jobs
          </button>
          <button type="button" className="chip" aria-pressed={grouped} onClick={() => choose(true)}>
            By error
          </button>
        </div>
      </PageHead>
      {grouped ? (
        <ByError />
      ) : (
        <JobList defaults={DEAD} title="Dead Jobs" fileName="dead-jobs" fixedState showQueue showError />
      )}
    </>
  );
}
