// The job list of a page: the search panel, whose filters are in the address bar, the table, and bulk actions.
import { useCallback, useMemo, useState } from "react";
import { useSearchParams } from "react-router-dom";

import { ApiError, messageOf } from "../api/client";
import { search, useSearchPages } from "../api/queries";
import type { JobSummary, SearchRequest } from "../api/types";
import { download, exportAll, type ExportFormat } from "../lib/export";
import { filtersFromUrl, filtersToUrl, PAGE_ROWS, toFilter, toRequest, type Filters } from "../lib/filters";
import { useSettled } from "../lib/hooks";
import { toast } from "../lib/toasts";
import { BulkBar, type Scope } from "./bulk";
import { JobTable } from "./job-table";
import { Button, Card, Pending } from "./parts";
import { SearchPanel } from "./search-panel";

const TYPING_MS = 250;

/** True for a rate-limited request. The next refresh will succeed, so the error is not shown. */
const isLimited = (error: unknown): boolean => error instanceof ApiError && error.status === 429;

function useUrlFilters(defaults: Filters): [Filters, (filters: Filters) => void] {
  const [query, setQuery] = useSearchParams();
  const filters = useMemo(() => filtersFromUrl(query, defaults), [query, defaults]);
  const set = useCallback(
    (next: Filters) => setQuery((current) => filtersToUrl(next, defaults, current), { replace: true }),
    [setQuery, defaults],
  );
  return [filters, set];
}

/** Buttons that export all matching jobs, not only the rows shown. */
function Exports({ request, fileName }: { request: SearchRequest; fileName: string }) {
  const [running, setRunning] = useState<string | null>(null);
  const start = (format: ExportFormat) => {
    setRunning("Exporting…");
    exportAll(format, request, search, (rows, total) =>
      setRunning(`${rows.toLocaleString()} of ${total.toLocaleString()} exported`),
    )
      .then((file) => download(`${fileName}.${format}`, file))
      .catch((error: unknown) => toast.bad(`Export failed: ${messageOf(error)}`))
      .finally(() => setRunning(null));
  };
  return (
    <>
      {running !== null && (
        <span className="muted small" role="status">
          {running}
        </span>
      )}
      <Button compact disabled={running !== null} title="Export all matching jobs as JSON" onClick={() => start("json")}>
        JSON
      </Button>
      <Button compact disabled={running !== null} title="Export all matching jobs as CSV" onClick={() => start("csv")}>
        CSV
      </Button>
    </>
  );
}

interface JobListProps {
  /** The default filters of the page. The address bar contains the differences. */
  defaults: Filters;
  /** "Jobs", "Dead Jobs". */
  title: string;
  /** The name of exported files, without the extension. */
  fileName: string;
  fixedState?: boolean;
  runsIn?: boolean;
  showQueue?: boolean;
  showError?: boolean;
}

export function JobList(props: JobListProps) {
  const { defaults, title, fileName, fixedState = false, runsIn = false, showQueue = false, showError = false } = props;
  const [filters, setFilters] = useUrlFilters(defaults);
  const [typing, setTyping] = useState(false);
  const settled = useSettled(filters, typing ? TYPING_MS : 0);
  const request = useMemo(() => toRequest(settled, PAGE_ROWS), [settled]);
  const result = useSearchPages(request);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [everything, setEverything] = useState(false);

  // A selection is valid only for the filter in which it was made. The panel, a link or Back can change the filter.
  const filterKey = JSON.stringify([toFilter(filters), toFilter(settled)]);
  const [selectedIn, setSelectedIn] = useState(filterKey);
  if (selectedIn !== filterKey) {
    setSelectedIn(filterKey);
    setPicked(new Set());
    setEverything(false);
  }

  // Pages that are refreshed can overlap, so remove duplicate jobs.
  const jobs = useMemo((): JobSummary[] | undefined => {
    const rows = result.data?.pages.flatMap((p) => p.jobs);
    return rows && [...new Map(rows.map((j) => [j.id, j])).values()];
  }, [result.data]);
  const last = result.data?.pages.at(-1);
  const total = last?.total ?? 0;
  const shownPicked = useMemo(() => (jobs ?? []).filter((j) => picked.has(j.id)), [jobs, picked]);
  const scope: Scope = everything
    ? { kind: "filter", filter: toFilter(settled), total }
    : { kind: "ids", ids: shownPicked.map((j) => j.id) };
  const select = useCallback((ids: ReadonlySet<string>) => {
    setEverything(false);
    setPicked((old) => (old.size === 0 && ids.size === 0 ? old : ids));
  }, []);
  const clear = useCallback(() => select(new Set()), [select]);

  const refused = result.error instanceof ApiError && result.error.status === 400 ? result.error.message : null;
  const jqError = settled.payload_jq === "" ? null : refused;
  const allPicked = jobs !== undefined && jobs.length > 0 && shownPicked.length === jobs.length;
  return (
    <>
      <SearchPanel
        filters={filters}
        defaults={defaults}
        onChange={(next, typed) => {
          clear();
          setTyping(typed === true);
          setFilters(next);
        }}
        fixedState={fixedState}
        jqError={jqError}
      />
      <Card
        title={last === undefined ? title : `${title} (${total.toLocaleString()} total)`}
        aside={
          <div className="card-row">
            {last !== undefined && <span className="muted small">{last.duration_ms} ms</span>}
            {jobs !== undefined && jobs.length > 0 && (
              <Exports request={request} fileName={fileName} />
            )}
          </div>
        }
      >
        {result.isError && jobs !== undefined && jqError === null && !isLimited(result.error) && (
          <div className="card-body">
            <Pending error={result.error} what="Refresh failed" />
          </div>
        )}
        <JobTable
          jobs={jobs}
          // The panel shows the server's message next to the field.
          error={jqError === null ? result.error : new Error("Correct the jq filter to see jobs.")}
          selected={everything ? new Set((jobs ?? []).map((j) => j.id)) : picked}
          onSelect={select}
          runsIn={runsIn}
          showQueue={showQueue}
          showError={showError}
        />
        {result.hasNextPage && (
          <div className="card-body card-row">
            <Button disabled={result.isFetchingNextPage} onClick={() => void result.fetchNextPage()}>
              Load More
            </Button>
            <span className="muted small">
              {(jobs?.length ?? 0).toLocaleString()} of {total.toLocaleString()}
            </span>
          </div>
        )}
      </Card>
      <BulkBar
        key={filterKey}
        scope={scope}
        shown={everything ? (jobs ?? []) : shownPicked}
        // While the result is still that of the previous filter, the number of matching jobs is unknown.
        matching={allPicked && !everything && !result.isPlaceholderData && total > shownPicked.length ? total : null}
        onAllMatching={() => setEverything(true)}
        onClear={clear}
        runNow={runsIn}
      />
    </>
  );
}
