import { useMemo } from "react";
import { Link } from "react-router-dom";

import type { Worker } from "../api/types";
import { latency } from "../lib/format";
import { useNow } from "../lib/hooks";
import { Ago, Badge } from "./parts";
import { Table, type Column } from "./table";

const STALE_MS = 60_000;
const OFFLINE_MS = 300_000;

export function workerHealth(worker: Worker, now: number): "Healthy" | "Stale" | "Offline" {
  const silent = now - Date.parse(worker.last_heartbeat);
  if (silent <= STALE_MS) {
    return "Healthy";
  }
  return silent <= OFFLINE_MS ? "Stale" : "Offline";
}

export const WORKER_TONES = { Healthy: "green", Stale: "amber", Offline: "red" };

/** Return the queues of a worker. The member is a string that contains a JSON array. */
export function workerQueues(worker: Worker): string[] {
  try {
    const list: unknown = JSON.parse(worker.queues ?? "[]");
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

export function WorkerTable({ workers, error }: { workers: readonly Worker[] | undefined; error: unknown }) {
  const now = useNow(10_000);
  const columns: Column<Worker>[] = [
    {
      id: "id",
      header: "Worker ID",
      className: "name",
      sort: (w) => w.id,
      cell: (w) => (
        <Link className="mono" title={w.id} to={`/workers/${encodeURIComponent(w.id)}`}>
          {w.id}
        </Link>
      ),
    },
    {
      id: "hostname",
      header: "Hostname",
      className: "name minor",
      sort: (w) => w.hostname ?? "",
      cell: (w) => <span title={w.hostname ?? ""}>{w.hostname ?? "-"}</span>,
    },
    {
      id: "status",
      header: "Status",
      cell: (w) => {
        const health = workerHealth(w, now);
        return <Badge tone={WORKER_TONES[health]}>{health}</Badge>;
      },
    },
    ...(workers?.some((w) => w.version !== undefined) === true
      ? [
          {
            id: "version",
            header: "Version",
            className: "minor",
            sort: (w: Worker) => w.version ?? "",
            cell: (w: Worker) => w.version ?? "-",
          },
        ]
      : []),
    {
      id: "queues",
      header: "Queues",
      className: "wide",
      cell: (w) => {
        const names = workerQueues(w).join(", ");
        return <span title={names}>{names === "" ? "-" : names}</span>;
      },
    },
    ...(workers?.some((w) => w.active_jobs !== undefined) === true
      ? [
          {
            id: "jobs",
            header: "Jobs",
            className: "num",
            sort: (w: Worker) => w.active_jobs ?? 0,
            cell: (w: Worker) => w.active_jobs ?? 0,
          },
        ]
      : []),
    {
      id: "heartbeat",
      header: "Last Heartbeat",
      sort: (w) => -Date.parse(w.last_heartbeat),
      cell: (w) => <Ago at={w.last_heartbeat} />,
    },
    {
      id: "uptime",
      header: "Uptime",
      className: "num",
      sort: (w) => now - Date.parse(w.started_at),
      cell: (w) => latency(now - Date.parse(w.started_at)),
    },
  ];
  // The server sorts by the newest heartbeat, so the rows would change places with every heartbeat.
  const sorted = useMemo(() => workers && [...workers].sort((a, b) => (a.id < b.id ? -1 : 1)), [workers]);
  return (
    <Table
      label="Workers"
      rows={sorted}
      columns={columns}
      rowKey={(w) => w.id}
      empty="No workers connected"
      error={error}
    />
  );
}
