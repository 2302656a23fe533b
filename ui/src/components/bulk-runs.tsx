// Progress dialogs of the bulk operations that run in the background, on top of any page.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import { messageOf } from "../api/client";
import { capitalise, jobCount, latency, percent } from "../lib/format";
import { useNow } from "../lib/hooks";
import { toast } from "../lib/toasts";
import { bulkStore, cancelBulk, dismissBulk, putBulkAway, type BulkRun } from "../live/bulk";
import { Dialog } from "./dialog";
import { Bar, Button } from "./parts";

export function BulkRuns() {
  const client = useQueryClient();
  const runs = useSyncExternalStore(bulkStore.subscribe, bulkStore.get);
  const running = runs.filter((run) => run.endedAt === null).length;
  const before = useRef(running);
  useEffect(() => {
    if (running < before.current) {
      void client.invalidateQueries();
    }
    before.current = running;
  }, [client, running]);
  return runs.filter((run) => !run.away).map((run) => <Progress key={run.id} run={run} />);
}

/** The progress of one operation. If the user continues it in the background, its end is still reported in a toast. */
function Progress({ run }: { run: BulkRun }) {
  const now = useNow(500);
  const [stopping, setStopping] = useState(false);
  const ended = run.endedAt !== null;
  const elapsed = Math.max(1, (run.endedAt ?? now) - run.startedAt);
  const rate = (run.processed / elapsed) * 1000;
  const left = rate > 0 ? ((run.total - run.processed) / rate) * 1000 : null;
  const stop = () => {
    setStopping(true);
    cancelBulk(run)
      .catch((error: unknown) => toast.bad(`Cancel failed: ${messageOf(error)}`))
      .finally(() => setStopping(false));
  };
  const close = () => (ended ? dismissBulk(run.id) : putBulkAway(run.id));
  return (
    <Dialog title={`Bulk ${run.label}`} onClose={close}>
      <Bar value={ended ? 100 : percent(run.processed, run.total)} label="Progress" />
      <p>
        {run.processed.toLocaleString()} / {run.total.toLocaleString()} processed
      </p>
      <p className="muted">
        Elapsed: {latency(elapsed)}
        {!ended && left !== null && <> · Remaining: ~{latency(left)}</>} · Rate: {Math.round(rate).toLocaleString()}/s ·
        Errors: {run.errors}
      </p>
      {ended && (
        <p role="status">
          {capitalise(run.status)}: {jobCount(run.affected)} changed.
        </p>
      )}
      {run.error !== null && <p className="form-error">{run.error}</p>}
      <div className="dialog-foot">
        {!ended && (
          <Button kind="danger" needs="DELETE /bulk/{id}" disabled={stopping} onClick={stop}>
            Cancel operation
          </Button>
        )}
        <Button onClick={close}>{ended ? "Close" : "Continue in background"}</Button>
      </div>
    </Dialog>
  );
}
