import { useWorkers } from "../api/queries";
import { Card, PageHead } from "../components/parts";
import { WorkerTable } from "../components/worker-table";
import { useTitle } from "../lib/hooks";

export default function Workers() {
  useTitle("Workers");
  const workers = useWorkers();
  return (
    <>
      <PageHead title="Workers" />
      <Card title={`Active Workers (${workers.data?.length ?? 0})`}>
        <WorkerTable workers={workers.data} error={workers.error} />
      </Card>
    </>
  );
}
