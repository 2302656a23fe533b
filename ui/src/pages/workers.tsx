import { useWorkers } from "../api/queries";
import { Card, PageHead } from "../components/parts";
import { workerHealth, WorkerTable } from "../components/worker-table";
import { counted } from "../lib/format";
import { useNow, useTitle } from "../lib/hooks";

export default function Workers() {
  useTitle("Workers");
  const workers = useWorkers();
  const now = useNow(10_000);
  const all = workers.data ?? [];
  const healthy = all.filter((worker) => workerHealth(worker, now) === "Healthy");
  const silent = all.length - healthy.length;
  const note = all.length === 0 ? "" : silent === 0 ? "all healthy" : `${healthy.length} healthy, ${silent} without a heartbeat for over a minute`;
  return (
    <>
      <PageHead title="Workers" />
      <Card title={counted("Active Workers", workers.data)} aside={<span className="muted small">{note}</span>}>
        <WorkerTable workers={workers.data} error={workers.error} />
      </Card>
    </>
  );
}
