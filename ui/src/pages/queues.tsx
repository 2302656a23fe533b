import { useDeferredValue, useMemo, useState } from "react";

import { useQueues } from "../api/queries";
import { Card, PageHead } from "../components/parts";
import { QueueTable } from "../components/queue-table";
import { counted } from "../lib/format";
import { useTitle } from "../lib/hooks";

export default function Queues() {
  useTitle("Queues");
  const queues = useQueues();
  const [filter, setFilter] = useState("");
  // The typed text appears at once, and the filtered rows as soon as possible.
  const word = useDeferredValue(filter.trim().toLowerCase());
  const shown = useMemo(() => queues.data?.filter((q) => q.name.toLowerCase().includes(word)), [queues.data, word]);
  return (
    <>
      <PageHead title="Queues" />
      <Card
        title={counted("All Queues", shown)}
        aside={
          <input
            className="name-filter"
            type="search"
            aria-label="Filter by name"
            placeholder="Filter by name"
            value={filter}
            onChange={(e) => setFilter(e.target.value)}
          />
        }
      >
        <QueueTable queues={shown} error={queues.error} />
      </Card>
    </>
  );
}
